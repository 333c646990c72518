package bayes

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/vssgp/vssgp/internal/optimize/lbfgs"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/hmc"
)

// correlated returns the log density of a Gaussian with mean (1, −2), standard deviations 0.1 and 3 and correlation 0.8, up to a constant.
func correlated(v, g []float64) (float64, error) {
	const rho = 0.8
	a, b := (v[0]-1)/0.1, (v[1]+2)/3
	c := 1 / (1 - rho*rho)
	g[0], g[1] = -c*(a-rho*b)/0.1, -c*(b-rho*a)/3
	return -0.5 * c * (a*a - 2*rho*a*b + b*b), nil
}

// truncated returns a standard normal log density, or an error above 0.5.
func truncated(v, g []float64) (float64, error) {
	if v[0] > 0.5 {
		return 0, errors.New("no value")
	}
	g[0] = -v[0]
	return -0.5 * v[0] * v[0], nil
}

// TestLaplace checks that the approximation of a Gaussian is exact for any scales.
func TestLaplace(t *testing.T) {
	for _, scale := range [][]float64{{0.1, 3}, {0.5, 4}, {0.12, 30}} {
		g := testkit.Must(laplace(correlated, []float64{1, -2}, scale))(t)
		if want := math.Log(2*math.Pi*0.1*3) + 0.5*math.Log(1-0.64); math.Abs(g.LogEvidence()-want) > 1e-6 {
			t.Errorf("scale %v: log evidence %v, want %v", scale, g.LogEvidence(), want)
		}
		if math.Abs(g.SD(0)-0.1) > 1e-6 || math.Abs(g.SD(1)-3) > 1e-5 {
			t.Errorf("scale %v: sd %v and %v, want 0.1 and 3", scale, g.SD(0), g.SD(1))
		}
	}
	flat := func(_, g []float64) (float64, error) { clear(g); return 0, nil }
	g, err := laplace(flat, []float64{0}, []float64{2})
	if err != nil || math.Abs(g.SD(0)-2/math.Sqrt(minCurvature)) > 1e-12 {
		t.Errorf("flat objective: sd %v (%v), want %v", g.SD(0), err, 2/math.Sqrt(minCurvature))
	}
	if _, err := laplace(truncated, []float64{0.5}, []float64{1}); err == nil {
		t.Error("no error for an objective that fails near the mode")
	}
}

// TestDrawsHaveMomentsOfPosterior checks draws from a Gaussian posterior by Along, by By, and by HMC in Along's
// coordinates.
func TestDrawsHaveMomentsOfPosterior(t *testing.T) {
	const n = 4000
	g := testkit.Must(laplace(correlated, []float64{1, -2}, []float64{0.5, 4}))(t)
	random := rand.New(rand.NewPCG(1, 2))
	normals := Normals(40, 2, random)
	for name, draws := range map[string][][]float64{
		"Along": testkit.Numbers(n, func(i int) []float64 { return g.Along(Normals(1, 2, random)[0]) }),
		"By":    testkit.Numbers(40, func(i int) []float64 { return g.By(normals[i]) }),
		"HMC":   testkit.Must(hmc.Sample(correlated, g.Along, 2, n, random))(t),
	} {
		moments(t, name, draws, 1, 0.1)
	}
}

func moments(t *testing.T, name string, draws [][]float64, mean, sd float64) {
	t.Helper()
	m, s := 0.0, 0.0
	for _, d := range draws {
		m += d[0] / float64(len(draws))
	}
	for _, d := range draws {
		s += (d[0] - m) * (d[0] - m) / float64(len(draws))
	}
	if s = math.Sqrt(s); math.Abs(m-mean) > 0.1*sd || math.Abs(s/sd-1) > 0.1 {
		t.Errorf("%s: mean %v and sd %v, want %v and %v", name, m, s, mean, sd)
	}
}

// TestPriorMatchesIntegralAndSlope compares the density with its integral and the slope with finite differences, and checks that improper priors are rejected.
func TestPriorMatchesIntegralAndSlope(t *testing.T) {
	p := Prior{2, 1.5}
	sum := quad.Fixed(func(v float64) float64 { l, _ := p.Log(v); return math.Exp(l) }, -15, 15, 200, nil, 0)
	up, _ := p.Log(1 + 1e-5)
	down, _ := p.Log(1 - 1e-5)
	_, slope := p.Log(1)
	if math.Abs(sum-1) > 1e-9 || math.Abs((up-down)/2e-5-slope) > 1e-8 {
		t.Errorf("integral %v, slope %v, differences %v", sum, slope, (up-down)/2e-5)
	}
	for _, bad := range []Prior{{0, 1}, {1, 0}, {-1, 1}, {math.Inf(1), 1}, {1, math.NaN()}} {
		if bad.Check() == nil {
			t.Errorf("%v is accepted", bad)
		}
	}
}

