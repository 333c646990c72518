package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/backend/backendtest"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/testkit"
)

// newAuto returns a backend of --device auto with a card that computes on the CPU, and what it prints.
func newAuto(repeats int, fail error) (b *auto, card *fakeCard, said *[]string) {
	card, said = &fakeCard{Backend: cpu.New(), name: "cuda:0 made"}, new([]string)
	return &auto{
		host: cpu.New(), cardName: "cuda:0", repeats: repeats,
		openCard: func() (backend.Backend, error) { return card, fail },
		note:     func(format string, a ...any) { *said = append(*said, fmt.Sprintf(format, a...)) },
	}, card, said
}

func TestAutoConforms(t *testing.T) {
	backendtest.Run(t, func(testing.TB) backend.Backend {
		b, _, _ := newAuto(1, nil)
		return b
	})
}

// rowsOf returns n rows in the given number of windows, and m features.
func rowsOf(n, m, q, windows int) (d backend.Data, f *backend.Features) {
	d = backend.Data{N: n, Q: q, D: 1, X: make([]float64, n*q), Y: make([]float64, n)}
	for i := range n {
		d.X[i*q] = float64(i)
	}
	f = backend.NewFeatures(m, q)
	if windows > 1 {
		d.Windows.Length = 2 * float64(n) / float64(windows)
		for v := range windows {
			d.Windows.Center = append(d.Windows.Center, (float64(v)+0.5)*d.Windows.Length/2)
		}
		f.Windows = d.Windows
		for k := range m {
			f.Window = append(f.Window, k*windows/m)
		}
	}
	return d, f
}

// TestAutoCountsOperations checks the device of computations of several sizes.
func TestAutoCountsOperations(t *testing.T) {
	for _, c := range []struct {
		name          string
		n, m, q, w    int
		repeats       int
		flops         float64 // of one evaluation, within a factor of two
		card, predict bool
	}{
		{name: "a short series", n: 500, m: 50, q: 1, w: 1, repeats: 100, flops: 4e6},
		{name: "tables", n: 100000, m: 200, q: 1, w: 1, repeats: 100, flops: 9e7},
		{name: "many features, one evaluation", n: 100000, m: 1000, q: 1, w: 1, repeats: 1, flops: 3e9},
		{name: "many features, a fit", n: 100000, m: 1000, q: 1, w: 1, repeats: 100, flops: 3e9, card: true},
		{name: "two inputs, tables", n: 100000, m: 200, q: 2, w: 1, repeats: 100, flops: 9.8e8},
		{name: "two inputs, tables, longer", n: 100000, m: 200, q: 2, w: 1, repeats: 1000, flops: 9.8e8, card: true},
		{name: "three inputs", n: 100000, m: 200, q: 3, w: 1, repeats: 100, flops: 1.2e10, card: true},
		{name: "windows", n: 100000, m: 40 * 390, q: 1, w: 390, repeats: 100, flops: 2.1e9, card: true},
		{name: "a prediction", n: 1000, m: 100, q: 1, w: 1, predict: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, _, said := newAuto(c.repeats, nil)
			d, f := rowsOf(c.n, c.m, c.q, c.w)
			r := testkit.Must(b.Open(d))(t)
			if c.predict {
				post := &backend.Posterior{D: 1, Mean: make([]float64, c.m), Var: make([]float64, c.m)}
				testkit.OK(t, r.Predict(backend.NewPrediction(c.n, 1), f, post))
			} else {
				if got := exactFlops(&d, f); got < c.flops/2 || got > 2*c.flops {
					t.Errorf("%.2g operations, want about %.2g", got, c.flops)
				}
				r.CanSolve(f)
			}
			want := map[bool]string{false: "cpu", true: "cuda:0 made"}[c.card]
			if b.Name() != want || len(*said) != 1 {
				t.Errorf("on %s, said %q; want %s and one line", b.Name(), *said, want)
			}
			testkit.OK(t, r.Close())
			testkit.OK(t, b.Close())
		})
	}
}

// TestAutoSaysEachChange checks that the choice is printed only when it changes, and that all devices are closed once.
func TestAutoSaysEachChange(t *testing.T) {
	b, card, said := newAuto(1, nil)
	for _, flops := range []float64{1e6, 1e7, 1e12, 2e12, 1e6} {
		b.choose(flops)
	}
	want := []string{
		"computing on the CPU: about 0.0001 s on one core, which is not worth starting cuda:0",
		"computing on cuda:0 made: about 100 s on one core of the CPU",
		"computing on the CPU: about 0.0001 s on one core, which is not worth starting cuda:0",
	}
	if !slices.Equal(*said, want) {
		t.Errorf("said %q, want %q", *said, want)
	}
	if testkit.OK(t, b.Close()); card.closed != 1 {
		t.Errorf("the card was closed %d times", card.closed)
	}
}

// TestAutoWithoutItsCard checks that a card that cannot be opened is tried once and replaced by the CPU.
func TestAutoWithoutItsCard(t *testing.T) {
	b, card, said := newAuto(1, errors.New("out of memory"))
	for range 2 {
		if got := b.choose(1e12); got != b.host {
			t.Errorf("chose %s", got.Name())
		}
	}
	if len(*said) != 1 || !strings.Contains((*said)[0], "computing on the CPU: cuda:0: out of memory") {
		t.Errorf("said %q", *said)
	}
	if testkit.OK(t, b.Close()); card.closed != 0 {
		t.Error("closed a card that was not opened")
	}
}
