package series

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/fileio/fault"
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
	countScale  = 0.5  // unit of f: the priors' medians of slope, walk and short memory are 0.5, 0.15 and 0.1
	minSize     = 0.05 // limits of the dispersion; above the maximum the distribution is almost Poisson
	maxSize     = 1000.0
	inflated    = 4   // minimum gain of zero inflation, in nats
	firstZero   = 0.1 // initial probability of further zeros
)

// areCounts reports whether all values are non-negative integers.
func (s *Series) areCounts() bool {
	return !slices.ContainsFunc(s.Y, func(y []float64) bool {
		return slices.ContainsFunc(y, func(v float64) bool { return v < 0 || v != math.Trunc(v) && !math.IsNaN(v) })
	})
}

var errNotCounts = fault.Errorf(ErrData, "a value is not a non-negative integer; a model of counts needs such values")

// smallCounts reports whether the values are small counts and no option prevents a model of counts.
func (s *Series) smallCounts(o *Options) bool {
	if o.Log != LogByEvidence || o.Robust == RobustAlways || s.Err != nil || o.informed() || len(s.X) > averagedRows {
		return false
	}
	return s.areCounts() && !slices.ContainsFunc(s.Y, func(y []float64) bool {
		return magnitude(y) == 0 || bayes.Median(picked(y, present(y))) > mostCount
	})
}

// A counting fits a model of counts. It contains the counts, the Gaussian q at the observations, and the probabilities ρ.
type counting struct {
	*search
	y, mean, sd, own [][]float64 // [D][N]
}

// newCounting returns a counting with q at the log mean of each output.
func newCounting(s *search, y [][]float64) *counting {
	c := &counting{search: s, y: y}
	for d := range y {
		c.mean = append(c.mean, slices.Repeat([]float64{s.frame.Offset[d]}, len(y[d])))
		c.sd, c.own = append(c.sd, make([]float64, len(y[d]))), append(c.own, slices.Repeat([]float64{1}, len(y[d])))
	}
	return c
}

// countFrame returns a frame of the logarithms of the means. Its values are logarithms for the spectrum, not yet working values.
func countFrame(s *Series) (*frame, error) {
	f, err := newFrame(&Series{X: s.X, Y: s.Y, Regressors: s.Regressors}, false)
	if err != nil {
		return nil, err
	}
	f.Log = true
	for d, y := range s.Y {
		level := f.Offset[d]
		f.Offset[d], f.Scale[d] = math.Log(level), countScale
		for n, v := range y {
			f.y[d][n] = math.Log((v+0.5)/(level+0.5)) / countScale
		}
		f.Counts, f.Error = append(f.Counts, bayes.Count{Dispersion: 1}), append(f.Error, 1)
		f.known = append(f.known, slices.Repeat([]float64{1}, len(y)))
	}
	return f, nil
}

// counts returns the fit of a model of counts, and its log evidence.
func counts(ctx context.Context, s *Series, o *Options) (*fitted, float64, error) {
	f, err := countFrame(s)
	if err != nil {
		return nil, 0, err
	}
	own := *o
	noise := Noise{Prior{Median: 1, SD: 1e-3}} // the errors are known
	own.Parts, own.Average = append(without((&search{o: o}).fixed(), noise), noise), !o.certain()
	own.Robust = RobustNever
	found, err := newSearch(ctx, f, &own)
	if err != nil {
		return nil, 0, err
	}
	c := newCounting(found, s.Y)
	c.disperse()
	c.work()
	best, err := found.run()
	if err != nil {
		return nil, 0, err
	}
	best, gain, err := c.settle(best)
	if err != nil {
		return nil, 0, err
	}
	all, err := found.variants(best)
	if err != nil {
		return nil, 0, err
	}
	fit := &fitted{search: found, tracks: found.whole, variants: all, share: 1}
	return fit, total(all) - math.Log(float64(len(all))) + gain, nil
}

