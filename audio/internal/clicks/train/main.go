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
	"slices"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/detect"
	"github.com/vssgp/vssgp/audio/internal/clicks"
	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/internal/testkit/spoil"
)

func main() {
	out := flag.String("out", "", "fit the weights to the recordings, and write them to this Go file")
	grooves := flag.String("groove", "", "folder with noise of records, for the weights of the vinyl mode")
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
	if err := train(*out, *grooves, *sensitivity, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

const (
	faintest, loudest = -10.0, 16.0 // levels of the added clicks in decibels relative to the sound within 10 ms
	minLogOdds        = -6.0        // candidates with smaller log-odds are discarded
	fitRounds         = 2           // rounds of fitting the weights; repeated because the weights change the candidates
	seed              = 1           // of the added clicks
	perSound          = 2           // trials of a sound with noise of records
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
	{"groove", spoil.Crackle{}}, // noise and ticks of records
}

// A trial is a recording with one kind of crackle, and the detected candidates. y is x with clicks at added.
type trial struct {
	crackle int
	rate    int
	step    float64
	seconds float64

	x, y    []float64
	added   []audio.Gap
	levels  []float64
	unclear []audio.Gap // may be clicks or not, and are neither kind of example
	search  *clicks.Search
	found   []clicks.Candidate
}

// train fits the weights if out is not empty, prints the table, and writes the weights.
func train(out, grooves string, sensitivity float64, files []string) error {
	if len(files) == 0 {
		return fmt.Errorf("no files given; recordings without clicks are required")
	}
	all, err := trials(files)
	if err != nil {
		return err
	}
	weights := clicks.Fitted()
	if grooves != "" {
		weights = clicks.Vinyl()
		records, err := records(grooves, all)
		if err != nil {
			return err
		}
		if out == "" { // the weights are not for made clicks
			all = slices.DeleteFunc(all, func(t *trial) bool { return t.crackle > 0 })
		}
		all = append(all, records...)
	}

	search(all, weights, grooves != "")
	for range fitRounds {
		if out == "" {
			break
		}
		if weights, err = fit(all); err != nil {
			return err
		}
		search(all, weights, grooves != "")
	}

	if out != "" {
		terms := clicks.Contexts
		if grooves != "" { // faint ticks are as unsure as noise
			terms--
		}
		if err := fitContext(all, weights, terms); err != nil {
			return err
		}
	}
	show(os.Stdout, all, sensitivity)
	calibration(os.Stdout, all)
	if out == "" {
		return nil
	}
	name := "fitted"
	if grooves != "" {
		name = "vinyl"
	}
	return write(out, name, weights, files)
}

// trials adds each kind of crackle to each recording.
func trials(files []string) (all []*trial, err error) {
	for k, path := range files {
		r, err := audio.Open(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
		x := r.Samples[0]
		for i, c := range crackles[:len(crackles)-1] {
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

// records adds the noise of records in a folder to the undamaged sounds with the same sample rate: the sounds of
// the trials, and the recordings in the folder's folder sounds.
func records(folder string, all []*trial) (out []*trial, err error) {
	var grooves []*groove
	for _, path := range recordings(folder) {
		g, err := openGroove(path)
		if err != nil {
			return nil, err
		}
		fmt.Printf("%s: %.1f ticks a second\n", g.name, float64(len(g.ticks)*g.rate)/float64(len(g.x)))
		grooves = append(grooves, g)
	}
	others, err := trials(recordings(filepath.Join(folder, "sounds")))
	if err != nil {
		return nil, err
	}

	seed := uint64(0)
	for _, t := range slices.Concat(all, others) {
		if t.crackle > 0 {
			continue
		}
		same := slices.DeleteFunc(slices.Clone(grooves), func(g *groove) bool { return g.rate != t.rate })
		for k := range min(perSound, len(same)) {
			seed++
			out = append(out, same[(int(seed)+k)%len(same)].with(t.x, t.step, seed))
		}
	}
	return out, nil
}

// recordings returns the WAV files of a folder.
func recordings(folder string) []string {
	all, _ := filepath.Glob(filepath.Join(folder, "*.wav")) // the pattern is valid
	return all
}

// search finds the candidates of trials, in vinyl mode with the true rate of clicks for noise of records.
func search(all []*trial, weights *clicks.Weights, vinyl bool) {
	parallel.For(len(all), runtime.GOMAXPROCS(0), func(i int) {
		t := all[i]
		t.search = clicks.New(t.rate, t.step, detect.DefaultSensitivity)
		if vinyl {
			t.search = t.search.Vinyl()
			t.search.SetRate(float64(len(t.added)) / t.seconds)
		}
		t.search.Weights, t.search.Least, t.search.Again = weights, minLogOdds, minLogOdds
		t.found = t.search.Find(t.y, 0, 0, len(t.y))
		clicks.Sort(t.found)
	})
}
