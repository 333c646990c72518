package vssgp

import (
	"math"
	"testing"
)

// conjugateWithin is what the ends of conjugateGradients' short iterations
// leave of the error, in the data's fit.
const conjugateWithin = 5e-3

// TestConjugateMean: G's diagonal is the one that the moments have, and the
// mean fits as well as the exact one, for all rows; a part of the rows stands
// for all of them.
func TestConjugateMean(t *testing.T) {
	for _, c := range []struct{ n, d int }{{300, 1}, {200, 3}} {
		data := &Data{N: c.n, Q: 1, D: c.d}
		for i := range c.n {
			data.X = append(data.X, float64(i))
			for d := range c.d {
				data.Y = append(data.Y, math.Sin(0.2*float64(i)+float64(d))+0.1*math.Sin(7.1*float64(i)))
			}
		}
		m, err := New(data, Options{Init: InitPaper, Lengthscales: []float64{4, 15}, Features: 20, NoisePrecision: 20})
		if err != nil {
			t.Fatal(err)
		}
		h, err := m.hold(data)
		if err != nil {
			t.Fatal(err)
		}
		defer h.rows.Close()
		wantDiag, wantMean, err := h.exactDiagonal(m.Params)
		if err != nil {
			t.Fatal(err)
		}
		diag, mean, err := h.conjugateMean(m.Params, nil)
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range wantDiag {
			if math.Abs(diag[k]-v) > 1e-12*v {
				t.Fatalf("G[%d,%d] = %v, want %v", k, k, diag[k], v)
			}
		}
		value := func(mean []float64) float64 {
			p := m.Params.Clone()
			p.CoefMean, p.CoefVar = mean, make([]float64, len(mean))
			for i := range p.CoefVar {
				p.CoefVar[i] = 1 / (1 + p.NoisePrecision[0]*wantDiag[i/c.d])
			}
			e, err := h.factorised(p, nil, false)
			if err != nil {
				t.Fatal(err)
			}
			return e.Bound
		}
		zero, near, best := value(make([]float64, len(mean))), value(mean), value(wantMean)
		if near > best || best-near > conjugateWithin*(best-zero) {
			t.Errorf("D=%d: the bound is %v, at the exact mean %v, at zero %v", c.d, near, best, zero)
		}
		half := make([]int, c.n/2)
		for i := range half {
			half[i] = 2 * i
		}
		part, _, err := h.conjugateMean(m.Params, half)
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range wantDiag {
			if math.Abs(part[k]-v) > 0.1*v {
				t.Errorf("from half the rows G[%d,%d] = %v, from all %v", k, k, part[k], v)
			}
		}
	}
}

// TestManyFeaturesStart: beyond what is solved for directly the mean is near
// the exact one.
func TestManyFeaturesStart(t *testing.T) {
	data := &Data{N: 400, Q: 1, D: 1}
	for i := range data.N {
		data.X = append(data.X, float64(i))
		data.Y = append(data.Y, math.Sin(0.2*float64(i)))
	}
	o := Options{Init: InitPaper, Lengthscales: []float64{4}, Features: directLimit + 1, NoisePrecision: 20, Iterations: NoIterations}
	fill := func(inference Inference) []float64 {
		o.Inference = inference
		m, _, err := Fit(t.Context(), data, o)
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.PredictRows(data.X, data.N)
		if err != nil {
			t.Fatal(err)
		}
		return p.Mean
	}
	exact, off := fill(Exact), 0.0
	for i, v := range fill(Factorised) {
		off += (v - exact[i]) * (v - exact[i])
	}
	if rms := math.Sqrt(off / float64(data.N)); rms > conjugateWithin {
		t.Errorf("the start's mean is %v off the exact one", rms)
	}
}