// settle alternates updates of q and the working values with fits, with zero inflation if the bound increases by inflated. It returns
// the last fit, and the bound less its log evidence.
func (c *counting) settle(t *trial) (*trial, float64, error) {
	t, gain, err := c.alternate(t)
	if err != nil || !c.lacksZeros() {
		return t, gain, err
	}
	plain := slices.Clone(c.frame.Counts)
	for d := range c.y {
		c.frame.Counts[d].Zero = firstZero
	}
	c.work()
	with, more, err := c.alternate(t)
	if err == nil && with.bound()+more > t.bound()+gain+inflated*float64(len(c.y)) {
		return with, more, nil
	}
	copy(c.frame.Counts, plain)
	c.work()
	return c.alternate(t)
}

// alternate alternates fits and updates until q and the dispersion change little.
func (c *counting) alternate(t *trial) (*trial, float64, error) {
	for round := 0; ; round++ {
		moved, err := c.posterior(t)
		if err != nil {
			return nil, 0, err
		}
		gain := c.gain()
		moved = max(moved, c.disperse())
		if round == countRounds || round > 0 && moved < countMoved {
			return t, gain, nil
		}
		c.work()
		if t, err = c.trial(t.parts, t); err != nil {
			return nil, 0, err
		}
	}
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
		sd := f.Scale[d] * math.Sqrt(max(variance, 0))
		step := f.Offset[d] + f.Scale[d]*mean - c.mean[d][n]
		moved = max(moved, math.Abs(step)/max(sd, countMoved))
		c.mean[d][n] += max(-countStep, min(step, countStep))
		c.sd[d][n] = sd
	})
}

// logMass returns E_q log p of value n of output d without zero inflation.
func (c *counting) logMass(d, n int, of bayes.Count) float64 {
	return of.MeanLogMass(c.y[d][n], c.mean[d][n], c.sd[d][n])
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
			e, sd := c.frame.known[d][n], c.sd[d][n]/c.frame.Scale[d]
			off := c.frame.y[d][n] - (c.mean[d][n]-c.frame.Offset[d])/c.frame.Scale[d]
			sum += log + 0.5*math.Log(2*math.Pi*e*e) + 0.5*(off*off+sd*sd)/(e*e)
		}
	}
	return sum
}

