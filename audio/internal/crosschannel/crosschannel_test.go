package crosschannel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/audio/internal/ar"
	"github.com/vssgp/vssgp/internal/linalg/blocktri"
	"github.com/vssgp/vssgp/internal/testkit"
)

const rate = 8000

// noise returns white noise or, with feedback in (0, 1), red noise.
func noise(rng *rand.Rand, n int, feedback float64) []float64 {
	last := 0.0
	return testkit.Numbers(n, func(int) float64 {
		last = feedback*last + rng.NormFloat64()
		return last
	})
}

// mixed returns channels 1, …, 5 of red noise, and channel 0: own red noise plus heard, a mixture of delayed channel 3 and channel 5.
func mixed(n int, own float64) (z [][]float64, heard []float64) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 6 {
		z = append(z, noise(rng, n, 0.9))
	}
	heard = make([]float64, n)
	for i := range n {
		if i >= 5 {
			heard[i] = 0.7*z[3][i-5] - 0.5*z[5][i]
		}
		z[0][i] = own*z[0][i] + heard[i]
	}
	return z, heard
}

// TestPredict checks that the informative channels are found, the prediction, and that gaps of the predictors are gaps of the residual.
func TestPredict(t *testing.T) {
	const n = 9000
	gap := [2]int{4000, 4100}
	for _, c := range []struct {
		name    string
		others  [][2]int // gaps of channel 3
		own     float64
		error   float64 // maximum error relative to heard
		missing [][2]int
	}{
		{"predictable", nil, 0, 1e-3, [][2]int{gap}},
		{"partly predictable", nil, 0.8, 0.12, [][2]int{gap}},
		{"another channel has gaps", [][2]int{{3000, 3300}, {4300, 4310}}, 0.8, 0.12, [][2]int{{2992, 3308}, gap, {4292, 4318}}},
	} {
		z, heard := mixed(n, c.own)
		gaps := make([][][2]int, len(z))
		gaps[0], gaps[3] = [][2]int{gap}, c.others
		for k := range z {
			for _, g := range gaps[k] {
				copy(z[k][g[0]:g[1]], slices.Repeat([]float64{100}, g[1]-g[0])) // must not be used
			}
		}
		p := Predict(z, gaps, 0, 0, []int{1, 2, 3, 4, 5}, rate)
		if p == nil {
			t.Fatalf("%s: no prediction", c.name)
		}
		if len(p.Channels) != most || !slices.Contains(p.Channels, 3) || !slices.Contains(p.Channels, 5) || !slices.IsSorted(p.Channels) {
			t.Errorf("%s: predicted from channels %v, want 3, 5 and one more", c.name, p.Channels)
		}
		if !slices.Equal(p.Gaps, c.missing) || p.Gaps[p.Which] != gap {
			t.Errorf("%s: gaps %v, index of the gap to fill %d, want %v", c.name, p.Gaps, p.Which, c.missing)
		}
		mean, truth := p.Mean[gap[0]:gap[1]], heard[gap[0]:gap[1]]
		if e := floats.Distance(mean, truth, 2) / floats.Norm(truth, 2); !(e < c.error) {
			t.Errorf("%s: relative error %.4f, want less than %v", c.name, e, c.error)
		}
		for _, i := range []int{gap[0] - 1, gap[1]} {
			testkit.Near(t, p.Left[i]+p.Mean[i], z[0][i], 1e-12, c.name, ": residual plus prediction of sample ", i)
		}
	}
}

// TestNoPrediction checks that there is no prediction from uninformative or mostly missing channels.
func TestNoPrediction(t *testing.T) {
	const n = 9000
	rng := rand.New(rand.NewPCG(3, 4))
	x, other := noise(rng, n, 0.9), noise(rng, n, 0.9)
	huge := slices.Repeat([]float64{1e200, -1e200}, n/2)
	for _, c := range []struct {
		name string
		x, y []float64
		gaps [][2]int // of y
		from []int
	}{
		{"no channel", x, x, nil, nil},
		{"independent", x, other, nil, []int{1}},
		{"silent", x, make([]float64, n), nil, []int{1}},
		{"silence to predict", make([]float64, n), x, nil, []int{1}},
		{"hardly known", x, x, [][2]int{{0, 3980}, {4120, n}}, []int{1}},
		{"beyond squares", x, huge, nil, []int{1}},
		{"beyond squares to predict", huge, x, nil, []int{1}},
	} {
		z := [][]float64{slices.Clone(c.x), slices.Clone(c.y)}
		if p := Predict(z, [][][2]int{{{4000, 4100}}, c.gaps}, 0, 0, c.from, rate); p != nil {
			t.Errorf("%s: predicted from %v", c.name, p.Channels)
		}
	}
	for _, edge := range [][2]int{{0, 40}, {n - 40, n}} { // at the ends of the recording
		if p := Predict([][]float64{x, x}, [][][2]int{{edge}, nil}, 0, 0, []int{1}, rate); p == nil || math.Abs(p.Mean[edge[0]+20]-x[edge[0]+20]) > 1e-3 {
			t.Errorf("gap %v: prediction %v", edge, p)
		}
	}
}

