package series

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/vssgp/vssgp/internal/bayes"
)

// Counts. A count y_n is negative binomial with mean e^{f_n} and dispersion r. The posterior of f is approximated by the Gaussian q that
// maximizes the evidence lower bound E_q log p(y|f) − KL(q‖p). At the maximum, q is the posterior of a Gaussian model with working
// values z_n and known errors e_n (Opper & Archambeau 2009):
//
//	g = E_q ∂log p(y|f)/∂f    w = −E_q ∂²log p(y|f)/∂f²    z = E_q f + g/w    e = w^−½
//
// So fits of this Gaussian model and updates of z and e alternate. For given z and e, the log evidence of the Gaussian model differs from
// the bound by Σ E_q[log p(y|f) − log N(z|f, e²)], and both have the same gradient by the hyper-parameters. r maximizes the bound for q.
// With zero inflation, a zero is negative binomial only with probability ρ, which multiplies its w.
const (
	mostCount   = 20   // above this median, a Gaussian or log-normal distribution is as good
	countRounds = 40   // maximum number of updates
	countMoved  = 0.01 // changes of E f, in its sds, and of log r at which the updates end
	countStep   = 1.0  // maximum change of E f in an update
	minSize     = 0.05 // limits of the dispersion; above the maximum the distribution is almost Poisson
	maxSize     = 1000.0
	inflated    = 4   // minimum gain of zero inflation, in nats
	firstZero   = 0.1 // initial probability of further zeros
)

// isCounts reports whether the values are small counts and no option prevents a model of counts.
func (s *Series) isCounts(o *Options) bool {
	if o.Log != LogByEvidence || o.Robust == RobustAlways || s.Err != nil || o.informed() || len(s.X) > averagedRows {
		return false
	}
	return !slices.ContainsFunc(s.Y, func(y []float64) bool {
		seen := picked(y, present(y))
		other := func(v float64) bool { return v < 0 || v != math.Trunc(v) }
		return slices.ContainsFunc(seen, other) || median(seen) > mostCount || magnitude(y) == 0
	})
}

// A counting contains the counts of a search, the Gaussian q at the observations, and the probabilities ρ.
type counting struct {
	*search
	y, mean, sd, own [][]float64 // [D][N]
}

// counts returns the fit of a model of counts with its log evidence.
func counts(ctx context.Context, s *Series, o *Options) (*fitted, float64, error) {
	f, err := newFrame(&Series{X: s.X, Y: s.Y, Regressors: s.Regressors}, false)
	if err != nil {
		return nil, 0, err
	}
	own := *o
	noise := Noise{Prior{Median: 1, SD: 1e-3}} // the errors are known
	own.Parts, own.Average = append(without((&search{o: o}).fixed(), noise), noise), o.Parts == nil || o.Average
	own.Robust = RobustNever
	f.Log = true
	c := &counting{y: s.Y}
	for d, y := range s.Y {
		level, spread := f.Offset[d], f.Scale[d]
		more := max(spread*spread/(level*level)-1/level, 1/maxSize) // 1/r
		f.Counts = append(f.Counts, bayes.Count{Dispersion: max(1/more, minSize)})
		f.Offset[d], f.Scale[d] = math.Log(level), 1
		e := math.Sqrt(1/level + more)
		f.y[d], f.known = standardized(y, level, level), append(f.known, slices.Repeat([]float64{e}, len(y)))
		f.Error = append(f.Error, e)
		c.mean, c.sd = append(c.mean, slices.Repeat([]float64{f.Offset[d]}, len(y))), append(c.sd, make([]float64, len(y)))
		c.own = append(c.own, slices.Repeat([]float64{1}, len(y)))
	}
	if c.search, err = newSearch(ctx, f, &own); err != nil {
		return nil, 0, err
	}
	best, err := c.run()
	if err != nil {
		return nil, 0, err
	}
	best, gain, err := c.settle(best)
	if err != nil {
		return nil, 0, err
	}
	all, err := c.variants(best)
	if err != nil {
		return nil, 0, err
	}
	fit := &fitted{search: c.search, tracks: c.whole, variants: all, share: 1, counts: gain}
	return fit, total(all) - math.Log(float64(len(all))) + gain, nil
}

