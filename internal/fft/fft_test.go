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

// direct returns mode g by definition, with sums in double-double precision.
func direct(x []float64, g int) complex128 { return direct2(x, 1, 0, g) }

// direct2 returns mode (g0, g1) of a matrix with n0 rows in the same way. The phases are reduced exactly to an eighth
// of a turn.
func direct2(x []float64, n0, g0, g1 int) complex128 {
	n, n1 := len(x), len(x)/n0
	var re, im double.Float
	for i, v := range x {
		turns := i/n1*g0*n1 + i%n1*g1*n0 // times n
		eighths := 8 * ((turns%n + n) % n)
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

// TestTransformIsTheSum compares modes with sums. Their error is below 5e-16 of the root mean square of all modes, as
// gonum's is.
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

// TestTransform2IsTheSum compares modes of matrices with sums, with the bounds of vectors.
func TestTransform2IsTheSum(t *testing.T) {
	for _, size := range append([][2]int{
		{1, 2}, {2, 2}, {3, 2}, {1, 4}, {2, 6}, {3, 4}, {5, 6}, {7, 14}, {16, 2}, {1, 30}, {15, 16}, {36, 60},
		{100, 2}, {1, 1000}, {81, 64}, {128, 90},
	}, slow.Pick([][2]int{{3000, 2}, {500, 240}, {75, 1024}, {512, 320}}, nil)...) {
		n0, n1 := size[0], size[1]
		n := n0 * n1
		x := normal(n)
		p := New2(n0, n1)
		if copy(p.X, x) < len(p.X) {
			t.Fatalf("%v: %d numbers", size, len(p.X))
		}
		p.Transform()

		modes := (2*n0 - 1) * (n1/2 + 1)
		square, count := 0.0, 0
		for i := 0; i < modes; i += 1 + modes/200 {
			g0, g1 := i/(n1/2+1)-n0+1, i%(n1/2+1)
			e := cmplx.Abs(p.Mode2(g0, g1) - direct2(x, n0, g0, g1))
			square, count = square+e*e, count+1
			if most := 1.5e-15 * math.Sqrt(float64(n)); !(e <= most) {
				t.Fatalf("%v: mode %d, %d has an error of %.2g, want at most %.2g", size, g0, g1, e, most)
			}
		}

		relative := math.Sqrt(square / float64(count) / float64(n))
		if t.Logf("%v: error %.2g", size, relative); relative > 6e-16 {
			t.Errorf("%v: the error is %.2g", size, relative)
		}
	}
}

// TestCores checks that the bits do not depend on the number of cores.
func TestCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, p := range []*Plan{New(96), New(15 << 12), New2(12, 8), New2(60, 1024)} {
		x := normal(len(p.X))
		var first []float64
		for _, cores := range []int{1, 2, 7} {
			runtime.GOMAXPROCS(cores)
			copy(p.X, x)
			p.Transform()
			if first == nil {
				first = slices.Clone(p.X)
			}
			if !slices.Equal(p.X, first) {
				t.Errorf("%d by %d numbers on %d cores: other bits", p.rows, 2*p.columns, cores)
			}
		}
	}
}

// BenchmarkTransform measures transforms of vectors and of matrices.
func BenchmarkTransform(b *testing.B) {
	measure := func(name string, p *Plan) {
		b.Run(name, func(b *testing.B) {
			x := normal(len(p.X))
			for b.Loop() {
				copy(p.X, x)
				p.Transform()
			}
		})
	}
	for _, n := range []int{1 << 8, 1 << 14, 1 << 21, 5 << 22} {
		measure(fmt.Sprint(n), New(n))
	}
	for _, n := range []int{960, 2048, 4096} {
		measure(fmt.Sprintf("%dx%d", n, n), New2(n, n))
	}
}
