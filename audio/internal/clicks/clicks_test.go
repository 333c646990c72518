package clicks

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/internal/testkit"
)

const rate = 16000

// ringing returns resonant noise quantized to integers, with clicks of the given lengths at multiples of 1000 samples.
func ringing(n int, clicks ...int) []float64 {
	rng := rand.New(rand.NewPCG(1, 2))
	a, b := 0.0, 0.0
	x := testkit.Numbers(n, func(int) float64 {
		a, b = 1.8*a-0.95*b+20*rng.NormFloat64(), a
		return math.Round(a)
	})
	for i, length := range clicks {
		for k := range length {
			x[1000*(i+1)+k] += math.Round(300 * math.Cos(float64(2*k)))
		}
	}
	return x
}

// opened returns a window of x after one search.
func opened(t *testing.T, x []float64) *window {
	w := &window{Search: New(rate, 1, 5)}
	w.Least, w.Again = math.Inf(-1), math.Inf(-1)
	if !w.open(x) || w.search(order, len(x)) == nil {
		t.Fatal("nothing to find")
	}
	w.left = w.errors(w.left, w.x)
	w.correlate(w.y, w.left, 0, len(x))
	return w
}

// toeplitz returns R for n samples.
func (w *window) toeplitz(n int) *mat.SymDense {
	r := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			r.SetSym(i, j, w.lags[i-j])
		}
	}
	return r
}

// TestGainsMatchDenseSolutions compares the best length and gain at each first sample with T = yᵀR⁻¹y from dense solutions for all lengths.
func TestGainsMatchDenseSolutions(t *testing.T) {
	w := opened(t, ringing(1600, 3))
	clear(w.done)
	w.gains(900, 1100)
	seen, got := 0, w.best[len(lengths)-1]
	for lo := 900; lo < 1100; lo++ {
		best, length := math.Inf(-1), 0
		for n := 1; n <= longest; n++ {
			y, d := mat.NewVecDense(n, w.y[lo:lo+n]), mat.NewVecDense(n, nil)
			testkit.OK(t, d.SolveVec(w.toeplitz(n), y))
			if nats := gain(mat.Dot(d, y)/w.power[lo], n); nats >= minGain && nats > best {
				best, length = nats, n
			}
		}
		if length > 0 {
			testkit.Equal(t, got.length[lo], length, "length at ", lo)
			testkit.Near(t, got.nats[lo], best, 1e-6*best, "nats at ", lo)
			seen++
		} else if !math.IsInf(got.nats[lo], -1) {
			t.Errorf("%v nats at %d, want none", got.nats[lo], lo)
		}
	}
	if seen < 3 || seen > 150 {
		t.Errorf("%d first samples gain minGain nats", seen)
	}
}

// TestFeatures compares features with their definitions, computed from the errors with and without the candidate.
func TestFeatures(t *testing.T) {
	w := opened(t, ringing(1600, 3))
	for _, c := range []struct{ lo, hi int }{{1000, 1003}, {1000, 1001}, {700, 740}} {
		length := c.hi - c.lo
		got := w.change(c.lo, c.hi)
		y, d := mat.NewVecDense(length, w.y[c.lo:c.hi]), mat.NewVecDense(length, nil)
		testkit.OK(t, d.SolveVec(w.toeplitz(length), y))
		testkit.Within(t, "change", got.d, d.RawVector().Data, 1e-6*mat.Norm(d, 2))
		z := slices.Clone(w.x)
		floats.Sub(z[c.lo:c.hi], got.d)
		before, after := w.errors(nil, w.x), w.errors(nil, z)
		sum := func(e []float64, lo, hi int) (s float64) {
			for _, v := range e[lo:hi] {
				s += v * v
			}
			return s
		}
		end := c.hi + order
		total := sum(before, c.lo, end) - sum(after, c.lo, end)
		testkit.Near(t, mat.Dot(d, y), total, 1e-6*total, "T")
		variance := total / math.Exp(got.Features[fEnergy])
		if size := w.size[c.lo] * w.size[c.lo]; variance < size*(1-1e-9) || variance > 20*size {
			t.Errorf("variance %v of errors of size %v", variance, w.size[c.lo])
		}
		explained := make([]float64, len(z)/(end-c.lo)+3)
		for at := order; at+end-c.lo <= len(z); at++ {
			if 2*max(at-c.lo, c.lo-at) > end-c.lo {
				product, square := floats.Dot(before[c.lo:end], w.e[at:at+end-c.lo]), sum(w.e, at, at+end-c.lo)
				g := max(0, min(2, product/square))
				part := &explained[at/(end-c.lo)]
				*part = max(*part, g*(2*product-g*square))
			}
		}
		slices.Sort(explained)
		for f, want := range map[int]float64{
			fLength: math.Log(float64(length)),
			fLeft:   math.Log(sum(after, c.lo, end)/float64(end-c.lo)/variance + 0.1),
			fTail:   signedLog((sum(before, c.hi, end) - sum(after, c.hi, end)) / variance),
			fLevel:  math.Log10(sum(got.d, 0, length) / float64(length) / ((sum(w.z, c.lo-128, c.lo) + sum(w.z, c.hi, c.hi+128)) / 256)),
			fAgain:  explained[len(explained)-3] / sum(before, c.lo, end),
			fRoot:   math.Log(sum(w.a, 0, order+1)),
		} {
			testkit.Near(t, got.Features[f], want, 1e-6, fmt.Sprint("feature ", FeatureNames[f], " of ", c))
		}
	}
}

