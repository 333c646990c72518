package main

import (
	"bytes"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/clicks"
	"github.com/vssgp/vssgp/internal/testkit"
)

// TestClicksFit checks that fitted weights are written as a Go file and that the detector finds most loud clicks.
func TestClicksFit(t *testing.T) {
	out := filepath.Join(t.TempDir(), "weights.go")
	o := clicksTask{fit: out, seed: 1, files: []string{"../testdata/speech.wav"}}
	testkit.OK(t, o.run())
	testkit.Contains(t, string(testkit.Read(t, out)), "DO NOT EDIT", "speech.wav", "package clicks", "// energy")
	trials := testkit.Must(o.trials())(t)
	search(trials, clicks.Fitted())
	var shown bytes.Buffer
	showClicks(&shown, trials)
	if rows := strings.Count(shown.String(), "\n"); rows != 2+11+3+1 {
		t.Errorf("%d rows\n%s", rows, &shown)
	}
	for _, c := range trials[1:] {
		if s := c.score(8); 3*s.hit[3] < 2*s.all[3] {
			t.Errorf("%s: %+v", crackles[c.crackle].name, s)
		}
	}
}

// TestClicksValue compares the gradient of a fit with central differences.
func TestClicksValue(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var f clicksFit
	for range 50 {
		f.rows, f.weights = append(f.rows, []float64{1, rng.NormFloat64(), rng.NormFloat64()}), append(f.weights, rng.Float64())
		f.clicks = append(f.clicks, rng.IntN(2) == 0)
	}
	p, g, other := []float64{0.3, 0.7, -0.4}, make([]float64, 3), make([]float64, 3)
	testkit.Must(f.value(p, g))(t)
	for j := range p {
		q := slices.Clone(p)
		const h = 1e-5
		q[j] += h
		up := testkit.Must(f.value(q, other))(t)
		q[j] -= 2 * h
		testkit.Near(t, g[j], (up-testkit.Must(f.value(q, other))(t))/(2*h), 1e-6*math.Max(1, math.Abs(g[j])), "gradient ", j)
	}
}
