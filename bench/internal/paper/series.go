package paper

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/bench/internal/baselines"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/testkit/matrix"
)

// A series contains one output over one input.
type series struct {
	Source
	Trace
}

// series reads a table with two columns.
func (s *session) series(name, replacement string) (*series, error) {
	path, from, err := s.file(name, replacement)
	if err != nil {
		return nil, err
	}
	t, err := matrix.ReadFull(path)
	if err != nil {
		return nil, err
	}
	if t.Cols != 2 {
		return nil, fmt.Errorf("%s: the table has %d columns, must have two", path, t.Cols)
	}
	out := &series{Source: from}
	for i := range t.Rows {
		out.add(t.Data[2*i], t.Data[2*i+1])
	}
	return out, nil
}

// scaled returns the series with y scaled to mean 0 and standard deviation 1.
func (s *series) scaled() *series {
	mean, sd := stat.PopMeanStdDev(s.Y, nil)
	out := &series{Source: s.Source}
	for i, v := range s.Y {
		out.add(s.X[i], (v-mean)/sd)
	}
	return out
}

// fits returns the fits of trials. left contains the test rows of each seed. If curve is not nil, the test rows must be
// the same for all seeds. Then a deterministic trial has only one fit, and the fit of the first seed gets the curve.
func (s *series) fits(key Key, trials []trial, left [][]bool, curve []float64) (out []fit) {
	for _, t := range trials {
		over := curve
		for seed, rows := range left {
			if seed == 0 || t.draws || curve == nil {
				key.Method, key.Start, key.Seed = t.method, t.start, uint64(seed)
				out = append(out, s.fit(key, t.with(key.Seed), rows, over))
			}
			over = nil
		}
	}
	return out
}

// fit returns the fit of a method to the rows outside left. Its line contains the curve over grid, unless grid is nil.
func (s *series) fit(key Key, m baselines.Method, left []bool, grid []float64) fit {
	return fit{Line{Key: key, Source: s.Source}, func(ctx context.Context, l *Line) error {
		train, test := s.split(left)
		l.N = len(train.X)
		f, err := train.fit(ctx, m)
		if err != nil {
			return err
		}
		l.take(f)
		l.Learned.Confident = confident(f.Model)
		c, err := predict(ctx, f.Model, train.X)
		if err != nil {
			return err
		}
		l.Scores = map[Score]float64{TrainRMSE: bayes.RMSE(c.Mean, train.Y)}
		if test != nil {
			if c, err = predict(ctx, f.Model, test.X); err != nil {
				return err
			}
			l.Scores[TestRMSE] = bayes.RMSE(c.Mean, test.Y)
			l.Scores[Coverage], l.Scores[NLPD] = bayes.Coverage(c.Mean, c.SD, test.Y), bayes.NLPD(c.Mean, c.SD, test.Y)
		}
		if grid != nil {
			if l.Curve, err = predict(ctx, f.Model, grid); err != nil {
				return err
			}
			l.Curve.Observed, l.Curve.Missing = train, test
		}
		return nil
	}}
}

// split returns the rows outside left, and the rows in left or nil if there are none.
func (t *Trace) split(left []bool) (kept, out *Trace) {
	kept = &Trace{}
	for i, is := range left {
		to := kept
		if is {
			if out == nil {
				out = &Trace{}
			}
			to = out
		}
		to.add(t.X[i], t.Y[i])
	}
	return kept, out
}

// fit fits a method to the rows of a trace.
func (t *Trace) fit(ctx context.Context, m baselines.Method) (*baselines.Fit, error) {
	data, err := vssgp.NewData(len(t.X), t.X, t.Y)
	if err != nil {
		return nil, err
	}
	return m.Fit(ctx, data)
}

// predict returns the predictive mean and standard deviation at inputs, including noise.
func predict(ctx context.Context, m baselines.Model, at []float64) (*Curve, error) {
	p, err := m.Predict(ctx, at)
	if err != nil {
		return nil, err
	}
	return &Curve{X: at, Mean: p.Mean, SD: p.SD(true)}, nil
}

// take copies the results of a fit into a line.
func (l *Line) take(f *baselines.Fit) {
	l.Seconds, l.Iterations, l.Ended, l.Bound = f.Elapsed.Seconds(), f.Iterations, f.Ended, &f.Bound
	l.M, l.Learned = f.M, &Learned{NoiseSD: f.NoiseSD}
	if c := f.Covariance; len(c.Variance) <= maxLearned {
		l.Learned.Lengthscale, l.Learned.Variance = c.Lengthscale, c.Variance
		for _, p := range c.Frequency {
			if p != 0 {
				p = 1 / p
			}
			l.Learned.Period = append(l.Learned.Period, p)
		}
	}
}

const (
	maxLearned        = 8 // maximum number of components that are listed in a line
	frequenciesListed = 2 // number of frequencies that are listed for each component
)

// confident returns the frequencies of a model with the smallest standard deviations √Σ/(2πl): frequenciesListed for
// each component or, for more than maxLearned components, in total. It returns nil for models without a distribution
// over frequencies.
func confident(model baselines.Model) (out []Confident) {
	m, ok := model.(*vssgp.Model)
	if !ok || m.Params.FreqVar[0] == 0 {
		return nil
	}
	listed := make([]int, m.Params.L)
	if m.Params.L > maxLearned {
		listed = listed[:1]
	}
	for _, f := range m.Frequencies() {
		if of := f.Component % len(listed); listed[of] < frequenciesListed {
			listed[of]++
			out = append(out, Confident{f.Component, f.Mean[0], f.Spread[0]})
		}
	}
	slices.SortStableFunc(out, func(a, b Confident) int { return cmp.Compare(a.Component, b.Component) })
	return out
}

// inside reports for each row whether it is in [start, start+length) for one of the starts.
func (s *series) inside(starts []float64, length float64) []bool {
	in := make([]bool, len(s.X))
	for i, x := range s.X {
		for _, a := range starts {
			in[i] = in[i] || a <= x && x < a+length
		}
	}
	return in
}

// grid returns lo, lo + step, … up to hi.
func grid(lo, hi, step float64) []float64 {
	g := make([]float64, 1+int(math.Floor((hi-lo)/step)))
	for i := range g {
		g[i] = lo + float64(i)*step
	}
	return g
}
