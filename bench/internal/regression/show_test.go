package regression

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/internal/testkit"
)

// lineOf returns a line whose scores in gaps are given.
func lineOf(kind string, seed int, method string, rmse, nlpd, coverage float64) Line {
	return Line{Bench: "regression", Kind: kind, Seed: seed, Half: Half(seed), N: 80, Digest: "d", Method: method, Seconds: 2,
		CPU: 1, Places: map[string]Scores{Gap: {10, rmse, nlpd, coverage}}, Status: machine.OK}
}

// TestShow compares the tables of made lines with the expected text. Seed 2 of sklearn has no scores, and is left out of
// the mean. The judge half is separate.
func TestShow(t *testing.T) {
	failed := lineOf("step", 2, "sklearn", 0, 0, 0)
	failed.Status, failed.Places = "failed: singular", nil
	var b strings.Builder
	Show(&b, []Line{
		lineOf("step", 0, "vssgp", 1, 200, 0.5), lineOf("step", 0, "sklearn", 0.5, 1, 0.9),
		lineOf("step", 2, "vssgp", 9, 9, 0.1), failed,
		lineOf("rbf-gap", 0, "vssgp", 1, 1, 0.25), lineOf("rbf-gap", 2, "vssgp", 3, 2, 0.75),
		lineOf("rbf-gap", 1, "vssgp", 7, 7, 0.77),
	})
	want := `Half dev: means over seeds of RMSE / NLPD / coverage of 95 % intervals

| kind | place | seeds | vssgp | sklearn |
|---|---|---|---|---|
| rbf-gap | gap | 2 | 2 / 1.50 / 0.50 | - |
| step | gap | 1 | 1 / 200 / 0.50 | 0.5 / 1.00 / 0.90 |

Seconds of the fit and the predictions (of the processor)

| kind | N | vssgp | sklearn |
|---|---|---|---|
| rbf-gap | 80 | 2 (1) | - |
| step | 80 | 2 (1) | 2 (1) |

Coverage in gaps, over kinds

| method | kinds | mean | worst | kind of the worst |
|---|---|---|---|---|
| vssgp | 2 | 0.500 | 0.50 | rbf-gap |
| sklearn | 1 | 0.900 | 0.90 | step |

Without scores

| kind | seed | method | status |
|---|---|---|---|
| step | 2 | sklearn | failed: singular |

`
	text, judge, _ := strings.Cut(b.String(), "Half judge")
	if text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	if !strings.Contains(judge, "| rbf-gap | gap | 1 | 7 / 7.00 / 0.77 |") {
		t.Errorf("judge:\n%s", judge)
	}
}

// TestCompare compares paired differences with values by hand, and checks that other data and fits without a pair are
// left out.
func TestCompare(t *testing.T) {
	e := math.E
	older := []Line{lineOf("step", 0, "vssgp", 1, 5, 0.5), lineOf("step", 2, "vssgp", 1, 5, 0.7),
		lineOf("step", 4, "vssgp", 1, 5, 0.9), lineOf("rbf-gap", 0, "vssgp", 2, 1, 0.5), lineOf("rbf-gap", 0, "series", 2, 1, 0.5)}
	newer := []Line{lineOf("step", 0, "vssgp", e, 4, 1), lineOf("step", 2, "vssgp", e*e*e, 6.5, 0.8),
		lineOf("step", 4, "vssgp", 1, 0, 0), lineOf("rbf-gap", 0, "vssgp", 2*e, 0.5, 0.75)}
	newer[1].CPU, newer[0].CPU = 4, 4
	newer[2].Digest = "other"
	var b strings.Builder
	testkit.OK(t, Compare(&b, older, newer))
	want := `Half dev, vssgp: new minus old; ± is the standard error; negative is better

| kind | place | seeds | log RMSE ratio | NLPD | NLPD is lower | coverage | processor time ratio |
|---|---|---|---|---|---|---|---|
| rbf-gap | gap | 1 | 1.00 | -0.50 | 1 of 1 | 0.50 → 0.75 | 1.00 |
| step | gap | 2 | 2.00 ± 1.00 | 0.25 ± 1.25 | 1 of 2 | 0.60 → 0.90 | 4.00 |
| **all kinds** | gap | 2 | 1.50 ± 0.50 | -0.12 ± 0.38 | 1 of 2 | 0.55 → 0.82 |  |

Left out: 1 fits whose problems have different data

Fits with scores in the old file only: 1; in the new file only: 0
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &b, want)
	}
	if err := Compare(&b, older, newer[2:3]); err == nil || !strings.Contains(err.Error(), "different data") {
		t.Errorf("error %v without pairs", err)
	}
}

// TestRead checks that the last of equal lines counts, and that other files are rejected.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.jsonl")
	for _, rmse := range []float64{1, 2} {
		testkit.OK(t, jsonl.Append(path, lineOf("step", 0, "vssgp", rmse, 0, 0)))
	}
	if lines, err := Read(path); err != nil || len(lines) != 1 || lines[0].Places[Gap].RMSE != 2 {
		t.Errorf("%+v, %v", lines, err)
	}
	other := lineOf("step", 1, "vssgp", 1, 0, 0)
	other.Half = Dev
	testkit.OK(t, jsonl.Append(path, other))
	for _, p := range []string{path, filepath.Join(dir, "none")} {
		if _, err := Read(p); err == nil || !strings.Contains(err.Error(), p) {
			t.Errorf("%s: error %v", p, err)
		}
	}
}