// TestRefined checks that the ends of a loud click are found exactly from a part of it, from a longer candidate, and from one of
// maximum length that ends in it.
func TestRefined(t *testing.T) {
	for _, length := range []int{5, 7, 12} {
		x := testkit.Numbers(2000, func(i int) float64 {
			return math.Round(2000 * (math.Sin(0.2*float64(i)) + math.Sin(0.5*float64(i)) + math.Sin(0.8*float64(i))))
		})
		for k := range length {
			x[1000+k] += math.Round(30_000 * math.Exp(-float64(k)/float64(length)))
		}
		w := opened(t, x)
		starts := [][2]int{{1000, 1000 + length}, {1000 + length/3, 1000 + length/2 + 1}, {997, 1002 + length}}
		for end := 1001; end < 1000+length; end++ {
			starts = append(starts, [2]int{end - longest, end})
		}
		for _, c := range starts {
			got := w.refined(w.change(c[0], c[1]), order)
			testkit.Equal(t, [2]int{got.Lo, got.Hi}, [2]int{1000, 1000 + length}, "from ", c)
			d, _ := w.solve(got.Lo, got.Hi)
			testkit.Equal(t, got.d, d, "change from ", c)
		}
	}
}

// TestChoose checks that the threshold depends on the sensitivity and the click rate nearby, and that adjacent clicks are merged.
func TestChoose(t *testing.T) {
	const n = 100 * rate
	s := New(rate, 1, 5)
	s.Weights = &Weights{Context: [Contexts]float64{0, 1, rateWeight, 0}}
	alone := Candidate{Lo: 50 * rate, Hi: 50*rate + 3, LogOdds: threshold(5) - rateWeight*math.Log(cleanRate) + 0.01}
	var others []Candidate
	for i := range 20 {
		at := 45*rate + i*rate/2 + rate/4
		others = append(others, Candidate{Lo: at, Hi: at + 1, LogOdds: 9})
	}
	weaker := alone
	weaker.LogOdds -= rateWeight*math.Log(1+1/cleanRate) - 0.01 // rate of one per second
	near := Candidate{Lo: alone.Hi + mergeGap, Hi: alone.Hi + mergeGap + 5, LogOdds: 3.5}
	for _, c := range []struct {
		name        string
		all         []Candidate
		sensitivity float64
		want        int
	}{
		{"alone", []Candidate{alone}, 5, 1}, {"less sensitive", []Candidate{alone}, 4.9, 0}, {"too faint", []Candidate{weaker}, 5, 0},
		{"among others", append(others[:20:20], weaker), 5, 21}, {"touching", []Candidate{near, alone}, 5, 1}, {"none", nil, 10, 0},
	} {
		got := s.Choose(c.all, n, c.sensitivity)
		if len(got) != c.want || !slices.IsSortedFunc(got, func(a, b Candidate) int { return a.Lo - b.Lo }) {
			t.Errorf("%s: %v, want %d", c.name, got, c.want)
		}
		if c.name == "touching" && (got[0].Lo != alone.Lo || got[0].Hi != near.Hi) {
			t.Errorf("touching: %v", got)
		}
		// The reported log-odds, from which the confidence follows, include the click rate.
		odds := map[string]float64{"alone": threshold(5) + 0.01, "among others": weaker.LogOdds + rateWeight*math.Log(1+cleanRate),
			"touching": max(alone.LogOdds, near.LogOdds) + rateWeight*math.Log(cleanRate)}
		if want, ok := odds[c.name]; ok && !slices.ContainsFunc(got,
			func(d Candidate) bool { return math.Abs(d.LogOdds-want) < 1e-9 }) {
			t.Errorf("%s: %v, want log-odds of %v", c.name, got, want)
		}
	}
	dense := make([]Candidate, 30*rate/40) // more than maxRate per second
	for i := range dense {
		dense[i] = Candidate{Lo: 40 * i, Hi: 40*i + 1, LogOdds: 5}
	}
	for _, c := range s.Choose(dense, 30*rate, 5) {
		if math.Abs(c.LogOdds-5-rateWeight*math.Log(maxRate+cleanRate)) > 1e-9 {
			t.Fatalf("dense: %v, want log-odds of 5 and the largest rate", c)
		}
	}

	s.Weights.Context = [Contexts]float64{1, 2, 0, 3}
	for i := range dense[:6] { // four of them are unsure, during 30 s
		dense[i].LogOdds = []float64{-2.01, -2, 0, 1, 2, 3}[i]
	}
	got := s.Choose(dense[:6], 30*rate, 5)
	testkit.Equal(t, len(got), 1, "clicks among unsure candidates")
	testkit.Near(t, got[0].LogOdds, 1+2*3+3*math.Log1p(4*rate/float64(rateSeconds*rate+got[0].Lo)), 1e-12, "log-odds among unsure candidates")
}

