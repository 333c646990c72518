package cpu

import (
	"slices"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/simd"
)

// featureParams contains a model's features in panels. Lanes after a window's last feature are empty. Their
// results are not read, or are multiplied by a weight of 0.
type featureParams struct {
	simd.FeatureParams
	f      *backend.Features
	offset []int // [V+1] first feature of each window
	first  []int // [V+1] first panel of each window
	lane   []int // [M] lane of each feature, as an index over all panels
	steps  simd.Stepped
}

// set packs the features and, unless delta is 0, the factors of the recurrence for rows that are delta
// apart.
func (p *featureParams) set(f *backend.Features, delta float64) {
	p.f, p.offset = f, f.Offsets()
	p.first, p.lane = append(p.first[:0], 0), p.lane[:0]
	for v, lo := range p.offset[:len(p.offset)-1] {
		hi := p.offset[v+1]
		for k := lo; k < hi; k++ {
			p.lane = append(p.lane, p.first[v]*simd.Lanes+k-lo)
		}
		p.first = append(p.first, p.first[v]+(hi-lo+simd.Lanes-1)/simd.Lanes)
	}
	p.Q, p.Count = f.Q, p.first[len(p.first)-1]
	p.Data = simd.Resize(p.Data, p.Count*(1+3*p.Q)*simd.Lanes)
	clear(p.Data)
	for k, lane := range p.lane {
		at := k * f.Q
		p.Set(lane, f.Center[at:at+f.Q], f.Decay[at:at+f.Q], f.Freq[at:at+f.Q], f.Phase[k])
	}
	if p.steps.Delta = delta; delta != 0 {
		p.steps.Data = simd.Resize(p.steps.Data, simd.SteppedRoom(p.Count))
		jobs(p.Count, 64, workers(), func(lo, hi int) { p.Slice(lo, hi).Step(p.steps.Slice(lo, hi)) })
	}
}

// over returns the range of panels of a run.
func (p *featureParams) over(r backend.Run) (lo, hi int) { return p.first[r.First], p.first[r.End] }

// spread writes value(k) to every feature's lane of dst [Count,8] and 0 to the empty lanes, and
// returns dst.
func (p *featureParams) spread(dst []float64, value func(k int) float64) []float64 {
	dst = simd.Resize(dst, p.Count*simd.Lanes)
	clear(dst)
	for k, lane := range p.lane {
		dst[lane] = value(k)
	}
	return dst
}

// lanes sets to to the amplitudes and 4·A2·second(k), where second(k) = ∂/∂E[φ_k²].
func (p *featureParams) lanes(to []simd.Lane, second func(k int) float64) []simd.Lane {
	to = slices.Grow(to[:0], p.Count)[:p.Count]
	clear(to)
	for k, lane := range p.lane {
		l, i := &to[lane/simd.Lanes], lane%simd.Lanes
		l.Amp[i], l.Ripple[i] = p.f.Amp[k], 4*p.f.Ripple[k]*second(k)
	}
	return to
}

// window returns the window of feature k.
func (p *featureParams) window(k int) int {
	if p.f.Window == nil {
		return 0
	}
	return p.f.Window[k]
}

// A column is a view of sums [Count,rows,8] that starts at one of the rows.
type column struct {
	sums []float64
	rows int
}

// of returns a lane's sums, with a stride of eight numbers between rows. lane is an index over all
// panels.
func (c column) of(lane int) []float64 {
	return c.sums[lane/simd.Lanes*c.rows*simd.Lanes+lane%simd.Lanes:]
}
