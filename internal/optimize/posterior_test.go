package optimize

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/hmc"
	"github.com/vssgp/vssgp/internal/testkit/slow"
	"github.com/vssgp/vssgp/variational"
)

// made describes synthetic data: a cosine in white noise.
type made struct {
	rows                            int
	span, frequency, amp, sd, phase float64
}

// theory returns the Cramér–Rao bound on the standard deviation of the frequency of a cosine in white noise if no other parameter is
// known.
func (m made) theory() float64 {
	return math.Sqrt(6) * m.sd / (math.Pi * m.amp * m.span * math.Sqrt(float64(m.rows)))
}

// start returns data and the initial parameters of one component with a cosine and a sine near
// the true frequency.
func (m made) start(seed uint64, l float64) (backend.Data, *variational.Params) {
	random := rand.New(rand.NewPCG(seed, 0))
	d := backend.Data{N: m.rows, Q: 1, D: 1}
	for i := range m.rows {
		x := m.span * (float64(i)/float64(m.rows-1) - 0.5)
		d.X = append(d.X, x)
		d.Y = append(d.Y, m.amp*math.Cos(2*math.Pi*m.frequency*x+m.phase)+m.sd*random.NormFloat64())
	}
	p := variational.NewParams(1, 2, 1, 1)
	p.CoefMean, p.CoefVar = nil, nil
	p.Variance[0], p.Lengthscale[0], p.Frequency[0], p.NoisePrecision[0] = m.amp*m.amp/2, l, m.frequency+0.1/m.span, 1/(m.sd*m.sd)
	p.FreqVar[0], p.FreqVar[1] = 1, 1
	p.PhaseLower[1], p.PhaseUpper[1] = -math.Pi/2, -math.Pi/2
	return d, p
}

// run fits the data.
func (m made) run(t *testing.T, seed uint64, priors Priors, l float64) *Run {
	t.Helper()
	data, p := m.start(seed, l)
	run := testkit.Must(New(context.Background(), data, p, variational.Setting{Backend: cpu.New()}, Settings{Priors: priors}))(t)
	t.Cleanup(func() { run.Close() })
	testkit.OK(t, run.Begin(nil))
	testkit.Must(run.Optimize())(t)
	return run
}

// weak returns the default priors of a fit.
func (m made) weak() Priors {
	one := func(median, sd float64) bayes.Prior { return bayes.Prior{Median: median, SD: sd} }
	return Priors{one(m.amp*m.amp/2, 6), []bayes.Prior{one(10*m.span, 3)}, one(0.01*m.amp*m.amp/2, 6)}
}

// lines are synthetic data of various frequencies, amplitudes, noise levels and sizes.
var lines = []made{
	{400, 100, 0.083, 1, 0.3, 0.7}, {100, 10, 1.3, 2, 0.5, 2}, {1600, 1, 40, 0.2, 0.1, 0},
	{60, 50, 0.2, 1, 0.05, 1}, {300, 1000, 0.02, 30, 30, 3}, {200, 20, 0.3, 1, 0.01, 5},
}

// TestFrequencySD checks that the standard deviations of frequencies are within a factor of two of theory, with priors and without. Without
// priors the deviation of q(w) alone is far too small, because the length-scale diverges. With priors it is at least a fifth of theory.
func TestFrequencySD(t *testing.T) {
	for _, m := range lines {
		tight := m.weak()
		tight.Lengthscale[0] = bayes.Prior{Median: m.span, SD: 1.5}
		for name, priors := range map[string]Priors{"none": {}, "weak": m.weak(), "tight": tight} {
			run := m.run(t, 3, priors, 6*m.span)
			p := testkit.Must(run.Posterior())(t)
			sd, q := p.FrequencySD(), run.Params
			// The split between the cosine and the sine depends on the phase. The more certain of them explains nearly all of the signal.
			if ratio := slices.Min(sd) / m.theory(); ratio < 0.5 || ratio > 2 {
				t.Errorf("%v, %s: the standard deviations are %.3g, %.3g in theory", m, name, sd, m.theory())
			}
			spread := math.Sqrt(q.FreqVar[0]) / (2 * math.Pi * q.Lengthscale[0]) / m.theory()
			if name == "none" && spread > 0.1 && m.amp <= 20*m.sd {
				t.Errorf("%v: without a prior the standard deviation of q(w) is %.3g of theory, want at most 0.1", m, spread)
			}
			if name != "none" && spread < 0.2 {
				t.Errorf("%v, %s: the standard deviation of q(w) is %.3g of theory, want at least 0.2", m, name, spread)
			}
			if p.Short > 0.1*float64(p.c.n) {
				t.Errorf("%v, %s: %v nats from the mode", m, name, p.Short)
			}
		}
	}
}

