package main

import (
	"bytes"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/audio/internal/clicks"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
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
	if rows := strings.Count(shown.String(), "\n"); rows != 1+len(crackles) { // without noise of records
		t.Errorf("%d rows\n%s", rows, &shown)
	}
	for _, c := range all[1:] {
		var s score
		if s.add(c, 8); 3*s.hit[4] < 2*s.all[4] {
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

// TestMonoFindsFaintClicks checks the table of mono discs: the search in the difference finds more clicks.
func TestMonoFindsFaintClicks(t *testing.T) {
	slow.Race(t)
	defer func(noise, levels []float64) { discNoise, discClicks = noise, levels }(discNoise, discClicks)
	discNoise, discClicks = discNoise[1:], discClicks[:slow.Pick(len(discClicks), 1)]
	var shown bytes.Buffer
	testkit.OK(t, mono(&shown, []string{"../../../../testdata/speech.wav"}))
	rows := strings.Split(strings.TrimSpace(shown.String()), "\n")[2:]
	if len(rows) != 2*(len(discClicks)+1) {
		t.Fatalf("%d rows\n%s", len(rows), &shown)
	}
	recall := func(row string) float64 {
		return testkit.Must(strconv.ParseFloat(strings.TrimSpace(strings.Split(row, "|")[7]), 64))(t)
	}
	if alone, with := recall(rows[0]), recall(rows[1]); with < alone+0.3 {
		t.Errorf("clicks of %g dB: recall %v in each channel, %v with the difference\n%s", discClicks[0], alone, with, &shown)
	}
}
