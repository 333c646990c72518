package gpu

import (
	"fmt"

	"github.com/vssgp/vssgp/kernels"
	"github.com/vssgp/vssgp/spectral"
)

// Pullback fills dst with the gradient by the features of a number whose
// gradient by the moments is bar.
func (r *rows) Pullback(dst, f *spectral.Features, bar *spectral.Moments) error {
	err := r.pass("pullback", func() error { return r.data.CheckPullback(dst, f, bar) }, func() error { return r.pullback(f, bar) })
	if err != nil {
		return err
	}
	adjoint(dst, f, r.host.sums, kernels.PullbackWidth(f.Q))
	return nil
}

// Sections of the operation's table.
const (
	pullbackChunks = iota
	pullbackJobs
	pullbackReduce
)

// layPullback plans the pass, with a chain one whose adjoints are on the card.
func (r *rows) layPullback(p *plan, free int64, c *chain) error {
	runs := runsOver(p.runs, p.offset)
	width := kernels.PullbackWidth(r.data.Q)
	_, _, size := gramOffsets(p.offset)
	p.wants[arrayGram] = 8 * size
	if c != nil {
		p.wants[arraySolved] = solvedBytes(p.m, p.d)
	} else {
		p.wants[arrayCoef] = int64(8 * p.m * p.d)
	}
	p.wants[arraySums] = int64(8 * p.m * width)
	kinds := []kind{columnKind(runs, pullbackCut, tileFor(runs), width)}
	return r.layOut(p, runs, kinds, free, func() {
		pass := p.passes[0]
		p.add(chunkTable(runs, pass.chunks), pass.jobs, pass.reduction)
	})
}

// pullback leaves the sums over the rows in host.sums, [M,width].
func (r *rows) pullback(f *spectral.Features, bar *spectral.Moments) error {
	p, a, err := r.prepare(opPullback, f, r.data.D, false, func(p *plan, free int64) error { return r.layPullback(p, free, nil) })
	if err != nil {
		return err
	}
	if err := r.upload(arrayGram, r.stageGram(bar.Gram)); err != nil {
		return err
	}
	if err := r.upload(arrayCoef, bar.C); err != nil {
		return err
	}
	return r.pullbackPass(p, a, r.address(arrayCoef))
}

// pullbackPass goes over the rows with the adjoints that stand on the card, C's at
// coef.
func (r *rows) pullbackPass(p *plan, a kernels.RowsBank, coef uint64) error {
	pass, width := p.passes[0], kernels.PullbackWidth(r.data.Q)
	if err := r.zero(arraySums, p.m*width); err != nil {
		return err
	}
	part := r.address(arrayPart)
	a.Chunks = r.section(p, pullbackChunks, 0, 0)
	err := r.sweep(pass, func(jobs span) error {
		a.Jobs = r.section(p, pullbackJobs, pass.width, jobs.lo)
		k := kernels.Pullback64{RowsBank: a, Gram: r.address(arrayGram), Cbar: coef, Part: part}
		return r.launchTile(pass.tile, &k, (*kernels.Pullback128)(&k), jobs.len())
	}, func(jobs span) error {
		return r.reduceSums(r.section(p, pullbackReduce, pass.reduceWidth, jobs.lo), jobs.len(), part, r.address(arraySums), pass.tile, width)
	})
	if err != nil {
		return fmt.Errorf("products: %w", err)
	}
	return r.download(&r.host.sums, arraySums, p.m*width)
}

// stageGram is a Gram matrix in one array: its own memory where it has one
// block, else a copy.
func (r *rows) stageGram(g *spectral.Gram) []float64 {
	if g.Blocks() == 1 {
		return g.Diag[0]
	}
	r.host.gram = r.host.gram[:0]
	for v, b := range g.Diag {
		r.host.gram = append(r.host.gram, b...)
		if v < len(g.Below) {
			r.host.gram = append(r.host.gram, g.Below[v]...)
		}
	}
	return r.host.gram
}
