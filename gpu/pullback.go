package gpu

import (
	"fmt"

	"github.com/vssgp/vssgp/kernels"
	"github.com/vssgp/vssgp/spectral"
)

// Pullback fills dst with the gradient by the features of a number whose
// gradient by the moments is bar.
func (d *rows) Pullback(dst, f *spectral.Features, bar *spectral.Moments) error {
	if err := d.pullback(dst, f, bar); err != nil {
		return fmt.Errorf("gpu: pullback: %w", err)
	}
	return nil
}

func (d *rows) pullback(dst, f *spectral.Features, bar *spectral.Moments) error {
	if err := d.open(); err != nil {
		return err
	}
	if err := d.data.CheckPullback(dst, f, bar); err != nil {
		return err
	}
	offset := f.Offsets()
	if err := d.each(func(s *share) error { return s.finish(s.pullback(f, bar, offset)) }); err != nil {
		return err
	}
	d.pulled(dst, f)
	return nil
}

// pulled adds the shares' sums and turns them into the adjoint.
func (d *rows) pulled(dst, f *spectral.Features) {
	sums := d.shares[0].host.sums
	for _, s := range d.shares[1:] {
		add(sums, s.host.sums)
	}
	adjoint(dst, f, sums, kernels.PullbackWidth(f.Q))
}

// Sections of the operation's table.
const (
	pullbackStretches = iota
	pullbackJobs
	pullbackReduce
	digitRuns // these three in mixed precision only
	digitJobs
	digitPlaces
)

// planPullback plans the pass, with a chain one whose adjoints are on the card.
func (s *share) planPullback(room int64, m int, offset []int, c *chain) (*plan, error) {
	p := s.newPlan(&s.source, rowArrays, m, offset, s.d)
	runs := runsOver(s.runs, offset)
	tile, width := s.tile(runs), kernels.PullbackWidth(s.q)
	_, _, size := gramOffsets(offset)
	p.wants[arrayGram] = 8 * size
	if c != nil {
		p.wants[arraySolved] = solvedBytes(m, s.d)
	} else {
		p.wants[arrayCoef] = int64(8 * m * s.d)
	}
	p.wants[arraySums] = int64(8 * m * width)
	kinds := []kind{columnKind(runs, pullbackCut, tile)}
	var digits digitTables
	if s.mixed {
		if widest(runs) > mostDigits {
			return nil, fmt.Errorf("%d features over a run, in mixed precision at most %d: %w", widest(runs), mostDigits, spectral.ErrShape)
		}
		digits = newDigitTables(runs)
		p.wants[arrayRoom] = digits.bytes
	}
	err := p.layOut(runs, kinds, []int64{int64(8 * tile * width)}, 0, room, func() {
		pass := p.passes[0]
		p.add(stretchTable(runs, pass.stretches), pass.jobs, pass.reduce)
		if s.mixed {
			p.add(digits.runs, digits.jobs, digits.placesOf(pass.stretches))
		}
	})
	return p, err
}

// pullback leaves the sums over the share's rows in host.sums, [M,width].
func (s *share) pullback(f *spectral.Features, bar *spectral.Moments, offset []int) error {
	p, a, err := s.prepare(opPullback, f,
		func(p *plan) bool { return p.shapes(f.M, offset, s.d, false) },
		func(room int64) (*plan, error) { return s.planPullback(room, f.M, offset, nil) })
	if err != nil {
		return err
	}
	if err := s.upload(arrayGram, s.stageGram(bar.Gram)); err != nil {
		return err
	}
	if err := s.upload(arrayCoef, bar.C); err != nil {
		return err
	}
	return s.pullbackPass(opPullback, p, a, s.address(arrayCoef))
}

// pullbackPass goes over the rows with the adjoints that stand on the card, C's at
// coef.
func (s *share) pullbackPass(op operation, p *plan, a arguments, coef uint64) error {
	pass, width := p.passes[0], kernels.PullbackWidth(s.q)
	if err := s.zero(arraySums, p.m*width); err != nil {
		return err
	}
	k, part := pullbackKernel(pass.tile, s.mixed), s.address(arrayPart)
	inputs := []uint64{s.address(arrayGram), coef}
	if s.mixed {
		if err := s.digits(op, p, &a); err != nil {
			return fmt.Errorf("digits: %w", err)
		}
		inputs = append(inputs, s.address(arrayRoom), s.section(op, p, digitPlaces, 0, 0))
	}
	inputs = append(inputs, part)
	a.stretches = s.section(op, p, pullbackStretches, 0, 0)
	err := s.sweep(p, 0, a, func(c chunk, a arguments) error {
		a.jobs = s.section(op, p, pullbackJobs, pass.width, c.jobs.lo)
		return s.queue.launch(k, c.jobs.len(), a.words(inputs...))
	}, func(jobs span) error {
		return s.reduceSums(s.section(op, p, pullbackReduce, 5, jobs.lo), jobs.len(), part, s.address(arraySums), pass.tile, width)
	})
	if err != nil {
		return fmt.Errorf("products: %w", err)
	}
	return s.download(&s.host.sums, arraySums, p.m*width)
}
