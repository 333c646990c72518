package baselines

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp"
)

func TestMatrix(t *testing.T) {
	covarianceCases(t, func(t *testing.T, r *rand.Rand, c Covariance) {
		x, z := normals(r, 70*c.Q), normals(r, 3*c.Q)
		k := mat.NewDense(70, 3, nil)
		c.matrix(k, x, z)
		for n := range 70 {
			for m := range 3 {
				near(t, "k", k.At(n, m), c.naive(x[n*c.Q:], z[m*c.Q:]), 1e-14)
			}
		}
		k = mat.NewDense(1, 1, nil)
		c.matrix(k, x[:c.Q], x[:c.Q])
		near(t, "k(x, x)", k.At(0, 0), c.diagonal(), 1e-15)
	})
}

// The pullback of a random bar is the gradient of Σ bar·k.
func TestPull(t *testing.T) {
	covarianceCases(t, func(t *testing.T, r *rand.Rand, c Covariance) {
		const n, m = 67, 4 // more than two chunks
		x, z := normals(r, n*c.Q), normals(r, m*c.Q)
		bar := mat.NewDense(n, m, normals(r, n*m))
		f := func() float64 {
			k := mat.NewDense(n, m, nil)
			c.matrix(k, x, z)
			k.MulElem(bar, k)
			return mat.Sum(k)
		}
		g := hyper{cov: newCovariance(c.L, c.Q), z: make([]float64, len(z))}
		c.pull(&g, bar, x, z)
		differences(t, "σ²", f, c.Variance, g.cov.Variance)
		differences(t, "l", f, c.Lengthscale, g.cov.Lengthscale)
		differences(t, "p", f, c.Frequency, g.cov.Frequency)
		differences(t, "z", f, z, g.z)

		// It adds to what is there, and z may be left out.
		twice := hyper{cov: g.cov.Clone()}
		c.pull(&twice, bar, x, z)
		for i, v := range g.cov.Lengthscale {
			near(t, "l, twice", twice.cov.Lengthscale[i], 2*v, 1e-13)
		}
	})
}

func TestPullSameBits(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	c := randomCovariance(r, 2, 2, true)
	const n, m = 3000, 5
	x, z := normals(r, n*c.Q), normals(r, m*c.Q)
	bar := mat.NewDense(n, m, normals(r, n*m))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var want []float64
	for _, threads := range []int{1, 2, 3, 8} {
		runtime.GOMAXPROCS(threads)
		g := hyper{cov: newCovariance(c.L, c.Q), z: make([]float64, len(z))}
		c.pull(&g, bar, x, z)
		got := slices.Concat(g.cov.Variance, g.cov.Lengthscale, g.cov.Frequency, g.z)
		if want == nil {
			want = got
		} else if !slices.Equal(got, want) {
			t.Errorf("%d threads give other bits than one", threads)
		}
	}
}

func TestChunks(t *testing.T) {
	for _, n := range []int{1, 31, 32, 33, 2047, 2048, 2049, 100_003} {
		seen := make([]int, n)
		chunks(n, func(chunk, lo, hi int) {
			if chunk >= chunkCount(n) || lo >= hi {
				t.Errorf("%d rows: chunk %d of %d is [%d, %d)", n, chunk, chunkCount(n), lo, hi)
			}
			for i := lo; i < hi; i++ {
				seen[i]++
			}
		})
		if slices.ContainsFunc(seen, func(v int) bool { return v != 1 }) || chunkCount(n) > mostChunks {
			t.Errorf("%d rows: the %d chunks do not cover each row once", n, chunkCount(n))
		}
	}
}

