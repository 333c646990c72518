package paper

import "github.com/vssgp/vssgp/internal/warp"

// leftOut lists the mixture without one of its parts, to measure what the part contributes.
var leftOut = []struct {
	name   string
	change func(m *warp.Menu)
}{
	{"no chirp", recipes(func(r *warp.Recipe) { r.Glide, r.Bend = warp.Grid{}, warp.Grid{} })},
	{"no bend", recipes(func(r *warp.Recipe) { r.Bend = warp.Grid{} })},
	{"no gain", recipes(func(r *warp.Recipe) { r.Level = warp.Grid{} })},
	{"one spectrum", recipes(func(r *warp.Recipe) { r.Estimates = r.Estimates[len(r.Estimates)/2:][:1] })},
	// No second clock has all of the probability, so one is kept.
	{"no mixture", recipes(func(r *warp.Recipe) { r.Least = 1 })},
	// One clock without a mixture does not estimate its spectra anew, over its own first fill.
	{"no mixture, spectra once", recipes(func(r *warp.Recipe) { r.Most = 1 })},
	{"no trials", func(m *warp.Menu) { m.Distances = nil }},
	{"voice alone", func(m *warp.Menu) { m.Recipes = m.Recipes[:1] }},
	{"steady alone", func(m *warp.Menu) { m.Recipes = m.Recipes[1:] }},
	{"no widening", func(m *warp.Menu) { m.Widen = 1 }},
}

// recipes applies a change to every recipe of a menu, for trials and for the gap.
func recipes(change func(r *warp.Recipe)) func(m *warp.Menu) {
	return func(m *warp.Menu) {
		for i := range m.Recipes {
			for _, r := range []**warp.Recipe{&m.Recipes[i].Trial, &m.Recipes[i].Final} {
				if *r != nil {
					changed := **r
					change(&changed)
					*r = &changed
				}
			}
		}
	}
}
