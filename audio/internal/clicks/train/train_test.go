package main

import (
	"bytes"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/audio/internal/clicks"
	"github.com/vssgp/vssgp/internal/testkit"
)

// TestTrainFitsAndScores checks that fitted weights are written as a Go file and that the detector finds most loud clicks.
func TestTrainFitsAndScores(t *testing.T) {
	out, files := filepath.Join(t.TempDir(), "weights.go"), []string{"../../../../testdata/speech.wav"}
	testkit.OK(t, train(out, "", 8, files))
	testkit.Contains(t, string(testkit.Read(t, out)), "DO NOT EDIT", "speech.wav", "package clicks", "// energy")

	all := testkit.Must(trials(files))(t)
	search(all, clicks.Fitted(), false)
	var shown bytes.Buffer
	show(&shown, all, 8)
	if rows := strings.Count(shown.String(), "\n"); rows != 2+len(crackles) {
		t.Errorf("%d rows\n%s", rows, &shown)
	}
	for _, c := range all[1:] {
		var s score
		if s.add(c, 8); 3*s.hit[3] < 2*s.all[3] {
			t.Errorf("%s: %+v", crackles[c.crackle].name, s)
		}
	}
}

// TestValueMatchesDifferences compares the gradient of a fit with central differences.
func TestValueMatchesDifferences(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var f regression
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
