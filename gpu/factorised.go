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
func (d *rows) Factorised(dst *spectral.FactorisedSums, f *spectral.Features, w *spectral.Weights, rows []int) error {
	if err := d.factorised(dst, f, w, rows); err != nil {
		return fmt.Errorf("gpu: factorised: %w", err)
	}
	return nil
}

func (d *rows) factorised(dst *spectral.FactorisedSums, f *spectral.Features, w *spectral.Weights, given []int) error {
	if err := d.open(); err != nil {
		return err
	}
	if err := d.data.CheckFactorised(dst, f, w, given); err != nil {
		return err
	}
	offset := f.Offsets()
	var picks []*pick
	if given != nil {
		picks = d.pick(given)
	}
	err := d.each(func(s *share) error {
		var mine *pick
		for i := range picks {
			if d.shares[i] == s {
				mine = picks[i]
			}
		}
		return s.finish(s.factorised(f, w, offset, mine))
	})
	if err != nil {
		return err
	}
	sums := d.shares[0].host.sums
	dst.Value = 0
	for i, s := range d.shares {
		if i > 0 {
			add(sums, s.host.sums)
		}
		for _, v := range s.host.value {
			dst.Value += v
		}
	}
	slopes(dst, f, w, sums)
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
	slopeStretches = iota
	slopeJobs
	slopeReduce
	slopeResiduals
)

// planFactorised plans for the share's own rows, or for those of a pick. Its
// rows come from the share's own on the card, where there is room for both.
func (s *share) planFactorised(room int64, m int, offset []int, of *pick) (*plan, error) {
	if of == nil {
		return s.planSlopes(room, s.newPlan(&s.source, rowArrays, m, offset, s.d))
	}
	p := s.newPlan(&of.source, pickArrays, m, offset, s.d)
	s.wantRows(&p.wants, rowArrays, s.n)
	p.wants[arrayIndex] = int64(8 * len(of.index))
	p.gather, p.index = true, of.index
	if p, err := s.planSlopes(room, p); err == nil && p.fit.resident {
		return p, nil
	}
	of.fetch(&s.source)
	return s.planSlopes(room, s.newPlan(&of.source, pickArrays, m, offset, s.d))
}

func (s *share) planSlopes(room int64, p *plan) (*plan, error) {
	runs := allRuns(p.src.runs, p.offset) // rows that meet no feature have residuals
	columns, width := groups(s.d), slopeWidth(s.q)
	p.wants[arrayCoef] = int64(16 * p.m * s.d)
	p.wants[arraySums] = int64(8 * columns * p.m * width)
	kinds := []kind{columnKind(runs, columnCut, kernels.ColumnBlock)}
	for _, c := range kinds[0].stretches(runs, kinds[0].count) {
		p.wants[arrayValue] += int64(8 * parts(c.hi-c.lo, kernels.ResidualRows))
	}
	slots := []int64{int64(8 * columns * kernels.ColumnBlock * width)}
	err := p.layOut(runs, kinds, slots, int64(8*s.d), room, func() {
		pass := p.passes[0]
		var jobs []int64
		jobs, p.residuals = residualJobs(pass)
		p.add(stretchTable(runs, pass.stretches), pass.jobs, pass.reduce, jobs)
	})
	return p, err
}

// factorised leaves the sums over the share's rows, or over the picked, in
// host.sums [groups,M,slopeWidth] and their squared residuals in host.value.
func (s *share) factorised(f *spectral.Features, w *spectral.Weights, offset []int, of *pick) error {
	s.host.value = s.host.value[:0]
	sums := groups(s.d) * f.M * slopeWidth(s.q)
	if of != nil && of.n == 0 {
		s.host.sums = append(s.host.sums[:0], make([]float64, sums)...)
		return nil
	}
	op := opFactorised
	if of != nil {
		op = opPick
	}
	p, a, err := s.prepare(op, f,
		func(p *plan) bool { return of == nil && p.shapes(f.M, offset, s.d, false) },
		func(room int64) (*plan, error) { return s.planFactorised(room, f.M, offset, of) })
	if err != nil {
		return err
	}
	s.host.coef = append(append(s.host.coef[:0], w.Mean...), w.Var...)
	if err := s.upload(arrayCoef, s.host.coef); err != nil {
		return err
	}
	if err := s.zero(arraySums, sums); err != nil {
		return err
	}
	if err := s.slopePass(op, p, a); err != nil {
		return err
	}
	if err := s.download(&s.host.value, arrayValue, int(p.wants[arrayValue]/8)); err != nil {
		return err
	}
	return s.download(&s.host.sums, arraySums, sums)
}

// slopePass goes chunk by chunk: the residuals of its rows first, for all
// features, then the gradient.
func (s *share) slopePass(op operation, p *plan, a arguments) error {
	pass, width := p.passes[0], slopeWidth(s.q)
	mean := s.address(arrayCoef)
	variance := mean + uint64(8*p.m*s.d)
	group := func(g int) (part, sums uint64) {
		return s.address(arrayPart) + uint64(8*g*pass.slots*kernels.ColumnBlock*width),
			s.address(arraySums) + uint64(8*g*p.m*width)
	}
	residual, gradient := residualKernel(s.q, s.mixed), gradientKernel(s.q, s.mixed)
	a.stretches = s.section(op, p, slopeStretches, 0, 0)
	return s.sweep(p, 0, a, func(c chunk, a arguments) error {
		res := s.address(arrayRes)
		if !p.fit.resident {
			res -= uint64(8 * c.rows.lo * s.d)
		}
		pieces := p.residuals[c.rows]
		a.jobs = s.section(op, p, slopeResiduals, 3, pieces.lo)
		value := s.address(arrayValue) + uint64(8*pieces.lo)
		if err := s.queue.launch(residual, pieces.len(), a.words(mean, res, value)); err != nil {
			return fmt.Errorf("residuals: %w", err)
		}
		a.jobs = s.section(op, p, slopeJobs, pass.width, c.jobs.lo)
		for g := range groups(s.d) {
			part, _ := group(g)
			if err := s.queue.launch(gradient, c.jobs.len(), a.words(mean, variance, res, uint64(outputGroup*g), part)); err != nil {
				return fmt.Errorf("gradient: %w", err)
			}
		}
		return nil
	}, func(jobs span) error {
		for g := range groups(s.d) {
			part, sums := group(g)
			if err := s.reduceSums(s.section(op, p, slopeReduce, 5, jobs.lo), jobs.len(), part, sums, kernels.ColumnBlock, width); err != nil {
				return err
			}
		}
		return nil
	})
}
