package cpu

import (
	"fmt"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/internal/simd"
)

// predictRows is the number of rows of a tile.
const predictRows = 64

// Predict sets dst to the latent function's mean and covariance at every row, in the order given to
// Open. It takes O(N·M·D²) operations and, for a shared covariance, another 2·N·M² flops.
func (d *rows) Predict(dst *backend.Prediction, f *backend.Features, post *backend.Posterior) error {
	if err := d.data.CheckPredict(dst, f, post); err != nil {
		return fmt.Errorf("cpu: predict: %w", err)
	}
	s := d.work
	b := &s.params
	b.set(f, d.Delta)
	p := &predict{rows: d, params: b, post: post, dst: dst}
	p.mean = s.outputs(b, post.D, func(k, i int) float64 { return f.Amp[k] * post.Mean[k*post.D+i] })
	s.square = b.spread(s.square, func(k int) float64 { return 0.5 * f.Amp[k] })
	p.half = s.square
	if post.Cov != nil {
		s.packs.reset(&d.prepared, b, post.Cov)
	}
	parallel.For(len(d.chunks), workers(), func(i int) { p.chunk(d.chunks[i]) })
	return d.stopped("predict")
}

// predict is the state of one call of Predict.
type predict struct {
	*rows
	params *featureParams
	post   *backend.Posterior
	dst    *backend.Prediction
	mean   [][]float64 // [Count,8] A1·m of each output
	half   []float64   // [Count,8] A1/2
}

// chunk predicts a chunk's rows.
func (p *predict) chunk(c chunk) {
	lap, r := p.work.clock.begin(), p.Runs[c.run]
	t := p.work.over(&p.prepared, r, predictRows)
	defer p.work.put(t)
	t.reserveBar()
	t.res = simd.Resize(t.res, 2*predictRows)
	var matrix simd.Panels
	if p.post.Cov != nil {
		matrix = p.work.packs.get(c.run, r)
		defer p.work.packs.done(c.run)
	}
	lap.end(predictPacking)
	dd := p.post.D
	position := c.lo
	t.each(c.lo, c.hi, predictRows, func() {
		t.fillAll()
		lap.end(predictFeatures)
		at := p.Order[position:][:t.n]
		position += t.n
		sum, quad := t.res[:t.n], t.res[predictRows:][:t.n]
		for d, w := range p.mean {
			t.fit(sum, t.cos, t.of(w, simd.Lanes))
			for n, v := range sum {
				p.dst.Mean[at[n]*dd+d] = v
			}
		}
		clear(quad)
		if p.post.Cov != nil {
			simd.Product(t.bar, t.cos, matrix, 0, t.bar.Count)
			t.multiplyBar()
			t.fit(quad, t.bar, t.of(p.half, simd.Lanes))
		}
		lap.end(predictProducts)
		t.squares()
		for i := range dd {
			for j := range i + 1 {
				p.covariance(t, sum, i, j)
				for n, v := range sum {
					if i == j {
						v += quad[n]
					}
					p.dst.Cov[(at[n]*dd+i)*dd+j], p.dst.Cov[(at[n]*dd+j)*dd+i] = v, v
				}
			}
		}
		lap.end(predictCovariance)
	})
}

// multiplyBar multiplies bar by cos, so that its sum over k is a quadratic form.
func (t *tile) multiplyBar() {
	for j := range t.bar.Count {
		cos := t.cos.Panel(j)
		for i, c := range cos {
			t.bar.Panel(j)[i] *= c
		}
	}
}

// squares replaces cos by its square and sin by cos⁴ − sin⁴ = g²·e²·(cos² − sin²), from which second
// moments are computed.
func (t *tile) squares() {
	for j := range t.cos.Count {
		cos, sin := t.cos.Panel(j), t.sin.Panel(j)
		for i, c := range cos {
			c2, s2 := c*c, sin[i]*sin[i]
			cos[i], sin[i] = c2, (c2+s2)*(c2-s2)
		}
	}
}

// covariance computes for every row the covariance of outputs i and j,
//
//	Σ_k m_ki·m_kj·(E[φ_k²] − φ̄_k²) + 1[i=j]·S_kk·E[φ_k²]
func (p *predict) covariance(t *tile, sum []float64, i, j int) {
	f, dd := p.params.f, p.post.D
	count := t.cos.Count * simd.Lanes
	square, ripple := simd.Resize(t.weight[0], count), simd.Resize(t.weight[1], count)
	t.weight = [2][]float64{square, ripple}
	clear(square)
	clear(ripple)
	base := t.lo * simd.Lanes
	power := [2]float64{}
	for v, part := range t.parts {
		for k := p.params.offset[part.window]; k < p.params.offset[part.window+1]; k++ {
			spread := p.post.Mean[k*dd+i] * p.post.Mean[k*dd+j]
			second := spread
			switch {
			case i == j && p.post.Cov != nil:
				second += *diagonal(p.post.Cov, p.params, k)
			case i == j:
				second += p.post.Var[k*dd+i]
			}
			square[p.params.lane[k]-base] = -f.Amp[k] * f.Amp[k] * spread
			ripple[p.params.lane[k]-base] = f.Ripple[k] * second
			power[v] += f.Power[k] * second
		}
	}
	t.fit(sum, t.cos, square)
	own := t.scratch[:t.n]
	for v, part := range t.parts {
		t.fit(own, part.Sin, part.of(ripple, simd.Lanes))
		for n, g := range part.Gate {
			sum[n] += g*g*power[v] + part.Inv[n]*own[n]
		}
	}
}
