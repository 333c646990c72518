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
//
// Whether there are outliers at all is decided by the log density of each of the last values given the others, summed: with outliers it
// has to be higher than without, by robustGain for each. Less would prefer outliers to a noise with wide tails, or to changes. Outliers
// are looked for if half of that is gained at the residuals of the fit without them, which they have spoilt, and taken by the residuals
// of the fit with them. Predictions are of values that are no outliers, so outliers that are more than half of what a 95 % interval
// leaves out are not taken by evidence.
const (
	robustRounds = 10
	settled      = 0.01
	// The prior of ε is a beta distribution: as if one of twenty values seen before had been an outlier.
	outliersSeen, valuesSeen = 1.0, 20.0

	judgedRows   = 4000
	robustGain   = 5.0   // nats
	mostOutliers = 0.025 // of all values
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
		left, err := s.leftOut(t, f.tracks(), 0)
		if err != nil {
			return nil, err
		}
		p, precision, _ := left.outliers()
		moved := 0.0
		for i, at := range left.value {
			moved = max(moved, math.Abs(p[i]-before[at]))
			before[at] = p[i]
			f.weaker[at/f.Rows][at%f.Rows] = 1 / math.Sqrt(precision[i])
			if p[i] < settled { // the usual noise, to the last bit, so that outputs are a group
				f.weaker[at/f.Rows][at%f.Rows] = 1
			}
		}
		if moved < settled {
			break
		}
		s.whole, s.tracks = f.tracks(), nil
		s.cover(t.parts)
		if t, err = s.trial(t.parts, t); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// A leaveOut is the residuals, the latent variances and the variances of the usual noise of some values given the others.
type leaveOut struct {
	value                   []int // d·N + n
	residual, latent, noise []float64
}

// leftOut leaves each value out that is no earlier than a time. With K⁻¹ the values' precision, the latent posterior variance v and the noise
// n = λe², the prediction that leaves a value out has the residual (y−f)·n/(n−v) and the latent variance v·n/(n−v).
func (s *search) leftOut(t *trial, tracks []*track, from float64) (*leaveOut, error) {
	f := s.frame
	m := &Model{frame: f, layout: t.o.layout, tracks: tracks}
	at, err := m.conditional(s.ctx, t.mode)
	if err != nil {
		return nil, err
	}
	var all leaveOut
	numbers := slices.DeleteFunc(upTo(0, f.Rows), func(n int) bool { return f.u[n] < from })
	rows := (&track{u: f.u, regressors: f.z}).pick(numbers)
	return &all, m.latent(s.ctx, rows, at, "", func(d, i int, mean, latent, noise float64) {
		n := numbers[i]
		own, usual := noise*f.error(d, n)*f.error(d, n), f.usual(d, n)
		if left := own / max(own-latent, 1e-9*own); !math.IsNaN(f.y[d][n]) {
			all.value = append(all.value, d*f.Rows+n)
			all.residual, all.latent = append(all.residual, (f.y[d][n]-mean)*left), append(all.latent, latent*left)
			all.noise = append(all.noise, noise*(usual*usual))
		}
	})
}

// usual is by how much the variance of the usual noise is less than the fit says, by the median of the residuals: outliers widen the fit's.
func (l *leaveOut) usual() float64 {
	var scores []float64 // |r| in sds
	for i, r := range l.residual {
		scores = append(scores, math.Abs(r)/math.Sqrt(l.latent[i]+l.noise[i]))
	}
	usual := min(1, perMedian*median(scores))
	return cmp.Or(usual*usual, 1)
}

// judged leaves each of the last values out: those that decide whether there are outliers.
func (s *search) judged(t *trial) (*leaveOut, error) {
	return s.leftOut(t, s.tracks, max(s.from, s.frame.Range*(1-judgedRows/float64(s.frame.Rows))))
}

// better reports whether few outliers, and usual noise whose variance is less by a factor, gain as much for each outlier on a log density.
func (l *leaveOut) better(than, factor, gain float64) bool {
	p, _, share := l.outliers()
	count := 0.0
	for _, one := range p {
		count += one
	}
	return count <= mostOutliers*float64(len(p)) && l.density(share, factor) >= than+gain*(1+count)
}

// density is the log density of each value given the others, summed, if a share of all are outliers and the usual noise's variance is less by a
// factor.
func (l *leaveOut) density(share, factor float64) (sum float64) {
	for i, r := range l.residual {
		noise := factor * l.noise[i]
		_, _, more := odds(r, l.latent[i], noise, share)
		good := l.latent[i] + noise
		sum += math.Log(1-share) - 0.5*(r*r/good+math.Log(2*math.Pi*good)) + more
	}
	return sum
}

// outliers are the probabilities of being an outlier, and the expected precisions in units of the usual one, of each value, and the share of
// outliers.
func (l *leaveOut) outliers() (p, precision []float64, share float64) {
	p, precision = make([]float64, len(l.residual)), make([]float64, len(l.residual))
	factor := l.usual()
	share = outliersSeen / valuesSeen
	for range 5 {
		sum := 0.0
		for i, r := range l.residual {
			p[i], precision[i], _ = odds(r, l.latent[i], factor*l.noise[i], share)
			sum += p[i]
		}
		share = (sum + outliersSeen) / (float64(len(p)) + valuesSeen)
	}
	return p, precision, share
}

// odds is the probability that a value with residual r is an outlier, its expected precision in units of 1/noise, and by how much the log
// density is more than with the usual noise alone.
func odds(r, variance, noise, share float64) (p, precision, more float64) {
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
	return p / sum, precision / sum, largest + math.Log(sum)
}

// Outliers returns the rows of output d whose values are outliers with a probability above 1/2, if the fit was robust.
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