// ridge returns the log density of a Gaussian over (θ, ψ). The standard deviation of θ is 0.5 if ψ is profiled out and 1e-4 if ψ is fixed.
// ψ responds to θ with slope 3.
func ridge(v, g []float64) (float64, error) {
	a, b := v[0]-1, v[1]-2-3*(v[0]-1)
	const stiff = 1 / (1e-4 * 1e-4) / 9
	g[0], g[1] = -a/0.25+3*stiff*b, -stiff*b
	return -0.5*a*a/0.25 - 0.5*stiff*b*b, nil
}

// TestProfile checks the response of the other coordinates, the profile curvature, and Short at a point off the mode.
func TestProfile(t *testing.T) {
	p := testkit.Must(LaplaceProfile(ridge, []float64{1, 2}, []float64{1, 1}, 1))(t)
	if math.Abs(p.SD(0)/0.5-1) > 1e-4 || p.Short > 1e-9 {
		t.Errorf("sd %v, %v nats short, want 0.5 and 0", p.SD(0), p.Short)
	}
	if all := p.All([]float64{1.1}); math.Abs(all[1]-2.3) > 1e-6 {
		t.Errorf("at 1.1 the other is at %v, want 2.3", all[1])
	}
	off, err := LaplaceProfile(ridge, []float64{1.5, 3.5}, []float64{1, 1}, 1)
	if err != nil || math.Abs(off.Short-0.5) > 1e-3 {
		t.Errorf("a standard deviation off the mode is %v nats short (%v), want 0.5", off.Short, err)
	}
	if alone, err := LaplaceProfile(correlated, []float64{1, -2}, []float64{0.5, 4}, 2); err != nil || math.Abs(alone.SD(1)-3) > 1e-5 {
		t.Errorf("without others: %v", err)
	}
	if _, err := LaplaceProfile(truncated, []float64{0.5}, []float64{1}, 1); err == nil {
		t.Error("no error for an objective that fails near the mode")
	}
}

// bent returns a log density that is quadratic only within a few of its standard deviations of 1e-5.
func bent(v, g []float64) (float64, error) {
	z := v[0] / 1e-5
	g[0] = -z / (1 + z*z) / 1e-5
	return -0.5 * math.Log(1+z*z), nil
}

// TestStiffObjectiveReducesStep checks that the finite-difference step is reduced for a stiff objective.
func TestStiffObjectiveReducesStep(t *testing.T) {
	g, err := laplace(bent, []float64{0}, []float64{1})
	if err != nil || math.Abs(g.SD(0)/1e-5-1) > 0.01 {
		t.Errorf("sd %v (%v), want 1e-5", g.SD(0), err)
	}
}

// laplace returns the Laplace approximation over all coordinates.
func laplace(f lbfgs.Func, mode, scale []float64) (*Gaussian, error) {
	p, err := LaplaceProfile(f, mode, scale, len(mode))
	if err != nil {
		return nil, err
	}
	return p.Gaussian, nil
}

// TestPlausible checks draws from the Gaussian of an objective that falls steeply from some distance on one side of the
// mode: draws on this side end near this distance, others are not changed. There is none if the objective cannot be
// evaluated, and its errors are returned.
func TestPlausible(t *testing.T) {
	g := testkit.Must(NewGaussian([]float64{1, 2}, []float64{1, 1}, 0, []float64{1, 0, 0, 1}))(t)
	cliff := func(v []float64) (float64, error) {
		a, b := v[0]-1, v[1]-2
		over := max(0, a-0.5)
		return -0.5*(a*a+b*b) - 500*over*over, nil
	}
	for _, z := range [][]float64{{0.4, -2}, {-3, 3}, {0.55, 0}} {
		testkit.Equal(t, testkit.Must(g.Plausible(z, g.By, cliff, Slack))(t), g.By(z), z)
	}
	most := 0.5 + math.Sqrt(Slack/500.0)
	for _, z := range [][]float64{{0.6, 0}, {2, 1}, {4, -4}} {
		v := testkit.Must(g.Plausible(z, g.By, cliff, Slack))(t)
		if a := v[0] - 1; a > most || a < rayBack*0.5 || math.Abs((v[1]-2)*z[0]-a*z[1]) > 1e-12 {
			t.Errorf("%v: %v, want a point on the ray to it with a distance of %.2g to %.2g", z, v, rayBack*0.5, most)
		}
	}
	nowhere := func([]float64) (float64, error) { return math.Inf(-1), nil }
	testkit.Equal(t, testkit.Must(g.Plausible([]float64{1, 1}, g.By, nowhere, Slack))(t), nil, "nowhere")
	failure := errors.New("failure")
	if _, err := g.Plausible([]float64{1, 1}, g.By, func([]float64) (float64, error) { return 0, failure }, Slack); err != failure {
		t.Errorf("error %v, want %v", err, failure)
	}
}
