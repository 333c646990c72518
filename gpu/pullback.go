package gpu

import (
	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/kernels"
)

// Pullback fills dst with the gradient with respect to the features of a scalar whose gradient
// with respect to the moments is bar.
func (r *rows) Pullback(dst, f *backend.Features, bar *backend.Moments) error {
	err := r.call("pullback", r.data.CheckPullback(dst, f, bar), func() error {
		p, a, err := r.prepare(opPullback, f, r.data.D, nil, r.planPullback)
		if err == nil {
			r.uploadGram(bar.Gram)
			r.upload(arrayCoef, bar.C)
			r.pullback(p, a, r.address(arrayCoef))
		}
		return err
	})
	if err != nil {
		return err
	}
	adjoint(dst, f, r.host[arraySums], kernels.PullbackWidth(f.Q))
	return nil
}

// planPullback plans the pass. The adjoint of C is uploaded, or it is in the array where Solve
// wrote the solution.
func (r *rows) planPullback(p *plan) error {
	runs := runsOver(p.runs, p.offset)
	width := kernels.PullbackWidth(r.data.Q)
	p.needs[arrayGram] = gramBytes(p.offset)
	if p.op == opPullbackSolved {
		p.needs[arraySolved] = solvedBytes(p.m, p.d)
	} else {
		p.needs[arrayCoef] = int64(8 * p.m * p.d)
	}
	p.needs[arraySums] = int64(8 * p.m * width)
	if r.planTables(p) {
		return nil
	}
	return r.addPasses(p, runs, columnKind(pullbackCut, tileFor(runs), 1, width).twoSided())
}

// pullback writes the sums over the rows to host[arraySums], [M,width]. The adjoints of G and C are
// on the device, in arrayGram and at coef.
func (r *rows) pullback(p *plan, a kernels.PassArgs, coef uint64) {
	if p.tables {
		r.pullTables(p, a, coef)
		r.download(p, arraySums)
		return
	}
	pass := p.passes[0]
	tile, q := int(pass.tile), r.data.Q
	kept, shared := int64(1), kernels.PullbackShared(tile, q, true)
	if shared > r.card.device.SharedPerBlock { // sums in device memory have the same bits
		kept, shared = 0, kernels.PullbackShared(tile, q, false)
	}
	r.columns(p, pass, a, func(a kernels.PassArgs, s slab, _ int64, part uint64, blocks int) {
		k := kernels.Pullback64{
			PassArgs: a, Slab: s.first, Most: s.rows, Store: r.address(arrayStore), Gram: r.address(arrayGram),
			Cbar: coef, Kept: kept, Part: part,
		}
		r.launchTile(pass.tile, &k, (*kernels.Pullback128)(&k), blocks, shared)
	})
	r.download(p, arraySums)
}

// uploadGram uploads a Gram matrix in the order of backend.NewGram.
func (r *rows) uploadGram(g *backend.Gram) {
	var blocks [][]float64
	for v, b := range g.Diag {
		blocks = append(blocks, b)
		if v < len(g.Below) {
			blocks = append(blocks, g.Below[v])
		}
	}
	r.upload(arrayGram, blocks...)
}
