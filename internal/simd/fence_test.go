package simd

import (
	"math"
	"math/rand/v2"
	"testing"
)

// margin is the number of NaNs before and after a fenced array. It exceeds the number that any
// kernel reads or writes at once.
const margin = 64

// A fence allocates arrays between NaNs. An out-of-bounds read makes a sum NaN, and check detects
// an out-of-bounds write.
type fence struct {
	t   testing.TB
	all [][]float64
}

// floats returns n zeros between NaNs, beginning skip numbers after a cache line.
func (f *fence) floats(n, skip int) []float64 {
	a := Aligned(n + 2*margin + skip)
	for i := range a {
		a[i] = math.NaN()
	}
	f.all = append(f.all, a)
	in := a[margin+skip : margin+skip+n : margin+skip+n]
	clear(in)
	return in
}

// panels returns random panels with rows of NaNs between them.
func (f *fence) panels(r *rand.Rand, count, n int) Panels {
	p := Panels{N: n, Stride: n + 1, Count: count}
	p.Data = f.floats(max(0, (count*p.Stride-1)*Lanes), 1)
	for i := range p.Data {
		p.Data[i] = 2*r.Float64() - 1
		if i/Lanes%p.Stride == n {
			p.Data[i] = math.NaN()
		}
	}
	return p
}

// check fails the test if a fence was overwritten.
func (f *fence) check() {
	f.t.Helper()
	for _, a := range f.all {
		for i := range margin {
			if !math.IsNaN(a[i]) || !math.IsNaN(a[len(a)-1-i]) {
				f.t.Fatalf("out-of-bounds write to an array of %d numbers", len(a)-2*margin)
			}
		}
	}
}

// between checks that the rows between panels are still NaN.
func (f *fence) between(p Panels) {
	f.t.Helper()
	for i, v := range p.Data {
		if i/Lanes%p.Stride >= p.N && !math.IsNaN(v) {
			f.t.Fatalf("number %d between the panels was overwritten", i)
		}
	}
}

// near fails the test unless got is within tol·scale of want.
func near(t testing.TB, what string, got, want, scale, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*scale) {
		t.Fatalf("%s: %v, want %v ± %v·%v", what, got, want, tol, scale)
	}
}

// random returns n numbers in [0, most).
func (f *fence) random(r *rand.Rand, n int, most float64) []float64 {
	a := f.floats(n, 1)
	for i := range a {
		a[i] = most * r.Float64()
	}
	return a
}

// params returns random parameters over inputs in [0, n).
func (f *fence) params(r *rand.Rand, count, q, n int) FeatureParams {
	b := randomParams(r, count, q, max(n, 1))
	data := f.floats(len(b.Data), 0)
	copy(data, b.Data)
	b.Data = data
	return b
}
