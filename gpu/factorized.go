package gpu

import (
	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/kernels"
)

// slopeWidth returns the number of sums that factorized_gradient computes for a feature of q
// inputs: the sums of pullback, residuals for four outputs, squares and second moments.
func slopeWidth(q int) int { return kernels.PullbackWidth(q) + outputGroup + 2 }

// Factorized fills dst with the expected squared error over all rows, or over the given rows, and
// its gradient.
func (r *rows) Factorized(dst *backend.FactorizedSums, f *backend.Features, w *backend.Weights, given []int) error {
	invalid := r.data.CheckFactorized(dst, f, w, given)
	err := r.call("factorized", invalid, func() error { return r.factorized(f, w, given) })
	if err != nil {
		return err
	}
	dst.Value = sum(r.host[arrayValue])
	slopes(dst, f, w, r.host[arraySums])
	return nil
}

// slopes computes from the sums [groups,M,slopeWidth] the gradients and the part of the value
// beyond the residuals:
//
//	∂F/∂m_kd = −2 Σ_n r_nd φ̄_nk + 2 m_kd Σ_n (E[φ_nk²] − φ̄_nk²)   ∂F/∂s_kd = Σ_n E[φ_nk²]
func slopes(dst *backend.FactorizedSums, f *backend.Features, w *backend.Weights, sums []float64) {
	width, base := slopeWidth(f.Q), kernels.PullbackWidth(f.Q)
	for k := range f.M {
		s := sums[k*width+base:]
		square, second := s[outputGroup], s[outputGroup+1]
		var m2, s2 float64
		for o := range w.D {
			at := k*w.D + o
			m := w.Mean[at]
			m2 += m * m
			s2 += w.Var[at]
			along := sums[(o/outputGroup*f.M+k)*width+base+o%outputGroup]
			dst.Weights.Mean[at] = -2*along + 2*m*(second-square)
			dst.Weights.Var[at] = second
		}
		dst.Value += (m2+s2)*second - m2*square
	}
	adjoint(dst.Features, f, sums, width)
}

// planSlopes plans the gradient pass and the jobs for the residuals.
func (r *rows) planSlopes(p *plan) error {
	runs := allRuns(p.runs, p.offset) // rows without features have residuals too
	k := columnKind(columnCut, columnBlock, groups(p.d), slopeWidth(r.data.Q))
	chunks, _ := k.chunks(runs, k.count)
	p.rowJobs = add(p, rowJobs(chunks))
	p.needs[arrayCoef] = int64(16 * p.m * p.d)
	p.needs[arraySums] = int64(8 * p.m * k.groups * k.sums)
	p.needs[arrayRes] = int64(8 * p.n * p.d)
	p.needs[arrayValue] = int64(8 * p.rowJobs.rows)
	return r.addPasses(p, runs, k)
}

// factorized writes the sums over the rows to host[arraySums], [groups,M,slopeWidth], and the
// squared residuals to host[arrayValue]. It first computes the residuals of all rows for all
// features, then the gradient.
func (r *rows) factorized(f *backend.Features, w *backend.Weights, given []int) error {
	op := opFactorized
	if given != nil {
		op = opPick
	}
	if given != nil && len(given) == 0 {
		r.host[arrayValue], r.host[arraySums] = nil, make([]float64, groups(r.data.D)*f.M*slopeWidth(f.Q))
		return nil
	}
	p, a, err := r.prepare(op, f, r.data.D, given, r.planSlopes)
	if err != nil {
		return err
	}
	r.upload(arrayCoef, w.Mean, w.Var)
	mean, res := r.address(arrayCoef), r.address(arrayRes)
	variance := mean + uint64(8*p.m*p.d)
	pass := p.passes[0]
	a.Chunks, a.Jobs = r.at(p, pass.chunkTable), r.at(p, p.rowJobs)
	residual := &kernels.FactorizedResidual{PassArgs: a, Mean: mean, Res: res, Value: r.address(arrayValue)}
	r.launch(residual, p.rowJobs.rows, jobShared(f.Q, residual.Block(), 1))
	r.columns(p, pass, a, func(a kernels.PassArgs, _ slab, d0 int64, part uint64, blocks int) {
		gradient := &kernels.FactorizedGradient{PassArgs: a, Mean: mean, Var: variance, Res: res, D0: d0, Part: part}
		r.launch(gradient, blocks, gradientShared(f.Q, gradient.Block()))
	})
	r.download(p, arrayValue)
	r.download(p, arraySums)
	return nil
}
