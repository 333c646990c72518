package restore

import (
	"fmt"
	"sort"

	"github.com/vssgp/vssgp/audio"
)

// Gaps returns the gaps that were filled, in rising order.
func (r *Result) Gaps() []Gap {
	if r.gaps == nil { // a result that was put together elsewhere
		for _, e := range r.Excerpts {
			r.gaps = append(r.gaps, e.Gaps...)
		}
	}
	return r.gaps
}

// Filling returns the fill of gap i of Gaps in a channel, from 0, that misses it. Its arrays must not be changed. Errors wrap ErrGaps.
func (r *Result) Filling(i, channel int) (Filling, error) {
	if r == nil || i < 0 || i >= len(r.Gaps()) || channel < 0 || !r.gaps[i].In(channel) {
		return Filling{}, fmt.Errorf("restore: no gap %d in channel %d was filled: %w", i, channel+1, ErrGaps)
	}
	g := r.gaps[i]
	if r.fills != nil {
		k := channel
		if g.Channel > 0 {
			k = 0
		}
		if k >= len(r.fills[i]) {
			return Filling{}, fmt.Errorf("restore: no channel %d: %w", channel+1, ErrGaps)
		}
		s := r.fills[i][k]
		return Filling{s.mean, s.sd, s.draws, s.level}, nil
	}
	all := r.Excerpts
	e := &all[sort.Search(len(all), func(k int) bool { return all[k].End >= g.End })]
	if channel >= len(e.Fit) {
		return Filling{}, fmt.Errorf("restore: no channel %d: %w", channel+1, ErrGaps)
	}
	within := func(v [][]float64) []float64 { return v[channel][g.Start-e.Start : g.End-e.Start] }
	f := Filling{Mean: within(e.Fit), SD: within(e.SD), Level: e.level(g, channel, r.rate)}
	for _, d := range e.Draws {
		f.Draws = append(f.Draws, within(d))
	}
	return f, nil
}

// level returns the rms of what is known about a gap.
func (e *Excerpt) level(g Gap, channel, rate int) float64 {
	var gaps [][2]int
	at := 0
	for _, h := range e.gapsInside(channel) {
		if h.Start == g.Start-e.Start {
			at = len(gaps)
		}
		gaps = append(gaps, [2]int{h.Start, h.End})
	}
	reach := e.End - e.Start
	if rate > 0 {
		reach = audio.SamplesIn(levelReach, rate)
	}
	return level(e.Filled[channel], gaps, at, reach)
}

// into copies the fills of the gaps that lie in an excerpt into its arrays, of which nil ones are left out.
func (r *Result) into(e *Excerpt) error {
	from := sort.Search(len(r.gaps), func(i int) bool { return r.gaps[i].Start >= e.Start })
	for i := from; i < len(r.gaps) && r.gaps[i].Start < e.End; i++ {
		for c := range e.Filled {
			g := r.gaps[i]
			if !g.In(c) {
				continue
			}
			f, err := r.Filling(i, c)
			if err != nil {
				return err
			}
			copy(e.Filled[c][g.Start-e.Start:], f.Mean)
			if e.Fit != nil {
				copy(e.Fit[c][g.Start-e.Start:], f.Mean)
				copy(e.SD[c][g.Start-e.Start:], f.SD)
			}
			for k := range e.Draws {
				copy(e.Draws[k][c][g.Start-e.Start:], f.Draws[k])
			}
		}
	}
	return nil
}

// join makes whole recordings of the fills. The excerpts keep their parts of them.
func (r *Result) join(samples [][]float64, draws int) error {
	if r.fills != nil {
		for i := range r.Excerpts {
			if err := r.gather(&r.Excerpts[i], samples, draws); err != nil {
				return err
			}
		}
		r.fills = nil // the excerpts hold everything
	}
	into := func(to [][]float64, part func(e *Excerpt) [][]float64) [][]float64 {
		for i := range r.Excerpts {
			e := &r.Excerpts[i]
			for c, v := range part(e) {
				copy(to[c][e.Start:e.End], v)
				part(e)[c] = to[c][e.Start:e.End:e.End]
			}
		}
		return to
	}
	r.Filled = into(whole(samples).clone(), func(e *Excerpt) [][]float64 { return e.Filled })
	r.Fit = into(unknown(samples), func(e *Excerpt) [][]float64 { return e.Fit })
	r.SD = into(unknown(samples), func(e *Excerpt) [][]float64 { return e.SD })
	for k := range draws {
		r.Draws = append(r.Draws, into(whole(samples).clone(), func(e *Excerpt) [][]float64 { return e.Draws[k] }))
	}
	return nil
}

// gather gives an excerpt of a gap-by-gap method its arrays. What is observed is certain.
func (r *Result) gather(e *Excerpt, samples [][]float64, draws int) (err error) {
	if e.Filled, err = whole(samples).Read(e.Start, e.End); err != nil {
		return err
	}
	e.Fit, e.SD = whole(e.Filled).clone(), whole(e.Filled).clone()
	for _, v := range e.SD {
		clear(v)
	}
	for range draws {
		e.Draws = append(e.Draws, whole(e.Filled).clone())
	}
	if err := r.into(e); err != nil {
		return err
	}
	for c := range e.Fit { // a gap of another channel may hold anything
		copy(e.Fit[c], e.Filled[c])
	}
	return nil
}
