package gpu

import (
	"fmt"

	"github.com/vssgp/vssgp/cuda"
	"github.com/vssgp/vssgp/kernels"
	"github.com/vssgp/vssgp/spectral"
)

// Predict fills dst with the latent function's mean and covariance at every
// row, in the order given to Open. It computes in float64 in either precision.
func (d *rows) Predict(dst *spectral.Prediction, f *spectral.Features, p *spectral.Posterior) error {
	if err := d.predict(dst, f, p); err != nil {
		return fmt.Errorf("gpu: predict: %w", err)
	}
	return nil
}

func (d *rows) predict(dst *spectral.Prediction, f *spectral.Features, p *spectral.Posterior) error {
	if err := d.open(); err != nil {
		return err
	}
	if err := d.data.CheckPredict(dst, f, p); err != nil {
		return err
	}
	offset := f.Offsets()
	if err := d.each(func(s *share) error { return s.finish(s.predict(f, p, offset)) }); err != nil {
		return err
	}
	dd, width := p.D, p.D+p.D*p.D
	for _, s := range d.shares {
		for n := range s.n {
			row := d.order[s.first+n]
			out := s.host.out[n*width:][:width]
			copy(dst.Mean[row*dd:][:dd], out)
			cov := dst.Cov[row*dd*dd:][:dd*dd]
			copy(cov, out[dd:])
			for i := 0; i < dd && p.Cov != nil; i++ {
				cov[i*dd+i] += s.host.quad[n]
			}
		}
	}
	return nil
}

// A predictBatch is the rows whose predictions are on the card at a time, and
// the jobs for them.
type predictBatch struct{ rows, quad, reduce, pieces span }

// Sections of the operation's table.
const (
	predictStretches = iota
	quadJobs
	quadReduce
	predictPieces
)

// predictPlan cuts the rows into pieces of one tile; a batch is consecutive
// pieces over rows rows at most.
type predictPlan struct {
	tile                 int
	stretches            []stretch
	batches              []predictBatch
	quad, reduce, pieces []int64
}

func newPredictPlan(runs []run, tile, rows int, cov bool) *predictPlan {
	p := &predictPlan{tile: tile, stretches: predictCut.stretches(runs, func(run) int { return 1 })}
	slot := 0
	for i, s := range p.stretches {
		tiles := parts(runs[s.run].m, tile)
		for lo := s.lo; lo < s.hi; lo += tile {
			hi := min(s.hi, lo+tile)
			if n := len(p.batches); n == 0 || hi-p.batches[n-1].rows.lo > rows {
				slot = 0
				p.batches = append(p.batches, predictBatch{
					span{lo, lo}, span{len(p.quad) / 5, 0}, span{len(p.reduce) / 5, 0}, span{len(p.pieces) / 3, 0},
				})
			}
			for t := 0; t < tiles && cov; t++ {
				p.quad = append(p.quad, int64(i), int64(lo), int64(hi), int64(t), int64(slot+t))
			}
			if cov {
				p.reduce = append(p.reduce, int64(lo), int64(hi-lo), int64(slot), int64(tiles), 1)
				slot += tiles
			}
			for from := lo; from < hi; from += kernels.ResidualRows {
				p.pieces = append(p.pieces, int64(i), int64(from), int64(min(hi, from+kernels.ResidualRows)))
			}
			b := &p.batches[len(p.batches)-1]
			b.rows.hi, b.quad.hi, b.reduce.hi, b.pieces.hi = hi, len(p.quad)/5, len(p.reduce)/5, len(p.pieces)/3
		}
	}
	return p
}

// most is how many rows the largest batch has, and how many slots.
func (p *predictPlan) most() (rows, slots int) {
	for _, b := range p.batches {
		rows = max(rows, b.rows.len())
		slots = max(slots, b.quad.len())
	}
	return rows, slots
}

