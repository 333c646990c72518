package paper

import "github.com/vssgp/vssgp/internal/timewarp"

// leftOut lists the mixture without one of its parts, to measure what the part contributes.
var leftOut = []struct {
	name   string
	change func(m *timewarp.Menu)
}{
	{"no chirp", recipes(func(r *timewarp.Recipe) { r.Glide, r.Bend = timewarp.Grid{}, timewarp.Grid{} })},
	{"no bend", recipes(func(r *timewarp.Recipe) { r.Bend = timewarp.Grid{} })},
	{"no gain", recipes(func(r *timewarp.Recipe) { r.Level = timewarp.Grid{} })},
	{"one spectrum", recipes(func(r *timewarp.Recipe) { r.Estimates = r.Estimates[len(r.Estimates)/2:][:1] })},
	// No second clock has all of the probability, so one is kept.
	{"no mixture", recipes(func(r *timewarp.Recipe) { r.Least = 1 })},
	// One clock without a mixture does not estimate its spectra anew, over its own first fill.
	{"no mixture, spectra once", recipes(func(r *timewarp.Recipe) { r.Most = 1 })},
	{"no trials", func(m *timewarp.Menu) { m.Distances = nil }},
	{"voice alone", func(m *timewarp.Menu) { m.Recipes = m.Recipes[:1] }},
	{"steady alone", func(m *timewarp.Menu) { m.Recipes = m.Recipes[1:] }},
	{"no widening", func(m *timewarp.Menu) { m.Widen = 1 }},
}

// recipes applies a change to every recipe of a menu, for trials and for the gap.
func recipes(change func(r *timewarp.Recipe)) func(m *timewarp.Menu) {
	return func(m *timewarp.Menu) {
		for i := range m.Recipes {
			for _, r := range []**timewarp.Recipe{&m.Recipes[i].Trial, &m.Recipes[i].Final} {
				if *r != nil {
					changed := **r
					change(&changed)
					*r = &changed
				}
			}
		}
	}
}
