package series

import (
	"cmp"
	"math"
	"slices"
)

// Outliers. A value's noise has λ or, with the small probability ε, κ²λ. What the other values say of it (the prediction that leaves it
// out) is N(μ, v), so with r its distance from μ the odds that it is an outlier are
//
//	ε/(1−ε) · N(r | 0, v + κ²λ)/N(r | 0, v + λ)
//
// With that probability p its expected precision is ((1−p) + p/κ²)/λ, which stands for its noise in the next fit. The rounds end when no
// probability moves by more than settled.
const (
	outlierFactor = 10 // κ
	robustRounds  = 10
	settled       = 0.01
	// The prior of ε is a beta distribution: as if one of twenty values seen before had been an outlier.
	outliersSeen, valuesSeen = 1.0, 20.0
)

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
		p, err := s.odds(t)
		if err != nil {
			return nil, err
		}
		moved := 0.0
		for i, v := range p {
			moved = max(moved, math.Abs(v-before[i]))
			f.weaker[i/f.Rows][i%f.Rows] = 1 / math.Sqrt(1-v+v/(outlierFactor*outlierFactor))
			if v < settled { // the usual noise, to the last bit: the backend sums these
				f.weaker[i/f.Rows][i%f.Rows] = 1
			}
		}
		if moved < settled {
			break
		}
		before = p
		if s.sums, err = s.whole.sum(s.ctx, s.o.Backend); err == nil {
			t, err = s.trial(t.more, t.memory, t)
		}
		if err != nil {
			return nil, err
		}
	}
	return t, nil
}

// odds are the probabilities of being an outlier, of each value [D·N]. With K⁻¹ the values' precision, the latent posterior variance v and
// the noise n = λe², the prediction that leaves a value out has the residual (y−f)·n/(n−v) and the latent variance v·n/(n−v).
func (s *search) odds(t *trial) ([]float64, error) {
	f := s.frame
	m := &Model{frame: f, layout: t.o.layout, sums: t.o.sums, backend: s.o.Backend}
	rows, err := m.openSteps(s.ctx, f.u)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	lambda, _ := t.o.variance(t.mode)
	residual, variance := make([]float64, len(f.y)*f.Rows), make([]float64, len(f.y)*f.Rows)
	if err := m.each(newObjective(m.layout, m.sums), t.mode, func(v view) error {
		return v.latent(rows, f.Rows, nil, func(d, n int, mean, latent float64) {
			e := f.error(d, n)
			noise := lambda * e * e
			left := noise / max(noise-latent, 1e-9*noise)
			residual[d*f.Rows+n], variance[d*f.Rows+n] = (f.y[d][n]-mean)*left, latent*left
		})
	}); err != nil {
		return nil, err
	}
	p := make([]float64, len(residual))
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
			if math.IsNaN(r) {
				continue
			}
			noise := lambda * f.usual(i/f.Rows, i%f.Rows)
			good, bad := variance[i]+noise, variance[i]+outlierFactor*outlierFactor*noise
			odds := share / (1 - share) * math.Sqrt(good/bad) * math.Exp(0.5*r*r*(1/good-1/bad))
			p[i] = 1
			if !math.IsInf(odds, 1) {
				p[i] = odds / (1 + odds)
			}
			sum += p[i]
		}
		share = (sum + outliersSeen) / (float64(len(scores)) + valuesSeen)
	}
	return p, nil
}

// Outliers are the rows of output d whose values are rather outliers than not, if the fit was robust.
func (m *Model) Outliers(d int) (rows []int) {
	if m.frame.weaker == nil {
		return nil
	}
	half := 1 / math.Sqrt(0.5+0.5/(outlierFactor*outlierFactor))
	for n, w := range m.frame.weaker[d] {
		if w > half {
			rows = append(rows, n)
		}
	}
	return rows
}
