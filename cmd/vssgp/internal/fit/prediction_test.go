package fit

import (
	"bytes"
	"context"
	"iter"
	"math"
	"slices"
	"testing"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/datafile"
	seriescmd "github.com/vssgp/vssgp/cmd/vssgp/internal/series"
	"github.com/vssgp/vssgp/internal/table"
	"github.com/vssgp/vssgp/internal/testkit"
)

// TestDrawsInTables: where so many draws are asked for that their rows are made a
// few at a time, they are those of all rows at once.
func TestDrawsInTables(t *testing.T) {
	const n, draws = 1200, 2000
	data := &vssgp.Data{N: n, Q: 1, D: 1, X: make([]float64, n), Y: make([]float64, n)}
	for i := range data.X {
		data.X[i], data.Y[i] = float64(i), float64(i%7)
	}
	m, _, err := vssgp.Fit(t.Context(), data, vssgp.Options{Iterations: vssgp.NoIterations,
		Windows: vssgp.WindowOptions{Length: vssgp.WindowNone}, Components: 1})
	testkit.OK(t, err)
	made := testkit.Must(m.Draws(1))(t)
	r := &prediction{ctx: t.Context(), outputs: []string{"y"}, draws: made, at: &datafile.Places{Names: []string{"x"}, Rows: n}}
	want := map[int][]float64{}
	for _, i := range []int{0, 1, draws - 1} {
		if want[i], err = made.At(t.Context(), i, data.X); err != nil {
			t.Fatal(err)
		}
	}
	parts, next := 0, 0
	err = r.tabulate(data.X, nil, draws, func(rows []float64) error {
		for ; len(rows) > 0; rows = rows[1+draws:] {
			if rows[0] != data.X[next] {
				t.Errorf("input %v at row %d, want %v", rows[0], next, data.X[next])
			}
			for i, y := range want {
				if rows[1+i] != y[next] {
					t.Errorf("draw %d at row %d: %v, want %v", i, next, rows[1+i], y[next])
				}
			}
			next++
		}
		parts++
		return nil
	})
	if err != nil || parts < 2 || next != n {
		t.Errorf("%d parts up to row %d, %v", parts, next, err)
	}
	var b bytes.Buffer
	few := &prediction{ctx: t.Context(), outputs: []string{"y"}, draws: made,
		at: &datafile.Places{Names: []string{"x"}, Rows: n, Parts: datafile.SecondsOf(n, 1).Parts},
		o:  &predictFlags{PredictFlags: seriescmd.PredictFlags{Output: "o.csv", Draws: 2}, drawsFile: "d.csv"}}
	files, _, err := few.files()
	testkit.OK(t, err)
	testkit.OK(t, files[0].Write(&b))
	got := testkit.Must(table.ReadCSV(&b, "drawn"))(t)
	for i := range n {
		if row := []float64{data.X[i], want[0][i], want[1][i]}; !slices.Equal(got.Data[3*i:3*i+3], row) {
			t.Fatalf("row %d of the table is %v, want %v", i, got.Data[3*i:3*i+3], row)
		}
	}
}

func TestSampleRate(t *testing.T) {
	for name, c := range map[string]struct {
		x    []float64
		want int // 0: refused
	}{
		"1 Hz": {[]float64{5, 6, 7}, 1}, "16 kHz": {[]float64{0, 1. / 16000, 2. / 16000}, 16000},
		"44.1 kHz rounded": {[]float64{0, 0.000023, 0.000045}, 0},
		"falling":          {[]float64{2, 1}, 0}, "one": {[]float64{2}, 0}, "slow": {[]float64{0, 10}, 0}, "fast": {[]float64{0, 1e-12}, 0},
		"NaN": {[]float64{0, math.NaN(), 2}, 0},
	} {
		at := &datafile.Places{Names: []string{"t"}, Rows: len(c.x), Parts: func(context.Context) iter.Seq2[[]float64, error] {
			return func(yield func([]float64, error) bool) { // in parts of two rows
				for x := c.x; len(x) > 0 && yield(x[:min(2, len(x))], nil); x = x[min(2, len(x)):] {
				}
			}
		}}
		got, err := sampleRate(context.Background(), at)
		if got != c.want || (err != nil) != (c.want == 0) {
			t.Errorf("%s: %d, %v; want %d", name, got, err, c.want)
		}
	}
}
