package audio_test

import (
	"fmt"

	"github.com/vssgp/vssgp/audio"
)

// Find the gaps of a recording, and fill them without a model.
func ExampleFillAR() {
	rec, err := audio.Open("../testdata/speech_gapped.wav")
	if err != nil {
		panic(err)
	}
	gaps := rec.DetectZeros(audio.DefaultZeroRun)
	fmt.Println(rec.Encoding(), rec.Rate, "Hz,", len(gaps), "gaps,", audio.Missing(gaps), "samples")
	filled, err := audio.FillAR(rec.Samples[0], gaps, audio.DefaultAR(rec.Rate))
	if err != nil {
		panic(err)
	}
	clean, err := audio.Open("../testdata/speech.wav")
	if err != nil {
		panic(err)
	}
	fmt.Printf("RMSE %.3f\n", audio.RMSE(clean.Samples[0], filled, audio.Mask(gaps, clean.Len())))
	// Output:
	// 16-bit PCM 16000 Hz, 12 gaps, 2000 samples
	// RMSE 0.082
}
