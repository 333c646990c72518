package paper

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/baseline"
)

// scaled is the series with mean 0 and standard deviation 1.
func (s *series) scaled() *series {
	mean, sd := stat.PopMeanStdDev(s.y, nil)
	out := *s
	out.y = make([]float64, len(s.y))
	for i, v := range s.y {
		out.y[i] = (v - mean) / sd
	}
	return &out
}

// fit is the line of a method on the rows that left does not name, with its
// curve over grid, if there is one.
func (s *series) fit(key Key, m baseline.Method, left []bool, grid []float64) fit {
	return fit{Line{Key: key, Data: s.file, SHA256: s.sum}, func(ctx context.Context, l *Line) error {
		train, test, err := s.split(left)
		if err != nil {
			return err
		}
		l.N = train.N
		f, err := m.Fit(ctx, train)
		if err != nil {
			return err
		}
		if err := l.fill(f, train, test); err != nil {
			return err
		}
		l.M = size(f.Model)
		l.Learnt.Confident = confident(f.Model)
		if len(l.Learnt.Variance) > mostLearnt {
			l.Learnt = &Learnt{NoiseSD: l.Learnt.NoiseSD, Confident: l.Learnt.Confident}
		}
		if grid == nil {
			return nil
		}
		p, err := f.Model.Predict(column(grid))
		if err != nil {
			return err
		}
		l.Curve = &Curve{X: grid, Mean: p.Mean, SD: p.SD(true), Observed: &Trace{train.X, train.Y}}
		if test != nil {
			l.Curve.Missing = &Trace{test.X, test.Y}
		}
		return nil
	}}
}

// inside says which rows lie in [start, start+length) of one of the starts.
func (s *series) inside(starts []float64, length float64) []bool {
	in := make([]bool, len(s.x))
	for i, x := range s.x {
		for _, a := range starts {
			in[i] = in[i] || a <= x && x < a+length
		}
	}
	return in
}

// grid is from lo to hi or just short of it.
func grid(lo, hi, step float64) []float64 {
	g := make([]float64, 1+int(math.Floor((hi-lo)/step)))
	for i := range g {
		g[i] = lo + float64(i)*step
	}
	return g
}

// surest is how many frequencies of a component a line lists.
const surest = 2

// confident are the frequencies along a model's only input that it is surest
// of, those with the smallest standard deviations √Σ/(2πl): of each component,
// or where those are many, of all together. Models without a distribution over
// frequencies have none.
func confident(model baseline.Model) []Confident {
	m, ok := model.(*vssgp.Model)
	if !ok || m.Params.FreqVar[0] == 0 {
		return nil
	}
	var out []Confident
	listed := make([]int, m.Params.L)
	if m.Params.L > mostLearnt {
		listed = listed[:1]
	}
	for _, f := range m.Frequencies() {
		if of := f.Component % len(listed); listed[of] < surest {
			listed[of]++
			out = append(out, Confident{f.Component, f.Mean[0], f.SD[0]})
		}
	}
	slices.SortStableFunc(out, func(a, b Confident) int { return cmp.Compare(a.Component, b.Component) })
	return out
}
