package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// positive returns a random positive definite matrix [n,n] with rows ld apart. Its upper triangle
// is NaN, because it must not be read.
func positive(f *fence, r *rand.Rand, n, ld int) []float64 {
	b := testkit.Numbers(n*n, func(int) float64 { return 2*r.Float64() - 1 })
	a := f.floats(max(0, (n-1)*ld+n), 0)
	for i := range a {
		a[i] = math.NaN()
	}
	for i := range n {
		for j := range i + 1 {
			s := 0.0
			for k, v := range b[i*n:][:n] {
				s += v * b[j*n+k]
			}
			if i == j {
				s += 1
			}
			a[i*ld+j] = s
		}
	}
	return a
}

func TestDenseMatchesReference(t *testing.T) {
	slow.Race(t)
	for _, n := range []int{0, 8, 16, 24, 56, 64, 72, 120, 136, 200, 264} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			eachSet(t, func(t *testing.T) {
				d := NewDense(2)
				for _, ld := range []int{n, n + 5} {
					testDense(t, d, n, ld)
				}
			})
		})
	}
	// More rows than one block of 128 columns, then reuse for fewer rows.
	if slow.Tests {
		d := NewDense(3)
		testDense(t, d, 1504, 1504)
		testDense(t, d, 64, 64)
	}
}

func testDense(t *testing.T, d *Dense, n, ld int) {
	t.Helper()
	f := &fence{t: t}
	a := positive(f, rand.New(rand.NewPCG(13, uint64(n))), n, ld)
	l := f.floats(len(a), 0)
	copy(l, a)
	if bad := d.Cholesky(l, n, ld); bad >= 0 {
		t.Fatalf("pivot %d is not positive", bad)
	}
	for i := range n {
		for j := i + 1; j < n; j++ {
			if l[i*ld+j] != 0 {
				t.Fatalf("L[%d,%d] is %v", i, j, l[i*ld+j])
			}
		}
		for j := range i + 1 {
			s := 0.0
			for k := range j + 1 {
				s += l[i*ld+k] * l[j*ld+k]
			}
			near(t, fmt.Sprintf("LLᵀ[%d,%d]", i, j), s, a[i*ld+j], float64(n), sumTol)
		}
		for j := n; j < ld && i+1 < n; j++ {
			if !math.IsNaN(a[i*ld+j]) {
				t.Fatal("a number between the rows was overwritten")
			}
		}
	}
	inverse := f.floats(len(a), 0)
	copy(inverse, l)
	d.Inverse(inverse, n, ld)
	for _, i := range []int{0, 1, 7, n / 2, n - 1} { // columns of A·A⁻¹
		if i < 0 || i >= n {
			continue
		}
		for j := range n {
			if inverse[i*ld+j] != inverse[j*ld+i] {
				t.Fatalf("A⁻¹[%d,%d] differs from A⁻¹[%d,%d]", i, j, j, i)
			}
			s := 0.0
			for k := range n {
				s += a[max(j, k)*ld+min(j, k)] * inverse[k*ld+i]
			}
			want := 0.0
			if i == j {
				want = 1
			}
			near(t, fmt.Sprintf("AA⁻¹[%d,%d]", j, i), s, want, float64(n)+1, 1e-13)
		}
	}
	testTriangle(t, d, l, n, ld)
	f.check()
}

// testTriangle checks L·L⁻¹ = I after Inverse, and L·x = b for right-hand sides in 14 panels,
// which are two jobs.
func testTriangle(t *testing.T, d *Dense, l []float64, n, ld int) {
	t.Helper()
	times := func(x Panels, i, j int) float64 {
		s := 0.0
		for k := range i + 1 {
			s += l[i*ld+k] * x.at(k, j)
		}
		return s
	}
	w := d.InverseFactor(n)
	rng := rand.New(rand.NewPCG(19, uint64(n)))
	f := &fence{t: t}
	b := f.panels(rng, 14, n)
	x := f.panels(rng, 14, n)
	for p := range b.Count {
		copy(x.Panel(p), b.Panel(p))
	}
	d.SolveLower(x, l, ld)
	for i := 0; i < n; i += 7 {
		for j := range n {
			want := 0.0
			if i == j {
				want = 1
			}
			near(t, fmt.Sprintf("LL⁻¹[%d,%d]", i, j), times(w, i, j), want, float64(n)+1, 1e-13)
		}
		for j := range b.Count * Lanes {
			near(t, fmt.Sprintf("Lx[%d,%d]", i, j), times(x, i, j), b.at(i, j), float64(n)+1, 1e-13)
		}
	}
	f.check()
	f.between(x)
}

// TestDenseBits checks that the bits do not depend on the number of workers.
func TestDenseBits(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		const n = 328
		a := positive(&fence{t: t}, rand.New(rand.NewPCG(17, 1)), n, n)
		var want []float64
		for workers := 1; workers <= 5; workers++ {
			l := append([]float64(nil), a...)
			d := NewDense(workers)
			if bad := d.Cholesky(l, n, n); bad >= 0 {
				t.Fatal(bad)
			}
			got := append([]float64(nil), l...)
			d.Inverse(l, n, n)
			got = append(got, l...)
			if want == nil {
				want = got
			}
			testkit.Within(t, fmt.Sprintf("%d workers", workers), got, want, 0)
		}
	})
}

// TestNotPositive checks that Cholesky returns the row of the first nonpositive pivot.
func TestNotPositive(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		const n = 200
		for _, bad := range []int{0, 5, 8, 63, 64, 150, 199} {
			for _, pivot := range []float64{-1, 0, math.NaN(), math.Inf(1)} {
				a := make([]float64, n*n)
				for i := range n {
					a[i*n+i] = 2
				}
				a[bad*n+bad] = pivot
				if got := NewDense(2).Cholesky(a, n, n); got != bad {
					t.Errorf("pivot %v in row %d: Cholesky returned row %d", pivot, bad, got)
				}
			}
		}
	})
}
