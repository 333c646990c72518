package impute

import (
	"fmt"
	"sort"
)

// A Filling is the fill of a gap in one channel.
type Filling struct {
	Mean, SD []float64   // of each missing sample: what was likely there, and its standard deviation (noise included)
	Draws    [][]float64 // [draw][sample]
}

// Gaps returns the gaps that were filled, in rising order.
func (r *Result) Gaps() []Gap { return r.gaps }

// Filling returns the fill of gap i of Gaps in a channel, from 0, that misses it. Errors wrap ErrGaps, or are those of the file that holds
// the fills of long recordings.
func (r *Result) Filling(i, channel int) (Filling, error) {
	if r == nil || i < 0 || i >= len(r.gaps) || channel < 0 || channel >= r.channels || !r.gaps[i].In(channel) {
		return Filling{}, fmt.Errorf("impute: no gap %d in channel %d was filled: %w", i, channel+1, ErrGaps)
	}
	g := r.gaps[i]
	if r.places != nil {
		k := channel
		if g.Channel > 0 {
			k = 0
		}
		p := r.places[i][k]
		s, err := p.in.get(p.at)
		if err != nil {
			return Filling{}, fmt.Errorf("impute: gap %v: %w", g, err)
		}
		return Filling{s.mean, s.sd, s.draws}, nil
	}
	all := r.Excerpts
	e := &all[sort.Search(len(all), func(k int) bool { return all[k].End >= g.End })]
	within := func(v [][]float64) []float64 { return v[channel][g.Start-e.Start : g.End-e.Start] }
	f := Filling{Mean: within(e.Filled), SD: within(e.SD)}
	for _, d := range e.Draws {
		f.Draws = append(f.Draws, within(d))
	}
	return f, nil
}

// Close frees what holds the fills; Filling must not be called any more. A result of Fill needs no Close.
func (r *Result) Close() {
	if r != nil && r.kept != nil {
		r.kept.release()
	}
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
	if r.places != nil {
		for i := range r.Excerpts {
			if err := r.gather(&r.Excerpts[i], samples, draws); err != nil {
				return err
			}
		}
		r.Close()
		r.kept, r.places = nil, nil // the excerpts hold everything
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
