package gpu

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/internal/testkit/oracle"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// counted is a backend that counts its calls.
type counted struct {
	backend.Backend
	host, card int // calls of Moments and Pullback, of Solve and PullbackSolved
}

func count(b backend.Backend) *counted {
	c := &counted{}
	c.Backend = backend.Observed(b, func(method string) func() {
		switch method {
		case "Moments", "Pullback":
			c.host++
		case "Solve", "PullbackSolved":
			c.card++
		}
		return nil
	})
	return c
}

// goldenWindows returns the golden file with windows, and its bound and gradient.
func goldenWindows(t *testing.T) (*vssgp.Params, *vssgp.Data, *oracle.Golden) {
	t.Helper()
	g := testkit.Must(oracle.LoadGolden("../testdata/golden/q1d1_windows.json"))(t)
	data := &vssgp.Data{N: g.N, Q: g.Q, D: g.D, X: slices.Concat(g.X...), Y: slices.Concat(g.Y...)}
	return modeltest.FromOracle(g.Params, g), data, g
}

// recording returns a model with v windows and l components of k features each for a sum of tones.
// With v = 1 it has no windows.
func recording(v, l, k, d int, tau float64) (*vssgp.Params, *vssgp.Data) {
	rng := rand.New(rand.NewPCG(uint64(v), uint64(l*k)))
	const step = 20.0 // rows between neighboring centers
	p := vssgp.NewParams(v*l, k, 1, d)
	p.Windows = backend.Windows{Length: 2 * step}
	for w := range v {
		p.Windows.Center = append(p.Windows.Center, step*(float64(w)+0.5))
		for range l {
			p.ComponentWindow = append(p.ComponentWindow, w)
		}
	}
	centers := p.Windows.Center
	if v == 1 {
		p.Windows, p.ComponentWindow = backend.Windows{}, nil
	}
	for i := range p.Variance {
		p.Variance[i], p.Lengthscale[i], p.Frequency[i] = 0.3+rng.Float64(), 10+20*rng.Float64(), 0.02+0.3*rng.Float64()
	}
	for j := range p.Location {
		p.Location[j] = centers[j/k/l] + step*(rng.Float64()-0.5)
		p.FreqMean[j], p.FreqVar[j] = 0.3*rng.NormFloat64(), 0.05+0.5*rng.Float64()
		p.PhaseLower[j] = 3 * rng.Float64()
		p.PhaseUpper[j] = p.PhaseLower[j] + 1 + rng.Float64()
	}
	for i := range p.CoefVar { // the exact bound does not use it
		p.CoefVar[i] = 1
	}
	p.NoisePrecision[0] = tau
	n := int(step) * v
	data := &vssgp.Data{N: n, Q: 1, D: d}
	for i := range n {
		data.X = append(data.X, float64(i))
		for o := range d {
			data.Y = append(data.Y, math.Sin(0.3*float64(i)+float64(o))+0.5*math.Cos(0.11*float64(i))+0.1*rng.NormFloat64())
		}
	}
	return p, data
}

// modelBound is the maximum difference of the bound and gradients from package cpu and the host's
// algebra, relative to the largest entry of each.
const modelBound = 1e-10

// TestModelMatchesGolden compares the bound and every gradient, with the algebra on the GPU, with the golden
// file and package cpu.
func TestModelMatchesGolden(t *testing.T) {
	onEach(t, func(t *testing.T, ordinal int) {
		b := count(open(t, Options{Ordinal: ordinal}))
		p, data, g := goldenWindows(t)
		e := b.evaluation(t, p, data)
		if d := math.Abs(e.Bound - g.Exact.Bound); d > modelBound*math.Abs(g.Exact.Bound) {
			t.Errorf("golden: bound %.15g, want %.15g", e.Bound, g.Exact.Bound)
		}
		sameGradient(t, "golden", e.Gradient, modeltest.FromOracle(g.Exact.Gradient, g))
		for _, c := range []struct {
			v, l, k, d int
			tau        float64
		}{{2, 2, 4, 1, 10}, {9, 2, 5, 1, 400}, {12, 1, 9, 3, 3}, {3, 4, 8, 1, 1e4}, {1, 10, 9, 2, 50}} {
			p, data := recording(c.v, c.l, c.k, c.d, c.tau)
			got := b.evaluation(t, p, data)
			m := testkit.Must(vssgp.NewModel(p))(t)
			m.Backend = cpu.New()
			want := testkit.Must(m.Evaluate(t.Context(), data, vssgp.Exact, nil, true))(t)
			if d := math.Abs(got.Bound-want.Bound) / math.Abs(want.Bound); !(d <= modelBound) {
				t.Errorf("%+v: bound %.15g, want %.15g: off by %.1e", c, got.Bound, want.Bound, d)
			}
			sameGradient(t, "of the CPU", got.Gradient, want.Gradient)
		}
		if b.host > 0 || b.card != 12 {
			t.Errorf("%d calls transfer G to the host, %d do not, want 0 and 12", b.host, b.card)
		}
	})
}

func (b *counted) evaluation(t *testing.T, p *vssgp.Params, data *vssgp.Data) *vssgp.Evaluation {
	t.Helper()
	m := testkit.Must(vssgp.NewModel(p))(t)
	m.Backend = b
	return testkit.Must(m.Evaluate(t.Context(), data, vssgp.Exact, nil, true))(t)
}

func sameGradient(t *testing.T, what string, got, want *vssgp.Params) {
	t.Helper()
	all := got.Tensors()
	for i, w := range want.Tensors() {
		if len(*w.Data) > 0 { // the golden file has no gradient with respect to phases and coefficients
			modeltest.Near(t, what+": gradient by "+w.Name, *all[i].Data, *w.Data, modelBound)
		}
	}
}

// TestNoiselessFitMatchesHost checks that fits of series without noise give the same result on the GPU and the
// host, dense and with windows.
func TestNoiselessFitMatchesHost(t *testing.T) {
	all := modeltest.Noiseless()
	onEachCard(t, func(t *testing.T, b *Backend) {
		for i, s := range all[:5] {
			if !slow.Tests && i != 0 && i != 2 {
				continue // an emulated GPU takes a minute for all
			}
			o := vssgp.Options{Backend: b, Iterations: 30}
			if i == 0 { // the algebra runs on the GPU
				o.Windows.Length = 4
			}
			m, r, err := vssgp.Fit(context.Background(), &vssgp.Data{N: len(s.X), Q: 1, D: 1, X: s.X, Y: s.Y}, o)
			testkit.OK(t, err)
			modeltest.CheckTerms(t, r.Terms)
			p := testkit.Must(m.Predict(t.Context(), s.X))(t)
			s.Check(t, p.Mean, p.SD(true))
		}
	})
}
