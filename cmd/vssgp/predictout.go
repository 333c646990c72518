package main

import (
	"context"
	"math"
	"path/filepath"
	"strings"
)

// format is what a path's extension asks predict to write.
type format int

const (
	noFormat format = iota
	csvFile         // also stdout
	npyFile
	wavFile
)

func formatOf(path string) format {
	if path == toStdout {
		return csvFile
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv":
		return csvFile
	case ".npy":
		return npyFile
	case ".wav", ".wave":
		return wavFile
	}
	return noFormat
}

// checkFormats looks at what the command line alone can tell of predict's
// outputs.
func (a *app) checkFormats(o *predictFlags) error {
	if err := a.wantOutput(o.output, "OUT.csv"); err != nil {
		return err
	}
	to := formatOf(o.output)
	switch {
	case to == noFormat:
		return mistake("-o %s: no such format; want .csv, .npy, .wav or - for stdout", o.output)
	case to == wavFile && o.full:
		return mistake("--full: a recording has no place for covariances; want -o with .csv or .npy")
	case o.drawsFile != "" && o.draws == 0:
		return mistake("--draws-file %s: no draws are asked for; want --draws and how many", o.drawsFile)
	case o.drawsFile == toStdout || o.drawsFile != "" && formatOf(o.drawsFile) == noFormat:
		return mistake("--draws-file %s: no such format; want .csv, .npy or .wav", o.drawsFile)
	}
	paths := []string{o.output, o.plot}
	if at := o.drawsPath(); at != "" {
		paths = append(paths, drawnFiles(at, o.draws)...)
	}
	return a.checkOutputs(paths...)
}

// drawsPath is where draws go that are no columns of the output; "" if nowhere.
func (o *predictFlags) drawsPath() string {
	if o.drawsFile == "" && o.draws > 0 && formatOf(o.output) == wavFile {
		return o.output
	}
	return o.drawsFile
}

// drawnFiles are the files that n draws take: a recording each, or one table.
func drawnFiles(path string, n int) []string {
	if formatOf(path) != wavFile {
		return []string{path}
	}
	return numberedFiles(path, n)
}

// rateTolerance is how far an input may be from its sample, in samples.
const rateTolerance = 0.01

// sampleRate is how many of the inputs, which rise evenly, make one unit.
func sampleRate(ctx context.Context, at *places) (int, error) {
	var first, last float64
	err := at.each(ctx, func(n int, x []float64) error {
		if n == 0 {
			first = x[0]
		}
		last = x[len(x)-1]
		return nil
	})
	if err != nil {
		return 0, err
	}
	if len(at.names) != 1 || at.rows < 2 || !(last > first) {
		return 0, mistake("a recording needs one input that rises evenly in seconds; the inputs have %d columns and %d rows: want .csv or .npy", len(at.names), at.rows)
	}
	rate := math.Round(float64(at.rows-1) / (last - first))
	err = at.each(ctx, func(n int, x []float64) error {
		for i, v := range x {
			if off := (v-first)*rate - float64(n+i); !(math.Abs(off) <= rateTolerance) || rate < 1 || rate > math.MaxInt32 {
				return mistake("a recording needs inputs that rise by 1/rate seconds; input %d (%v) is no sample of one at %.0f a second: want .csv or .npy", n+i, v, rate)
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return int(rate), nil
}
