package ranks

import (
	"github.com/vssgp/vssgp/spectral"
)

// predict fills dst, on rank 0, in the order of the rows as they were given; p
// is rank 0's, and has d outputs, and a covariance that all share if cov.
func (s *set) predict(dst *spectral.Prediction, f *spectral.Features, p *spectral.Posterior, d int, cov bool) error {
	s.shareFeatures(f)
	posterior := s.sharePosterior(f, p, d, cov)
	parts := make([]*spectral.Prediction, len(s.own))
	err := s.each(func(i int, one *share) error {
		n := one.hi - one.lo
		if parts[i] = spectral.NewPrediction(n, d); n == 0 || one.features.M == 0 {
			return nil // no feature reaches these rows
		}
		return one.rows.Predict(parts[i], one.features, posterior(one))
	})
	if err := s.agree(err); err != nil {
		return err
	}
	both := make([][]float64, len(parts))
	for i, part := range parts {
		both[i] = append(part.Mean, part.Cov...)
	}
	s.collect(both, func(i int) int { return (s.cuts[i].hi - s.cuts[i].lo) * d * (1 + d) }, func(i int, part []float64) {
		c := s.cuts[i]
		cov := part[(c.hi-c.lo)*d:]
		for j := range c.hi - c.lo {
			row := c.lo + j
			if s.order != nil {
				row = s.order[row]
			}
			copy(dst.Mean[row*d:(row+1)*d], part[j*d:])
			copy(dst.Cov[row*d*d:(row+1)*d*d], cov[j*d*d:])
		}
	})
	return nil
}

// sharePosterior gives each rank what its rows meet of the posterior, and each
// share its own.
func (s *set) sharePosterior(f *spectral.Features, p *spectral.Posterior, d int, cov bool) func(one *share) *spectral.Posterior {
	switch {
	case s.windows == 1:
		return s.broadcastPosterior(p, d, cov)
	case cov:
		var g *spectral.Gram
		var mean []float64
		if p != nil {
			g, mean = p.Cov, p.Mean
		}
		s.distributeBlocks(g, mean, d)
		return func(one *share) *spectral.Posterior {
			return &spectral.Posterior{Mean: one.moments.C, Cov: one.moments.Gram, D: d}
		}
	}
	var w *spectral.Weights
	var offset []int
	if p != nil {
		w, offset = &spectral.Weights{Mean: p.Mean, Var: p.Var, D: d}, f.Offsets()
	}
	mean, variance := s.shareWeights(w, offset, d)
	return func(one *share) *spectral.Posterior {
		at, n := s.firstFeature(one)*d, one.features.M*d
		return &spectral.Posterior{Mean: mean[at:][:n], Var: variance[at:][:n], D: d}
	}
}

func (s *set) broadcastPosterior(p *spectral.Posterior, d int, cov bool) func(*share) *spectral.Posterior {
	if p == nil {
		n := s.features.M * d
		p = &spectral.Posterior{Mean: make([]float64, n), D: d}
		if cov {
			p.Cov = spectral.NewGram(s.features.Offsets())
		} else {
			p.Var = make([]float64, n)
		}
	}
	if cov {
		s.broadcastMoments(&spectral.Moments{C: p.Mean, Gram: p.Cov, D: d})
	} else {
		s.broadcast(p.Mean)
		s.broadcast(p.Var)
	}
	return func(*share) *spectral.Posterior { return p }
}
