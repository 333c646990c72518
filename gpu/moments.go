package gpu

import (
	"fmt"
	"runtime"

	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/kernels"
	"github.com/vssgp/vssgp/spectral"
)

// columnWidth is how many sums moments_columns has of a feature: four outputs'
// and the second moment.
const columnWidth = outputGroup + 1

// Moments fills dst with C = Φ̄ᵀY and G = E[ΦᵀΦ].
func (r *rows) Moments(dst *spectral.Moments, f *spectral.Features) error {
	err := r.pass("moments", func() error { return r.data.CheckMoments(dst, f) }, func() error { return r.moments(f) })
	if err != nil {
		return err
	}
	gram, sums := r.host.gram, r.host.sums
	for k := range f.M {
		for o := range dst.D {
			dst.C[k*dst.D+o] = sums[(o/outputGroup*f.M+k)*columnWidth+o%outputGroup]
		}
	}
	fillGram(dst.Gram, gram, func(k int) float64 { return sums[k*columnWidth+outputGroup] })
	return nil
}

// Sections of the operation's table.
const (
	gramChunks = iota
	gramJobs
	gramRunTable
	gramReduce
	columnChunks
	columnJobs
	columnReduce
	chainLevels // the first level's table of blocks; the others' follow
)

// layMoments plans the moments, and with a chain what it needs besides.
func (r *rows) layMoments(p *plan, free int64, c *chain) error {
	p.chain = c
	c.want(&p.wants)
	runs := runsOver(p.runs, p.offset)
	_, _, size := gramOffsets(p.offset)
	p.wants[arrayGram] = 8 * size
	p.wants[arraySums] = int64(8 * p.sumNumbers())
	kinds := []kind{gramKind(tileFor(runs)), columnKind(runs, columnCut, columnBlock, groups(p.d)*columnWidth)}
	return r.layOut(p, runs, kinds, free, func() {
		g, c := p.passes[0], p.passes[1]
		p.add(chunkTable(runs, g.chunks), g.jobs, gramRuns(runs, g), g.reduction)
		p.add(chunkTable(runs, c.chunks), c.jobs, c.reduction)
		p.add(p.chain.tables()...)
	})
}

// moments leaves the sums over the rows in host.gram, strictly lower triangles,
// and in host.sums, [groups,M,columnWidth].
func (r *rows) moments(f *spectral.Features) error {
	p, a, err := r.prepare(opMoments, f, r.data.D, false, func(p *plan, free int64) error { return r.layMoments(p, free, nil) })
	if err != nil {
		return err
	}
	if err := r.sumMoments(p, a); err != nil {
		return err
	}
	if err := r.download(&r.host.gram, arrayGram, p.gramNumbers()); err != nil {
		return err
	}
	return r.download(&r.host.sums, arraySums, p.sumNumbers())
}

// gramNumbers and sumNumbers are how many numbers the moments' arrays hold.
func (p *plan) gramNumbers() int { return int(p.wants[arrayGram] / 8) }
func (p *plan) sumNumbers() int  { return groups(p.d) * p.m * columnWidth }

// sumMoments leaves the sums over the rows on the card.
func (r *rows) sumMoments(p *plan, a kernels.RowsBank) error {
	if err := r.zero(arrayGram, p.gramNumbers()); err != nil {
		return err
	}
	if err := r.zero(arraySums, p.sumNumbers()); err != nil {
		return err
	}
	if err := r.gramPass(p, a); err != nil {
		return fmt.Errorf("products: %w", err)
	}
	if err := r.columnPass(p, a); err != nil {
		return fmt.Errorf("columns: %w", err)
	}
	return nil
}

func (r *rows) gramPass(p *plan, a kernels.RowsBank) error {
	pass, part := p.passes[0], r.address(arrayPart)
	a.Chunks = r.section(p, gramChunks, 0, 0)
	return r.sweep(pass, func(jobs span) error {
		a.Jobs = r.section(p, gramJobs, pass.width, jobs.lo)
		k := kernels.MomentsGram64{RowsBank: a, Part: part}
		return r.launchTile(pass.tile, &k, (*kernels.MomentsGram128)(&k), jobs.len())
	}, func(jobs span) error {
		return r.launch(&kernels.MomentsGramReduce{
			Runs: r.section(p, gramRunTable, 0, 0), Jobs: r.section(p, gramReduce, pass.reduceWidth, jobs.lo),
			Part: part, Gram: r.address(arrayGram), Tile: int64(pass.tile),
		}, jobs.len(), 0)
	})
}

func (r *rows) columnPass(p *plan, a kernels.RowsBank) error {
	a.Chunks = r.section(p, columnChunks, 0, 0)
	return r.columns(p, a, columnSums{
		pass: p.passes[1], jobs: columnJobs, reduce: columnReduce, width: columnWidth,
		kernel: func(a kernels.RowsBank, d0 int64, part uint64) kernel {
			return &kernels.MomentsColumns{RowsBank: a, D0: d0, Part: part}
		},
	})
}

// columnSums are sums of each feature by a pass of columnKind, columnBlock features
// a block.
type columnSums struct {
	pass         *pass
	jobs, reduce int // sections of the table
	width        int // sums of a feature
	shared       int // bytes
	kernel       func(a kernels.RowsBank, d0 int64, part uint64) kernel
}

// columns leaves the sums in arraySums, [groups,M,width]: a launch for each group of
// outputs.
func (r *rows) columns(p *plan, a kernels.RowsBank, c columnSums) error {
	group := func(g int) (part, sums uint64) {
		return r.address(arrayPart) + uint64(8*g*c.pass.slots*columnBlock*c.width),
			r.address(arraySums) + uint64(8*g*p.m*c.width)
	}
	return r.sweep(c.pass, func(jobs span) error {
		a.Jobs = r.section(p, c.jobs, c.pass.width, jobs.lo)
		for g := range groups(p.d) {
			part, _ := group(g)
			if err := r.launch(c.kernel(a, int64(outputGroup*g), part), jobs.len(), c.shared); err != nil {
				return err
			}
		}
		return nil
	}, func(jobs span) error {
		for g := range groups(p.d) {
			part, sums := group(g)
			if err := r.reduceSums(r.section(p, c.reduce, c.pass.reduceWidth, jobs.lo), jobs.len(), part, sums, columnBlock, c.width); err != nil {
				return err
			}
		}
		return nil
	})
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
	parallel.For(strips, min(runtime.GOMAXPROCS(0), strips/8), func(i int) { strip(i * mirrorBlock) })
}
