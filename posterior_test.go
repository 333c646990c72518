package vssgp

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// withPosterior is a fit of one line with draws of its hyper-parameters.
func withPosterior(t testing.TB, o Options) (*Model, *Data) {
	t.Helper()
	data := lines(120, 12, 0.3, 1, 1, [2]float64{0.5, 1})
	o.Components, o.Features, o.Window = 1, 2, WindowNone
	m, r := mustFit(t, data, o)
	if r.NoPosterior != "" {
		t.Fatal(r.NoPosterior)
	}
	return m, data
}

// TestPosteriorFile: a model's posterior survives a file; the draws predict the same bits.
func TestPosteriorFile(t *testing.T) {
	for _, o := range []Options{{Posterior: 3}, {Posterior: 3, Inference: Factorized}, {}} {
		m, _ := withPosterior(t, o)
		b := encoded(t, m)
		back, err := read(b)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(encoded(t, back), b) {
			t.Error("a model that was read writes other bytes")
		}
		h, was := back.Posterior(), m.Posterior()
		if h == nil || !slices.Equal(h.Features, was.Features) || !slices.Equal(h.Noise, was.Noise) || len(h.Draws) != o.Posterior {
			t.Fatalf("posterior %+v, want %+v", h, was)
		}
		if o.Posterior == 0 {
			continue
		}
		x := []float64{0.1, 6, 20}
		p, err := back.PosteriorPredictor(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		q, err := m.PosteriorPredictor(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		a, err := p.Predict(context.Background(), x)
		if err != nil {
			t.Fatal(err)
		}
		c, err := q.Predict(context.Background(), x)
		if err != nil || !slices.Equal(a.Mean, c.Mean) || !slices.Equal(a.Cov, c.Cov) {
			t.Errorf("predictions %v and %v (%v)", a, c, err)
		}
	}
}

// TestBadPosteriorFiles: a posterior that does not fit its model is refused.
func TestBadPosteriorFiles(t *testing.T) {
	m, _ := withPosterior(t, Options{Posterior: 2})
	for name, spoil := range map[string]func(m *Model){
		"a negative standard deviation": func(m *Model) { m.hyper.Noise = []float64{-1} },
		"a shape":                       func(m *Model) { m.hyper.Variance = []float64{1, 2} },
	} {
		c := m.clone()
		h := *m.hyper
		c.hyper = &h
		spoil(c)
		f, err := c.file()
		if err != nil {
			t.Fatal(err)
		}
		if one := f.Tensors["posterior.kernel.variance"]; len(one.Data) == 2 {
			one.Shape = []int{2}
			f.Tensors["posterior.kernel.variance"] = one
		}
		if _, err := read(encode(t, f)); !errors.Is(err, ErrParams) {
			t.Errorf("%s: %v", name, err)
		}
	}
	f := layout(t, m)
	delete(f.Tensors, "draw.001.coefficient.mean")
	if _, err := read(encode(t, f)); !errors.Is(err, ErrParams) {
		t.Errorf("a draw without coefficients: %v", err)
	}
}

// TestPosteriorPredict: the mixture's moments and quantiles are those of its parts, by hand; its draws scatter as it says, and its interval
// is the wider one far from the data.
func TestPosteriorPredict(t *testing.T) {
	const draws = 40
	m, _ := withPosterior(t, Options{Posterior: draws})
	x := []float64{3, 12.5, 60}
	predictor, err := m.PosteriorPredictor(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	p, err := predictor.Predict(context.Background(), x)
	if err != nil {
		t.Fatal(err)
	}
	single, err := m.Predict(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	lower, upper, sd := p.Quantile(0.025, true), p.Quantile(0.975, true), p.SD(true)
	for i := range x {
		mean, square, within := 0.0, 0.0, 0.0
		var one *Prediction
		for _, d := range m.Posterior().Draws {
			if one, err = d.Predict(t.Context(), x); err != nil {
				t.Fatal(err)
			}
			mean += one.Mean[i] / draws
			square += (one.Cov[i] + one.Mean[i]*one.Mean[i]) / draws
			s := math.Sqrt(one.Cov[i])
			within += 0.5 * (math.Erf((upper[i]-one.Mean[i])/s/math.Sqrt2) - math.Erf((lower[i]-one.Mean[i])/s/math.Sqrt2)) / draws
		}
		if math.Abs(p.Mean[i]-mean) > 1e-12 || math.Abs(p.Cov[i]-(square-mean*mean)) > 1e-10 || math.Abs(within-0.95) > 1e-6 {
			t.Errorf("at %v: mean %v, variance %v, %v within; want %v, %v, .95", x[i], p.Mean[i], p.Cov[i], within, mean, square-mean*mean)
		}
	}
	if far := len(x) - 1; sd[far] < single.SD(true)[far] {
		t.Errorf("at %v the mixture's sd is %v, that of the fit alone %v", x[far], sd[far], single.SD(true)[far])
	}
	all, err := m.PosteriorDraws(1)
	if err != nil {
		t.Fatal(err)
	}
	var mean, square float64
	const functions = 2000
	for i := range functions {
		y, err := all.At(context.Background(), i, x[1:2])
		if err != nil {
			t.Fatal(err)
		}
		mean, square = mean+y[0]/functions, square+y[0]*y[0]/functions
	}
	if got, want := math.Sqrt(square-mean*mean), p.SD(false)[1]; math.Abs(got/want-1) > 0.1 || math.Abs(mean-p.Mean[1]) > 0.1*want {
		t.Errorf("functions at %v scatter by %v about %v, want %v about %v", x[1], got, mean, want, p.Mean[1])
	}
	other := lines(120, 12, 0.3, 1, -1, [2]float64{0.5, 1})
	if _, err := m.Condition(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if predictor, err = m.PosteriorPredictor(context.Background()); err != nil {
		t.Fatal(err)
	}
	turned, err := predictor.Predict(context.Background(), x)
	if err != nil || math.Abs(turned.Mean[0]+p.Mean[0]) > 0.1 {
		t.Errorf("conditioned on data of the other sign the draws predict %v, before %v (%v)", turned.Mean[0], p.Mean[0], err)
	}
}

// TestPosteriorUnits: where variances leave float64's range the mixture's standard deviations are the plain ones in their unit.
func TestPosteriorUnits(t *testing.T) {
	const unit = 0x1p-600
	var sds, upper [2][]float64
	for i, unit := range []float64{1, unit} {
		m, r := mustFit(t, lines(120, 12, 0.3, 1, unit, [2]float64{0.5, 1}), Options{Components: 1, Features: 2, Window: WindowNone, Posterior: 5})
		if r.NoPosterior != "" {
			t.Fatal(r.NoPosterior)
		}
		p, err := m.PosteriorPredictor(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		at, err := p.Predict(context.Background(), []float64{3, 60})
		if err != nil {
			t.Fatal(err)
		}
		sds[i], upper[i] = at.SD(true), at.Quantile(0.9, true)
	}
	for i, sd := range sds[0] {
		if math.Abs(sds[1][i]/unit/sd-1) > 1e-6 || math.Abs(upper[1][i]/unit/upper[0][i]-1) > 1e-6 {
			t.Errorf("sd %v and quantile %v, want %v and %v of the unit", sds[1][i]/unit, upper[1][i]/unit, sd, upper[0][i])
		}
	}
}

// TestPosteriorHMC: draws by Hamiltonian Monte Carlo predict as those of the Gaussian do.
func TestPosteriorHMC(t *testing.T) {
	if !slow.Tests {
		t.Skip("takes seconds")
	}
	predicted := func(o Options) *Prediction {
		m, _ := withPosterior(t, o)
		p, err := m.PosteriorPredictor(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		out, err := p.Predict(context.Background(), []float64{6, 14, 30})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	g, h := predicted(Options{Posterior: 200}), predicted(Options{Posterior: 200, HMC: true})
	for i, sd := range h.SD(true) {
		if math.Abs(g.Mean[i]-h.Mean[i]) > 0.3*sd || math.Abs(g.SD(true)[i]/sd-1) > 0.25 {
			t.Errorf("row %d: the Gaussian's %v +- %v, HMC's %v +- %v", i, g.Mean[i], g.SD(true)[i], h.Mean[i], sd)
		}
	}
}

// TestNoPosterior: where there is none the result says why, and no standard deviation is made up.
func TestNoPosterior(t *testing.T) {
	data := lines(120, 12, 0.3, 1, 1, [2]float64{0.5, 1})
	for name, o := range map[string]Options{
		"not asked for": {Posterior: NoPosterior}, "starting values": {Iterations: NoIterations}, "mini-batches": {Inference: Stochastic, Iterations: 20},
		"nats below": {Iterations: 1, Init: InitPaper, Features: 10, Posterior: 3}, "": {Fix: []string{"kernel.frequency", "frequency.mean"}},
	} {
		o.Window = WindowNone
		m, r := mustFit(t, data, o)
		if name != "" && !bytes.Contains([]byte(r.NoPosterior), []byte(name)) || (m.Posterior() == nil) != (r.NoPosterior != "") {
			t.Errorf("%q: %q, posterior %v", name, r.NoPosterior, m.Posterior())
		}
		for _, f := range m.Frequencies() {
			if f.SD != nil {
				t.Fatalf("%q: frequency %v has the standard deviation %v", name, f.Mean, f.SD)
			}
		}
		if _, err := m.PosteriorPredictor(context.Background()); !errors.Is(err, ErrUnfitted) {
			t.Errorf("%q: predictions without draws: %v", name, err)
		}
		if _, err := m.PosteriorDraws(1); !errors.Is(err, ErrUnfitted) {
			t.Errorf("%q: functions without draws: %v", name, err)
		}
	}
	var none *Model
	if none.Posterior() != nil || (*Prediction)(nil).Quantile(0.5, true) != nil {
		t.Error("a model that is none has a posterior")
	}
}

// TestNoDraws: where a fit keeps no draws although they were asked for, a prediction by them says why.
func TestNoDraws(t *testing.T) {
	m, r, err := Fit(t.Context(), wave(60, 0.1), Options{Posterior: 3, Inference: Stochastic, Iterations: 5, Features: 6})
	if err != nil || r.NoPosterior == "" {
		t.Fatalf("no reason (%v)", err)
	}
	_, predict := m.PosteriorPredictor(t.Context())
	_, draw := m.PosteriorDraws(1)
	for _, err := range []error{predict, draw} {
		if !errors.Is(err, ErrUnfitted) || !strings.Contains(err.Error(), r.NoPosterior) || strings.Contains(err.Error(), "Options.Posterior") {
			t.Errorf("%v; want the reason %q", err, r.NoPosterior)
		}
	}
}
