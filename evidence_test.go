package vssgp

import (
	"context"
	"errors"
	"math"
	"testing"
)

// tone is n samples of four sinusoids whose frequencies change every so many
// samples, with a little noise.
func tone(n, every int) *Data {
	rng := newRNG(uint64(n + every))
	d := &Data{N: n, Q: 1, D: 1, X: make([]float64, n), Y: make([]float64, n)}
	var freq, phase [4]float64
	for i := range n {
		if i%every == 0 {
			for j := range freq {
				freq[j] = 0.05 + 0.35*rng.Float64()
			}
		}
		d.X[i] = float64(i)
		for j := range phase {
			phase[j] += 2 * math.Pi * freq[j]
			d.Y[i] += math.Sin(phase[j])
		}
		d.Y[i] += 0.05 * rng.NormFloat64()
	}
	return d
}

// TestChoosesWindow: long windows for a sound that stays, short ones for one
// that changes; on all of the data and on excerpts, with the optimiser and
// without.
func TestChoosesWindow(t *testing.T) {
	lengths := []float64{64, 512}
	for _, n := range []int{4096, 16 * evidenceWindows * 512 * 2} {
		if n > 1<<14 && testing.Short() {
			continue
		}
		for _, c := range []struct{ every, want int }{{1 << 20, 512}, {96, 64}} {
			for iterations, components := range map[int]int{NoIterations: 12, 2: 4} {
				o := Options{Init: InitSpectrum, Window: WindowAuto, WindowCandidates: lengths, Iterations: iterations, Components: components, Features: 2}
				data := tone(n, c.every)
				m, err := New(data, o)
				if err != nil {
					t.Fatal(err)
				}
				if got := m.Params.Windows.Length * m.X.Scale[0]; math.Abs(got-float64(c.want)) > 1e-9 {
					t.Errorf("%d samples, new sound every %d, iterations %d: windows of %g, want %d", n, c.every, iterations, got, c.want)
				}
			}
		}
	}
}

// TestExcerpts: of long data eight stretches are tried, spread over all of
// them, each row where it belongs, in the units of the whole.
func TestExcerpts(t *testing.T) {
	const longest = 20.0
	for _, n := range []int{2 * evidenceExcerpts * evidenceWindows * longest, 2*evidenceExcerpts*evidenceWindows*longest + 1, 12345} {
		data := tone(n, 100)
		data.X, data.Y = append(data.X[:700], data.X[701:]...), append(data.Y[:700], data.Y[701:]...) // a place without a row
		data.N--
		m := &Model{X: identity(1), Y: identity(1)}
		g := newGrid(data.X, data.Y, 1, 1, 0)
		g.fill(t.Context(), longest)
		parts, whole := m.excerpts(data, g, []float64{10, longest})
		if want := n <= 2*evidenceExcerpts*evidenceWindows*longest; whole != want {
			t.Fatalf("%d places: all tried: %v, want %v", n, whole, want)
		}
		if whole {
			continue
		}
		if len(parts) != evidenceExcerpts {
			t.Fatalf("%d places: %d excerpts, want %d", n, len(parts), evidenceExcerpts)
		}
		last := -1.0
		for i, p := range parts {
			if p.grid.unit() != g.unit() || len(p.grid.missing) != evidenceWindows*longest || p.grid.x0 <= last {
				t.Errorf("%d places: excerpt %d has unit %v and %d places from %v, want %v and %v after %v", n, i, p.grid.unit(), len(p.grid.missing), p.grid.x0, g.unit(), evidenceWindows*longest, last)
			}
			last = p.grid.x0 + float64(len(p.grid.missing)-1)
			observed := 0
			for _, missing := range p.grid.missing {
				if !missing {
					observed++
				}
			}
			if p.data.N != observed || p.data.X[0] < p.grid.x0 || p.data.X[p.data.N-1] > last {
				t.Errorf("%d places: excerpt %d has %d rows from %v to %v, want %d from %v to %v", n, i, p.data.N, p.data.X[0], p.data.X[p.data.N-1], observed, p.grid.x0, last)
			}
			for j, x := range p.data.X {
				if p.data.Y[j] != p.grid.y[0][p.grid.place(x)] {
					t.Fatalf("%d places: excerpt %d row %d is not its place's", n, i, j)
				}
			}
		}
		if d := parts[0].grid.x0 - (float64(n-1) - last); math.Abs(d) > evidenceExcerpts {
			t.Errorf("%d places: excerpts from %v to %v, want them spread", n, parts[0].grid.x0, last)
		}
	}
}

