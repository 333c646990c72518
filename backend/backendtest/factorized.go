package backendtest

import (
	"cmp"
	"fmt"
	"math"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/testkit/oracle"
)

// checkFactorized compares value and gradient with the oracle, over all rows, over an unsorted
// subset with a duplicate, over one row and over none.
func checkFactorized(p *problem, b backend.Backend) error {
	return p.withRows(b, func(r backend.Rows, out *fences) error {
		for name, rows := range map[string][]int{
			"all rows": nil, "some rows": p.subset, "the last row": {p.n - 1}, "no rows": {},
		} {
			got := p.sums(out)
			if err := r.Factorized(got, p.features, p.weights, rows); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			a := oracle.Diagonal{Mean: unflatten(p.weights.Mean, p.m), Var: unflatten(p.weights.Var, p.m)}
			value, f, barA := 0.0, (*oracle.Damped)(nil), oracle.Diagonal{}
			if len(rows) == 0 && rows != nil {
				value, f, barA = p.damped.Factorized(nil, p.ys[:1], a, nil)
			} else {
				value, f, barA = p.damped.Factorized(p.xs, p.ys, a, rows)
			}
			err := cmp.Or(
				same("Value", []float64{got.Value}, []float64{value}, p.tol.value),
				sameFeatures("gradient", got.Features, f, p.tol.gradient),
				same("gradient by Mean", got.Weights.Mean, flatten(barA.Mean), p.tol.gradient),
				same("gradient by Var", got.Weights.Var, flatten(barA.Var), p.tol.gradient),
			)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return nil
	})
}

// checkSumsWithoutOutputs checks that data without outputs have second moments, and that their
// squared errors and gradient are zero.
func checkSumsWithoutOutputs(p *problem, b backend.Backend) error {
	d := p.data
	d.D, d.Y = 0, nil
	return p.withData(b, d, func(r backend.Rows, out *fences) error {
		mom := p.moments(out, 0)
		if err := r.Moments(mom, p.features); err != nil {
			return err
		}
		sums := &backend.FactorizedSums{Value: math.NaN(), Features: p.cotangent(out), Weights: backend.NewWeights(p.m, 0)}
		if err := r.Factorized(sums, p.features, backend.NewWeights(p.m, 0), nil); err != nil {
			return err
		}
		_, g := p.damped.Moments(p.xs, p.ys)
		got := numbers(sums)
		return cmp.Or(
			same("G", flatten(dense(mom.Gram)), flatten(g), p.tol.value),
			same("Value and gradient", got, make([]float64, len(got)), 0),
		)
	})
}

// checkFactorizedAdd checks that the sums over the even rows and over the odd rows add up to the
// sums over all rows.
func checkFactorizedAdd(p *problem, b backend.Backend) error {
	if p.n < 2 {
		return nil
	}
	return p.withRows(b, func(r backend.Rows, out *fences) error {
		var all [3][]float64
		for i, rows := range [][]int{nil, p.everySecond(0), p.everySecond(1)} {
			s := p.sums(out)
			if err := r.Factorized(s, p.features, p.weights, rows); err != nil {
				return err
			}
			all[i] = numbers(s)
		}
		parts := make([]float64, len(all[0]))
		for i := range parts {
			parts[i] = all[1][i] + all[2][i]
		}
		return same("sums of two halves", parts, all[0], p.tol.adds)
	})
}

// numbers returns all values of s in one array.
func numbers(s *backend.FactorizedSums) []float64 {
	v := []float64{s.Value}
	for _, f := range s.Features.Fields() {
		v = append(v, f.Data...)
	}
	return append(append(v, s.Weights.Mean...), s.Weights.Var...)
}

// checkFactorizedGradient compares the gradient along a direction in each field with central
// differences of the backend's Value.
func checkFactorizedGradient(p *problem, b backend.Backend) error {
	return p.withRows(b, func(r backend.Rows, out *fences) error {
		s, other := p.sums(out), p.sums(out)
		if err := r.Factorized(s, p.features, p.weights, p.subset); err != nil {
			return err
		}
		err := p.alongFields(s.Features, func(f *backend.Features) (float64, error) {
			err := r.Factorized(other, f, p.weights, p.subset)
			return other.Value, err
		})
		if err != nil {
			return err
		}
		return cmp.Or(
			p.alongWeights("Mean", s.Weights.Mean, r, other),
			p.alongWeights("Var", s.Weights.Var, r, other),
		)
	})
}

// alongWeights makes this comparison for the coefficients' means or variances.
func (p *problem) alongWeights(name string, grad []float64, r backend.Rows, other *backend.FactorizedSums) error {
	direction, moved := make([]float64, len(grad)), backend.NewWeights(p.m, p.d)
	for i := range direction {
		direction[i] = p.rng.Float64() // positive, so that no variance becomes negative
	}
	return p.along("coefficient "+name, grad, direction, func(step float64) (float64, error) {
		copy(moved.Mean, p.weights.Mean)
		copy(moved.Var, p.weights.Var)
		to := moved.Mean
		if name == "Var" {
			to = moved.Var
		}
		for i, v := range direction {
			to[i] += step * v
		}
		err := r.Factorized(other, p.features, moved, p.subset)
		return other.Value, err
	})
}