// settle alternates updates of the working values with fits. It returns the last fit and the difference of the bound from its log
// evidence.
func (c *counting) settle(t *trial) (*trial, float64, error) {
	t, gain, err := c.update(t, 0)
	if err != nil {
		return nil, 0, err
	}
	plain := slices.Clone(c.frame.Counts)
	for d := range c.y {
		c.frame.Counts[d].Zero = firstZero
	}
	with, more, err := c.update(t, 1)
	if err == nil && with.bound()+more > t.bound()+gain+inflated*float64(len(c.y)) {
		return with, more, nil
	}
	c.frame.Counts = plain
	return c.update(t, 1)
}

func (c *counting) update(t *trial, first int) (*trial, float64, error) {
	gain := 0.0
	for round := range countRounds {
		moved, err := c.posterior(t)
		if err != nil {
			return nil, 0, err
		}
		gain = c.gain()
		debug("round", round, t.bound(), gain, t.bound()+gain, c.frame.Counts, moved)
		moved = max(moved, c.disperse())
		if round > first && moved < countMoved {
			break
		}
		c.work()
		c.whole, c.tracks = c.frame.tracks(), nil
		c.cover(t.parts)
		if t, err = c.trial(t.parts, t); err != nil {
			return nil, 0, err
		}
	}
	return t, gain, nil
}

// posterior sets q to the posterior of a trial, and returns the largest change of a mean in standard deviations.
func (c *counting) posterior(t *trial) (moved float64, err error) {
	f := c.frame
	m := &Model{frame: f, layout: t.o.layout, tracks: c.whole}
	at, err := m.conditional(c.ctx, t.mode)
	if err != nil {
		return 0, err
	}
	return moved, m.latent(c.ctx, &track{u: f.u, regressors: f.z}, at, "", func(d, n int, mean, variance, _ float64) {
		if math.IsNaN(c.y[d][n]) {
			return
		}
		sd := math.Sqrt(max(variance, 0))
		step := f.Offset[d] + mean - c.mean[d][n]
		moved = max(moved, math.Abs(step)/max(sd, countMoved))
		c.mean[d][n] += max(-countStep, min(step, countStep))
		c.sd[d][n] = sd
	})
}

// logMass returns E_q log p of value n of output d without zero inflation.
func (c *counting) logMass(d, n int, of bayes.Count) float64 {
	return bayes.GaussianMean(c.mean[d][n], c.sd[d][n], func(f float64) float64 { return of.LogMass(c.y[d][n], f) })
}

// gain returns the difference of the bound from the log evidence of the Gaussian model.
func (c *counting) gain() (sum float64) {
	for d, y := range c.y {
		of := c.frame.Counts[d]
		for _, n := range present(y) {
			log := math.Log1p(-of.Zero) + c.logMass(d, n, of)
			if y[n] == 0 && of.Zero > 0 {
				log += math.Log1p(of.Zero / math.Exp(log))
			}
			e, sd := c.frame.known[d][n], c.sd[d][n]
			off := c.frame.Offset[d] + c.frame.y[d][n] - c.mean[d][n]
			sum += log + 0.5*math.Log(2*math.Pi*e*e) + 0.5*(off*off+sd*sd)/(e*e)
		}
	}
	return sum
}

// disperse maximizes the bound by the dispersion and the zero inflation, and returns the largest change of a log dispersion.
func (c *counting) disperse() (moved float64) {
	for d, y := range c.y {
		of := &c.frame.Counts[d]
		rows := present(y)
		zeros := 0.0
		for _, n := range rows {
			if y[n] == 0 && of.Zero > 0 {
				odds := of.Zero / ((1 - of.Zero) * math.Exp(c.logMass(d, n, *of)))
				c.own[d][n] = 1 / (1 + odds)
				zeros += 1 - c.own[d][n]
			}
		}
		of.Zero = zeros / float64(len(rows))
		best := goldenMaximum(math.Log(minSize), math.Log(maxSize), func(log float64) (sum float64) {
			other := bayes.Count{Dispersion: math.Exp(log)}
			for _, n := range rows {
				sum += c.own[d][n] * c.logMass(d, n, other)
			}
			return sum
		})
		moved = max(moved, math.Abs(best-math.Log(of.Dispersion)))
		of.Dispersion = math.Exp(best)
	}
	return moved
}

