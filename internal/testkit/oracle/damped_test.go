package oracle

import (
	"math"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

var dampedShapes = map[string]shape{
	"one input":               {l: 2, k: 2, q: 1, d: 1, n: 7},
	"three inputs, 2 outputs": {l: 1, k: 4, q: 3, d: 2, n: 6},
	"windows":                 {l: 3, k: 2, q: 1, d: 2, n: 9, windows: true},
}

// TestEffective checks that the damped cosines have the model's moments, predictions and data
// terms.
func TestEffective(t *testing.T) {
	for name, s := range dampedShapes {
		t.Run(name, func(t *testing.T) {
			p, xs, ys := random(s, newRNG(1))
			f := Effective(p)
			c, g := f.Moments(xs, ys)
			near(t, "G", flatten(g), flatten(Gram(p, xs)), rounding)
			_, want := solver(p, xs, ys)
			near(t, "C", flatten(c), flatten(want), rounding)
			for _, post := range []*Posterior{ExactPosterior(p, xs, ys), FactorizedPosterior(p)} {
				mean, cov := f.Predict(xs, post)
				for n, x := range xs {
					m, v := Predict(p, post, x)
					for d := range v {
						v[d][d] -= 1 / p.NoisePrecision
					}
					near(t, "predicted mean", mean[n], m, rounding)
					near(t, "predicted covariance", flatten(cov[n]), flatten(v), rounding)
				}
			}
			rows := []int{1, 4, 1}
			value, _, _ := f.Factorized(xs, ys, Diagonal{p.CoefMean, p.CoefVar}, rows)
			terms := map[string]float64{}
			for _, term := range FactorizedTerms(p, xs, ys, rows) {
				terms[term.Name] = term.Value
			}
			scale := -p.NoisePrecision / 2 * float64(s.n) / float64(len(rows))
			near(t, "expected squared error", []float64{scale * value},
				[]float64{terms["data"] + terms["fit"] + terms["trace"]}, rounding)
		})
	}
}

// fields returns f's differentiable entries by name.
func (f *Damped) fields() []Tensor {
	return []Tensor{
		{"Center", matrix(f.Center)}, {"Decay", matrix(f.Decay)}, {"Freq", matrix(f.Freq)},
		{"Phase", vector(f.Phase)}, {"Amp", vector(f.Amp)}, {"Power", vector(f.Power)}, {"Ripple", vector(f.Ripple)},
	}
}

// sameDerivative compares each entry of bar with the central difference of value with respect
// to that entry of f.
func sameDerivative(t *testing.T, f, bar *Damped, value func() float64) {
	t.Helper()
	bars := bar.fields()
	for i, field := range f.fields() {
		var want []float64
		for _, entry := range field.Entries {
			at := *entry
			d, _ := Derivative(func(s float64) float64 { *entry = at + s; return value() }, 1.0/16)
			*entry = at
			want = append(want, d)
		}
		near(t, "d/d "+field.Name, bars[i].Values(), want, 1e-8)
	}
}

func TestDampedPullback(t *testing.T) {
	for name, s := range dampedShapes {
		t.Run(name, func(t *testing.T) {
			rng := newRNG(2)
			p, xs, ys := random(s, rng)
			f := Effective(p)
			m := len(f.Phase)
			barC, barG := array(m, s.d), array(m, m)
			for _, e := range append(matrix(barC), matrix(barG)...) {
				*e = rng.NormFloat64()
			}
			sameDerivative(t, f, f.Pullback(xs, ys, barC, barG), func() (sum float64) {
				c, g := f.Moments(xs, ys)
				for k := range m {
					for d := range c[k] {
						sum += barC[k][d] * c[k][d]
					}
					for j := range m {
						sum += barG[k][j] * g[k][j]
					}
				}
				return sum
			})
		})
	}
}

func TestDampedFactorizedGradient(t *testing.T) {
	for name, s := range dampedShapes {
		t.Run(name, func(t *testing.T) {
			p, xs, ys := random(s, newRNG(3))
			f, a := Effective(p), Diagonal{p.CoefMean, p.CoefVar}
			rows := []int{0, 3, 3, 5}
			value := func() float64 { v, _, _ := f.Factorized(xs, ys, a, rows); return v }
			_, bar, barA := f.Factorized(xs, ys, a, rows)
			sameDerivative(t, f, bar, value)
			for i, entry := range append(matrix(a.Mean), matrix(a.Var)...) {
				at := *entry
				want, _ := Derivative(func(s float64) float64 { *entry = at + s; return value() }, 1)
				*entry = at
				got := append(flatten(barA.Mean), flatten(barA.Var)...)[i]
				testkit.Near(t, got, want, 1e-9*(1+math.Abs(want)), "coefficient entry ", i)
			}
		})
	}
}