// TestEvidence is by hand: the bound of a fit of those iterations, less one for
// each point estimate.
func TestEvidence(t *testing.T) {
	const window, components = 64, 5
	data := tone(700, 90)
	for _, c := range []struct {
		name   string
		o      Options
		points func(l, m int) int
	}{
		{"each window its own", Options{}, func(l, m int) int { return 3*l + 1 }},
		{"shared", Options{Shared: true}, func(l, m int) int { return 3*components + 1 }},
		{"tied, noise fixed", Options{Tie: []string{"kernel.lengthscale"}, Fix: []string{"noise.precision"}}, func(l, m int) int { return 2*l + 1 }},
		{"ssgp", Options{Method: SSGP}, func(l, m int) int { return 3*l + 1 + m/2 }},
	} {
		o := c.o
		o.Init, o.Window, o.Components, o.Features = InitSpectrum, window, components, 2
		o.Iterations = evidenceIterations
		m, r, err := Fit(context.Background(), data, o)
		if err != nil {
			t.Fatal(err)
		}
		bare := &Model{X: m.X, Y: m.Y, Inference: Exact}
		g := newGrid(m.X.ToModel(data.X), m.Y.ToModel(data.Y), 1, 1, 0)
		tr := &trials{ctx: context.Background(), model: bare, o: o}
		part, s := trialPart{data, g}, setting{window, components, 2}
		_, got, err := tr.on(part, s, tr.start(part, s))
		if err != nil {
			t.Fatal(err)
		}
		p := m.Params
		want := r.Bound - float64(c.points(p.L, p.M()))
		if math.Abs(got-want) > 1e-9*math.Abs(want) {
			t.Errorf("%s: evidence %v, want %v", c.name, got, want)
		}
	}
}

// TestChoosesComponents: of half, the default and twice the components, and of
// those with more features each, the setting of highest evidence is kept.
func TestChoosesComponents(t *testing.T) {
	const window = 128
	kept := map[int]bool{}
	for _, every := range []int{1 << 20, 60} {
		data := tone(2000, every)
		o := Options{Init: InitSpectrum, Window: WindowAuto, WindowCandidates: []float64{window}, Iterations: 5}
		m, err := New(data, o)
		if err != nil {
			t.Fatal(err)
		}
		g := newGrid(m.X.ToModel(data.X), m.Y.ToModel(data.Y), 1, 1, 0)
		tr := &trials{ctx: context.Background(), model: &Model{X: m.X, Y: m.Y, Inference: Exact}, o: o}
		evidence := func(s setting) float64 {
			part := trialPart{data, g}
			_, v, err := tr.on(part, s, tr.start(part, s))
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		chosen := setting{window, m.Params.L / m.Params.Windows.Count(), m.Params.K}
		got, first := evidence(chosen), o.mostCells(window)
		kept[chosen.components] = true
		for _, other := range []setting{{window, first, 2}, {window, 2 * first, 2}, {window, first / 2, 2}} {
			if v := evidence(other); v > got {
				t.Errorf("new sound every %d: %+v has evidence %v, the chosen %+v has %v", every, other, v, chosen, got)
			}
		}
	}
	if len(kept) < 2 {
		t.Errorf("the same number for steady and for changing sound: %v", kept)
	}
}

// TestChoosesNone: lines that last want no windows and not many more components
// than there are lines, whatever the rows' number is to the windows tried.
func TestChoosesNone(t *testing.T) {
	for _, n := range []int{1300, 3000} {
		rng := newRNG(uint64(n))
		d := &Data{N: n, Q: 1, D: 1}
		for i := range n {
			x := float64(i)
			d.X = append(d.X, x)
			d.Y = append(d.Y, math.Sin(2*math.Pi*x/24)+0.5*math.Cos(2*math.Pi*x/168)+0.3*rng.NormFloat64())
		}
		m, err := New(d, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if p := m.Params; len(p.Windows.Center) > 0 || p.L < 2 || p.L > 8 {
			t.Errorf("%d rows of two lines: %d windows, %d components", n, len(p.Windows.Center), p.L)
		}
	}
}

// TestChoiceInterrupted: an interruption ends it with its error.
func TestChoiceInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := newModel(ctx, tone(3000, 100), Options{Init: InitSpectrum, Window: WindowAuto, WindowCandidates: []float64{128}, Iterations: 5}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}
