package datafile

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/table"
)

// A Span contains evenly spaced values of an input, from First to Last.
type Span struct {
	First, Last float64
	Points      int

	decimals float64 // 10 to the power of the number of decimals of the values, 0 to leave them unrounded
}

// At returns value i, rounded to the decimals of the flag, so that 3 steps of 0.1 are 0.3.
func (s Span) At(i int) float64 {
	if i == s.Points-1 {
		return s.Last
	}
	return s.round(s.First + (s.Last-s.First)*float64(i)/float64(s.Points-1))
}

func (s Span) round(v float64) float64 {
	const exact = 1 << 53 // whole numbers up to this are exact
	if u := v * s.decimals; u != 0 && math.Abs(u) < exact {
		return math.Round(u) / s.decimals
	}
	return v
}

// thinned returns at most n values of the same range.
func (s Span) thinned(n int) Span {
	if s.Points <= n {
		return s
	}
	return Span{First: s.First, Last: s.Last, Points: n}
}

// maxGrid is the maximum number of points of a grid.
const maxGrid = 1 << 30

// ReadGrid returns the points of --grid for a model: the sizes of a grid over the range of its data, such as 200x200,
// or for each input START:STOP:STEP or a single value, separated by commas. A single value for each input is an error,
// because 200,200 is more likely a grid of 200 by 200 points. Errors are mistakes of the command line.
func ReadGrid(text string, m *vssgp.Model) (*Places, error) {
	axes, err := AxesOfModel(m)
	if err != nil {
		return nil, err
	}
	names := InputNames(m)
	parse, parts := spanOf, strings.Split(text, ",")
	sizes := !strings.ContainsAny(text, ",:")
	if sizes {
		parse, parts = spanOfRange, strings.Split(strings.ToLower(text), "x")
	}
	spans, points := make([]Span, len(names)), 1
	for i, part := range parts[:min(len(parts), len(names))] {
		one, err := parse(strings.TrimSpace(part), i, axes[i], m)
		if err != nil {
			return nil, cli.Mistake("--grid %.60s: %s: %w", text, names[i], err)
		}
		if spans[i] = one; one.Points > maxGrid/points {
			return nil, cli.Mistake("--grid %.60s: the maximum is %d points", text, maxGrid)
		}
		points *= one.Points
	}
	switch {
	case len(parts) != len(names):
		return nil, cli.Mistake("--grid %.60s: %s, but the model has %s (%s); give one part for each input", text,
			cli.Counted(len(parts), "part"), cli.Counted(len(names), "input"), Listed(names))
	case !sizes && !strings.Contains(text, ":"):
		return nil, cli.Mistake("--grid %.60s is one point; for 200 by 200 points use --grid 200x200, or give "+
			"START:STOP:STEP for an input; for single points give INPUTS, a table", text)
	}
	return gridOf(names, axes, spans), nil
}

// spanOfRange returns the given number of values over the range of the data in input q.
func spanOfRange(text string, q int, _ *table.Axis, m *vssgp.Model) (s Span, err error) {
	n, err := strconv.Atoi(text)
	switch {
	case err != nil || n < 2 || n > maxGrid:
		return s, fmt.Errorf("%.40q must be a number of points from 2 to %d; "+
			"or give START:STOP:STEP for each input, separated by commas", text, maxGrid)
	case m.Range == nil:
		return s, errors.New("the model file does not contain the range of its data; give START:STOP:STEP for each input")
	case !(m.Range[q][0] < m.Range[q][1]):
		return s, errors.New("the model's data have a single value; give START:STOP:STEP or a value for each input")
	}
	return Span{First: m.Range[q][0], Last: m.Range[q][1], Points: n}, nil
}

// gridForm describes the parts of --grid.
const gridForm = "START:STOP:STEP or a single value, with commas between inputs"

