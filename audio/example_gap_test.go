package audio_test

import (
	"errors"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/vssgp/vssgp/audio"
)

// A gap is given in samples or as times, for all channels or for one.
func ExampleParseGap() {
	for _, s := range []string{"1200:1240", "0.5s:520ms", "1:02.500-1:02.540@2", "40:20"} {
		gap, err := audio.ParseGap(s, 16000)
		if err != nil {
			fmt.Println(errors.Is(err, audio.ErrGaps), err)
			continue
		}
		fmt.Println(gap, "has", gap.Len(), "samples; left channel:", gap.In(0))
	}
	position, err := audio.ParsePosition("1:02.500", 16000)
	fmt.Println(position, err)
	fmt.Println("25 ms are", audio.SamplesIn(0.025, 16000), "samples")
	// Output:
	// 1200:1240 has 40 samples; left channel: true
	// 8000:8320 has 320 samples; left channel: true
	// 1000000:1000640@2 has 640 samples; left channel: false
	// true gap "40:20": end 20 is before start 40
	// 1000000 <nil>
	// 25 ms are 400 samples
}

// CheckGaps sorts gaps and compares them with a recording.
func ExampleCheckGaps() {
	gaps := []audio.Gap{{Start: 500, End: 520}, {Start: 100, End: 110}, {Start: 110, End: 130, Channel: 0}}
	sorted, err := audio.CheckGaps(gaps, 1000, 2) // samples, channels
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sorted, audio.Missing(sorted), "samples are missing")
	_, err = audio.CheckGaps(gaps, 510, 2)
	fmt.Println(err)
	// Output:
	// [100:130 500:520] 50 samples are missing
	// gap 500:520: the recording ends at sample 510
}

// Labels carry gaps between programs: as Audacity's text files, or as CSV.
func ExampleReadLabels() {
	file := "0.500000\t0.520000\tscratch\n1.000000\t1.001000\tclick@2\n"
	labels, err := audio.ReadLabels(strings.NewReader(file), 16000)
	if err != nil {
		log.Fatal(err)
	}
	for _, l := range labels {
		fmt.Println("line", l.Line, l.Gap, l.Text)
	}
	if err := audio.WriteLabelsCSV(os.Stdout, labels); err != nil {
		log.Fatal(err)
	}
	if err := audio.WriteLabels(os.Stdout, 16000, labels[:1]); err != nil {
		log.Fatal(err)
	}
	// Output:
	// line 1 8000:8320 scratch
	// line 2 16000:16016@2 click
	// start,end,channel,label
	// 8000,8320,,scratch
	// 16000,16016,2,click
	// 0.500000000	0.520000000	scratch
}

// Scores compare a fill with the undamaged recording over the missing samples. Here the fill is
// a straight line.
func ExampleSNR() {
	rec, err := audio.Open("../testdata/speech.wav")
	if err != nil {
		log.Fatal(err)
	}
	clean, gaps := rec.Samples[0], []audio.Gap{{Start: 9700, End: 9708}}
	filled, missing := audio.FillLinear(clean, gaps), audio.Mask(gaps, rec.Len())
	fmt.Printf("SNR %.0f dB, RMSE %.3f, STFT RMSE %.3f\n", audio.SNR(clean, filled, missing),
		audio.RMSE(clean, filled, missing), audio.STFTRMSE(clean, filled, missing, rec.Rate))

	r := audio.NewResidual(rec.Len(), rec.Rate) // the same, part by part
	for lo := 0; lo < rec.Len(); lo += 10000 {
		hi := min(lo+10000, rec.Len())
		r.Add(lo, clean[lo:hi], filled[lo:hi], missing[lo:hi])
	}
	fmt.Printf("RMSE %.3f, STFT RMSE %.3f\n", r.RMSE(), r.STFTRMSE())
	// Output:
	// SNR 11 dB, RMSE 0.007, STFT RMSE 0.001
	// RMSE 0.007, STFT RMSE 0.001
}
