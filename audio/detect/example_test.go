package detect_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/detect"
)

// sound returns one second of a sound with a click and a run of zeros.
func sound() []float64 {
	x := make([]float64, 16000)
	for i := range x {
		t := float64(i) / 16000
		x[i] = 0.4*math.Sin(2*math.Pi*220*t) + 0.3*math.Sin(2*math.Pi*331*t) + 0.002*math.Cos(float64(i*i))
	}
	x[5000] += 0.5
	x[5001] -= 0.4
	clear(x[9000:9040])
	return x
}

// Find returns damage as gaps, each with a kind and a confidence. Package restore fills them.
func ExampleFind() {
	x := sound() // one second at 16 kHz with a click and a run of zeros
	found, err := detect.Find(context.Background(), audio.Samples{x}, len(x), 16000, detect.Options{
		Kinds: detect.Kinds, Sensitivity: detect.DefaultSensitivity,
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range found {
		fmt.Println(f.Kind, "near", f.Start/10*10, "to", (f.End+9)/10*10, "certain:", f.Confidence() > 0.99)
	}
	// Output:
	// clicks near 4990 to 5010 certain: true
	// dropouts near 9000 to 9040 certain: true
}

// Labels show detections in an audio editor, where a user can delete wrong ones. FromLabel
// reads those that are left.
func ExampleFromLabel() {
	found := detect.Found{Gap: audio.Gap{Start: 9000, End: 9040}, Kind: detect.Zeros, LogOdds: 4}
	label := found.Label()
	fmt.Println(label.Gap, label.Text)
	back := detect.FromLabel(label)
	fmt.Printf("%v %s %.2f\n", back.Gap, back.Kind, back.Confidence())
	// Output:
	// 9000:9040 zeros 98%
	// 9000:9040 zeros 0.98
}

// A Report describes how clicks were searched, and contains those that only a higher sensitivity
// finds.
func ExampleReport() {
	x := sound() // one second at 16 kHz with a click and a run of zeros
	var report detect.Report
	_, err := detect.Find(context.Background(), audio.Samples{x}, len(x), 16000, detect.Options{
		Kinds: []detect.Kind{detect.Clicks}, Vinyl: detect.Auto, Report: &report,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("from a record:", report.Vinyl.Used, "near misses:", len(report.Near))
	// Output: from a record: false near misses: 1
}
