package gpu

import (
	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/kernels"
)

// Predict fills dst with the latent function's mean and covariance at every row, in the row order
// of Open.
func (r *rows) Predict(dst *backend.Prediction, f *backend.Features, post *backend.Posterior) error {
	err := r.call("predict", r.data.CheckPredict(dst, f, post), func() error { return r.predict(f, post) })
	if err != nil {
		return err
	}
	dd, width := post.D, post.D+post.D*post.D
	for n, row := range r.layout.Order {
		out := r.host[arrayOut][n*width:][:width]
		copy(dst.Mean[row*dd:][:dd], out)
		cov := dst.Cov[row*dd*dd:][:dd*dd]
		copy(cov, out[dd:])
		for i := 0; i < dd && post.Cov != nil; i++ {
			cov[i*dd+i] += r.host[arrayQuad][n]
		}
	}
	return nil
}

// planPredict cuts the rows into jobs and, for a shared covariance, into pieces with a job for
// every tile of features.
func (r *rows) planPredict(p *plan) error {
	runs := runsOver(p.runs, p.offset)
	chunks, _ := uncut.chunks(runs, func(int64) int64 { return 1 })
	p.chunks, p.rowJobs = add(p, chunks), add(p, rowJobs(chunks))
	p.needs[arrayCoef] = int64(16 * p.m * p.d)
	p.needs[arrayOut] = int64(8 * p.n * (p.d + p.d*p.d))
	if p.op != opPredictShared {
		return r.addPasses(p, runs)
	}
	p.needs[arrayCoef] = int64(8 * p.m * (p.d + 1))
	p.needs[arrayGram] = gramBytes(p.offset)
	p.needs[arrayQuad] = int64(8 * p.n)
	var pieces []run
	quad := quadKind(tileFor(runs))
	chunks, _ = quadCut.chunks(runs, quad.count)
	for _, c := range chunks {
		pieces = append(pieces, run{Chunk: c}) // they share no row, so all may belong to one cell
	}
	return r.addPasses(p, pieces, quad)
}

// predict writes the predictions to host[arrayOut], [N,D+D²], with zeros for rows without features.
// With a shared covariance, the entries of host[arrayQuad] must be added to each variance.
func (r *rows) predict(f *backend.Features, post *backend.Posterior) error {
	op, variances := opPredict, post.Var
	if post.Cov != nil {
		op, variances = opPredictShared, diagonal(post.Cov)
	}
	p, a, err := r.prepare(op, f, post.D, nil, r.planPredict)
	if err != nil {
		return err
	}
	r.upload(arrayCoef, post.Mean, variances)
	r.zero(p, arrayOut)
	a.Y = 0 // the outputs are unknown
	a.Chunks, a.Jobs = r.at(p, p.chunks), r.at(p, p.rowJobs)
	k := &kernels.PredictRows{PassArgs: a, Mean: r.address(arrayCoef), Out: r.address(arrayOut)}
	k.Var = k.Mean + uint64(8*p.m*p.d)
	if op == opPredictShared {
		k.Var, k.Shared = 0, k.Var
	}
	r.launch(k, p.rowJobs.rows, jobShared(f.Q, k.Block(), 2))
	if op == opPredictShared {
		r.predictQuad(p, a, post.Cov)
	}
	r.download(p, arrayOut)
	return nil
}

// predictQuad writes the variance due to a shared covariance to host[arrayQuad].
func (r *rows) predictQuad(p *plan, a kernels.PassArgs, cov *backend.Gram) {
	r.uploadGram(cov)
	r.zero(p, arrayQuad)
	pass, part := p.passes[0], r.address(arrayPart)
	r.sweep(p, pass, a, func(a kernels.PassArgs, s slab, blocks int) {
		k := kernels.PredictQuad64{
			Chunks: a.Chunks, Jobs: a.Jobs, Slab: s.first, Most: s.rows, Store: r.address(arrayStore),
			Gram: r.address(arrayGram), Part: part,
		}
		r.launchTile(pass.tile, &k, (*kernels.PredictQuad128)(&k), blocks, kernels.TileShared(int(pass.tile)))
	}, func(chunks, reductions uint64, blocks int) {
		r.launchReduction(&kernels.PredictQuadReduce{
			Chunks: chunks, Reductions: reductions, Part: part, Out: r.address(arrayQuad),
		}, blocks, kernels.QuadRows)
	})
	r.download(p, arrayQuad)
}

// diagonal returns g's diagonal.
func diagonal(g *backend.Gram) (all []float64) {
	for v, b := range g.Diag {
		m := g.Size(v)
		for i := range m {
			all = append(all, b[i*m+i])
		}
	}
	return all
}