// work sets the working values and their errors.
func (c *counting) work() {
	for d, y := range c.y {
		r := c.frame.Counts[d].Dispersion
		rows := present(y)
		for _, n := range rows {
			m, sd := c.mean[d][n], c.sd[d][n]
			share := func(f float64) float64 { return 1 / (1 + r*math.Exp(-f)) }
			g := y[n] - (y[n]+r)*bayes.GaussianMean(m, sd, share)
			w := (y[n] + r) * bayes.GaussianMean(m, sd, func(f float64) float64 { return share(f) * (1 - share(f)) })
			c.frame.y[d][n] = m + g/w - c.frame.Offset[d]
			c.frame.known[d][n] = min(max(1/math.Sqrt(w*c.own[d][n]), minError), largestError)
		}
		c.frame.Error[d] = median(picked(c.frame.known[d], rows))
	}
}

// goldenMaximum returns the maximum of a unimodal function by golden-section search.
func goldenMaximum(low, high float64, f func(float64) float64) float64 {
	const ratio = 0.6180339887498949
	a, b := high-ratio*(high-low), low+ratio*(high-low)
	fa, fb := f(a), f(b)
	for high-low > 1e-3 {
		if fa > fb {
			high, b, fb = b, a, fa
			a = high - ratio*(high-low)
			fa = f(a)
		} else {
			low, a, fa = a, b, fb
			b = low + ratio*(high-low)
			fb = f(b)
		}
	}
	return low + (high-low)/2
}

// counted replaces the fits of a series by a fit of counts if its evidence is higher.
func counted(ctx context.Context, s *Series, o *Options, others []*fitted) ([]*fitted, error) {
	if !s.isCounts(o) {
		return others, nil
	}
	fit, evidence, err := counts(ctx, s, o)
	if errors.Is(err, errUnresolved) {
		return others, nil
	}
	if err != nil {
		return nil, err
	}
	for _, other := range others {
		rounding, err := other.rounding(s)
		if err != nil {
			return nil, err
		}
		debug("evidence", evidence, fit.frame.Counts, other.frame.Log, other.evidence(), rounding)
		if other.evidence()+rounding >= evidence {
			return others, nil
		}
	}
	return []*fitted{fit}, nil
}

// rounding returns the difference of the log probability of counts from their log density. A count has the probability of
// the unit interval around it, which is smaller than the density if the standard deviation is below 1.
func (f *fitted) rounding(s *Series) (sum float64, err error) {
	best := f.variants[0]
	for _, v := range f.variants {
		if v.weight > best.weight {
			best = v
		}
	}
	left, err := f.leftOut(best.trial, f.tracks, 0)
	if err != nil {
		return 0, err
	}
	for i, at := range left.value {
		d, n := at/f.frame.Rows, at%f.frame.Rows
		y, sd := f.frame.y[d][n], math.Sqrt(left.latent[i]+left.noise[i])
		mix := bayes.Mixture{Means: []float64{f.frame.Offset[d] + f.frame.Scale[d]*(y-left.residual[i])},
			SDs: []float64{f.frame.Scale[d] * sd}, Log: f.frame.Log}
		k := s.Y[d][n]
		sum += math.Log(max(mix.CDF(k+0.5)-mix.CDF(k-0.5), math.SmallestNonzeroFloat64)) - mix.LogDensity(k)
	}
	return sum, nil
}

// countName describes a distribution of counts for a report.
func countName(of bayes.Count) string {
	name := fmt.Sprintf("counts (negative binomial, dispersion %.3g", of.Dispersion)
	if of.Dispersion > 0.99*maxSize {
		name = "counts (Poisson"
	}
	if of.Zero > 0 {
		name += fmt.Sprintf(", further zeros %.3g", of.Zero)
	}
	return name + ")"
}
