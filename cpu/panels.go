package cpu

import (
	"slices"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/simd"
)

// A bank contains a model's features in panels. Lanes after a window's last feature are empty. Their
// results are not read, or are multiplied by a weight of 0.
type bank struct {
	simd.Bank
	f      *backend.Features
	offset []int // [V+1] first feature of each window
	first  []int // [V+1] first panel of each window
	lane   []int // [M] lane of each feature, as an index over all panels
	steps  simd.Stepped
}

// set packs the features and, unless delta is 0, the factors of the recurrence for rows that are delta
// apart.
func (b *bank) set(f *backend.Features, delta float64) {
	b.f, b.offset = f, f.Offsets()
	b.first, b.lane = append(b.first[:0], 0), b.lane[:0]
	for v, lo := range b.offset[:len(b.offset)-1] {
		hi := b.offset[v+1]
		for k := lo; k < hi; k++ {
			b.lane = append(b.lane, b.first[v]*simd.Lanes+k-lo)
		}
		b.first = append(b.first, b.first[v]+(hi-lo+simd.Lanes-1)/simd.Lanes)
	}
	b.Q, b.Count = f.Q, b.first[len(b.first)-1]
	b.Data = simd.Resize(b.Data, b.Count*(1+3*b.Q)*simd.Lanes)
	clear(b.Data)
	for k, lane := range b.lane {
		at := k * f.Q
		b.Set(lane, f.Center[at:at+f.Q], f.Decay[at:at+f.Q], f.Freq[at:at+f.Q], f.Phase[k])
	}
	if b.steps.Delta = delta; delta != 0 {
		b.steps.Data = simd.Resize(b.steps.Data, simd.SteppedRoom(b.Count))
		jobs(b.Count, 64, workers(), func(lo, hi int) { b.Slice(lo, hi).Step(b.steps.Slice(lo, hi)) })
	}
}

// over returns the range of panels of a run.
func (b *bank) over(r backend.Run) (lo, hi int) { return b.first[r.First], b.first[r.End] }

// spread writes value(k) to every feature's lane of dst [Count,8] and 0 to the empty lanes, and
// returns dst.
func (b *bank) spread(dst []float64, value func(k int) float64) []float64 {
	dst = simd.Resize(dst, b.Count*simd.Lanes)
	clear(dst)
	for k, lane := range b.lane {
		dst[lane] = value(k)
	}
	return dst
}

// lanes sets to to the amplitudes and 4·A2·second(k), where second(k) = ∂/∂E[φ_k²].
func (b *bank) lanes(to []simd.Lane, second func(k int) float64) []simd.Lane {
	to = slices.Grow(to[:0], b.Count)[:b.Count]
	clear(to)
	for k, lane := range b.lane {
		l, i := &to[lane/simd.Lanes], lane%simd.Lanes
		l.Amp[i], l.Ripple[i] = b.f.Amp[k], 4*b.f.Ripple[k]*second(k)
	}
	return to
}

// window returns the window of feature k.
func (b *bank) window(k int) int {
	if b.f.Window == nil {
		return 0
	}
	return b.f.Window[k]
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
