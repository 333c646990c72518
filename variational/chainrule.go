package variational

import "github.com/vssgp/vssgp/backend"

// A chain contains the parts of the gradient of a bound.
type chain struct {
	scale    float64           // factor of the data term's gradient
	features *backend.Features // data term's gradient with respect to the effective features
	weights  *backend.Weights  // data term's gradient with respect to the coefficients; nil if they are not parameters
	kl       []klTerm
	weight   []float64 // weight of each window's KL terms; nil means 1
}

// pull overwrites dst with the gradient with respect to all parameters except the noise precision. It
// completes each block of components before the next one, so that the block stays in cache.
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