// disperse maximizes the bound by the dispersion and the zero inflation, and returns the largest change of a log dispersion.
func (c *counting) disperse() (moved float64) {
	for d := range c.y {
		of, rows := &c.frame.Counts[d], c.share(d)
		zeros := 0.0
		for _, n := range rows {
			zeros += 1 - c.own[d][n]
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

// share sets ρ of the values of output d and returns their rows.
func (c *counting) share(d int) []int {
	of, rows := c.frame.Counts[d], present(c.y[d])
	for _, n := range rows {
		c.own[d][n] = 1
		if c.y[d][n] == 0 && of.Zero > 0 {
			own := (1 - of.Zero) * math.Exp(c.logMass(d, n, of))
			c.own[d][n] = own / (own + of.Zero)
		}
	}
	return rows
}

// lacksZeros reports whether a small probability of further zeros increases the bound of an output.
func (c *counting) lacksZeros() bool {
	for d, of := range c.frame.Counts {
		slope := 0.0
		for _, n := range present(c.y[d]) {
			if slope--; c.y[d][n] == 0 {
				slope += math.Exp(-c.logMass(d, n, of))
			}
		}
		if slope > 0 {
			return true
		}
	}
	return false
}

// work sets the working values and their errors.
func (c *counting) work() {
	f := c.frame
	for d, y := range c.y {
		r, rows := f.Counts[d].Dispersion, c.share(d)
		for _, n := range rows {
			m, sd := c.mean[d][n], c.sd[d][n]
			share := func(f float64) float64 { return 1 / (1 + r*math.Exp(-f)) } // μ/(r + μ)
			slope := y[n] - (y[n]+r)*bayes.GaussianMean(m, sd, share)
			curvature := func(f float64) float64 { return share(f) * (1 - share(f)) }
			weight := (y[n] + r) * bayes.GaussianMean(m, sd, curvature)
			f.y[d][n] = (m + slope/weight - f.Offset[d]) / f.Scale[d]
			f.known[d][n] = min(max(1/(f.Scale[d]*math.Sqrt(weight*c.own[d][n])), minError), largestError)
		}
		f.Error[d] = bayes.Median(picked(f.known[d], rows))
	}
	c.whole = f.tracks()
	c.tracks = c.whole
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
	if !s.smallCounts(o) {
		return others, nil
	}
	fit, evidence, err := counts(ctx, s, o)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return others, nil // a fit of the values is possible
	}
	for _, other := range others {
		mass, err := other.mass(s.Y)
		if err != nil {
			return nil, err
		}
		if mass >= evidence {
			return others, nil
		}
	}
	return []*fitted{fit}, nil
}

// mass returns the log evidence of counts y as a probability. The probability of a count is the integral over the unit interval
// around it, which is smaller than the density there if the predictive standard deviation is below 1. The leave-one-out
// predictions of the most probable variant estimate the difference. Outliers also have a prior probability, which the evidence of
// the values given the outliers does not contain.
func (f *fitted) mass(y [][]float64) (float64, error) {
	best := slices.MaxFunc(f.variants, func(a, b *variant) int { return cmp.Compare(a.weight, b.weight) })
	left, err := f.leftOut(best.trial, f.tracks, 0)
	if err != nil {
		return 0, err
	}
	sum := f.evidence()
	if f.frame.outlierFactor != nil {
		p, _, share := left.outliers()
		for _, outlier := range p {
			sum += outlier*math.Log(share/float64(len(wider))) + (1-outlier)*math.Log1p(-share)
		}
	}
	for i, at := range left.value {
		d, n := at/f.frame.Rows, at%f.frame.Rows
		sd := f.frame.Scale[d] * math.Sqrt(left.latent[i]+left.noise[i])
		mean := f.frame.Offset[d] + f.frame.Scale[d]*(f.frame.y[d][n]-left.residual[i])
		mix := bayes.Mixture{Means: []float64{mean}, SDs: []float64{sd}, Log: f.frame.Log}
		k := y[d][n]
		sum += math.Log(max(mix.CDF(k+0.5)-mix.CDF(k-0.5), math.SmallestNonzeroFloat64)) - mix.LogDensity(k)
	}
	return sum, nil
}

// countBound returns the evidence lower bound of counts y at hyper-parameters of a layout, whose frame it changes.
func countBound(ctx context.Context, l *layout, y [][]float64, mode []float64) (float64, error) {
	c := newCounting(&search{ctx: ctx, frame: l.frame}, y)
	e := &bayes.Evaluation{}
	for round := 0; ; round++ {
		c.work()
		t := &trial{o: newObjective(ctx, l, c.tracks), mode: mode}
		moved, err := c.posterior(t)
		if err != nil {
			return 0, err
		}
		if round == countRounds || moved < countMoved {
			err = t.o.evaluate(e, mode)
			return e.Value + c.gain(), err
		}
	}
}

// countName describes the distribution of counts.
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

// checkCounts returns an error if the distributions of a loaded frame are invalid.
func (f *frame) checkCounts() error {
	ok := f.Counts == nil || len(f.Counts) == len(f.Scale) && len(f.Error) == len(f.Scale) && f.Log && !f.Positive
	for _, of := range f.Counts {
		ok = ok && of.Dispersion >= minSize/2 && of.Dispersion <= 2*maxSize && of.Zero >= 0 && of.Zero < 1
	}
	if !ok {
		return fmt.Errorf("invalid distributions of counts %v: %w", f.Counts, ErrFile)
	}
	return nil
}
