package main

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/bench/internal/gapfill"
	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/internal/score"
)

// The table of `bench windows -choose`: settings that the bound chooses from, on excerpts of a recording with chooseGap of every
// chooseEvery samples held out.
const (
	chooseExcerpts   = 4
	chooseRows       = 8192
	chooseEvery      = 1000
	chooseGap        = 40
	chooseIterations = 20
)

// A choice holds sums of the results of one setting over excerpts.
type choice struct {
	rows, points float64 // fitted to; point estimates
	start, end   float64 // the bound, before and after the iterations
	asked        float64 // rows held out; of them:
	density      float64 // the logarithm
	errors, loud float64 // the squared error and the square
}

// chooseTable prints, for windows and numbers of components, the bound before and after some iterations, the bound less the number of point
// estimates (by which --window auto chooses), and the errors on the rows held out.
func chooseTable(to io.Writer, path string) error {
	rec, err := audio.Open(path)
	if err != nil {
		return err
	}
	y := rec.Samples[0]
	if len(y) < chooseRows {
		return fmt.Errorf("windows: %s has %d samples, want %d at least", path, len(y), chooseRows)
	}
	fmt.Fprintf(to, "| window | components | K | bound, start | %d iterations | less points | log density | RMSE / silence |\n"+
		"|---|---|---|---|---|---|---|---|\n", chooseIterations)
	for _, window := range []int{512, 1024} {
		for _, share := range []int{50, 25, 12, 6} { // steps of a window for each component
			for _, k := range []int{2, 4} {
				o := vssgp.Options{Init: vssgp.InitSpectrum, Window: float64(window), Components: 2 * window / share / k, Features: k}
				c, err := chosen(y, o)
				if err != nil {
					return err
				}
				fmt.Fprintf(to, "| %d | %d | %d | %.3f | %.3f | %.3f | %.2f | %.3f |\n", window, o.Components, k, c.start/c.rows,
					c.end/c.rows, (c.end-c.points)/c.rows, c.density/c.asked, math.Sqrt(c.errors/c.loud))
			}
		}
	}
	return nil
}

// chosen adds up the results of a setting on the excerpts.
func chosen(y []float64, o vssgp.Options) (sum choice, err error) {
	parts := make([]choice, chooseExcerpts)
	err = parallel.Try(chooseExcerpts, chooseExcerpts, func(i int) (err error) {
		at := (2*i + 1) * (len(y) - chooseRows) / (2 * chooseExcerpts)
		parts[i], err = choose(y[at:at+chooseRows], o)
		return err
	})
	for _, p := range parts {
		sum = choice{
			sum.rows + p.rows, sum.points + p.points, sum.start + p.start, sum.end + p.end,
			sum.asked + p.asked, sum.density + p.density, sum.errors + p.errors, sum.loud + p.loud,
		}
	}
	return sum, err
}

// choose fits one excerpt without the rows held out, and predicts those.
func choose(y []float64, o vssgp.Options) (c choice, err error) {
	known, asked := &vssgp.Data{Q: 1, D: 1}, &vssgp.Data{Q: 1, D: 1}
	for i, missing := range audio.Mask(gapfill.Even(len(y), chooseEvery, chooseGap), len(y)) {
		to := known
		if missing {
			to = asked
		}
		to.X, to.Y, to.N = append(to.X, float64(i)), append(to.Y, y[i]), to.N+1
	}
	m, err := vssgp.New(known, o)
	if err != nil {
		return c, err
	}
	e, err := m.Evaluate(known, vssgp.Exact, nil, false)
	if err != nil {
		return c, err
	}
	o.Iterations = chooseIterations
	m, r, err := vssgp.Fit(context.Background(), known, o)
	if err != nil {
		return c, err
	}
	p, err := m.PredictRows(asked.X, asked.N)
	if err != nil {
		return c, err
	}
	n, rmse, rms := float64(asked.N), score.RMSE(p.Mean, asked.Y), score.RMS(asked.Y)
	return choice{
		rows: float64(known.N), points: float64(3*m.Params.L + 1), start: e.Bound, end: r.Bound,
		asked: n, density: -n * score.NLPD(p.Mean, p.SD(true), asked.Y), errors: n * rmse * rmse, loud: n * rms * rms,
	}, nil
}
