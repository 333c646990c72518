package main

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/parallel"
)

// The table of `bench windows -choose`: settings that evidence chooses from, on
// excerpts of a recording with every chooseEvery-th stretch of chooseGap
// samples held out.
const (
	chooseExcerpts   = 4
	chooseRows       = 8192
	chooseEvery      = 1000
	chooseGap        = 40
	chooseIterations = 20
)

// choice is a setting and what it gives, summed over the excerpts.
type choice struct {
	window, components, features int

	rows, asked, points   float64
	start, end            float64 // bounds
	density, square, loud float64 // over the held-out samples
}

func (c *choice) add(o *choice) {
	c.rows, c.asked, c.points = c.rows+o.rows, c.asked+o.asked, c.points+o.points
	c.start, c.end = c.start+o.start, c.end+o.end
	c.density, c.square, c.loud = c.density+o.density, c.square+o.square, c.loud+o.loud
}

// chooseTable prints, for windows and numbers of components, the bound before
// and after some iterations, that less one for each point estimate (what
// --window auto looks at), and the prediction of what was held out.
func chooseTable(to io.Writer, path string) error {
	rec, err := audio.Open(path)
	if err != nil {
		return err
	}
	y := rec.Samples[0]
	if len(y) < chooseRows {
		return fmt.Errorf("windows: %s has %d samples, want %d at least", path, len(y), chooseRows)
	}
	fmt.Fprintf(to, "| window | components | K | bound, start | %d iterations | less points | log density | RMSE / silence |\n|---|---|---|---|---|---|---|---|\n", chooseIterations)
	for _, window := range []int{512, 1024} {
		for _, share := range []int{50, 25, 12, 6} { // steps of a window for each component
			for _, k := range []int{2, 4} {
				c := choice{window: window, components: 2 * window / share / k, features: k}
				parts, errs := make([]choice, chooseExcerpts), make([]error, chooseExcerpts)
				parallel.For(chooseExcerpts, chooseExcerpts, func(i int) {
					parts[i] = c
					at := (2*i + 1) * (len(y) - chooseRows) / (2 * chooseExcerpts)
					errs[i] = parts[i].measure(y[at : at+chooseRows])
				})
				for i := range parts {
					if errs[i] != nil {
						return errs[i]
					}
					c.add(&parts[i])
				}
				fmt.Fprintf(to, "| %d | %d | %d | %.3f | %.3f | %.3f | %.2f | %.3f |\n", window, c.components, k,
					c.start/c.rows, c.end/c.rows, (c.end-c.points)/c.rows, c.density/c.asked, math.Sqrt(c.square/c.loud))
			}
		}
	}
	return nil
}

// measure fits one excerpt without what is held out, and predicts that.
func (c *choice) measure(y []float64) error {
	known, asked := &vssgp.Data{Q: 1, D: 1}, &vssgp.Data{Q: 1, D: 1}
	for i, v := range y {
		to := known
		if r := i % chooseEvery; r >= chooseEvery/2 && r < chooseEvery/2+chooseGap {
			to = asked
		}
		to.X, to.Y, to.N = append(to.X, float64(i)), append(to.Y, v), to.N+1
	}
	o := vssgp.Options{Init: vssgp.InitSpectrum, Window: float64(c.window), Components: c.components, Features: c.features}
	m, err := vssgp.New(known, o)
	if err != nil {
		return err
	}
	e, err := m.Evaluate(known, vssgp.Exact, nil, false)
	if err != nil {
		return err
	}
	o.Iterations = chooseIterations
	m, r, err := vssgp.Fit(context.Background(), known, o)
	if err != nil {
		return err
	}
	p, err := m.PredictRows(asked.X, asked.N)
	if err != nil {
		return err
	}
	c.start, c.end, c.rows, c.asked = e.Bound, r.Bound, float64(known.N), float64(asked.N)
	c.points = float64(3*m.Params.L + 1)
	for i, sd := range p.SD(true) {
		d := asked.Y[i] - p.Mean[i]
		c.density -= 0.5*math.Log(2*math.Pi*sd*sd) + 0.5*d*d/(sd*sd)
		c.square += d * d
		c.loud += asked.Y[i] * asked.Y[i]
	}
	return nil
}
