package restore_test

import (
	"context"
	"fmt"
	"io"
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
	fill, inside := r.Fills[0][0], 0
	for i, mean := range fill.Mean {
		if math.Abs(mean-clean.Samples[0][gaps[0].Start+i]) < 1.96*fill.SD[i] {
			inside++
		}
	}
	whole := r.Apply(rec.Samples, -1)
	fmt.Println(gaps[0].Len(), "samples filled")
	fmt.Println("most of them within their 95 % intervals:", inside > gaps[0].Len()*8/10)
	fmt.Println("closer than silence:", audio.RMSE(clean.Samples[0], whole[0], audio.Mask(gaps, clean.Len())) <
		audio.RMSE(clean.Samples[0], make([]float64, clean.Len()), audio.Mask(gaps, clean.Len())))

	patch, clipped, err := rec.Patch(r.Changes(-1)) // all other samples keep their bits
	if err != nil {
		panic(err)
	}
	fmt.Println(clipped, "clipped,", patch.Write(io.Discard, rec.Container()))
	// Output:
	// 160 samples filled
	// most of them within their 95 % intervals: true
	// closer than silence: true
	// 0 clipped, <nil>
}
