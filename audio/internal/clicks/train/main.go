// Command train fits the weights of the click detector and writes them as Go source. sounds.sh makes its recordings.
//
//	go run ./audio/internal/clicks/train [-out audio/internal/clicks/weights.go] FILE.wav …
//
// It adds faint and loud clicks to recordings without clicks, and prints the recall of the detector and its false
// positives. With -out it fits the weights first. Without, the table is of the present weights. With -mono the table is of synthetic mono
// discs, and recordings with two channels are classified.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/detect"
	"github.com/vssgp/vssgp/audio/internal/clicks"
	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/internal/testkit/spoil"
)

func main() {
	out := flag.String("out", "", "fit the weights to the recordings, and write them to this Go file")
	sensitivity := flag.Float64("sensitivity", detect.DefaultSensitivity, "sensitivity of the detector in the table")
	discs := flag.Bool("mono", false, "find clicks in mono discs made of the recordings, and compare the channels of stereo recordings")
	flag.Parse()
	if *discs {
		if err := mono(os.Stdout, flag.Args()); err != nil {
			fmt.Fprintln(os.Stderr, "train:", err)
			os.Exit(1)
		}
		return
	}
	if err := train(*out, *sensitivity, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

const (
	faintest, loudest = -10.0, 16.0 // levels of the added clicks in decibels relative to the sound within 10 ms
	minLogOdds        = -6.0        // candidates with smaller log-odds are discarded
	fitRounds         = 2           // rounds of fitting the weights; repeated because the weights change the candidates
	seed              = 1           // of the added clicks
)

// crackles lists the clicks added to each recording; the first adds none.
var crackles = []struct {
	name string
	spoil.Crackle
}{
	{"none", spoil.Crackle{}},
	{"short", spoil.Crackle{
		Shapes: []spoil.Shape{spoil.Tick}, PerMinute: 5 * 60, Most: 5, Low: faintest, High: loudest, Peak: true,
	}},
	{"mixed", spoil.Crackle{
		Shapes: []spoil.Shape{spoil.Ring, spoil.Tick, spoil.Grain}, PerMinute: 5 * 60, Most: 40,
		Low: faintest, High: loudest,
	}},
	{"dense", spoil.Crackle{
		Shapes: []spoil.Shape{spoil.Tick}, PerMinute: 33 * 60, Most: 5, Low: faintest, High: loudest, Peak: true,
	}},
	{"loud", spoil.Crackle{Shapes: spoil.Shapes, PerMinute: 5 * 60, Most: 40, Low: 2, High: 25}},
	{"half sines", spoil.Crackle{Shapes: []spoil.Shape{spoil.Bump}, PerMinute: 5 * 60, Most: 40, Low: 8, High: 20}},
}

// A trial is a recording with one kind of crackle, and the detected candidates. y is x with clicks at added.
type trial struct {
	crackle int
	rate    int
	step    float64
	seconds float64

	x, y   []float64
	added  []audio.Gap
	levels []float64
	found  []clicks.Candidate
}

// train fits the weights if out is not empty, prints the table, and writes the weights.
func train(out string, sensitivity float64, files []string) error {
	if len(files) == 0 {
		return fmt.Errorf("no files given; recordings without clicks are required")
	}
	all, err := trials(files)
	if err != nil {
		return err
	}

	weights := clicks.Fitted()
	search(all, weights)
	for range fitRounds {
		if out == "" {
			break
		}
		if weights, err = fit(all); err != nil {
			return err
		}
		search(all, weights)
	}

	show(os.Stdout, all, sensitivity)
	if out == "" {
		return nil
	}
	return write(out, weights, files)
}

// trials adds each kind of crackle to each recording.
func trials(files []string) (all []*trial, err error) {
	for k, path := range files {
		r, err := audio.Open(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
		x := r.Samples[0]
		for i, c := range crackles {
			t := &trial{crackle: i, rate: r.Rate, step: r.Encoding().Step(), x: x, y: x}
			t.seconds = float64(len(x)) / float64(r.Rate)
			if i > 0 {
				t.y, t.added, t.levels = c.Clicks(x, r.Rate, t.step, seed+uint64(100*k+i))
			}
			all = append(all, t)
		}
	}
	return all, nil
}

// search finds the candidates of trials.
func search(all []*trial, weights *clicks.Weights) {
	parallel.For(len(all), runtime.GOMAXPROCS(0), func(i int) {
		t := all[i]
		s := clicks.Search{Rate: t.rate, Step: t.step, Weights: weights, Least: minLogOdds}
		t.found = s.Find(t.y, 0, 0, len(t.y))
	})
}
