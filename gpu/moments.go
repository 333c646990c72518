package gpu

import (
	"fmt"
	"runtime"
	"sync"

	"github.com/vssgp/vssgp/kernels"
	"github.com/vssgp/vssgp/spectral"
)

// columnWidth is how many sums moments_columns has of a feature: four outputs'
// and the second moment.
const columnWidth = 5

// Moments fills dst with C = Φ̄ᵀY and G = E[ΦᵀΦ].
func (d *rows) Moments(dst *spectral.Moments, f *spectral.Features) error {
	if err := d.moments(dst, f); err != nil {
		return fmt.Errorf("gpu: moments: %w", err)
	}
	return nil
}

func (d *rows) moments(dst *spectral.Moments, f *spectral.Features) error {
	if err := d.open(); err != nil {
		return err
	}
	if err := d.data.CheckMoments(dst, f); err != nil {
		return err
	}
	offset := f.Offsets()
	if err := d.each(func(s *share) error { return s.finish(s.moments(f, offset)) }); err != nil {
		return err
	}
	gram, sums := d.shares[0].host.gram, d.shares[0].host.sums
	for _, s := range d.shares[1:] {
		add(gram, s.host.gram)
		add(sums, s.host.sums)
	}
	for k := range f.M {
		for o := range dst.D {
			dst.C[k*dst.D+o] = sums[(o/outputGroup*f.M+k)*columnWidth+o%outputGroup]
		}
	}
	fillGram(dst.Gram, gram, func(k int) float64 { return sums[k*columnWidth+outputGroup] })
	return nil
}

// add adds b to a.
func add(a, b []float64) {
	for i, v := range b {
		a[i] += v
	}
}

// Sections of the operation's table.
const (
	gramStretches = iota
	gramJobs
	gramRunTable
	gramReduce
	columnStretches
	columnJobs
	columnReduce
	chainLevels // the first level's table of blocks; the others' follow
)

// planMoments plans the moments, and with a chain what it needs besides.
func (s *share) planMoments(room int64, m int, offset []int, c *chain) (*plan, error) {
	p := s.newPlan(&s.source, rowArrays, m, offset, s.d)
	p.chain = c
	c.want(&p.wants)
	runs := runsOver(s.runs, offset)
	tile, columns := s.tile(runs), groups(s.d)
	_, _, size := gramOffsets(offset)
	p.wants[arrayGram] = 8 * size
	p.wants[arraySums] = int64(8 * columns * m * columnWidth)
	kinds := []kind{gramKind(tile), columnKind(runs, columnCut, kernels.ColumnBlock)}
	slots := []int64{int64(8 * tile * tile), int64(8 * columns * kernels.ColumnBlock * columnWidth)}
	err := p.layOut(runs, kinds, slots, 0, room, func() {
		g, c := p.passes[0], p.passes[1]
		p.add(stretchTable(runs, g.stretches), g.jobs, gramRuns(runs, g), g.reduce)
		p.add(stretchTable(runs, c.stretches), c.jobs, c.reduce)
		p.add(p.chain.tables()...)
	})
	return p, err
}

// moments leaves the sums over the share's rows in host.gram, strictly lower
// triangles, and in host.sums, [groups,M,columnWidth].
func (s *share) moments(f *spectral.Features, offset []int) error {
	p, a, err := s.prepare(opMoments, f,
		func(p *plan) bool { return p.shapes(f.M, offset, s.d, false) },
		func(room int64) (*plan, error) { return s.planMoments(room, f.M, offset, nil) })
	if err != nil {
		return err
	}
	if err := s.sumMoments(opMoments, p, a); err != nil {
		return err
	}
	if err := s.download(&s.host.gram, arrayGram, p.gramNumbers()); err != nil {
		return err
	}
	return s.download(&s.host.sums, arraySums, p.sumNumbers())
}

// gramNumbers and sumNumbers are how many numbers the moments' arrays hold.
func (p *plan) gramNumbers() int { return int(p.wants[arrayGram] / 8) }
func (p *plan) sumNumbers() int  { return groups(p.d) * p.m * columnWidth }

