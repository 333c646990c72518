package optimize

import (
	"math/rand/v2"
	"slices"

	"github.com/vssgp/vssgp/variational"
)

// startCoefficients initializes the factorized posterior with the exact mean or an
// approximation, and with the optimal diagonal, s_k = 1/(1 + τ G_kk).
func (r *Run) startCoefficients() error {
	p := r.Params
	if len(p.CoefMean) > 0 && len(p.CoefVar) > 0 {
		return nil
	}
	n, direct := meanFrom(r.data.N, p.M(), len(p.Windows.Center) > 0, r.Inference)
	var rows []int // nil: all
	if n < r.data.N {
		rows = rand.New(rand.NewPCG(r.Seed, meanSalt)).Perm(r.data.N)[:n]
		slices.Sort(rows)
	}
	solve := r.directMean
	if !direct {
		solve = func(rows []int) (diag, mean []float64, err error) { return r.Rows.ApproximateMean(p, rows) }
	}
	diag, mean, err := solve(rows)
	if err != nil {
		return err
	}
	tau := p.NoisePrecision[0]
	p.CoefMean, p.CoefVar = mean, make([]float64, p.M()*p.D)
	for i := range p.CoefVar {
		p.CoefVar[i] = 1 / (1 + tau*diag[i/p.D])
	}
	return nil
}

const (
	// DirectLimit is the maximum number of features for which the initial factorized posterior is
	// solved for directly. Above it, models without windows use conjugate gradients.
	DirectLimit = 1024
	// With more features than DirectLimit, the mean is computed from random rows: meanRows, or
	// meanShare per feature if that is more.
	meanRows  = 8192
	meanShare = 4
	// directRows is the number of rows for the mean of fewer features if the rest of the fit uses
	// mini-batches.
	directRows = 1 << 16
	meanSalt   = 0x3ea2 // distinguishes this random stream from the others
)

// meanFrom returns the number of rows from which the initial mean of m features is computed, and
// whether it is solved for directly rather than by conjugate gradients.
func meanFrom(n, m int, windows bool, inference variational.Inference) (rows int, direct bool) {
	direct = m <= DirectLimit || windows
	switch {
	case !direct:
		return min(n, max(meanRows, meanShare*m)), false
	case inference == variational.Stochastic && !windows:
		return min(n, directRows), true
	}
	return n, true
}

// directMean is Rows.SolveMean for the given rows, nil for all, with G and C scaled up by s to N
// rows: (s·G + τ⁻¹I)⁻¹ s·C = (G + τ⁻¹I/s)⁻¹ C.
func (r *Run) directMean(rows []int) (diag, mean []float64, err error) {
	if rows == nil {
		return r.Rows.SolveMean(r.Params)
	}
	some, err := variational.Open(r.ctx, r.data.Some(rows), r.setting)
	if err != nil {
		return nil, nil, err
	}
	defer some.Close()
	p, scale := r.Params.Clone(), float64(r.data.N)/float64(len(rows))
	p.NoisePrecision[0] *= scale
	diag, mean, err = some.SolveMean(p)
	for i := range diag {
		diag[i] *= scale
	}
	return diag, mean, err
}
