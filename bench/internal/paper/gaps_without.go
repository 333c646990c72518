package paper

import "github.com/vssgp/vssgp/internal/timewarp"

// ablations lists ablations of the mixture. The names are the starts of their lines.
var ablations = []struct {
	name   string
	change func(c *timewarp.Candidates)
}{
	{"no chirp", each(func(c *timewarp.Candidate) { c.Glide, c.Bend = timewarp.Grid{}, timewarp.Grid{} })},
	{"no bend", each(func(c *timewarp.Candidate) { c.Bend = timewarp.Grid{} })},
	{"no gain", each(func(c *timewarp.Candidate) { c.Level = timewarp.Grid{} })},
	{"one spectrum", each(func(c *timewarp.Candidate) { c.Estimates = c.Estimates[len(c.Estimates)/2:][:1] })},
	{"spectra once", each(func(c *timewarp.Candidate) { c.Refill = false })},
	{"no trials", func(c *timewarp.Candidates) { c.Distances = nil }},
	{"no onsets", func(c *timewarp.Candidates) { c.Onsets = false }},
	{"voice and steady", func(c *timewarp.Candidates) { c.All = c.All[:2] }},
	{"voice alone", func(c *timewarp.Candidates) { c.All = c.All[:1] }},
	{"steady alone", func(c *timewarp.Candidates) { c.All = c.All[1:2] }},
	{"no widening", func(c *timewarp.Candidates) { c.Widen = 1 }},
}

// each applies a change to every candidate.
func each(change func(c *timewarp.Candidate)) func(c *timewarp.Candidates) {
	return func(c *timewarp.Candidates) {
		for i := range c.All {
			change(&c.All[i])
		}
	}
}
