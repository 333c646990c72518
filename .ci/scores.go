//go:build ignore

// Scores reads what `vssgp impute --json --reference …` prints and fails
// unless the fill beats silence, linear interpolation and the autoregressive
// fill on the gaps' samples. It is run by .ci/run.
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
	worse := false
	for _, name := range []string{"silence", "linear", "ar"} {
		theirs, ok := result.Scores[name]
		if !ok {
			fail("the main job's --json output has no scores of %s", name)
		}
		fmt.Printf("  %-8s test RMSE %.4g (ours is %.3g of it), STFT RMSE %.4g\n",
			name, theirs.TestRMSE, ours.TestRMSE/theirs.TestRMSE, theirs.TestSTFT)
		if !(ours.TestRMSE < theirs.TestRMSE) {
			worse = true
		}
	}
	if worse {
		fail("the fill is not better than all of them")
	}
}

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "scores: "+format+"\n", args...)
	os.Exit(1)
}
