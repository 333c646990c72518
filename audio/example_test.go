package audio_test

import (
	"fmt"
	"os"

	"github.com/vssgp/vssgp/audio"
)

// Fill the gaps of a recording without a model.
func ExampleFillLinear() {
	rec, err := audio.Open("../testdata/speech_gapped.wav")
	if err != nil {
		panic(err)
	}
	table, err := os.Open("../testdata/speech_gaps.csv")
	if err != nil {
		panic(err)
	}
	defer table.Close()
	gaps, err := audio.ReadGaps(table, 16000)
	if err != nil {
		panic(err)
	}
	fmt.Println(rec.Encoding(), rec.Rate, "Hz,", len(gaps), "gaps,", audio.Missing(gaps), "samples")
	filled := audio.FillLinear(rec.Samples[0], gaps)
	clean, err := audio.Open("../testdata/speech.wav")
	if err != nil {
		panic(err)
	}
	fmt.Printf("RMSE %.3f\n", audio.RMSE(clean.Samples[0], filled, audio.Mask(gaps, clean.Len())))
	// Output:
	// 16-bit PCM 16000 Hz, 12 gaps, 2000 samples
	// RMSE 0.155
}
