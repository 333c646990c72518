package backendtest

import (
	"fmt"
	"math"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/testkit/oracle"
)

// checkPullback compares each field of the gradient with the oracle.
func checkPullback(p *problem, b backend.Backend) error {
	return p.withRows(b, func(r backend.Rows, out *fences) error {
		got := p.cotangent(out)
		if err := r.Pullback(got, p.features, p.bar); err != nil {
			return err
		}
		want := p.damped.Pullback(p.xs, p.ys, p.oracleBar[0], p.oracleBar[1])
		return sameFeatures("Pullback", got, want, p.tol.gradient)
	})
}

// checkAdjoint checks that ⟨bar, J·v⟩ = ⟨Jᵀbar, v⟩ for a direction v in each field, with J·v from
// central differences of the backend's Moments.
func checkAdjoint(p *problem, b backend.Backend) error {
	return p.withRows(b, func(r backend.Rows, out *fences) error {
		grad := p.cotangent(out)
		if err := r.Pullback(grad, p.features, p.bar); err != nil {
			return err
		}
		m := p.moments(out, p.d)
		return p.alongFields(grad, func(f *backend.Features) (float64, error) {
			if err := r.Moments(m, f); err != nil {
				return 0, err
			}
			return inner(p.bar, m), nil
		})
	})
}

// inner returns ⟨bar, m⟩ over C and all pairs of G.
func inner(bar, m *backend.Moments) (sum float64) {
	for i, c := range m.C {
		sum += bar.C[i] * c
	}
	for v, b := range m.Gram.Diag {
		for i, g := range b {
			sum += bar.Gram.Diag[v][i] * g
		}
	}
	for v, b := range m.Gram.Below {
		for i, g := range b {
			sum += 2 * bar.Gram.Below[v][i] * g
		}
	}
	return sum
}

// alongFields compares grad with the derivative of value along a random
// direction in each field of the features.
func (p *problem) alongFields(grad *backend.Features, value func(*backend.Features) (float64, error)) error {
	var scratch fences
	moved := p.cotangent(&scratch)
	moved.Window, moved.Windows = p.features.Window, p.features.Windows
	grads := grad.Fields()
	for i, field := range p.features.Fields() {
		direction := p.direction(field)
		err := p.along(field.Name, grads[i].Data, direction, func(step float64) (float64, error) {
			for j, from := range p.features.Fields() {
				copy(moved.Fields()[j].Data, from.Data)
			}
			for j, v := range direction {
				moved.Fields()[i].Data[j] += step * v
			}
			return value(moved)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// along compares the derivative from grad along a direction with the derivative of value by the step.
func (p *problem) along(name string, grad, direction []float64, value func(step float64) (float64, error)) error {
	var expected, size float64
	for i, v := range direction {
		expected += grad[i] * v
		size += math.Abs(grad[i] * v)
	}
	var failed error
	got, _ := oracle.Derivative(func(step float64) float64 {
		v, err := value(step)
		if err != nil {
			failed = err
		}
		return v
	}, 1.0/16)
	switch d := math.Abs(got - expected); {
	case failed != nil:
		return failed
	case size == 0 && got != 0:
		return fmt.Errorf("gradient with respect to %s is 0, by central differences %g", name, got)
	case size != 0 && !(d <= p.tol.difference*size):
		return fmt.Errorf("gradient with respect to %s along a direction: %.12g, by differences %.12g: relative error %.2g, allowed %.1g",
			name, expected, got, d/size, p.tol.difference)
	}
	return nil
}

// direction returns a random direction in a field. Its length is such that a step of 1 changes a
// phase by about a radian and no decay becomes negative. Decays of zero do not change, because they
// are at the limit of their domain; checkPullback covers them.
func (p *problem) direction(f backend.Field) []float64 {
	v := make([]float64, len(f.Data))
	for i := range v {
		v[i] = p.rng.NormFloat64()
		switch f.Name {
		case "Center":
			v[i] /= 4
		case "Decay":
			v[i] *= f.Data[i]
		case "Freq":
			v[i] /= math.Abs(p.features.Center[i]-p.offset) + 8 // the farthest row
		}
	}
	return v
}
