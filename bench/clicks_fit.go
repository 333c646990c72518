package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/format"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/vssgp/vssgp/internal/clicks"
	"github.com/vssgp/vssgp/internal/optimize/lbfgs"
	"github.com/vssgp/vssgp/internal/simd"
	"gonum.org/v1/gonum/floats"
)

// An example is a candidate that is known to be a click, or none.
type example struct {
	features [clicks.Features]float64
	click    bool
	weight   float64
}

// examples are the trial's candidates. One is a click if it has half of a click's energy, and none if it is clear of all.
func (t *clicksTrial) examples(weight float64) (out []example) {
	for _, c := range t.found {
		e := example{features: c.Features, weight: weight}
		near := false
		for _, m := range t.made {
			if c.Lo < m.End+clearOf && m.Start-clearOf < c.Hi {
				near = true
				e.click = e.click || 2*energy(t.x, t.y, max(m.Start, c.Lo-1), min(m.End, c.Hi+1)) >= energy(t.x, t.y, m.Start, m.End)
			}
		}
		if e.click || !near {
			out = append(out, e)
		}
	}
	return out
}

const (
	sizePenalty = 1e-4 // of the square of a line's slope, in units of its range
	bendPenalty = 1e-3 // of the square of the difference of neighboring slopes
)

// directions are the signs that the slopes of each feature's line may have; 0 is either.
var directions = [clicks.Features]float64{1, 0, -1, 1, 1, -1, 0, 0, 0}

// A clicksFit is penalized logistic regression: rows of parts of lines, and what is known of each.
type clicksFit struct {
	rows       [][]float64
	clicks     []bool
	weights    []float64
	signs      []float64
	size, bend []float64 // penalties of each slope, and of its difference from the one before
}

// fitClicks fits weights to the trials' candidates, each second of which counts the same.
func fitClicks(all []*clicksTrial) (*clicks.Weights, error) {
	var examples []example
	for _, t := range all {
		examples = append(examples, t.examples(1/(t.seconds*float64(len(all))))...)
	}
	w := *clicks.Fitted()
	f := clicksFit{signs: []float64{0}, size: []float64{0}, bend: []float64{0}}
	for i := range w.Lines {
		l := &w.Lines[i]
		l.Knots = knots(examples, i)
		unit := (l.Knots[clicks.Knots-1] - l.Knots[0]) * (l.Knots[clicks.Knots-1] - l.Knots[0])
		for k := range l.Slopes {
			f.signs, f.size = append(f.signs, directions[i]), append(f.size, sizePenalty*unit)
			f.bend = append(f.bend, min(1, float64(k))*bendPenalty*unit)
		}
	}
	for _, e := range examples {
		row := []float64{1}
		for i := range w.Lines {
			parts := w.Lines[i].Parts(e.features[i])
			row = append(row, parts[:]...)
		}
		f.rows, f.clicks, f.weights = append(f.rows, row), append(f.clicks, e.click), append(f.weights, e.weight)
	}
	start := slices.Clone(f.signs)
	for j, sign := range f.signs {
		start[j] = 0.3 * sign * sign
	}
	s, err := lbfgs.Start(f.value, start)
	if err != nil {
		return nil, err
	}
	why, err := lbfgs.Maximize(f.value, s, lbfgs.Settings{Iterations: 1000, Gain: 1e-7})
	if err != nil {
		return nil, err
	}
	p := f.slopes(s.X)
	w.Constant = p[0]
	for i := range w.Lines {
		copy(w.Lines[i].Slopes[:], p[1+i*len(w.Lines[i].Slopes):])
	}
	fmt.Printf("%d candidates, mean log-likelihood %.4f a second after %d steps (%s)\n", len(examples), s.F, s.Steps, why)
	return &w, nil
}

// slopes returns the constant and the slopes of parameters: those of a sign are squares.
func (f *clicksFit) slopes(p []float64) []float64 {
	s := slices.Clone(p)
	for j, sign := range f.signs {
		if sign != 0 {
			s[j] = sign * p[j] * p[j]
		}
	}
	return s
}

// value returns the penalized log-likelihood, and writes its gradient.
func (f *clicksFit) value(p, g []float64) (sum float64, _ error) {
	s := f.slopes(p)
	for j := range g {
		g[j] = -2 * f.size[j] * s[j]
		sum -= f.size[j] * s[j] * s[j]
	}
	for j := 1; j < len(s); j++ {
		bend := s[j] - s[j-1]
		sum -= f.bend[j] * bend * bend
		g[j] -= 2 * f.bend[j] * bend
		g[j-1] += 2 * f.bend[j] * bend
	}
	for k, row := range f.rows {
		sign := -1.0
		if f.clicks[k] {
			sign = 1
		}
		odds := sign * simd.Dot(row, s)
		sum -= f.weights[k] * (max(0, -odds) + math.Log1p(math.Exp(-math.Abs(odds))))
		floats.AddScaled(g, sign*f.weights[k]/(1+math.Exp(odds)), row)
	}
	for j, sign := range f.signs {
		if sign != 0 {
			g[j] *= 2 * sign * p[j]
		}
	}
	return sum, nil
}

// knots returns quantiles of a feature, with all clicks as heavy as all others.
func knots(examples []example, feature int) (out [clicks.Knots]float64) {
	of := map[bool]float64{}
	for _, e := range examples {
		of[e.click] += e.weight
	}
	sorted := slices.SortedFunc(slices.Values(examples), func(a, b example) int {
		return cmp.Compare(a.features[feature], b.features[feature])
	})
	k, below := 0, 0.0
	for _, e := range sorted {
		for below += e.weight / (2 * of[e.click]); k < clicks.Knots-1 && below >= float64(k)/(clicks.Knots-1); k++ {
			out[k] = round(e.features[feature])
		}
	}
	out[clicks.Knots-1] = round(sorted[len(sorted)-1].features[feature])
	return out
}

// round returns a number of few digits.
func round(v float64) float64 { return math.Round(1e3*v) / 1e3 }

// writeWeights writes weights as Go.
func writeWeights(path string, w *clicks.Weights, files []string) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "// Code generated by bench clicks -fit; DO NOT EDIT.\n//\n// Fitted on %s to the sounds of bench/clicks_sounds.sh:\n",
		time.Now().UTC().Format(time.DateOnly))
	for _, f := range files {
		fmt.Fprintln(&b, "//  -", filepath.Base(f))
	}
	fmt.Fprintf(&b, "\npackage clicks\n\nvar fitted = Weights{%.3g, [Features]Line{\n", w.Constant)
	list := func(of []float64) string {
		var out []string
		for _, v := range of {
			out = append(out, fmt.Sprint(round(v)))
		}
		return strings.Join(out, ", ")
	}
	for _, l := range w.Lines {
		fmt.Fprintf(&b, "{%q, [Knots]float64{%s}, [Knots-1]float64{%s}},\n", l.Feature, list(l.Knots[:]), list(l.Slopes[:]))
	}
	b.WriteString("}}\n")
	text, err := format.Source(b.Bytes())
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o666)
}
