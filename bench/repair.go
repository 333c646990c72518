package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/detect"
	"github.com/vssgp/vssgp/audio/restore"
	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/internal/testkit/spoil"
)

// repairTask is `bench repair`.
type repairTask struct {
	seconds     float64
	sensitivity float64
	seed        uint64
	only        string
	out, commit string
	show        bool
	files       []string
}

func (o *repairTask) flags(set *flag.FlagSet) {
	set.Float64Var(&o.seconds, "seconds", 10, "maximum duration of each recording in seconds; the rest is ignored")
	set.Float64Var(&o.sensitivity, "sensitivity", detect.DefaultSensitivity, "sensitivity of the detectors")
	set.Uint64Var(&o.seed, "seed", 1, "random seed of the damage")
	set.StringVar(&o.only, "only", "", "kind of damage, such as clicks, or channels for gaps in the first channel (default: all)")
	set.StringVar(&o.out, "out", "", "append lines of JSON to this file")
	set.BoolVar(&o.show, "show", false, "print the table of the lines in the given file; repair nothing")
	commitFlag(set, &o.commit)
}

func (o *repairTask) check(files []string) error {
	o.files = files
	return cmp.Or(
		demand(len(files) > 0, "no files given; undamaged recordings are required, or with -show a file of lines"),
		demand(o.seconds > 0 && o.sensitivity > 0 && o.sensitivity <= 10,
			"-seconds %g -sensitivity %g: must be positive, and the sensitivity at most 10",
			o.seconds, o.sensitivity),
		demand(o.only == "" || o.only == channelsOnly || slices.Contains(detect.Kinds, detect.Kind(o.only)),
			"-only %q: must be %s or one of %q", o.only, channelsOnly, detect.Kinds))
}

// A damageKind describes one kind of damage.
type damageKind struct {
	kind  detect.Kind
	made  string
	level float64
	do    damage
}

// A damage returns a damaged copy of x and the damaged segments. step is the quantization step.
type damage func(x []float64, rate int, step float64, seed uint64) ([]float64, []audio.Gap)

const (
	clicksMade    = 60   // clicks in a recording
	crackleMade   = 2000 // clicks per minute
	dropoutsEvery = 0.25 // seconds
	clippingBelow = 6.0  // decibels below the peak
)

// damageKinds returns the kinds of damage that are applied to each recording.
func damageKinds() (all []damageKind) {
	for _, k := range detect.Kinds {
		all = append(all, damageKind{kind: k, made: "nothing"})
	}
	clicks := func(made string, level float64, of ...spoil.Shape) {
		all = append(all, damageKind{detect.Clicks, made, level,
			func(x []float64, rate int, step float64, seed uint64) ([]float64, []audio.Gap) {
				return spoil.Clicks(x, of, clicksMade, 3, 40, level, rate, step, seed)
			}})
	}
	for _, level := range []float64{6, 9, 12, 15, 20, 25} {
		clicks("clicks", level, spoil.Shapes...)
	}
	for _, shape := range spoil.Shapes {
		clicks("clicks, all a "+string(shape), 12, shape)
	}
	all = append(all, damageKind{detect.Clicks, "crackle", 0,
		func(x []float64, rate int, step float64, seed uint64) ([]float64, []audio.Gap) {
			y, all, _ := spoil.Crackle{Shapes: spoil.Shapes, PerMinute: crackleMade, Most: 6, Low: 12, High: 30}.Clicks(x, rate, step, seed)
			return y, all
		}})
	for _, stop := range spoil.Stops {
		drop := func(x []float64, rate int, step float64, seed uint64) ([]float64, []audio.Gap) {
			return spoil.Dropouts(x, stop, audio.SamplesIn(0.02, rate), audio.SamplesIn(dropoutsEvery, rate), step, seed)
		}
		all = append(all, damageKind{detect.Dropouts, string(stop), 0, drop})
	}
	return append(all, damageKind{detect.Clipped, "clipping", clippingBelow, clipped})
}

// clipped clips x and returns the runs of clipped samples.
func clipped(x []float64, _ int, _ float64, _ uint64) (y []float64, all []audio.Gap) {
	y = slices.Clone(x)
	level := floats.Norm(x, math.Inf(1)) * math.Pow(10, -clippingBelow/20)
	for i, v := range x {
		y[i] = max(-level, min(level, v))
	}
	for i := range x {
		if k := len(all) - 1; x[i] == y[i] {
			continue
		} else if k >= 0 && all[k].End == i {
			all[k].End++
		} else {
			all = append(all, audio.Gap{Start: i, End: i + 1})
		}
	}
	return y, all
}

