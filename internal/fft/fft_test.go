package fft

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/double"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// direct returns mode g by definition, with sums in double-double precision. The phases are reduced exactly to an eighth of a turn.
func direct(x []float64, g int) complex128 {
	n := len(x)
	var re, im double.Float
	for i, v := range x {
		eighths := 8 * (i * g % n)
		quarter := (eighths + n) / (2 * n)
		sin, cos := math.Sincos(math.Pi / 4 * float64(eighths-2*n*quarter) / float64(n))
		for range quarter % 4 {
			sin, cos = cos, -sin
		}
		re, im = re.Plus(double.Of(v*cos)), im.Plus(double.Of(v*sin))
	}
	return complex(re.Hi, im.Hi)
}

func normal(n int) []float64 {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	v := make([]float64, n)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	return v
}

// TestTransformIsTheSum compares modes with sums. Their error is below 5e-16 of the root mean square of all modes, as gonum's is.
func TestTransformIsTheSum(t *testing.T) {
	for _, n := range append([]int{2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 30, 36, 48, 60, 90, 96, 98, 144, 240,
		500, 1024, 1536, 2430, 3750, 15 << 12}, slow.Pick([]int{1 << 17, 9 << 17}, nil)...) {
		x := normal(n)
		p := New(n)
		copy(p.X, x)
		p.Transform()
		square, count := 0.0, 0
		for g := 0; g <= n/2; g += 1 + n/200 + n*n/5e7 {
			e := cmplx.Abs(p.Mode(g) - direct(x, g))
			square, count = square+e*e, count+1
			if most := 1.5e-15 * math.Sqrt(float64(n)); !(e <= most) {
				t.Fatalf("%d numbers: mode %d has an error of %.2g, want at most %.2g", n, g, e, most)
			}
		}
		relative := math.Sqrt(square / float64(count) / float64(n))
		if t.Logf("%d numbers: error %.2g", n, relative); relative > 6e-16 {
			t.Errorf("%d numbers: the error is %.2g", n, relative)
		}
	}
}

// TestCores checks that the bits do not depend on the number of cores.
func TestCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, n := range []int{96, 15 << 12} {
		p, x := New(n), normal(n)
		var first []float64
		for _, cores := range []int{1, 2, 7} {
			runtime.GOMAXPROCS(cores)
			copy(p.X, x)
			p.Transform()
			if first == nil {
				first = slices.Clone(p.X)
			}
			if !slices.Equal(p.X, first) {
				t.Errorf("%d numbers on %d cores: other bits", n, cores)
			}
		}
	}
}

func BenchmarkTransform(b *testing.B) {
	for _, n := range []int{1 << 8, 1 << 14, 1 << 21, 5 << 22} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p, x := New(n), normal(n)
			for b.Loop() {
				copy(p.X, x)
				p.Transform()
			}
		})
	}
}
