package restore_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"slices"
	"time"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/restore"
)

// FillFrom reads only the samples around the gaps, so a recording of any length can be filled.
// Filled receives each fill as soon as it is complete.
func ExampleFillFrom() {
	src, err := os.Open("../../testdata/speech_gapped.wav")
	if err != nil {
		log.Fatal(err)
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil {
		log.Fatal(err)
	}
	f, err := audio.NewFile(src, info.Size())
	if err != nil {
		log.Fatal(err)
	}
	gaps := []audio.Gap{{Start: 3200, End: 3280}, {Start: 8200, End: 8280}}
	complete, terminal := 0, io.Discard // in a program: os.Stderr
	r, err := restore.FillFrom(context.Background(), f, f.Len(), f.Rate(), gaps, restore.Options{
		Method:   restore.AR,
		Filled:   func([]restore.GapFill) { complete++ },
		Progress: func(p restore.Progress) { fmt.Fprintf(terminal, "%v, %v left\n", p.Elapsed, p.Left) },
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(complete, "gaps filled by", r.Method)
	for fill := range r.All() {
		fmt.Println(fill.Gap, "begins at the level of its surroundings:", math.Abs(fill.Mean[0]) < 4*fill.Level)
	}
	fmt.Println(len(r.Warnings()), "warnings")

	_, err = restore.FillFrom(context.Background(), f, 100, f.Rate(), gaps, restore.Options{})
	fmt.Println("outside of the recording:", errors.Is(err, audio.ErrGaps))
	// Output:
	// 2 gaps filled by ar
	// 3200:3280 begins at the level of its surroundings: true
	// 8200:8280 begins at the level of its surroundings: true
	// 0 warnings
	// outside of the recording: true
}

// Two channels that carry similar sound: the other channel helps to fill a gap in one of them.
// Draws are further plausible fills.
func ExampleResult_Joint() {
	const rate = 8000
	stereo := make([][]float64, 2)
	for i := range 4000 {
		t := float64(i) / rate
		hum := math.Sin(2*math.Pi*220*t) + 0.3*math.Sin(2*math.Pi*997*t*(1+t))
		stereo[0] = append(stereo[0], 0.3*hum+0.01*math.Cos(float64(i*i)))
		stereo[1] = append(stereo[1], 0.2*hum+0.01*math.Sin(float64(3*i*i)))
	}
	gaps := []restore.Gap{{Start: 2000, End: 2100, Channel: 1}}
	r, err := restore.Fill(context.Background(), stereo, rate, gaps, restore.Options{Draws: 2})
	if err != nil {
		log.Fatal(err)
	}
	fill := &r.Fills[0][0]
	fmt.Println("the other channel was used:", r.Joint() == 1, fill.Joint)
	fmt.Println(len(fill.Draws), "draws of", len(fill.Values(0)), "samples")
	// Output:
	// the other channel was used: true true
	// 2 draws of 100 samples
}

// Natural adds the noise that a mean cannot predict, so that the fill is as loud as the sound
// around it.
func ExampleGapFill_Values() {
	rec, err := audio.Open("../../testdata/speech_gapped.wav")
	if err != nil {
		log.Fatal(err)
	}
	gaps := []restore.Gap{{Start: 6500, End: 6740}}
	r, err := restore.Fill(context.Background(), rec.Samples, rec.Rate, gaps, restore.Options{Method: restore.Natural})
	if err != nil {
		log.Fatal(err)
	}
	fill := &r.Fills[0][0]
	fmt.Println("the fill has noise:", fill.Natural != nil && !slices.Equal(fill.Values(-1), fill.Mean))
	// Output: the fill has noise: true
}

// Score compares a fill with the undamaged recording and with simple fills. Around hides the
// samples in the gaps.
func ExampleResult_Score() {
	clean, err := audio.Open("../../testdata/speech.wav")
	if err != nil {
		log.Fatal(err)
	}
	gaps := []restore.Gap{{Start: 9700, End: 9780}}
	damaged := restore.Around(audio.Samples(clean.Samples), gaps)
	options := restore.Options{Method: restore.Auto}
	r, err := restore.FillFrom(context.Background(), damaged, clean.Len(), clean.Rate, gaps, options)
	if err != nil {
		log.Fatal(err)
	}
	s, err := r.Score(context.Background(), damaged, audio.Samples(clean.Samples), nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("better than silence:", s.Fill.TestRMSE < s.Silence.TestRMSE)
	fmt.Println("better than a line:", s.Fill.TestRMSE < s.Linear.TestRMSE)
	// Output:
	// better than silence: true
	// better than a line: true
}

// Excerpts returns the parts that VSSGP would model, without a fit: gaps with context on both
// sides, merged if they touch.
func ExampleExcerpts() {
	gaps := []restore.Gap{{Start: 5000, End: 5100}, {Start: 5600, End: 5700}, {Start: 30000, End: 30100}}
	all, err := restore.Excerpts(1, 48000, 16000, gaps, restore.Options{
		Method: restore.VSSGP, Context: 30 * time.Millisecond, Model: vssgp.Options{Seed: 1},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range all {
		fmt.Println(e.Start, "to", e.End, "with", len(e.Gaps), "gaps")
	}
	// Output:
	// 4520 to 6180 with 2 gaps
	// 29520 to 30580 with 1 gaps
}
