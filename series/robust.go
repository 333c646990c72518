package series

import (
	"cmp"
	"math"
	"slices"
)

// Outliers. A value's noise has λ or, with a small probability ε, κ²λ with κ = 10, 100 or 1000, each as likely. What the other values say
// of it (the prediction that leaves it out) is N(μ, v), so with r its distance from μ the odds of a κ are
//
//	⅓ε/(1−ε) · N(r | 0, v + κ²λ)/N(r | 0, v + λ)
//
// With the probabilities p_κ its expected precision is Σ p_κ/(κ²λ), which stands for its noise in the next fit. The rounds end when no
// probability of the usual noise moves by more than settled.
const (
	robustRounds = 10
	settled      = 0.01
	// The prior of ε is a beta distribution: as if one of twenty values seen before had been an outlier.
	outliersSeen, valuesSeen = 1.0, 20.0
)

// wider are the κ² of outliers.
var wider = []float64{1e2, 1e4, 1e6}

// robust finds outliers of a trial and its mode without them. The first round takes λ from the median of the residuals: the fit's own λ is
// the outliers'.
func (s *search) robust(t *trial) (*trial, error) {
	f := s.frame
	if f.weaker == nil {
		for range f.y {
			f.weaker = append(f.weaker, slices.Repeat([]float64{1}, f.Rows))
		}
	}
	before := make([]float64, len(f.y)*f.Rows)
	for range robustRounds {
		p, precision, err := s.odds(t)
		if err != nil {
			return nil, err
		}
		moved := 0.0
		for i, v := range p {
			moved = max(moved, math.Abs(v-before[i]))
			f.weaker[i/f.Rows][i%f.Rows] = 1 / math.Sqrt(precision[i])
			if v < settled { // the usual noise, to the last bit: the backend sums these
				f.weaker[i/f.Rows][i%f.Rows] = 1
			}
		}
		if moved < settled {
			break
		}
		before = p
		s.whole, s.tracks = f.tracks(), nil
		s.cover(t.parts)
		if t, err = s.trial(t.parts, t); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// odds are the probabilities of being an outlier, and the expected precisions in units of 1/λ, of each value [D·N]. With K⁻¹ the values'
// precision, the latent posterior variance v and the noise n = λe², the prediction that leaves a value out has the residual (y−f)·n/(n−v)
// and the latent variance v·n/(n−v).
func (s *search) odds(t *trial) (p, precision []float64, err error) {
	f := s.frame
	m := &Model{frame: f, layout: t.o.layout, tracks: f.tracks()}
	at, err := m.conditional(s.ctx, t.mode)
	if err != nil {
		return nil, nil, err
	}
	lambda, _ := t.o.layout.variance(t.mode)
	residual, variance := make([]float64, len(f.y)*f.Rows), make([]float64, len(f.y)*f.Rows)
	rows := &places{u: f.u, z: f.z}
	if err := m.latent(s.ctx, rows, at, "", func(d, n int, mean, latent, noise float64) {
		noise *= f.error(d, n) * f.error(d, n)
		left := noise / max(noise-latent, 1e-9*noise)
		residual[d*f.Rows+n], variance[d*f.Rows+n] = (f.y[d][n]-mean)*left, latent*left
	}); err != nil {
		return nil, nil, err
	}
	p, precision = make([]float64, len(residual)), make([]float64, len(residual))
	var scores []float64 // |r| in sds
	for i, r := range residual {
		if d, n := i/f.Rows, i%f.Rows; !math.IsNaN(r) {
			scores = append(scores, math.Abs(r)/math.Sqrt(variance[i]+lambda*f.usual(d, n)))
		}
	}
	slices.Sort(scores)
	usual := min(1, perMedian*scores[len(scores)/2])
	lambda *= cmp.Or(usual*usual, 1)
	share := outliersSeen / valuesSeen
	for range 5 {
		sum := 0.0
		for i, r := range residual {
			if !math.IsNaN(r) {
				noise := lambda * f.usual(i/f.Rows, i%f.Rows)
				p[i], precision[i] = odds(r, variance[i], noise, share)
				sum += p[i]
			}
		}
		share = (sum + outliersSeen) / (float64(len(scores)) + valuesSeen)
	}
	return p, precision, nil
}

// odds is the probability that a value with residual r is an outlier, and its expected precision in units of 1/noise.
func odds(r, variance, noise, share float64) (p, precision float64) {
	good := variance + noise
	logs := make([]float64, len(wider))
	largest := 0.0 // of the logarithms of odds
	for i, k := range wider {
		bad := variance + k*noise
		logs[i] = math.Log(share/(1-share)/float64(len(wider))) + 0.5*math.Log(good/bad) + 0.5*r*r*(1/good-1/bad)
		largest = max(largest, logs[i])
	}
	sum := math.Exp(-largest)
	precision = sum
	for i, k := range wider {
		odd := math.Exp(logs[i] - largest)
		p += odd
		precision += odd / k
		sum += odd
	}
	return p / sum, precision / sum
}

// Outliers are the rows of output d whose values are rather outliers than not, if the fit was robust.
func (m *Model) Outliers(d int) (rows []int) {
	if m.frame.weaker == nil {
		return nil
	}
	for n, w := range m.frame.weaker[d] {
		if w > math.Sqrt2 { // less than half of the usual precision
			rows = append(rows, n)
		}
	}
	return rows
}
