package gpu

import (
	"fmt"

	"github.com/vssgp/vssgp/kernels"
	"github.com/vssgp/vssgp/spectral"
)

// slopeWidth is how many sums factorised_gradient has of a feature of q inputs:
// pullback's, residuals along four outputs, squares, second moments.
func slopeWidth(q int) int { return kernels.PullbackWidth(q) + outputGroup + 2 }

// Factorised fills dst with the expected squared error over the rows and its
// gradient.
func (r *rows) Factorised(dst *spectral.FactorisedSums, f *spectral.Features, w *spectral.Weights, given []int) error {
	check := func() error { return r.data.CheckFactorised(dst, f, w, given) }
	err := r.pass("factorised", check, func() error { return r.factorised(f, w, given) })
	if err != nil {
		return err
	}
	dst.Value = sum(r.host.value)
	slopes(dst, f, w, r.host.sums)
	return nil
}

// slopes turns the sums [groups,M,slopeWidth] into the value's part beyond the
// residuals and the gradients:
//
//	∂F/∂m_kd = −2 Σ_n r_nd φ̄_nk + 2 m_kd Σ_n (E[φ_nk²] − φ̄_nk²)   ∂F/∂s_kd = Σ_n E[φ_nk²]
func slopes(dst *spectral.FactorisedSums, f *spectral.Features, w *spectral.Weights, sums []float64) {
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

// Sections of the operation's table.
const (
	slopeChunks = iota
	slopeJobs
	slopeReduce
	slopeRowJobs
)

func (r *rows) laySlopes(p *plan, free int64) error {
	runs := allRuns(p.runs, p.offset) // rows that meet no feature have residuals
	width := groups(p.d) * slopeWidth(r.data.Q)
	k := columnKind(runs, columnCut, columnBlock, width)
	jobs := rowJobs(k.chunks(runs, k.count))
	p.rowJobs = len(jobs) / 3
	p.wants[arrayCoef] = int64(16 * p.m * p.d)
	p.wants[arraySums] = int64(8 * p.m * width)
	p.wants[arrayRes] = int64(8 * p.n * p.d)
	p.wants[arrayValue] = int64(8 * p.rowJobs)
	return r.layOut(p, runs, []kind{k}, free, func() {
		pass := p.passes[0]
		p.add(chunkTable(runs, pass.chunks), pass.jobs, pass.reduction, jobs)
	})
}

// factorised leaves the sums over the rows, or over the given ones, in host.sums
// [groups,M,slopeWidth] and their squared residuals in host.value.
func (r *rows) factorised(f *spectral.Features, w *spectral.Weights, given []int) error {
	sums := groups(r.data.D) * f.M * slopeWidth(f.Q)
	if given != nil && len(given) == 0 {
		r.host.value, r.host.sums = nil, make([]float64, sums)
		return nil
	}
	op := opFactorised
	if given != nil {
		op = opPick
	}
	p, a, err := r.prepare(op, f, r.data.D, false, func(p *plan, free int64) error {
		if given != nil {
			r.pick(p, given)
		}
		return r.laySlopes(p, free)
	})
	if err != nil {
		return err
	}
	r.host.coef = append(append(r.host.coef[:0], w.Mean...), w.Var...)
	if err := r.upload(arrayCoef, r.host.coef); err != nil {
		return err
	}
	if err := r.zero(arraySums, sums); err != nil {
		return err
	}
	if err := r.slopePass(p, a); err != nil {
		return err
	}
	if err := r.download(&r.host.value, arrayValue, p.rowJobs); err != nil {
		return err
	}
	return r.download(&r.host.sums, arraySums, sums)
}

// slopePass takes the residuals of all rows first, for all features, then the
// gradient.
func (r *rows) slopePass(p *plan, a kernels.RowsBank) error {
	mean, res := r.address(arrayCoef), r.address(arrayRes)
	variance := mean + uint64(8*p.m*p.d)
	a.Chunks = r.section(p, slopeChunks, 0, 0)
	a.Jobs = r.section(p, slopeRowJobs, 0, 0)
	residual := &kernels.FactorisedResidual{RowsBank: a, Mean: mean, Res: res, Value: r.address(arrayValue)}
	if err := r.launch(residual, p.rowJobs, jobShared(r.data.Q, residual.Block())); err != nil {
		return fmt.Errorf("residuals: %w", err)
	}
	err := r.columns(p, a, columnSums{
		pass: p.passes[0], jobs: slopeJobs, reduce: slopeReduce, width: slopeWidth(r.data.Q), shared: gradientShared(r.data.Q),
		kernel: func(a kernels.RowsBank, d0 int64, part uint64) kernel {
			return &kernels.FactorisedGradient{RowsBank: a, Mean: mean, Var: variance, Res: res, D0: d0, Part: part}
		},
	})
	if err != nil {
		return fmt.Errorf("gradient: %w", err)
	}
	return nil
}
