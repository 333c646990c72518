package series

import (
	"cmp"
	"math"
	"slices"

	"github.com/vssgp/vssgp/internal/bayes"
)

// Outliers. The noise variance of a value is λ or, with a small probability ε, κ²λ with κ = 10, 100 or 1000, each equally likely. Let
// N(μ, v) be the leave-one-out prediction of the value and r the residual from μ. The odds of κ are
//
//	⅓ε/(1−ε) · N(r | 0, v + κ²λ)/N(r | 0, v + λ)
//
// With the probabilities p_κ, the expected precision is Σ p_κ/(κ²λ). The next fit uses its inverse as noise variance. The iteration ends
// if no outlier probability changes by more than settled.
//
// Outliers are accepted if they increase the sum of the leave-one-out log densities of the last values by robustGain per outlier. A
// smaller threshold would accept outliers instead of heavy-tailed noise or changes. The search for outliers starts if the residuals of
// the fit without outliers yield half of this gain; the residuals of the fit with outliers decide. Predictions assume normal noise.
// Outliers are therefore rejected if they exceed the 5 % that may be outside a 95 % interval. Only values that are more probably outliers
// than not count here, because the small probabilities of many normal values add up to as many.
//
// The search is only repeated with outliers if the parts found before it, with their volatility, also yield the gain. Bursts of noise,
// which a volatility describes, fail here.
const (
	robustRounds      = 6
	robustEvaluations = 4 // of each round, because the next one continues
	settled           = 0.01
	// The prior of ε is a beta distribution, equivalent to one outlier among twenty earlier values.
	outliersSeen, valuesSeen = 1.0, 20.0

	decisiveRows = 4000 // last observations that decide whether there are outliers
	robustGain   = 5.0  // nats per outlier
	maxOutliers  = 0.05 // maximum fraction of outliers
)

// wider contains the κ² of outliers.
var wider = []float64{1e2, 1e4, 1e6}

// robust alternately detects outliers of a trial and refits it with them downweighted, by a few steps. The fit is coarse. The noise
// variance for the detection comes from the median residual, because outliers inflate λ.
func (s *search) robust(t *trial) (*trial, error) {
	defer s.coarse()()
	f := s.frame
	if f.outlierFactor == nil {
		for range f.y {
			f.outlierFactor = append(f.outlierFactor, slices.Repeat([]float64{1}, f.Rows))
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
			f.outlierFactor[at/f.Rows][at%f.Rows] = 1 / math.Sqrt(precision[i])
			if p[i] < settled { // exactly 1, so that outputs without outliers form a group
				f.outlierFactor[at/f.Rows][at%f.Rows] = 1
			}
		}
		if moved < settled {
			break
		}
		s.whole, s.tracks = f.tracks(), nil
		s.cover(t.parts)
		if t, err = s.mode(t.parts, s.tracks, t, robustEvaluations); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// A leaveOut contains the leave-one-out residuals and latent variances of some values, and their noise variances if they are not
// outliers.
type leaveOut struct {
	value                   []int // d·N + n
	residual, latent, noise []float64
}

// leftOut computes leave-one-out predictions of the values at times u ≥ from. With posterior mean f, posterior variance v and noise
// variance n = λe², the leave-one-out residual is (y−f)·n/(n−v) and the latent variance is v·n/(n−v).
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

// usual returns the noise variance of normal values relative to the fitted one, at most 1, estimated from the median residual.
func (l *leaveOut) usual() float64 {
	var scores []float64 // |r| in sds
	for i, r := range l.residual {
		scores = append(scores, math.Abs(r)/math.Sqrt(l.latent[i]+l.noise[i]))
	}
	usual := min(1, bayes.PerMedian*bayes.Median(scores))
	return cmp.Or(usual*usual, 1)
}

// leftOutLast computes leave-one-out predictions of the last decisiveRows observations.
func (s *search) leftOutLast(t *trial) (*leaveOut, error) {
	return s.leftOut(t, s.tracks, max(s.from, s.frame.Range*(1-decisiveRows/float64(s.frame.Rows))))
}

// better reports whether there are few outliers and whether they increase the log density over than by gain for each outlier. The noise
// variance of normal values is multiplied by factor.
func (l *leaveOut) better(than, factor, gain float64) bool {
	p, _, share := l.outliers()
	count, detected := 0.0, 0.0
	for _, one := range p {
		if count += one; one > 0.5 {
			detected++
		}
	}
	return detected <= maxOutliers*float64(len(p)) && l.density(share, factor) >= than+gain*(1+count)
}

// density returns the sum of the leave-one-out log densities for a given share of outliers. The noise variance of normal values is
// multiplied by factor.
func (l *leaveOut) density(share, factor float64) (sum float64) {
	for i, r := range l.residual {
		noise := factor * l.noise[i]
		_, _, more := odds(r, l.latent[i], noise, share)
		good := l.latent[i] + noise
		sum += math.Log(1-share) - 0.5*(r*r/good+math.Log(2*math.Pi*good)) + more
	}
	return sum
}

// outliers returns the outlier probability and the expected relative noise precision of each value, and the share of outliers.
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

// odds returns the probability that a value with residual r is an outlier, its expected precision in units of 1/noise, and the gain in
// log density over normal noise, excluding log(1−share).
func odds(r, variance, noise, share float64) (p, precision, more float64) {
	good := variance + noise
	logs := make([]float64, len(wider))
	largest := 0.0 // maximum log odds
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

// Outliers returns the row indices of the values of output d that are outliers with a probability above 1/2, or nil if the fit was not
// robust.
func (m *Model) Outliers(d int) (rows []int) {
	if m.frame.outlierFactor == nil {
		return nil
	}
	for n, w := range m.frame.outlierFactor[d] {
		if w > math.Sqrt2 { // less than half of the normal precision
			rows = append(rows, n)
		}
	}
	return rows
}