// TestNormal compares the sums with their definitions.
func TestNormal(t *testing.T) {
	z, _ := mixed(400, 0.5)
	p := &problem{z, make([][][2]int, len(z)), 0, [2]int{200, 220}, 3, 1000}
	p.gaps[0] = [][2]int{p.gap}
	a := []float64{0.2, -0.7, 1}
	from := []int{3, 5}
	s := p.normal(a, from)
	e := make([][]float64, len(z))
	for c := range z {
		e[c] = append(make([]float64, len(a)-1), ar.Errors(a, z[c])...)
	}
	taps := 2*p.l + 1
	at := func(k, n int) float64 { return e[from[k/taps]][n-(k%taps-p.l)] }
	want, right := make([]float64, len(s.right)*len(s.right)), make([]float64, len(s.right))
	for _, run := range p.known(from, 2, 6, 397) {
		for lo := run[0]; lo < run[1]; lo += 25 {
			hi := min(lo+25, run[1])
			d := max(float64(p.gap[0]-hi), float64(lo-p.gap[1]), 0)
			w := math.Pow(math.Cos(math.Pi/2*d/500), 2)
			for n := lo; n < hi; n++ {
				for i := range right {
					right[i] += w * e[0][n] * at(i, n)
					for j := range right {
						want[i*len(right)+j] += w * at(i, n) * at(j, n)
					}
				}
			}
		}
	}
	for i := range right {
		testkit.Near(t, s.right[i], right[i], 1e-9*s.square, "right side ", i)
		for j := range i + 1 {
			testkit.Near(t, s.products.At(i, j), want[i*len(right)+j], 1e-9*s.square, "product ", i, j)
		}
	}
}

// TestEvidence compares the evidence with the dense covariance of the errors, K = I + Y Yᵀ/(λd), at the maximum-likelihood noise
// variance.
func TestEvidence(t *testing.T) {
	const n, m = 40, 3
	rng := rand.New(rand.NewPCG(9, 9))
	for _, strength := range []float64{0.3, 1, 10} {
		y, x := mat.NewDense(n, m, nil), mat.NewVecDense(n, nil)
		for i := range n {
			for j := range m {
				y.Set(i, j, rng.NormFloat64())
			}
			x.SetVec(i, strength*(y.At(i, 0)-0.5*y.At(i, 2))+rng.NormFloat64())
		}
		var products mat.SymDense
		products.SymOuterK(1, y.T())
		var right mat.VecDense
		right.MulVec(y.T(), x)
		band := blocktri.NewDense(m)
		copy(band.Diag[0], mat.DenseCopyOf(&products).RawMatrix().Data)
		s := &normal{products: band, right: right.RawVector().Data, square: mat.Dot(x, x), weights: n}
		_, gain := s.solve()
		want := 0.0
		for power := -9; power <= 1; power++ {
			k := mat.NewSymDense(n, nil)
			k.SymOuterK(1/(math.Pow(10, float64(power))*mat.Trace(&products)/m), y)
			for i := range n {
				k.SetSym(i, i, k.At(i, i)+1)
			}
			var c mat.Cholesky
			var a mat.VecDense
			if !c.Factorize(k) || c.SolveVecTo(&a, x) != nil {
				t.Fatal("K has no factor")
			}
			want = max(want, n/2.0*math.Log(s.square/mat.Dot(x, &a))-c.LogDet()/2)
		}
		if want == 0 || math.Abs(gain/want-1) > 1e-4 {
			t.Errorf("strength %v: the evidence gains %v nats, want %v", strength, gain, want)
		}
	}
}
