package restore_test

import (
	"context"
	"fmt"
	"math"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/restore"
)

// Fill a gap of 10 ms in a recording, with error bars.
func ExampleFill() {
	rec, err := audio.Open("../../testdata/speech_gapped.wav")
	if err != nil {
		panic(err)
	}
	gaps := []restore.Gap{{Start: 4950, End: 5110}}
	r, err := restore.Fill(context.Background(), rec.Samples, rec.Rate, gaps, restore.Options{})
	if err != nil {
		panic(err)
	}
	clean, err := audio.Open("../../testdata/speech.wav")
	if err != nil {
		panic(err)
	}
	inside := 0
	for i := gaps[0].Start; i < gaps[0].End; i++ {
		if math.Abs(r.Filled[0][i]-clean.Samples[0][i]) < 1.96*r.SD[0][i] {
			inside++
		}
	}
	fmt.Println(gaps[0].Len(), "samples filled")
	fmt.Println("most of them within their 95 % intervals:", inside > gaps[0].Len()*8/10)
	fmt.Println("closer than silence:", audio.RMSE(clean.Samples[0], r.Filled[0], audio.Mask(gaps, clean.Len())) <
		audio.RMSE(clean.Samples[0], audio.FillSilence(rec.Samples[0], gaps), audio.Mask(gaps, clean.Len())))

	filled, clipped, err := rec.Fill(gaps, r.Filled) // all other samples keep their bits
	if err != nil {
		panic(err)
	}
	fmt.Println(filled.Len(), "samples,", clipped, "clipped")
	// Output:
	// 160 samples filled
	// most of them within their 95 % intervals: true
	// closer than silence: true
	// 46400 samples, 0 clipped
}
