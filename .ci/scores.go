//go:build ignore

// Scores reads what `vssgp impute --json --reference …` prints for the main job
// and fails unless the fill is better than the other methods and
// its error bars are honest. It is run by .ci/run.
package main

import (
	"encoding/json"
	"fmt"
	"os"
)

type scores struct {
	TestRMSE float64  `json:"test_rmse"`
	TestSTFT float64  `json:"test_stft_rmse"`
	Coverage *float64 `json:"coverage95"`
}

// most is the share of another fill's test RMSE that ours must stay below. The
// fill is to be ahead of the best simple one (ar; 0.73 of it when this was
// written), and far ahead of silence and a straight line (0.41 and 0.36).
var most = []struct {
	name  string
	share float64
}{{"silence", 0.6}, {"linear", 0.6}, {"ar", 0.85}}

// The 95 % intervals are to cover about that share of the gaps' samples, which
// are few and correlated.
const leastCover, mostCover = 0.88, 0.99

func main() {
	var result struct {
		Gaps    [][2]int          `json:"gaps"`
		Seconds float64           `json:"seconds"`
		Scores  map[string]scores `json:"scores"`
	}
	if err := json.NewDecoder(os.Stdin).Decode(&result); err != nil {
		fail("the main job's --json output: %v", err)
	}
	ours, ok := result.Scores["vssgp"]
	if !ok || len(result.Gaps) == 0 || ours.Coverage == nil {
		fail("the main job's --json output has no gaps or no scores of vssgp; does the command have --reference?")
	}
	fmt.Printf("%d gaps in %.1f s: test RMSE %.4g, STFT RMSE %.4g, 95 %% intervals cover %.3g\n",
		len(result.Gaps), result.Seconds, ours.TestRMSE, ours.TestSTFT, *ours.Coverage)
	wrong := ""
	for _, m := range most {
		theirs, ok := result.Scores[m.name]
		if !ok {
			fail("the main job's --json output has no scores of %s", m.name)
		}
		share := ours.TestRMSE / theirs.TestRMSE
		fmt.Printf("  %-8s test RMSE %.4g (ours is %.3g of it), STFT RMSE %.4g\n", m.name, theirs.TestRMSE, share, theirs.TestSTFT)
		if !(share < m.share) {
			wrong += fmt.Sprintf("; test RMSE is %.3g of the RMSE of %s, must be below %g", share, m.name, m.share)
		}
	}
	if c := *ours.Coverage; !(c >= leastCover && c <= mostCover) {
		wrong += fmt.Sprintf("; 95 %% intervals cover %.3g, must be %g to %g", c, leastCover, mostCover)
	}
	if wrong != "" {
		fail("the main job's fill%s", wrong)
	}
}

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "scores: "+format+"\n", args...)
	os.Exit(1)
}
