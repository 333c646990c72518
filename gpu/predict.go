package gpu

import (
	"github.com/vssgp/vssgp/kernels"
	"github.com/vssgp/vssgp/spectral"
)

// Predict fills dst with the latent function's mean and covariance at every
// row, in the order given to Open.
func (r *rows) Predict(dst *spectral.Prediction, f *spectral.Features, p *spectral.Posterior) error {
	err := r.pass("predict", func() error { return r.data.CheckPredict(dst, f, p) }, func() error { return r.predict(f, p) })
	if err != nil {
		return err
	}
	dd, width := p.D, p.D+p.D*p.D
	for n, row := range r.layout.Order {
		out := r.host.out[n*width:][:width]
		copy(dst.Mean[row*dd:][:dd], out)
		cov := dst.Cov[row*dd*dd:][:dd*dd]
		copy(cov, out[dd:])
		for i := 0; i < dd && p.Cov != nil; i++ {
			cov[i*dd+i] += r.host.quad[n]
		}
	}
	return nil
}

// Sections of the operation's table.
const (
	predictChunks = iota
	quadJobs
	quadReduce
	predictRowJobs
)

// layPredict cuts the rows into pieces, and for a shared covariance into tiles of
// rows, each with a job for every tile of the features over it.
func (r *rows) layPredict(p *plan, free int64) error {
	runs := runsOver(p.runs, p.offset)
	p.tile = tileFor(runs)
	chunks := predictCut.chunks(runs, func(run) int { return 1 })
	var quad, reduce []int64
	for i, s := range chunks {
		tiles := parts(runs[s.run].m, p.tile)
		for lo := s.lo; lo < s.hi && p.cov; lo += p.tile {
			hi := min(s.hi, lo+p.tile)
			slot := len(quad) / 5
			for t := range tiles {
				quad = append(quad, int64(i), int64(lo), int64(hi), int64(t), int64(slot+t))
			}
			reduce = append(reduce, int64(lo), int64(hi-lo), int64(slot), int64(tiles), 1)
		}
	}
	jobs := rowJobs(chunks)
	p.quad, p.sum, p.rowJobs = len(quad)/5, len(reduce)/5, len(jobs)/3
	p.add(chunkTable(runs, chunks), quad, reduce, jobs)
	p.wants[arrayCoef] = int64(16 * p.m * p.d)
	p.wants[arrayOut] = int64(8 * p.n * (p.d + p.d*p.d))
	if p.cov {
		_, _, size := gramOffsets(p.offset)
		p.wants[arrayCoef] = int64(8 * p.m * (p.d + 1))
		p.wants[arrayGram] = 8 * size
		p.wants[arrayQuad] = int64(8 * p.n)
		p.wants[arrayPart] = int64(8 * p.quad * p.tile)
	}
	if needed := p.wants.total() + int64(8*len(p.table)); needed > free {
		perRow := r.own.total() + p.wants[arrayOut] + p.wants[arrayQuad] + p.wants[arrayPart]
		return r.refused(needed, free, perRow/int64(p.n))
	}
	return nil
}

// predict leaves the predictions in host.out, [N,D+D²], zeros where a row meets no
// feature, and, for a shared covariance, in host.quad what is to be added to each
// variance.
func (r *rows) predict(f *spectral.Features, post *spectral.Posterior) error {
	p, a, err := r.prepare(opPredict, f, post.D, post.Cov != nil, r.layPredict)
	if err != nil {
		return err
	}
	r.host.coef = append(r.host.coef[:0], post.Mean...)
	if p.cov {
		r.host.coef = appendDiagonal(r.host.coef, post.Cov)
		if err := r.upload(arrayGram, r.stageGram(post.Cov)); err != nil {
			return err
		}
	} else {
		r.host.coef = append(r.host.coef, post.Var...)
	}
	if err := r.upload(arrayCoef, r.host.coef); err != nil {
		return err
	}
	a.Y = 0 // the outputs are those to come
	a.Chunks = r.section(p, predictChunks, 0, 0)
	numbers := p.n * (p.d + p.d*p.d)
	if err := r.zero(arrayOut, numbers); err != nil {
		return err
	}
	a.Jobs = r.section(p, predictRowJobs, 0, 0)
	k := &kernels.PredictRows{RowsBank: a, Mean: r.address(arrayCoef), Out: r.address(arrayOut)}
	if beside := k.Mean + uint64(8*p.m*p.d); p.cov {
		k.Shared = beside
	} else {
		k.Var = beside
	}
	if err := r.launch(k, p.rowJobs, jobShared(r.data.Q, k.Block())); err != nil {
		return err
	}
	if p.cov {
		if err := r.predictQuad(p, a); err != nil {
			return err
		}
	}
	return r.download(&r.host.out, arrayOut, numbers)
}

// predictQuad leaves what a shared covariance adds to the variances in host.quad.
func (r *rows) predictQuad(p *plan, a kernels.RowsBank) error {
	if err := r.zero(arrayQuad, p.n); err != nil {
		return err
	}
	a.Jobs = r.section(p, quadJobs, 0, 0)
	k := kernels.PredictQuad64{RowsBank: a, Gram: r.address(arrayGram), Part: r.address(arrayPart)}
	if err := r.launchTile(p.tile, &k, (*kernels.PredictQuad128)(&k), p.quad); err != nil {
		return err
	}
	if err := r.reduceSums(r.section(p, quadReduce, 0, 0), p.sum, k.Part, r.address(arrayQuad), p.tile, 1); err != nil {
		return err
	}
	return r.download(&r.host.quad, arrayQuad, p.n)
}

// appendDiagonal appends g's diagonal.
func appendDiagonal(a []float64, g *spectral.Gram) []float64 {
	for v, b := range g.Diag {
		m := g.Size(v)
		for i := range m {
			a = append(a, b[i*m+i])
		}
	}
	return a
}
