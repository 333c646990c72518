package paper

import (
	"github.com/vssgp/vssgp/bench/internal/gapfill"
	"github.com/vssgp/vssgp/internal/warp"
)

// leftOut are the mixture without a part of it, or with another in its place, to see what the part is worth.
var leftOut = []struct {
	name   string
	method func(rate float64) gapfill.Method
}{
	{"no chirp", recipes(func(r *warp.Recipe) { r.Glide, r.Bend = warp.Grid{}, warp.Grid{} })},
	{"no bend", recipes(func(r *warp.Recipe) { r.Bend = warp.Grid{} })},
	{"no gain", recipes(func(r *warp.Recipe) { r.Level = warp.Grid{} })},
	{"one spectrum", recipes(func(r *warp.Recipe) { r.Estimates = r.Estimates[len(r.Estimates)/2:][:1] })},
	// No second clock has all of the probability, so one is kept.
	{"no mixture", recipes(func(r *warp.Recipe) { r.Least = 1 })},
	// One clock without a mixture does not estimate its spectra anew, over its own first fill.
	{"no mixture, spectra once", recipes(func(r *warp.Recipe) { r.Most = 1 })},
	{"no trials", menus(func(m *warp.Menu) { m.Distances = nil })},
	{"voice alone", menus(func(m *warp.Menu) { m.Recipes = m.Recipes[:1] })},
	{"steady alone", menus(func(m *warp.Menu) { m.Recipes = m.Recipes[1:] })},
	{"no widening", menus(func(m *warp.Menu) { m.Widen = 1 })},
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
