package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/bench/internal/spoil"
	"github.com/vssgp/vssgp/internal/clicks"
	"github.com/vssgp/vssgp/internal/parallel"
)

// clicksTask is `bench clicks`.
type clicksTask struct {
	fit   string
	seed  uint64
	files []string
}

func (o *clicksTask) flags(set *flag.FlagSet) {
	set.StringVar(&o.fit, "fit", "", "fit the weights to the recordings, and write them to this Go file")
	set.Uint64Var(&o.seed, "seed", 1, "random seed of the added clicks")
}

func (o *clicksTask) check(files []string) error {
	o.files = files
	return demand(len(files) > 0, "no files given; recordings without clicks are required")
}

const (
	faintest, loudest = -10.0, 16.0 // levels of the added clicks in decibels relative to the sound within 10 ms
	leastLogOdds      = -6.0        // candidates with smaller log-odds are discarded
	fitRounds         = 2           // rounds of fitting the weights; repeated because the weights change the candidates
	clearOf           = 40          // a detection is a false positive if it is at least this many samples from all clicks
)

// crackles lists the clicks added to each recording; the first adds none.
var crackles = []struct {
	name string
	spoil.Crackle
}{
	{"none", spoil.Crackle{}},
	{"short", spoil.Crackle{Shapes: []spoil.Shape{spoil.Tick}, PerMinute: 5 * 60, Most: 5, Low: faintest, High: loudest, Peak: true}},
	{"mixed", spoil.Crackle{Shapes: []spoil.Shape{spoil.Ring, spoil.Tick, spoil.Grain}, PerMinute: 5 * 60, Most: 40, Low: faintest, High: loudest}},
	{"dense", spoil.Crackle{Shapes: []spoil.Shape{spoil.Tick}, PerMinute: 33 * 60, Most: 5, Low: faintest, High: loudest, Peak: true}},
	{"loud", spoil.Crackle{Shapes: spoil.Shapes, PerMinute: 5 * 60, Most: 40, Low: 2, High: 25}},
	{"half sines", spoil.Crackle{Shapes: []spoil.Shape{spoil.Bump}, PerMinute: 5 * 60, Most: 40, Low: 8, High: 20}},
}

// levels lists the bounds in decibels of the classes of levels in the tables.
var levels = [...]float64{faintest, -5, 2, 8, loudest, 25}

// A clicksTrial is a recording with one kind of crackle, and the detected candidates. y is x with clicks at added.
type clicksTrial struct {
	file    string
	crackle int
	rate    int
	step    float64
	seconds float64
	x, y    []float64
	added   []audio.Gap
	levels  []float64
	found   []clicks.Candidate
}

// trials adds each kind of crackle to each recording.
func (o *clicksTask) trials() (all []*clicksTrial, err error) {
	for k, path := range o.files {
		r, err := audio.Open(path)
		if err != nil {
			return nil, err
		}
		x := r.Samples[0]
		for i, c := range crackles {
			t := &clicksTrial{file: filepath.Base(path), crackle: i, rate: r.Rate, step: r.Encoding().Step(), x: x, y: x}
			t.seconds = float64(len(x)) / float64(r.Rate)
			if i > 0 {
				t.y, t.added, t.levels = c.Clicks(x, r.Rate, t.step, o.seed+uint64(100*k+i))
			}
			all = append(all, t)
		}
	}
	return all, nil
}

// search finds the candidates of trials and returns the CPU time per second of sound.
func search(all []*clicksTrial, weights *clicks.Weights) float64 {
	began, seconds := machine.CPUTime(), 0.0
	for _, t := range all {
		seconds += t.seconds
	}
	parallel.For(len(all), runtime.GOMAXPROCS(0), func(i int) {
		t := all[i]
		s := clicks.Search{Rate: t.rate, Step: t.step, Weights: weights, Least: leastLogOdds}
		t.found = s.Find(t.y, 0, 0, len(t.y))
	})
	return (machine.CPUTime() - began).Seconds() / seconds
}

func (o *clicksTask) run() error {
	all, err := o.trials()
	if err != nil {
		return err
	}
	weights := clicks.Fitted()
	fmt.Printf("%.3f s of CPU time per second of sound\n", search(all, weights))
	for range fitRounds {
		if o.fit == "" {
			break
		}
		if weights, err = fitClicks(all); err != nil {
			return err
		}
		search(all, weights)
	}
	showClicks(os.Stdout, all)
	if o.fit == "" {
		return nil
	}
	return writeWeights(o.fit, weights, o.files)
}