func (o *repairTask) run() error {
	if o.show {
		lines, err := jsonl.Read[repairLine](o.files[0], nil)
		if err != nil {
			return err
		}
		showRepairs(os.Stdout, lines)
		return nil
	}
	ctx, stop := interruptible()
	defer stop()
	var lines []repairLine
	for _, path := range o.files {
		r, err := audio.Open(path)
		if err != nil {
			return err
		}
		x := make([][]float64, r.Channels())
		for c := range x {
			x[c] = r.Samples[c][:min(r.Len(), int(o.seconds*float64(r.Rate)))]
		}
		keep := func(l *repairLine, err error) error {
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			l.Machine, l.Time, l.Bench, l.File = machine.This(o.commit), machine.Now(), "repair", filepath.Base(path)
			lines = append(lines, *l)
			return jsonl.Append(o.out, l)
		}
		for _, s := range damageKinds() {
			if o.only != "" && string(s.kind) != o.only {
				continue
			}
			if err := keep(o.repair(ctx, x[0], r.Rate, r.Encoding().Step(), s)); err != nil {
				return err
			}
		}
		for _, seconds := range channelGaps {
			if len(x) == 1 || o.only != "" && o.only != channelsOnly {
				continue
			}
			if l, err := channelLine(ctx, x, r.Rate, seconds); l == nil && err == nil {
				break // too short
			} else if err := keep(l, err); err != nil {
				return err
			}
		}
	}
	showRepairs(os.Stdout, lines)
	return nil
}

// repair damages x, then detects and fills the damage.
func (o *repairTask) repair(ctx context.Context, x []float64, rate int, step float64, s damageKind) (*repairLine, error) {
	y, damaged := x, []audio.Gap(nil)
	if s.do != nil {
		y, damaged = s.do(x, rate, step, o.seed)
	}
	l := &repairLine{Rate: rate, Length: float64(len(x)) / float64(rate), Kind: s.kind, Made: s.made, Level: s.level, Places: len(damaged)}
	began := time.Now()
	options := detect.Options{Kinds: []detect.Kind{s.kind}, Sensitivity: o.sensitivity, Step: step}
	found, err := detect.Find(ctx, audio.Samples{y}, len(y), rate, options)
	if err != nil {
		return nil, err
	}
	l.Finding, l.Found = time.Since(began).Seconds(), len(found)
	l.Hit, l.Right = matches(x, y, damaged, found)
	if s.do == nil || len(damaged) == 0 {
		return l, nil
	}
	l.Before, l.After = audio.SNR(x, y, nil), audio.SNR(x, y, nil)
	if len(found) == 0 {
		return l, nil
	}
	began = time.Now()
	gaps := make([]audio.Gap, len(found))
	for i, f := range found {
		gaps[i] = f.Gap
	}
	r, err := restore.Fill(ctx, [][]float64{y}, rate, gaps, restore.Options{})
	if err != nil {
		return nil, err
	}
	l.Filling, l.After = time.Since(began).Seconds(), audio.SNR(x, r.Apply([][]float64{y}, -1)[0], nil)
	return l, nil
}

// energy returns the energy of the damage to x in [lo, hi).
func energy(x, y []float64, lo, hi int) (sum float64) {
	for n := lo; n < hi; n++ {
		sum += (y[n] - x[n]) * (y[n] - x[n])
	}
	return sum
}

// hits reports for each damaged segment whether detections contain at least half of the energy of the damage.
func hits(x, y []float64, damaged []audio.Gap, found []detect.Found) []bool {
	out := make([]bool, len(damaged))
	for i, m := range damaged {
		within := 0.0
		for _, f := range found {
			within += energy(x, y, max(m.Start, f.Start), min(m.End, f.End))
		}
		all := energy(x, y, m.Start, m.End)
		out[i] = all > 0 && 2*within >= all
	}
	return out
}

// matches returns the number of damaged segments that are found, and of detections that overlap a damaged segment.
func matches(x, y []float64, damaged []audio.Gap, found []detect.Found) (hit, right int) {
	for _, h := range hits(x, y, damaged, found) {
		if h {
			hit++
		}
	}
	for _, f := range found {
		if slices.ContainsFunc(damaged, func(m audio.Gap) bool { return m.Start < f.End && f.Start < m.End }) {
			right++
		}
	}
	return hit, right
}
