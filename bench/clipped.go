package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/clip"
)

// clippedTask is `bench clipped`.
type clippedTask struct {
	sdr                   string
	peak, start, duration float64
	files                 []string
	ratios                []float64 // decibels
}

func (o *clippedTask) flags(set *flag.FlagSet) {
	set.StringVar(&o.sdr, "sdr", "3,7,10,15", "signal over distortion of what is clipped, in decibels")
	set.Float64Var(&o.peak, "peak", 0, "instead, clip so many decibels below the peak")
	set.Float64Var(&o.start, "from", 0, "share of the recording to begin at")
	set.Float64Var(&o.duration, "seconds", 10, "length of the excerpt")
}

func (o *clippedTask) check(files []string) error {
	o.files = files
	for _, s := range strings.Split(o.sdr, ",") {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil || !(v > 0 && v < 100) {
			return fmt.Errorf("-sdr %q: want numbers above 0 with commas between", o.sdr)
		}
		o.ratios = append(o.ratios, v)
	}
	if o.peak > 0 {
		o.ratios = []float64{o.peak}
	}
	return cmp.Or(
		demand(len(files) > 0, "no files, want WAV or SPHERE files"),
		demand(o.peak >= 0 && o.start >= 0 && o.start < 1 && o.duration > 0, "-peak %g -from %g -seconds %g: want no negative numbers, -from below 1",
			o.peak, o.start, o.duration))
}

// A clippedLine has the fields of peers/spade.py, and the share of the clipped samples in their 95 % intervals.
type clippedLine struct {
	File     string  `json:"file"`
	Input    float64 `json:"input_sdr"`
	Level    float64 `json:"level"`
	Missing  float64 `json:"missing"`
	Gain     float64 `json:"gain"`
	Coverage float64 `json:"coverage95"`
	Doubt    float64 `json:"doubt"` // share of the runs
	Seconds  float64 `json:"seconds_per_second"`
}

func (o *clippedTask) run() error {
	ctx, stop := interruptible()
	defer stop()
	out := json.NewEncoder(os.Stdout)
	for _, path := range o.files {
		r, err := audio.Open(path)
		if err != nil {
			return err
		}
		x := r.Samples[0]
		x = x[int(o.start*float64(len(x))):]
		x = x[:min(len(x), int(o.duration*float64(r.Rate)))]
		for _, ratio := range o.ratios {
			line, err := restoreClipped(ctx, x, o.level(x, ratio), float64(r.Rate))
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			line.File = filepath.Base(path)
			if err := out.Encode(line); err != nil {
				return err
			}
		}
	}
	return nil
}

// level returns where x is to be clipped.
func (o *clippedTask) level(x []float64, ratio float64) float64 {
	top := 0.0
	for _, v := range x {
		top = max(top, math.Abs(v))
	}
	if o.peak > 0 {
		return top * math.Pow(10, -ratio/20)
	}
	low, high := 0.0, top
	for range 60 {
		if mid := (low + high) / 2; distortion(x, cutAt(x, mid)) > ratio {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}

// cutAt returns x clipped at ±level.
func cutAt(x []float64, level float64) []float64 {
	y := slices.Clone(x)
	for i, v := range x {
		y[i] = max(-level, min(level, v))
	}
	return y
}

// distortion returns signal over distortion in decibels.
func distortion(x, y []float64) float64 {
	signal, off := 0.0, 0.0
	for i, v := range x {
		signal, off = signal+v*v, off+(v-y[i])*(v-y[i])
	}
	return 10 * math.Log10(signal/off)
}

// restoreClipped clips x and restores it.
func restoreClipped(ctx context.Context, x []float64, level, rate float64) (line clippedLine, err error) {
	y := cutAt(x, level)
	var runs [][2]int
	for i := range x {
		if x[i] == y[i] {
			continue
		}
		if k := len(runs) - 1; k >= 0 && runs[k][1] == i && y[i] == y[i-1] {
			runs[k][1]++
		} else {
			runs = append(runs, [2]int{i, i + 1})
		}
	}
	start := time.Now()
	r, err := clip.Fill(ctx, y, runs, nil, rate, clip.Options{})
	if err != nil {
		return line, err
	}
	line.Seconds = time.Since(start).Seconds() * rate / float64(len(x))
	line.Level, line.Input = level, distortion(x, y)
	line.Gain = distortion(x, r.Mean) - line.Input
	missing, in, doubt := 0., 0., 0.
	for k, g := range runs {
		for i := g[0]; i < g[1]; i++ {
			missing++
			if math.Abs(x[i]-r.Mean[i]) <= 1.96*r.SD[i] {
				in++
			}
		}
		if r.Doubt[k] {
			doubt++
		}
	}
	line.Missing = missing / float64(len(x))
	if missing > 0 {
		line.Coverage, line.Doubt = in/missing, doubt/float64(len(runs))
	}
	return line, nil
}