// sumMoments leaves the sums over the share's rows on the card.
func (s *share) sumMoments(op operation, p *plan, a arguments) error {
	if err := s.zero(arrayGram, p.gramNumbers()); err != nil {
		return err
	}
	if err := s.zero(arraySums, p.sumNumbers()); err != nil {
		return err
	}
	if err := s.gramPass(op, p, a); err != nil {
		return fmt.Errorf("products: %w", err)
	}
	if err := s.columnPass(op, p, a); err != nil {
		return fmt.Errorf("columns: %w", err)
	}
	return nil
}

func (s *share) gramPass(op operation, p *plan, a arguments) error {
	pass := p.passes[0]
	k := gramKernel(pass.tile, s.mixed)
	part := s.address(arrayPart)
	a.stretches = s.section(op, p, gramStretches, 0, 0)
	return s.sweep(p, 0, a, func(c chunk, a arguments) error {
		a.jobs = s.section(op, p, gramJobs, pass.width, c.jobs.lo)
		return s.queue.launch(k, c.jobs.len(), a.words(part))
	}, func(jobs span) error {
		return s.queue.launch(kernelOf(kernels.MomentsGramReduce{}, 0), jobs.len(), []uint64{
			s.section(op, p, gramRunTable, 0, 0), s.section(op, p, gramReduce, 2, jobs.lo),
			part, s.address(arrayGram), uint64(pass.tile),
		})
	})
}

func (s *share) columnPass(op operation, p *plan, a arguments) error {
	pass := p.passes[1]
	group := func(g int) (part, sums uint64) {
		return s.address(arrayPart) + uint64(8*g*pass.slots*kernels.ColumnBlock*columnWidth),
			s.address(arraySums) + uint64(8*g*p.m*columnWidth)
	}
	a.stretches = s.section(op, p, columnStretches, 0, 0)
	return s.sweep(p, 1, a, func(c chunk, a arguments) error {
		a.jobs = s.section(op, p, columnJobs, pass.width, c.jobs.lo)
		for g := range groups(s.d) {
			part, _ := group(g)
			if err := s.queue.launch(columnKernel(s.mixed), c.jobs.len(), a.words(uint64(outputGroup*g), part)); err != nil {
				return err
			}
		}
		return nil
	}, func(jobs span) error {
		for g := range groups(s.d) {
			part, sums := group(g)
			if err := s.reduceSums(s.section(op, p, columnReduce, 5, jobs.lo), jobs.len(), part, sums, kernels.ColumnBlock, columnWidth); err != nil {
				return err
			}
		}
		return nil
	})
}

// reduceSums adds stretches' sums.
func (s *share) reduceSums(jobs uint64, blocks int, part, out uint64, tile, width int) error {
	return s.queue.launch(kernelOf(kernels.SumsReduce{}, 0), blocks, []uint64{jobs, part, out, uint64(tile), uint64(width)})
}

// fillGram writes lower triangles from an array in the order of
// spectral.NewGram to both triangles of g, and the diagonal.
func fillGram(g *spectral.Gram, lower []float64, diagonal func(k int) float64) {
	diag, below, _ := gramOffsets(g.Offset)
	for v, b := range g.Diag {
		m := g.Size(v)
		from := lower[diag[v]:][:m*m]
		mirror(b, from, m)
		for i := range m {
			b[i*m+i] = diagonal(g.Offset[v] + i)
		}
		if v < len(g.Below) {
			copy(g.Below[v], lower[below[v]:])
		}
	}
}

// mirrorBlock is the side of the squares that mirror copies at a time: two of
// them stay in the nearest cache.
const mirrorBlock = 32

// mirror copies the strictly lower triangle of a [m,m] to both triangles of b,
// large ones on all cores.
func mirror(b, a []float64, m int) {
	strip := func(lo int) {
		hi := min(m, lo+mirrorBlock)
		for col := 0; col < hi; col += mirrorBlock {
			for i := lo; i < hi; i++ {
				for j := col; j < min(i, col+mirrorBlock); j++ {
					v := a[i*m+j]
					b[i*m+j] = v
					b[j*m+i] = v
				}
			}
		}
	}
	strips := parts(m, mirrorBlock)
	workers := min(runtime.GOMAXPROCS(0), strips/8)
	if workers < 2 {
		for i := range strips {
			strip(i * mirrorBlock)
		}
		return
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < strips; i += workers {
				strip(i * mirrorBlock)
			}
		})
	}
	wg.Wait()
}
