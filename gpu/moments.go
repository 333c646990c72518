package gpu

import (
	"runtime"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/internal/rowspectrum"
	"github.com/vssgp/vssgp/kernels"
)

// columnSums is the number of sums of a feature that moments_columns computes: one for each of four
// outputs, and the second moment.
const columnSums = outputGroup + 1

// Moments fills dst with C = Φ̄ᵀY and G = E[ΦᵀΦ].
func (r *rows) Moments(dst *backend.Moments, f *backend.Features) error {
	err := r.call("moments", r.data.CheckMoments(dst, f), func() error {
		p, a, err := r.prepare(opMoments, f, r.data.D, nil, r.planMoments)
		if err == nil {
			r.sumMoments(p, a)
			r.download(p, arrayGram)
			r.download(p, arraySums)
		}
		return err
	})
	if err != nil {
		return err
	}
	if dst.Terms = 0; r.Tables() {
		dst.Terms = rowspectrum.Terms
	}
	sums := r.host[arraySums]
	for k := range f.M {
		for o := range dst.D {
			dst.C[k*dst.D+o] = sums[(o/outputGroup*f.M+k)*columnSums+o%outputGroup]
		}
	}
	fillGram(dst.Gram, r.host[arrayGram], func(k int) float64 { return sums[k*columnSums+outputGroup] })
	return nil
}

// planMoments plans the moments and, for a solution, its chain.
func (r *rows) planMoments(p *plan) error {
	runs := runsOver(p.runs, p.offset)
	p.needs[arrayGram] = gramBytes(p.offset)
	p.needs[arraySums] = int64(8 * groups(p.d) * p.m * columnSums)
	if p.op == opSolve {
		p.addChain(goesDense(p.offset, p.d, r.card.device.SharedPerBlock))
	}
	if r.planTables(p) {
		return nil
	}
	return r.addPasses(p, runs, gramKind(tileFor(runs)), columnKind(columnCut, columnBlock, groups(p.d), columnSums))
}

// sumMoments computes the sums over the rows on the device: strictly lower triangles in arrayGram,
// and [groups,M,columnSums] in arraySums.
func (r *rows) sumMoments(p *plan, a kernels.PassArgs) {
	r.zero(p, arrayGram)
	if r.spectrum.used = p.tables; p.tables {
		r.sumTables(p, a, true)
		return
	}
	g, part := p.passes[0], r.address(arrayPart)
	r.sweep(p, g, a, func(a kernels.PassArgs, s slab, blocks int) {
		k := kernels.MomentsGram64{
			Chunks: a.Chunks, Jobs: a.Jobs, Slab: s.first, Most: s.rows, Store: r.address(arrayStore), Part: part,
		}
		r.launchTile(g.tile, &k, (*kernels.MomentsGram128)(&k), blocks, kernels.TileShared(int(g.tile)))
	}, func(chunks, reductions uint64, blocks int) {
		r.launchReduction(&kernels.MomentsGramReduce{
			Chunks: chunks, Reductions: reductions, Part: part, Gram: r.address(arrayGram), Tile: g.tile,
		}, blocks, g.tile*g.tile)
	})
	r.columns(p, p.passes[1], a, func(a kernels.PassArgs, _ slab, d0 int64, part uint64, blocks int) {
		r.launch(&kernels.MomentsColumns{PassArgs: a, D0: d0, Part: part}, blocks, 0)
	})
}

// fillGram copies lower triangles, in the order of backend.NewGram, to both triangles of g and
// fills the diagonal.
func fillGram(g *backend.Gram, lower []float64, diagonal func(k int) float64) {
	diag, below, _ := gramOffsets(g.Offset)
	for v, b := range g.Diag {
		m := g.Size(v)
		mirror(b, lower[diag[v]:][:m*m], m)
		for i := range m {
			b[i*m+i] = diagonal(g.Offset[v] + i)
		}
		if v < len(g.Below) {
			copy(g.Below[v], lower[below[v]:])
		}
	}
}

// mirrorBlock is the side of the squares that mirror copies at a time. Two squares fit into the L1
// cache.
const mirrorBlock = 32

// mirror copies the strictly lower triangle of a [m,m] to both triangles of b, on all cores if m is
// large.
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
