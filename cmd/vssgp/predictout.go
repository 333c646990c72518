package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/vssgp/vssgp"
)

// checkFormats checks the flags for predict's outputs against each other.
func (a *app) checkFormats(o *predictFlags) error {
	switch {
	case formatOf(o.output) == "wav" && o.full:
		return mistake("--full: a recording cannot hold covariances; want -o with .csv or .npy")
	case o.drawsFile != "" && o.draws == 0:
		return mistake("--draws-file %s needs --draws N", o.drawsFile)
	}
	if at := o.drawsPath(); formatOf(at) == "wav" {
		return a.checkOutputs(drawnFiles(at, o.draws)...)
	}
	return nil
}

// drawsPath is the file for draws that are not columns of the output; "" if there
// are none.
func (o *predictFlags) drawsPath() string {
	if o.drawsFile == "" && o.draws > 0 && formatOf(o.output) == "wav" {
		return o.output
	}
	return o.drawsFile
}

// columnDraws is how many draws are columns of the output.
func (o *predictFlags) columnDraws() int {
	if o.drawsPath() != "" {
		return 0
	}
	return o.draws
}

// drawnFiles are the files that n draws take: a recording each, or one table.
func drawnFiles(path string, n int) []string {
	if formatOf(path) != "wav" {
		return []string{path}
	}
	return numberedFiles(path, n)
}

// tableNames are the columns of a table: the inputs, and what predictions of the
// outputs y have beside them.
func (o *predictFlags) tableNames(inputs, y []string) ([]string, error) {
	names := slices.Clone(inputs)
	for _, d := range y {
		names = append(names, d+"_mean", d+"_sd")
	}
	if o.full {
		for i := range y {
			for j := i; j < len(y); j++ {
				names = append(names, y[i]+"_"+y[j]+"_cov")
			}
		}
	}
	names = append(names, drawNames(y, o.columnDraws())...)
	return names, distinct(names)
}

// drawNames are the columns of n draws.
func drawNames(y []string, n int) (names []string) {
	for i := range n {
		for _, d := range y {
			names = append(names, fmt.Sprintf("%s_draw%d", d, i+1))
		}
	}
	return names
}

// distinct reports a column of the prediction with the name of an input.
func distinct(names []string) error {
	seen := map[string]bool{}
	for _, n := range names {
		if seen[n] {
			return mistake("the output would have two columns named %.40q; want other names for the inputs", n)
		}
		seen[n] = true
	}
	return nil
}

// appendPrediction appends what a table has of row n of a prediction.
func (o *predictFlags) appendPrediction(out []float64, p *vssgp.Prediction, sd []float64, n int) []float64 {
	for d := range p.D {
		out = append(out, p.Mean[n*p.D+d], sd[n*p.D+d])
	}
	for i := 0; o.full && i < p.D; i++ {
		for j := i; j < p.D; j++ {
			v := p.Cov[(n*p.D+i)*p.D+j]
			if o.latent && i == j {
				v = max(0, v-p.Noise[i])
			}
			out = append(out, v)
		}
	}
	return out
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
		return 0, mistake("a recording needs one input that rises evenly in seconds; the inputs have %d columns and %d rows: want .csv or .npy",
			len(at.names), at.rows)
	}
	rate := math.Round(float64(at.rows-1) / (last - first))
	err = at.each(ctx, func(n int, x []float64) error {
		for i, v := range x {
			if off := (v-first)*rate - float64(n+i); !(math.Abs(off) <= rateTolerance) || rate < 1 || rate > math.MaxInt32 {
				return mistake("a recording needs inputs that rise by 1/rate seconds; input %d (%v) is not a sample time at %.0f samples a second: want .csv or .npy", n+i, v, rate)
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return int(rate), nil
}

// predictFlags are the flags of predict.
type predictFlags struct {
	columns   columns
	output    string
	full      bool
	latent    bool
	draws     int
	drawsFile string
	plot      string
	plan      bool
}
