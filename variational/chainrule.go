package variational

import "github.com/vssgp/vssgp/backend"

// A chain is what the gradient of a bound is assembled from.
type chain struct {
	scale    float64           // times the data's part, which is by
	features *backend.Features // the effective features
	weights  *backend.Weights  // and by the coefficients; nil: they have no gradient
	kl       []klTerm
	weight   []float64 // of each window's KL terms; nil: 1
}

// pull overwrites dst with the gradient by all parameters but the noise precision. Each
// block of components takes all steps, while its numbers are in a core's cache.
func (p *Params) pull(dst *Params, c chain) {
	p.eachBlock(func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			p.pullFeatures(dst, c.features, c.scale, i)
		}
		from, end := lo*p.K*p.D, hi*p.K*p.D
		mean, variance := dst.CoefMean[from:end], dst.CoefVar[from:end]
		if c.weights == nil {
			clear(mean)
			clear(variance)
		} else {
			for i := range mean {
				mean[i] = c.scale * c.weights.Mean[from+i]
				variance[i] = c.scale * c.weights.Var[from+i]
			}
		}
		p.weighted(lo, hi, c.weight, func(lo, hi int, w float64) {
			for _, k := range c.kl {
				k.pull(p, dst, lo, hi, w)
			}
		})
	})
}
