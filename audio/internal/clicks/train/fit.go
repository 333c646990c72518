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
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/audio/internal/clicks"
	"github.com/vssgp/vssgp/internal/optimize/lbfgs"
	"github.com/vssgp/vssgp/internal/simd"
)

// An example is a candidate with its label.
type example struct {
	features [clicks.Features]float64
	context  [clicks.Contexts]float64
	click    bool
	weight   float64
}

// examples returns the labeled candidates of the trial. A candidate is a click if it contains at least half of the
// energy of an added click. Other candidates are negative examples if they are at least clearOf samples from all
// clicks, and are left out otherwise.
func (t *trial) examples(weight float64) (out []example) {
	context := t.search.Around(t.found, len(t.x))
	for _, c := range t.found {
		e := example{features: c.Features, context: context(c), weight: weight}
		near := false
		for _, m := range t.added {
			if c.Lo < m.End+clearOf && m.Start-clearOf < c.Hi {
				near = true
				e.click = e.click || 2*t.energy(max(m.Start, c.Lo-1), min(m.End, c.Hi+1)) >= t.energy(m.Start, m.End)
			}
		}
		for _, m := range t.unclear {
			near = near || c.Lo < m.End+clearOfUnclear && m.Start-clearOfUnclear < c.Hi
		}
		if e.click || !near {
			out = append(out, e)
		}
	}
	return out
}

const (
	penalty = 1e-5  // factor of the squared weights in the penalty of the mean log-likelihood
	beyond  = 0.004 // fraction of the candidates below the lower, and above the upper bound of a feature
)

// A regression is a penalized logistic regression.
type regression struct {
	rows    [][]float64 // the terms of each candidate
	clicks  []bool
	weights []float64 // weights of the candidates, with sum 1
}

// fit fits the detector's weights to the candidates of all trials. The weight of a candidate is the inverse of its
// trial's duration.
func fit(all []*trial) (*clicks.Weights, error) {
	var examples []example
	for _, t := range all {
		examples = append(examples, t.examples(1/t.seconds)...)
	}
	var w clicks.Weights
	for i := range w.Low {
		w.Low[i], w.High[i] = bounds(examples, i)
	}
	f, sum := regression{}, 0.0
	for _, e := range examples {
		sum += e.weight
	}
	for _, e := range examples {
		row := w.Terms(&e.features)
		f.rows, f.clicks, f.weights = append(f.rows, row[:]), append(f.clicks, e.click), append(f.weights, e.weight/sum)
	}
	s, err := lbfgs.Start(f.value, make([]float64, clicks.Terms))
	if err != nil {
		return nil, err
	}
	why, err := lbfgs.Maximize(f.value, s, lbfgs.Settings{Iterations: 1000, Gain: 1e-7})
	if err != nil {
		return nil, err
	}
	copy(w.Of[:], s.X)
	fmt.Printf("%d candidates, mean log-likelihood %.4f after %d steps (%s)\n", len(examples), s.F, s.Steps, why)
	return &w, nil
}

// fitContext fits the weights of the first terms of the context of the candidates of all trials.
func fitContext(all []*trial, w *clicks.Weights, terms int) error {
	var examples []example
	for _, t := range all {
		examples = append(examples, t.examples(1/t.seconds)...)
	}
	f, sum := regression{}, 0.0
	for _, e := range examples {
		sum += e.weight
	}
	for _, e := range examples {
		f.rows, f.clicks, f.weights = append(f.rows, e.context[:terms]), append(f.clicks, e.click), append(f.weights, e.weight/sum)
	}
	s, err := lbfgs.Start(f.value, make([]float64, terms))
	if err != nil {
		return err
	}
	why, err := lbfgs.Maximize(f.value, s, lbfgs.Settings{Iterations: 1000, Gain: 1e-7})
	w.Context = [clicks.Contexts]float64{}
	copy(w.Context[:], s.X)
	fmt.Printf("context: mean log-likelihood %.4f after %d steps (%s): %.3f\n", s.F, s.Steps, why, w.Context)
	return err
}

// value returns the penalized mean log-likelihood of the weights of, and writes its gradient to g.
func (f *regression) value(of, g []float64) (sum float64, _ error) {
	clear(g)
	for j, v := range of[1:] { // all but the constant
		g[1+j] = -2 * penalty * v
		sum -= penalty * v * v
	}
	for k, row := range f.rows {
		sign := -1.0
		if f.clicks[k] {
			sign = 1
		}
		odds := sign * simd.Dot(row, of)
		sum -= f.weights[k] * (max(0, -odds) + math.Log1p(math.Exp(-math.Abs(odds))))
		floats.AddScaled(g, sign*f.weights[k]/(1+math.Exp(odds)), row)
	}
	return sum, nil
}

// bounds returns the quantiles beyond and 1-beyond of a feature. The clicks have the same total weight as the other
// examples.
func bounds(examples []example, feature int) (low, high float64) {
	of := map[bool]float64{}
	for _, e := range examples {
		of[e.click] += e.weight
	}
	sorted := slices.SortedFunc(slices.Values(examples), func(a, b example) int {
		return cmp.Compare(a.features[feature], b.features[feature])
	})
	below := 0.0
	for _, e := range sorted {
		if below < beyond {
			low = round(e.features[feature])
		}
		if below < 1-beyond {
			high = round(e.features[feature])
		}
		below += e.weight / (2 * of[e.click])
	}
	return low, high
}

// round rounds to three decimals.
func round(v float64) float64 { return math.Round(1e3*v) / 1e3 }

// write writes weights as a Go source file.
func write(path, name string, w *clicks.Weights, files []string) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "// Code generated by train; DO NOT EDIT.\n//\n// Fitted on %s to the sounds of train/sounds.sh:\n",
		time.Now().UTC().Format(time.DateOnly))
	for _, f := range files {
		fmt.Fprintln(&b, "//  -", filepath.Base(f))
	}
	list := func(of []float64) (out string) {
		for _, v := range of {
			out += fmt.Sprint(round(v), ", ")
		}
		return out
	}
	fmt.Fprintf(&b, "\npackage clicks\n\nvar %s = Weights{\n[Features]float64{%s},\n[Features]float64{%s},\n",
		name, list(w.Low[:]), list(w.High[:]))
	fmt.Fprintf(&b, "[Terms]float64{\n%v,\n", round(w.Of[0]))
	for i, at := 0, 1; i < clicks.Features; i++ {
		fmt.Fprintf(&b, "%s // %s\n", list(w.Of[at:at+i+2]), clicks.FeatureNames[i])
		at += i + 2
	}
	fmt.Fprintf(&b, "},\n[Contexts]float64{%s},\n}\n", list(w.Context[:]))
	text, err := format.Source(b.Bytes())
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o666)
}
