package datafile

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/internal/testkit"
)

// modelOf returns a model with the named inputs. ranges are nil if they are not known.
func modelOf(ranges [][2]float64, names ...string) *vssgp.Model {
	return &vssgp.Model{Params: vssgp.NewParams(1, 1, len(names), 1), XNames: names, Range: ranges}
}

// dated is the axis of an input of days since 2024-02-28.
const dated = `[{"unit":"days","origin":1709078400,"notation":"2001-02-03"},null]`

// TestReadGrid checks the points of grids, which are exactly the numbers that a user would write, and the errors.
func TestReadGrid(t *testing.T) {
	two := modelOf([][2]float64{{-1, 1}, {10, 13}}, "a", "b")
	dates := modelOf([][2]float64{{0, 2}, {10, 13}}, "day", "b")
	dates.Metadata = map[string]string{axesName: dated}
	same := modelOf([][2]float64{{-1, 1}, {3, 3}}, "a", "b")
	one := modelOf([][2]float64{{0, 1}}, "t")
	for _, c := range []struct {
		m    *vssgp.Model
		text string
		want []float64
		err  string
	}{
		{m: two, text: "3x2", want: []float64{-1, 10, -1, 13, 0, 10, 0, 13, 1, 10, 1, 13}},
		{m: two, text: "2x4", want: []float64{-1, 10, -1, 11, -1, 12, -1, 13, 1, 10, 1, 11, 1, 12, 1, 13}},
		{m: two, text: "0:0.3:0.1,5:6:1", want: []float64{0, 5, 0, 6, 0.1, 5, 0.1, 6, 0.2, 5, 0.2, 6, 0.3, 5, 0.3, 6}},
		{m: two, text: " -1.5:1:1.0 , 2", want: []float64{-1.5, 2, -0.5, 2, 0.5, 2}}, // 1.5 exceeds STOP
		{m: two, text: "0:1:5e-1,7:7:3", want: []float64{0, 7, 0.5, 7, 1, 7}},
		{m: one, text: "5", want: []float64{0, 0.25, 0.5, 0.75, 1}},
		{m: one, text: "1e3:1002:1", want: []float64{1000, 1001, 1002}},
		{m: dates, text: "2024-02-28:2024-03-01:1,4", want: []float64{0, 4, 1, 4, 2, 4}},
		{m: dates, text: "3x2", want: []float64{0, 10, 0, 13, 1, 10, 1, 13, 2, 10, 2, 13}},
		{m: two, text: "3X2", want: []float64{-1, 10, -1, 13, 0, 10, 0, 13, 1, 10, 1, 13}},
		{m: modelOf(nil, "a", "b"), text: "1:1:1,2", want: []float64{1, 2}},

		{m: two, text: "200,200", err: "--grid 200,200 is one point; for 200 by 200 points use --grid 200x200"},
		{m: modelOf(nil, "a", "b"), text: "1,2.5", err: "--grid 1,2.5 is one point"},
		{m: dates, text: "2024-02-28,4", err: "is one point"},
		{m: two, text: "0:1:0", err: `a: STEP "0" must be a positive number`},
		{m: two, text: "0:1:1,2:1:1,3", err: "b: STOP 1 must be at least START 2"},
		{m: two, text: "0:1:1,2,x", err: "3 parts"},

		{m: modelOf(nil, "a", "b"), text: "2x2", err: "--grid 2x2: a: the model file does not contain the range of its data"},
		{m: same, text: "2x2", err: "b: the model's data have a single value; give START:STOP:STEP or a value"},
		{m: two, text: "200", err: "--grid 200: 1 part, but the model has 2 inputs (a, b)"},
		{m: two, text: "2x2x2", err: "3 parts, but the model has 2 inputs"},
		{m: one, text: "2x2", err: "2 parts, but the model has 1 input (t)"},
		{m: two, text: "0:1:1", err: "1 part"}, {m: two, text: "0,1,2", err: "3 parts"},
		{m: two, text: "1x5", err: `a: "1" must be a number of points from 2 to`},
		{m: two, text: "5x-3", err: `b: "-3" must be`},
		{m: two, text: "fine", err: `a: "fine" must be a number of points`},
		{m: one, text: "fine", err: `"fine" must be a number of points`},
		{m: two, text: "0:1,2", err: `a: "0:1" must be START:STOP:STEP or a single value`},
		{m: two, text: "0:1:1;0:1:1",
			err: `a: "0:1:1;0:1:1" must be START:STOP:STEP or a single value, with commas between inputs`},
		{m: two, text: "a=0:1:1,2", err: `a: "a=0" must be a number; give START:STOP:STEP or a single value, with commas`},
		{m: two, text: "9.5-14.5,2", err: `a: "9.5-14.5" must be a number; give START:STOP:STEP`},
		{m: two, text: "0:1:2:3,2", err: "must be START"},
		{m: two, text: "0:1:0,2", err: `STEP "0" must be a positive number`}, {m: two, text: "0:1:-1,2", err: `STEP "-1"`},
		{m: two, text: "0:1:NaN,2", err: `STEP "NaN"`}, {m: two, text: "0:1:Inf,2", err: `STEP "Inf"`},
		{m: two, text: "0:1:,2", err: `STEP ""`},
		{m: two, text: "1:0:1,2", err: "STOP 0 must be at least START 1"},
		{m: two, text: "x:1:1,2", err: `a: "x" must be a number`},
		{m: two, text: "1,", err: `b: "" must be a number`}, {m: two, text: "1,inf", err: `b: "inf" must be a number`},
		{m: two, text: "1,nan", err: `b: "nan" must be a number`},
		{m: dates, text: "5:6:1,2", err: `day: "5" must be a date such as 2024-02-28`},
		{m: two, text: "0:1:1e-300,1", err: "too many points"},
		{m: two, text: "100000x100000", err: "the maximum is 1073741824 points"},
	} {
		at, err := ReadGrid(c.text, c.m)
		if c.err != "" && err == nil {
			t.Errorf("%s: no error, want %s", c.text, c.err)
			continue
		} else if c.err != "" {
			testkit.Fails(t, err, err, c.err, c.text)
			testkit.Equal(t, cli.ExitCode(err), cli.ExitMistake, c.text)
			continue
		}
		testkit.OK(t, err, c.text)
		x := testkit.Must(at.First(t.Context(), at.Rows))(t)
		if !slices.Equal(x, c.want) || at.Rows*len(at.Names) != len(x) || !slices.Equal(at.Names, c.m.XNames) {
			t.Errorf("%s: %v (%d rows), want %v", c.text, x, at.Rows, c.want)
		}
	}
}