// spanOf returns the values START, START + STEP, … up to STOP, or a single value.
func spanOf(text string, _ int, axis *table.Axis, _ *vssgp.Model) (s Span, err error) {
	parts := strings.Split(text, ":")
	if len(parts) != 1 && len(parts) != 3 {
		return s, fmt.Errorf("%.40q must be %s", text, gridForm)
	}
	if s.First, err = valueOn(axis, parts[0]); err != nil {
		return s, err
	}
	if s.Last, s.Points = s.First, 1; len(parts) == 1 {
		return s, nil
	}
	stop, err := valueOn(axis, parts[1])
	if err != nil {
		return s, err
	}
	step, err := strconv.ParseFloat(strings.TrimSpace(parts[2]), 64)
	if err != nil || !(step > 0) || math.IsInf(step, 0) {
		return s, fmt.Errorf("STEP %.40q must be a positive number", parts[2])
	}
	const tolerance = 1e-9 // in steps, because (1 − 0)/0.1 may be rounded down
	steps := math.Floor((stop-s.First)/step + tolerance)
	switch {
	case !(steps >= 0):
		return s, fmt.Errorf("STOP %.40s must be at least START %.40s", parts[1], parts[0])
	case steps >= maxGrid:
		return s, fmt.Errorf("%.40q has too many points; the maximum is %d", text, maxGrid)
	}
	s.Points = int(steps) + 1
	if a, b := decimals(parts[0]), decimals(parts[2]); a > 0 && b > 0 && !axis.Dates() {
		s.decimals = max(a, b)
	}
	s.Last = s.round(s.First + steps*step)
	return s, nil
}

// valueOn returns the number of a value or date of an input.
func valueOn(axis *table.Axis, text string) (float64, error) {
	v, err := axis.Parse(text)
	switch {
	case err == nil:
		return v, nil
	case axis.Dates():
		return 0, fmt.Errorf("%.40q must be a date such as %s; give %s", text, axis.Format(0), gridForm)
	}
	return 0, fmt.Errorf("%.40q must be a number; give %s", text, gridForm)
}

var decimalNumber = regexp.MustCompile(`^\s*[+-]?\d*\.?(\d*)\s*$`)

// decimals returns 10 to the power of the number of decimals in a number, 0 if the number has an exponent.
func decimals(number string) float64 {
	found := decimalNumber.FindStringSubmatch(number)
	if found == nil {
		return 0
	}
	return math.Pow10(len(found[1]))
}

// gridOf returns the points of a grid in row-major order: the last input varies fastest.
func gridOf(names []string, axes []*table.Axis, spans []Span) *Places {
	p := &Places{Names: names, Rows: 1, Axes: axes, Grid: spans}
	for _, s := range spans {
		p.Rows *= s.Points
	}
	p.Parts = func(ctx context.Context) iter.Seq2[[]float64, error] {
		return func(yield func([]float64, error) bool) {
			const most = 1 << 15 // rows per block
			x, at := []float64(nil), make([]int, len(spans))
			for lo := 0; lo < p.Rows; lo += most {
				x = x[:0]
				for range min(most, p.Rows-lo) {
					for q, s := range spans {
						x = append(x, s.At(at[q]))
					}
					advance(at, spans)
				}
				if !yield(x, ctx.Err()) {
					return
				}
			}
		}
	}
	return p
}

// advance sets the indices of a point to the indices of the next one.
func advance(at []int, spans []Span) {
	for q := len(at) - 1; q >= 0; q-- {
		if at[q]++; at[q] < spans[q].Points {
			return
		}
		at[q] = 0
	}
}

// Sizes returns the number of values of each input of a grid, nil if the places are not a grid.
func (p *Places) Sizes() (sizes []int) {
	for _, s := range p.Grid {
		sizes = append(sizes, s.Points)
	}
	return sizes
}

// Varying returns the number of inputs of a grid with more than one value, 0 if the places are not a grid.
func (p *Places) Varying() (inputs int) {
	for _, s := range p.Grid {
		if s.Points > 1 {
			inputs++
		}
	}
	return inputs
}

// Thinned returns a grid over the same range with at most n values of each input.
func (p *Places) Thinned(n int) *Places {
	spans := make([]Span, len(p.Grid))
	for q, s := range p.Grid {
		spans[q] = s.thinned(n)
	}
	return gridOf(p.Names, p.Axes, spans)
}