func (s *share) planPredict(room int64, f *spectral.Features, offset []int, d int, cov bool) (*plan, error) {
	p := s.newPlan(&s.source, rowArrays, f.M, offset, d)
	p.cov = cov
	runs := runsOver(s.runs, offset)
	tile := tileFor(widest(runs))
	p.wants[arrayCoef] = int64(8 * f.M * (d + 1))
	if cov {
		_, _, size := gramOffsets(offset)
		p.wants[arrayGram] = 8 * size
	} else {
		p.wants[arrayCoef] = int64(16 * f.M * d)
	}
	lay := func(rows int) (bytes int64) {
		p.predict = newPredictPlan(runs, tile, rows, cov)
		p.table, p.begin = nil, nil
		p.add(stretchTable(runs, p.predict.stretches), p.predict.quad, p.predict.reduce, p.predict.pieces)
		most, slots := p.predict.most()
		p.wants[arrayOut] = int64(8 * most * (d + d*d))
		p.wants[arrayQuad], p.wants[arrayPart] = 0, int64(8*slots*tile)
		if cov {
			p.wants[arrayQuad] = int64(8 * most)
		}
		return p.wants.total() + int64(8*len(p.table))
	}
	// Batches of fewer and fewer rows beside all rows on the card, then beside
	// their own only.
	var needed int64
	for _, resident := range []bool{true, false} {
		for rows := parts(s.n, tile) * tile; rows >= tile; rows = rows / 2 / tile * tile {
			p.fit = fit{resident: resident || rows >= s.n, rows: s.n}
			needed = lay(rows)
			if !p.fit.resident {
				p.fit.rows, _ = p.predict.most()
			}
			needed += s.rowBytes() * int64(p.fit.rows)
			if needed <= room {
				p.cramped = p.fit.rows < s.n || len(p.predict.batches) > 1
				s.wantRows(&p.wants, p.at, p.fit.rows)
				return p, nil
			}
		}
	}
	return nil, &BudgetError{Needed: needed, Free: room}
}

// predict leaves the share's predictions in host.out, [N,D+D²], and, for a
// shared covariance, in host.quad what is to be added to each variance.
func (s *share) predict(f *spectral.Features, post *spectral.Posterior, offset []int) error {
	cov := post.Cov != nil
	p, a, err := s.prepare(opPredict, f,
		func(p *plan) bool { return p.shapes(f.M, offset, post.D, cov) },
		func(room int64) (*plan, error) { return s.planPredict(room, f, offset, post.D, cov) })
	if err != nil {
		return err
	}
	s.host.coef = append(s.host.coef[:0], post.Mean...)
	if cov {
		s.host.coef = appendDiagonal(s.host.coef, post.Cov)
		if err := s.upload(arrayGram, s.stageGram(post.Cov)); err != nil {
			return err
		}
	} else {
		s.host.coef = append(s.host.coef, post.Var...)
	}
	if err := s.upload(arrayCoef, s.host.coef); err != nil {
		return err
	}
	width := post.D + post.D*post.D
	s.host.out, s.host.quad = zeros(s.host.out, s.n*width), zeros(s.host.quad, s.n)
	for _, b := range p.predict.batches {
		if err := s.predictBatch(p, a, b, width); err != nil {
			return err
		}
	}
	return nil
}

// zeros is n zeros, in a's memory where they fit.
func zeros(a []float64, n int) []float64 {
	if cap(a) < n {
		return make([]float64, n)
	}
	a = a[:n]
	clear(a)
	return a
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

// predictBatch computes a batch's predictions and copies those of rows that
// meet features; the others' are zeros.
func (s *share) predictBatch(p *plan, a arguments, b predictBatch, width int) error {
	if !p.fit.resident {
		if err := s.sendRows(p.src, p.at, b.rows.lo, b.rows.hi); err != nil {
			return fmt.Errorf("rows: %w", err)
		}
		s.point(&a, p, b.rows.lo)
	}
	a.y = 0 // the outputs are those to come
	a.stretches = s.section(opPredict, p, predictStretches, 0, 0)
	n := b.rows.len()
	if err := s.zero(arrayOut, n*width); err != nil {
		return err
	}
	mean := s.address(arrayCoef)
	variance, shared := mean+uint64(8*p.m*p.d), uint64(0)
	if p.cov {
		variance, shared = 0, variance
	}
	a.jobs = s.section(opPredict, p, predictPieces, 3, b.pieces.lo)
	out := s.address(arrayOut) - uint64(8*b.rows.lo*width)
	if err := s.queue.launch(predictRows(s.q), b.pieces.len(), a.words(mean, variance, shared, out)); err != nil {
		return err
	}
	if p.cov {
		if err := s.zero(arrayQuad, n); err != nil {
			return err
		}
		a.jobs = s.section(opPredict, p, quadJobs, 5, b.quad.lo)
		k := tiled(p.predict.tile, kernels.PredictQuad64{}, kernels.PredictQuad128{})
		if err := s.queue.launch(k, b.quad.len(), a.words(s.address(arrayGram), s.address(arrayPart))); err != nil {
			return err
		}
		err := s.reduceSums(s.section(opPredict, p, quadReduce, 5, b.reduce.lo), b.reduce.len(), s.address(arrayPart),
			s.address(arrayQuad)-uint64(8*b.rows.lo), p.predict.tile, 1)
		if err != nil {
			return err
		}
		if err := s.mem[arrayQuad].Download(s.queue.stream, cuda.Bytes(s.host.quad[b.rows.lo:b.rows.hi]), 0); err != nil {
			return err
		}
	}
	return s.mem[arrayOut].Download(s.queue.stream, cuda.Bytes(s.host.out[b.rows.lo*width:b.rows.hi*width]), 0)
}
