package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/bench/internal/regression"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/matrix"
)

// TestRegression checks the lines of a run, that they can be shown and compared, and that a kind without data is
// skipped.
func TestRegression(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out.jsonl")
	testkit.OK(t, bench("regression", "-kind", "few-12,co2", "-half", "judge", "-seeds", "2", "-data", dir, "-out", out))
	lines := testkit.Must(regression.Read(out))(t)
	if len(lines) != 4 {
		t.Fatalf("%d lines, want 4", len(lines))
	}
	for i, l := range lines {
		if l.Kind != "few-12" || l.Seed != 1+i/2*2 || l.Method != regression.Methods[i%2] || l.Status != machine.OK ||
			l.N != 12 || l.Machine.Go == "" {
			t.Errorf("line %d: %+v", i, l)
		}
		if s := l.Places[regression.Gap]; s.N != 200 || !(s.RMSE > 0 && s.RMSE < 3) {
			t.Errorf("line %d: scores %+v", i, s)
		}
	}
	testkit.OK(t, bench("regression", "-show", out, out))
	testkit.OK(t, bench("regression", "-compare", out, out))
}

// TestRegressionDump checks that the written problems are the problems that are fitted.
func TestRegressionDump(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "problems")
	testkit.OK(t, bench("regression", "-kind", "rbf-gap,few-12", "-seeds", "1", "-dump", dir))
	index, err := jsonl.Read[regression.Problem](filepath.Join(dir, "problems.jsonl"), nil)
	if err != nil || len(index) != 2 {
		t.Fatalf("%d problems, %v", len(index), err)
	}
	for i, k := range regression.Select([]string{"rbf-gap", "few-12"}) {
		p := testkit.Must(k.Problem(0, ""))(t)
		got := index[i]
		if got.Digest != p.Digest || got.Kind != k.Name || got.Family != "rbf" || !got.Latent || len(got.Places) != 2 {
			t.Errorf("description %+v", got)
		}
		for _, at := range append(p.Places, regression.Place{Name: "train", X: p.X, Y: p.Y}) {
			path := filepath.Join(dir, fmt.Sprintf("%s.0.%s.csv", k.Name, at.Name))
			m := testkit.Must(matrix.ReadFull(path))(t)
			var want []float64
			for i, x := range at.X {
				want = append(want, x, at.Y[i])
			}
			if !slices.Equal(m.Data, want) {
				t.Errorf("%s, %s: other rows", k.Name, at.Name)
			}
		}
	}
}