// TestGridInBlocks checks that a grid of several blocks is complete, that it can be thinned, and that reading ends
// with the context.
func TestGridInBlocks(t *testing.T) {
	const rows, columns = 401, 203
	at := testkit.Must(ReadGrid("0:400:1,1,-1:201:1", modelOf(nil, "a", "b", "c")))(t)
	testkit.Equal(t, at.Sizes(), []int{rows, 1, columns}, "sizes")
	testkit.Equal(t, at.Varying(), 2, "inputs that vary")
	next, blocks := 0, 0
	testkit.OK(t, at.Each(t.Context(), func(n int, x []float64) error {
		testkit.Equal(t, n, next, "first row of a block")
		for ; len(x) > 0; x = x[3:] {
			if want := []float64{float64(next / columns), 1, float64(next%columns - 1)}; !slices.Equal(x[:3], want) {
				t.Fatalf("row %d is %v, want %v", next, x[:3], want)
			}
			next++
		}
		blocks++
		return nil
	}))
	if next != rows*columns || blocks < 3 {
		t.Errorf("%d rows in %d blocks", next, blocks)
	}

	few := at.Thinned(5)
	testkit.Equal(t, few.Sizes(), []int{5, 1, 5}, "sizes of a thinned grid")
	x := testkit.Must(few.First(t.Context(), few.Rows))(t)
	testkit.Equal(t, x[:6], []float64{0, 1, -1, 0, 1, 49.5}, "the first two rows")
	testkit.Equal(t, x[len(x)-3:], []float64{400, 1, 201}, "the last row")

	ctx, cancel := context.WithCancel(t.Context())
	visits := 0
	err := at.Each(ctx, func(int, []float64) error { visits++; cancel(); return nil })
	if !errors.Is(err, context.Canceled) || visits != 1 {
		t.Errorf("%d blocks and %v once the context has ended", visits, err)
	}
}