// TestRate compares the rate with the definition, and checks that it is the smallest solution.
func TestRate(t *testing.T) {
	for _, c := range []struct {
		odds, seconds, least, most float64
		n                          int
	}{
		{-20, 10, 0, 1e-6, 100}, // the prior of clean sound
		{6, 10, 9.9, 10, 100},
		{-1.5, 1, 190, 210, 200}, // sure only at a large rate
	} {
		all := slices.Repeat([]Candidate{{LogOdds: c.odds}}, c.n)
		rate := Rate(all, c.seconds)
		sum := float64(c.n) / (1 + math.Exp(-c.odds-ratePrior(rate))) / c.seconds
		testkit.Near(t, rate, sum, 2e-3*(sum+1e-3), "rate of candidates with log-odds ", c.odds)
		if rate > c.most {
			t.Errorf("rate %v, want at most %v", rate, c.most)
		}
	}
}

// TestClicksAreFoundExactly checks that clicks are found exactly, in a whole recording and in parts, and that none are found in silence, invalid or
// short data.
func TestClicksAreFoundExactly(t *testing.T) {
	x, s := ringing(5000, 3, 1, 12, 1), New(rate, 1, 5)
	hop, margin := s.Size()
	whole := s.Find(x, 0, 0, len(x))
	var parts []Candidate
	for lo := 0; lo < len(x); lo += 3 * hop {
		from, hi := max(0, lo-margin), min(len(x), lo+3*hop)
		parts = append(parts, s.Find(x[from:min(len(x), hi+margin)], from, lo, hi)...)
	}
	testkit.Equal(t, parts, whole, "in parts")
	var found [][2]int
	for _, c := range New(rate, 1, 5).Choose(whole, len(x), 5) {
		found = append(found, [2]int{c.Lo, c.Hi})
	}
	testkit.Equal(t, found, [][2]int{{1000, 1003}, {2000, 2001}, {3000, 3012}, {4000, 4001}}, "clicks")
	nan := slices.Clone(x)
	for i := 0; i < len(nan); i += 300 {
		nan[i] = math.NaN()
	}
	for name, x := range map[string][]float64{
		"silence": make([]float64, 2000), "constant": slices.Repeat([]float64{7}, 2000), "NaN": nan, "short": x[:300], "nothing": nil,
		"huge": slices.Repeat([]float64{1e308, -1e308, 0}, 700),
	} {
		if found := s.Find(x, 0, 0, len(x)); len(s.Choose(found, len(x), 10)) > 0 {
			t.Errorf("%s: %v", name, found)
		}
	}
	if found := New(rate, 0, 5).Find(x, 0, 0, len(x)); found != nil {
		t.Errorf("without a step: %v", found)
	}
}

// TestLogOdds compares the fitted quadratic form with a sum over all pairs, including features clipped at their bounds.
func TestLogOdds(t *testing.T) {
	w, rng := Fitted(), rand.New(rand.NewPCG(3, 1))
	for range 20 {
		var v, z, kept [Features]float64
		for i, low := range w.Low {
			at := 2*rng.Float64() - 0.5
			v[i], kept[i] = low+at*(w.High[i]-low), low+max(0, min(at, 1))*(w.High[i]-low)
			z[i] = 2*max(0, min(at, 1)) - 1
		}
		want, at := w.Of[0], 1
		for i := range z {
			want += w.Of[at] * z[i]
			for j := range i + 1 {
				want += w.Of[at+1+j] * z[i] * z[j]
			}
			at += i + 2
		}
		testkit.Near(t, w.LogOdds(&v), want, 1e-9, v)
		testkit.Near(t, w.LogOdds(&kept), want, 1e-9, kept)
	}
}