func TestCoordinates(t *testing.T) {
	covarianceCases(t, func(t *testing.T, r *rand.Rand, c Covariance) {
		h := hyper{c, 0.2, normals(r, 3*c.Q)}
		ch := newCoordinates(h, false)
		free := 0
		for _, p := range c.Frequency {
			if p != 0 {
				free++
			}
		}
		if want := c.L + c.L*c.Q + 1 + free + 3*c.Q; ch.size != want || newCoordinates(h, true).size != want-3*c.Q {
			t.Fatalf("%d coordinates, want %d", ch.size, want)
		}
		v := ch.first()
		near(t, "ln τ⁻¹", v[c.L+c.L*c.Q], math.Log(0.2), 1e-15)
		// Any smooth function: a weighted sum of everything.
		weights := hyper{randomCovariance(r, c.L, c.Q, false), 1.3, normals(r, 3*c.Q)}
		copy(weights.cov.Frequency, normals(r, c.L*c.Q))
		var trial hyper
		f := func() float64 {
			trial = ch.at(v)
			return dot(trial.cov.Variance, weights.cov.Variance) + dot(trial.cov.Lengthscale, weights.cov.Lengthscale) +
				dot(trial.cov.Frequency, weights.cov.Frequency) + trial.noise*weights.noise + dot(trial.z, weights.z)
		}
		at := f()
		near(t, "round trip", at, dot(c.Variance, weights.cov.Variance)+dot(c.Lengthscale, weights.cov.Lengthscale)+
			dot(c.Frequency, weights.cov.Frequency)+0.2*1.3+dot(h.z, weights.z), 1e-14)
		g := make([]float64, ch.size)
		ch.pull(g, &h, &weights)
		differences(t, "coordinates", f, v, g)
		for i, p := range c.Frequency {
			if p == 0 && trial.cov.Frequency[i] != 0 {
				t.Errorf("a squared exponential has got the frequency %v", trial.cov.Frequency[i])
			}
		}
	})
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

func TestUpright(t *testing.T) {
	c := SE(2, 1, 1, 1)
	c.Frequency = []float64{-1, 2, 0, -3, 0, 0}
	x, z := []float64{0.3, 0.1}, []float64{-0.2, 0.7}
	u := c.upright()
	if want := []float64{1, -2, 0, 3, 0, 0}; !slices.Equal(u.Frequency, want) || math.Signbit(u.Frequency[2]) {
		t.Errorf("frequencies %v, want %v", u.Frequency, want)
	}
	near(t, "k", u.naive(x, z), c.naive(x, z), 1e-15)
}

func TestFactorize(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	b := mat.NewDense(6, 6, normals(r, 36))
	full, rank2 := mat.NewDense(6, 6, nil), mat.NewDense(6, 6, nil)
	full.Mul(b, b.T())
	rank2.Mul(b.Slice(0, 6, 0, 2), b.Slice(0, 6, 0, 2).T())
	rank2.Set(5, 5, rank2.At(5, 5)-1e-9)
	for name, c := range map[string]struct {
		a      *mat.Dense
		jitter bool
	}{"full rank": {full, false}, "rank 2": {rank2, true}} {
		a := mat.DenseCopyOf(c.a)
		f, err := factorize(a)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if (f.jitter > 0) != c.jitter {
			t.Errorf("%s: jitter %v", name, f.jitter)
		}
		want := mat.DenseCopyOf(c.a)
		for i := range 6 {
			want.Set(i, i, want.At(i, i)+f.jitter)
		}
		near(t, name+": ln |A|", f.logDet(), math.Log(mat.Det(want)), 1e-5)
		x := mat.NewDense(6, 2, normals(r, 12))
		y := mat.DenseCopyOf(x)
		f.solve(y)
		var back mat.Dense
		back.Mul(want, y)
		for i, v := range back.RawMatrix().Data {
			near(t, name+": A·A⁻¹x", v, x.RawMatrix().Data[i], 1e-5)
		}
	}
	for name, v := range map[string]float64{"negative": -1, "NaN": math.NaN(), "infinite": math.Inf(1)} {
		if _, err := factorize(mat.NewDense(2, 2, []float64{v, 0, 0, 1e-3})); !errors.Is(err, vssgp.ErrBound) {
			t.Errorf("%s: error %v, want vssgp.ErrBound", name, err)
		}
	}
	if _, err := factorize(mat.NewDense(2, 2, []float64{1, 2, 2, 1})); !errors.Is(err, vssgp.ErrBound) {
		t.Errorf("indefinite: error %v, want vssgp.ErrBound", err)
	}
}
