package paper

import (
	warped "github.com/vssgp/vssgp/bench/internal/features"
	"github.com/vssgp/vssgp/bench/internal/gapfill"
	"github.com/vssgp/vssgp/internal/warp"
)

// leftOut are the mixture without a part of it, or with another in its place, to see what the part is worth.
var leftOut = []struct {
	name   string
	method func(rate float64) gapfill.Method
	most   int // gaps of a line, where it is slow; 0: all
}{
	{"no chirp", recipes(func(r *warp.Recipe) { r.Glide, r.Bend = warp.Grid{}, warp.Grid{} }), 0},
	{"no bend", recipes(func(r *warp.Recipe) { r.Bend = warp.Grid{} }), 0},
	{"no gain", recipes(func(r *warp.Recipe) { r.Level = warp.Grid{} }), 0},
	{"one spectrum", recipes(func(r *warp.Recipe) { r.Estimates = r.Estimates[len(r.Estimates)/2:][:1] }), 0},
	// No second clock has all of the probability, so one is kept.
	{"no mixture", recipes(func(r *warp.Recipe) { r.Least = 1 }), 0},
	// One clock without a mixture does not estimate its spectra anew, over its own first fill.
	{"no mixture, spectra once", recipes(func(r *warp.Recipe) { r.Most = 1 }), 0},
	{"no trials", menus(func(m *warp.Menu) { m.Distances = nil }), 0},
	{"voice alone", menus(func(m *warp.Menu) { m.Recipes = m.Recipes[:1] }), 0},
	{"steady alone", menus(func(m *warp.Menu) { m.Recipes = m.Recipes[1:] }), 0},
	{"no widening", menus(func(m *warp.Menu) { m.Widen = 1 }), 0},
	{"features for the exact covariance", laid(warped.Start()), 2},
	{"features, amplitudes freed", laid(warped.Freed()), 1},
}

// laid is the mixture whose processes are features of the library's model.
func laid(set warped.Settings) func(rate float64) gapfill.Method {
	return func(float64) gapfill.Method { return warped.Method(warp.Mixture(), set) }
}

// menus is the mixture by a changed menu.
func menus(change func(m *warp.Menu)) func(rate float64) gapfill.Method {
	return func(rate float64) gapfill.Method {
		m := warp.Mixture()
		change(&m)
		return gapfill.Warp(warp.NewFiller(m, rate))
	}
}

// recipes is the mixture by a menu whose recipes are changed, for trials as for the gap.
func recipes(change func(r *warp.Recipe)) func(rate float64) gapfill.Method {
	return menus(func(m *warp.Menu) {
		for i := range m.Recipes {
			for _, r := range []**warp.Recipe{&m.Recipes[i].Trial, &m.Recipes[i].Final} {
				if *r != nil {
					changed := **r
					change(&changed)
					*r = &changed
				}
			}
		}
	})
}
