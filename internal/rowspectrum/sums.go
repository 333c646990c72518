package rowspectrum

import (
	"runtime"
	"slices"
	"sync"

	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/spectral"
)

// sums are all sums over the rows that G, C and their gradients are made of.
type sums struct {
	features *spectral.Features // whose they are; nil: of none
	waves    []wave             // of the features
	pairs    []pairSums         // [M(M+1)/2] of features j ≥ k at j(j+1)/2 + k; where j = k of the second moment
	singles  []singleSums       // [M,D] of a feature and y
	batches  sync.Pool
}

// pairSums are the moments S⁺ of ψ_jψ_k and S⁻ of ψ_jψ_k* as far as they are needed.
type pairSums struct {
	re            [3]float64 // Re(S_r⁺ + S_r⁻)
	plus0, minus0 float64    // Im S_0⁺, Im S_0⁻
	plus1, minus1 float64    // Im S_1⁺, Im S_1⁻
	a             float64    // the point that they are about
}

// singleSums are the moments of one wave.
type singleSums struct {
	moments
	a float64
}

// take takes the sums of f, whose waves are in u, with d outputs. An error is stopped's.
func (u *sums) take(s *spectrum, f *spectral.Features, d int, stopped func() error) error {
	m := f.M
	u.pairs, u.singles = resize(u.pairs, m*(m+1)/2), resize(u.singles, m*d)
	of := u.features
	u.features = nil
	parallel.For(m, runtime.GOMAXPROCS(0), func(i int) {
		if stopped() == nil {
			u.row(s, m-1-i) // the longest first
		}
	})
	for o := range d {
		parallel.Blocks(m, singleFeatures, func(_, lo, hi int) { u.outputs(s, o, d, lo, hi) })
	}
	if err := stopped(); err != nil {
		return err
	}
	if of == nil || of.M != m {
		of = spectral.NewFeatures(m, 1)
	}
	for i, field := range f.Fields() {
		copy(of.Fields()[i].Data, field.Data)
	}
	u.features = of
	return nil
}

// singleFeatures is how many features' sums with y a core takes at a time.
const singleFeatures = 64

// are reports whether the sums are those of f.
func (u *sums) are(f *spectral.Features) bool {
	if u.features == nil || u.features.M != f.M {
		return false
	}
	of, as := u.features, f // amplitudes are no part of the sums
	return slices.Equal(of.Center, as.Center) && slices.Equal(of.Decay, as.Decay) &&
		slices.Equal(of.Freq, as.Freq) && slices.Equal(of.Phase, as.Phase)
}

// batch takes one that is not in use, or makes one.
func (u *sums) batch(s *spectrum, v int) *batch {
	b, _ := u.batches.Get().(*batch)
	if b == nil {
		b = new(batch)
	}
	b.reset(s, v)
	return b
}

// row takes the sums of feature j with the features before it, and of its second moment.
func (u *sums) row(s *spectrum, j int) {
	b := u.batch(s, 0)
	defer u.batches.Put(b)
	to, w := u.pairs[j*(j+1)/2:][:j+1], &u.waves[j]
	var m shape
	for k := range j {
		other := &u.waves[k]
		m.set(s, product(w, other), true)
		to[k].a = m.a
		b.add(&m, w.plus(other.carrier), w.minus(other.carrier))
	}
	second := w.twice()
	m.set(s, second.envelope, true)
	to[j].a = m.a
	b.add(&m, second.carrier)
	b.run()
	for k := range j {
		plus, minus := b.of(&b.groups[k], 0), b.of(&b.groups[k], 1)
		p := &to[k]
		for i := range p.re {
			p.re[i] = plus.re[i] + minus.re[i]
		}
		p.plus0, p.minus0, p.plus1, p.minus1 = plus.im[0], minus.im[0], plus.im[1], minus.im[1]
	}
	t := b.of(&b.groups[j], 0)
	to[j].re, to[j].plus0, to[j].plus1 = t.re, t.im[0], t.im[1]
}

// outputs takes the sums of the features from lo to hi with output o of d.
func (u *sums) outputs(s *spectrum, o, d, lo, hi int) {
	b := u.batch(s, 1+o)
	defer u.batches.Put(b)
	var m shape
	for k := lo; k < hi; k++ {
		m.set(s, u.waves[k].envelope, false)
		u.singles[k*d+o].a = m.a
		b.add(&m, u.waves[k].carrier)
	}
	b.run()
	for k := lo; k < hi; k++ {
		u.singles[k*d+o].moments = b.of(&b.groups[k-lo], 0)
	}
}
