package crosschannel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/audio/internal/ar"
)

// walls returns two channels with the same red noise, the first delayed by delay samples, and white noise of the given level in each.
func walls(n, delay int, level float64, seed uint64) (x, y []float64) {
	rng := rand.New(rand.NewPCG(seed, 4))
	sound := noise(rng, n+100, 0.9)
	for i := range n {
		x = append(x, 0.9*sound[50+i-delay]+level*rng.NormFloat64())
		y = append(y, sound[50+i]+level*rng.NormFloat64())
	}
	return x, y
}

// TestResidualMatchesLeastSquares compares the residual with weighted least squares by QR on the prediction errors.
func TestResidualMatchesLeastSquares(t *testing.T) {
	for _, c := range []struct{ n, delay int }{{16 * 8, 0}, {3000, 3}, {3000, -8}} {
		x, y := walls(c.n, c.delay, 0.01, 1)
		r, first := Residual(x, y, rate)
		if l := lags(rate); first != l || len(r) != c.n-2*l {
			t.Fatalf("%d samples from %d on, want %d from %d", len(r), first, c.n-2*l, l)
		}

		l, a := lags(rate), ar.Burg([]ar.Segment{{X: x}, {X: y}}, tileOrder).A
		e, other := ar.Errors(a, x), ar.Errors(a, y)
		rows := len(e) - 2*l - 1
		design, right := mat.NewDense(rows, 2*l+1, nil), mat.NewVecDense(rows, nil)
		part := int(block * rate)
		for i := range rows {
			at := i + l + 1
			lo, hi := max(l+1, at/part*part), min(len(e)-l, (at/part+1)*part)
			w := floats.Norm(other[lo:hi], 2) / math.Sqrt(float64(hi-lo))
			right.SetVec(i, w*e[at])
			for k := range 2*l + 1 {
				design.Set(i, k, w*other[at-(k-l)])
			}
		}
		var h mat.VecDense
		if err := h.SolveVec(design, right); err != nil {
			t.Fatal(err)
		}
		want := slices.Clone(x[l : c.n-l])
		floats.Sub(want, ar.Errors(h.RawVector().Data, y))
		tolerance := 0.01
		if c.n < 1000 {
			tolerance = 0.5 // the prior of the taps matters
		}
		if d := floats.Distance(r, want, 2) / floats.Norm(want, 2); !(d < tolerance) {
			t.Errorf("%d samples, delay %d: residual differs by %.3g", c.n, c.delay, d)
		}
	}
}

// TestResidualIsRobust checks that loud clicks in both channels do not change the residual elsewhere.
func TestResidualIsRobust(t *testing.T) {
	x, y := walls(20000, 1, 0.02, 2)
	clean, first := Residual(x, y, rate)
	at := map[int]bool{}
	for i := 500; i < len(x)-100; i += 700 {
		x[i] += 30
		y[i+350] -= 30
		for k := -2 * first; k <= 2*first; k++ {
			at[i+k], at[i+350+k] = true, true
		}
	}
	damaged, _ := Residual(x, y, rate)
	change, level := 0.0, 0.0
	for i := range clean {
		if !at[i+first] {
			d := damaged[i] - clean[i]
			change, level = change+d*d, level+clean[i]*clean[i]
		}
	}
	if ratio := math.Sqrt(change / level); !(ratio < 0.3) {
		t.Errorf("clicks change the residual elsewhere by %.3f of its level", ratio)
	}
}

// TestResidualWithoutPrediction checks that silence, a short channel and unrelated channels have no residual.
func TestResidualWithoutPrediction(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	x, silence := noise(rng, 4000, 0.5), make([]float64, 4000)
	for _, c := range []struct {
		name string
		x, y []float64
		none bool
	}{
		{"silence", silence, x, true}, {"other is silent", x, silence, true}, {"short", x[:127], x[1:128], true},
		{"shortest", x[:128], x[1:129], false},
	} {
		t.Run(fmt.Sprint(c.name), func(t *testing.T) {
			if r, _ := Residual(c.x, c.y, rate); (r == nil) != c.none {
				t.Errorf("%d samples of residual", len(r))
			}
		})
	}
}
