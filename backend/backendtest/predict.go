package backendtest

import (
	"cmp"
	"fmt"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/testkit/oracle"
)

// checkPredict compares mean and covariance at every row, in the original order, with the oracle, for
// a shared covariance and for a diagonal covariance.
func checkPredict(p *problem, b backend.Backend) error {
	return p.withRows(b, p.samePredictions)
}

// checkPredictWithoutOutputs makes the same comparison for data without outputs.
func checkPredictWithoutOutputs(p *problem, b backend.Backend) error {
	d := p.data
	d.D, d.Y = 0, nil
	return p.withData(b, d, p.samePredictions)
}

func (p *problem) samePredictions(r backend.Rows, out *fences) error {
	for name, post := range map[string]*backend.Posterior{"shared covariance": p.exact, "diagonal covariance": p.diagonal} {
		got := &backend.Prediction{Mean: out.make(p.n * p.d), Cov: out.make(p.n * p.d * p.d)}
		if err := r.Predict(got, p.features, post); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		mean, cov := p.damped.Predict(p.xs, p.posterior(post))
		var flat []float64
		for _, c := range cov {
			flat = append(flat, flatten(c)...)
		}
		err := cmp.Or(
			same("Mean", got.Mean, flatten(mean), p.tol.value),
			same("Cov", got.Cov, flat, p.tol.value),
		)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// posterior converts post to the oracle's type.
func (p *problem) posterior(post *backend.Posterior) *oracle.Posterior {
	o := &oracle.Posterior{Mean: unflatten(post.Mean, p.m)}
	for d := range p.d {
		var cov [][]float64
		if post.Cov != nil {
			cov = dense(post.Cov)
		} else {
			cov = unflatten(make([]float64, p.m*p.m), p.m)
			for k := range p.m {
				cov[k][k] = post.Var[k*p.d+d]
			}
		}
		o.Cov = append(o.Cov, cov)
	}
	return o
}
