package gpu

import (
	"slices"
	"sort"

	"github.com/vssgp/vssgp/spectral"
)

// A pick is the rows of a mini-batch that lie in one share, in layout order. Its
// source has their shapes; fetch gives it the rows.
type pick struct {
	source
	index []int64 // places within the share
}

// pick shares out the given rows, one pick for each share.
func (d *rows) pick(given []int) []*pick {
	at := make([]int, len(given))
	for i, n := range given {
		at[i] = d.place[n]
	}
	slices.Sort(at)
	picks := make([]*pick, len(d.shares))
	for i, s := range d.shares {
		lo, hi := sort.SearchInts(at, s.first), sort.SearchInts(at, s.first+s.n)
		picks[i] = s.pick(at[lo:hi])
	}
	return picks
}

// pick finds the runs that places, rising, lie in.
func (s *share) pick(places []int) *pick {
	p := &pick{index: make([]int64, len(places))}
	p.n, p.q, p.d, p.gate = len(places), s.q, s.d, s.gate
	run := 0
	for i, at := range places {
		at -= s.first
		p.index[i] = int64(at)
		for at >= s.runs[run].Hi {
			run++
		}
		if k := len(p.runs); k == 0 || p.runs[k-1].Cell != s.runs[run].Cell {
			r := s.runs[run]
			p.runs = append(p.runs, spectral.Run{Cell: r.Cell, Lo: i, First: r.First, End: r.End})
		}
		p.runs[len(p.runs)-1].Hi = i + 1
	}
	return p
}

// fetch copies the rows from their source.
func (p *pick) fetch(from *source) {
	p.x, p.y, p.gate = make([]float64, 0, p.n*p.q), make([]float64, 0, p.n*p.d), nil
	for _, n := range p.index {
		at := int(n)
		p.x = append(p.x, from.x[at*p.q:(at+1)*p.q]...)
		p.y = append(p.y, from.y[at*p.d:(at+1)*p.d]...)
		if from.gate != nil {
			p.gate = append(p.gate, from.gate[2*at:2*at+2]...)
		}
	}
}