// TestScatter checks that over many data sets the errors of the estimated frequency agree with the standard deviations.
func TestScatter(t *testing.T) {
	m, n, square := lines[1], 60.0, 0.0
	for seed := range uint64(n) {
		run := m.run(t, 100+seed, m.weak(), 6*m.span)
		p := testkit.Must(run.Posterior())(t)
		q := run.Params
		z := (math.Abs(q.Frequency[0]+q.FreqMean[0]/(2*math.Pi*q.Lengthscale[0])) - m.frequency) / p.FrequencySD()[0]
		square += z * z / n
	}
	if rms := math.Sqrt(square); rms < 0.6 || rms > 1.3 {
		t.Errorf("errors are %.3g standard deviations, want about 1", rms)
	}
}

// TestGaussianAgreesWithHMC checks that the median and the standard deviation of the Gaussian agree with Hamiltonian
// Monte Carlo of the same objective with the optimal q for each draw. The standard deviation is from quantiles, because
// a few draws are far from the mode.
func TestGaussianAgreesWithHMC(t *testing.T) {
	if !slow.Tests {
		t.Skip("takes seconds")
	}
	m := lines[0]
	run := m.run(t, 3, m.weak(), 6*m.span)
	p := testkit.Must(run.Posterior())(t)
	followed := func(own, gradient []float64) (float64, error) {
		v, value, err := p.follow(own)
		if err == nil {
			all := make([]float64, len(v))
			_, err = p.f(v, all)
			copy(gradient, all)
		}
		return value, err
	}
	draws := testkit.Must(hmc.Sample(followed, p.Along, len(p.Mode), 1000, rand.New(rand.NewPCG(1, 2))))(t)
	params := testkit.Numbers(len(draws), func(i int) *variational.Params {
		v, _, err := p.follow(draws[i])
		testkit.OK(t, err)
		to := run.Params.Clone()
		p.write(to, v)
		return to
	})
	for name, of := range map[string]func(q *variational.Params) float64{
		"noise": func(q *variational.Params) float64 { return math.Log(q.NoisePrecision[0]) },
		"frequency": func(q *variational.Params) float64 {
			return q.Frequency[0] + q.FreqMean[0]/(2*math.Pi*q.Lengthscale[0])
		},
	} {
		gaussian := p.SD(func(q *variational.Params) []float64 { return []float64{of(q)} })[0]
		values := testkit.Numbers(len(draws), func(i int) float64 { return of(params[i]) })
		slices.Sort(values)
		low, median, high := values[len(values)*16/100], values[len(values)/2], values[len(values)*84/100]
		sd, off := (high-low)/2, median-of(run.Params)
		t.Logf("%s: HMC %.4g, Gaussian %.4g, median off %.2g", name, sd, gaussian, off/sd)
		if ratio := sd / gaussian; ratio < 0.7 || ratio > 1.5 || math.Abs(off) > 0.7*sd {
			t.Errorf("%s: the median is off by %.3g and the sd is %.3g, the Gaussian's is %.3g", name, off, sd, gaussian)
		}
	}
}

// TestDrawBack checks an objective that falls steeply from some distance on one side of the mode. Draws on this side end near this
// distance, and draws on the other side are not affected.
func TestDrawBack(t *testing.T) {
	_, params := lines[0].start(1, 1)
	c := NewCoordinates(params, []string{"kernel.variance"}, Ties{}, 1)
	cliff := func(v, g []float64) (float64, error) {
		z := v[0] - math.Log(params.Variance[0])
		over := max(0, z-0.5)
		g[0] = -z - 1000*over
		return -0.5*z*z - 500*over*over, nil
	}
	profile := testkit.Must(bayes.LaplaceProfile(cliff, []float64{math.Log(params.Variance[0])}, []float64{1}, 1))(t)
	p := &Posterior{Profile: profile, c: c, order: []int{0}, params: params, f: cliff}
	random := rand.New(rand.NewPCG(1, 2))
	low, high := 0.0, 0.0
	for range 300 {
		q := testkit.Must(p.Draw(random))(t)
		z := math.Log(q.Variance[0] / params.Variance[0])
		low, high = min(low, z), max(high, z)
	}
	if most := 0.5 + math.Sqrt(bayes.Slack/500.0); high > most+1e-9 || high < 0.5 || low > -2.3 {
		t.Errorf("draws are between %.3g and %.3g, want between about -3 and %.3g", low, high, most)
	}
}
