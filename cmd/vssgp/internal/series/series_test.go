package series

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/datafile"
	"github.com/vssgp/vssgp/internal/testkit"
)

// TestSeries: which columns are a series, by default and by choice.
func TestSeries(t *testing.T) {
	dir, nan := t.TempDir(), math.NaN()
	for name, c := range map[string]struct {
		text, x, y string
		holes      bool
		wantX      string // name, unit
		at         []float64
		wantY      string
		first      []float64 // of the second row
	}{
		"dates":         {"n,date,a,b\n1,2024-01-01,5,6\n2,2024-01-03,,7\n", "", "", false, "date days", []float64{0, 2}, "b", []float64{7}},
		"holes":         {"n,date,a,b\n1,2024-01-01,5,6\n2,2024-01-03,,7\n", "", "", true, "date days", []float64{0, 2}, "a", []float64{nan}},
		"numbers":       {"t,a,b\n1,5,6\n2,6,7\n", "", "", true, "t ", []float64{1, 2}, "b", []float64{7}},
		"one column":    {"y\n5\n6\n", "", "", false, "row rows", []float64{1, 2}, "y", []float64{6}},
		"an output":     {"t,a,b\n1,5,6\n2,6,7\n", "", "a", false, "t ", []float64{1, 2}, "a", []float64{6}},
		"an input":      {"t,a,b\n1,5,6\n2,6,7\n", "b", "", false, "b ", []float64{6, 7}, "a", []float64{6}},
		"both":          {"t,a,b\n1,5,6\n2,6,\n", "a", "t,b", false, "a ", []float64{5, 6}, "t b", []float64{2, nan}},
		"the only left": {"w,y\nu,5\nv,6\n", "", "", false, "row rows", []float64{1, 2}, "y", []float64{6}},
		"text alone":    {"w\nu\nv\n", "", "", false, "", nil, "", nil},
		"two inputs":    {"t,a,b\n1,5,6\n2,6,7\n", "t,a", "b", false, "", nil, "", nil},
		"the same":      {"t,a,b\n1,5,6\n2,6,7\n", "t", "t", false, "", nil, "", nil},
	} {
		var notes bytes.Buffer
		env := &cli.Env{Stderr: &notes}
		list := func(s string) []string { return strings.FieldsFunc(s, func(r rune) bool { return r == ',' }) }
		chosen := datafile.Columns{}
		if c.x != "" {
			chosen.X = list(c.x)
		}
		if c.y != "" {
			chosen.Y = list(c.y)
		}
		s, err := readSeries(t.Context(), env, testkit.Put(t, dir, "t.csv", c.text), chosen, c.holes, nil)
		if c.at == nil {
			if err == nil || cli.ExitCode(err) != cli.ExitMistake {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		equal := len(s.Y) == len(c.first)
		for d, want := range c.first {
			equal = equal && (s.Y[d][1] == want || math.IsNaN(s.Y[d][1]) && math.IsNaN(want))
		}
		if s.xName+" "+s.axis.Unit != c.wantX || !slices.Equal(s.X, c.at) || strings.Join(s.yNames, " ") != c.wantY || !equal ||
			s.grid.Last != c.at[1] {
			t.Errorf("%s: %s %s %v, %v %v, %+v", name, s.xName, s.axis.Unit, s.X, s.yNames, s.Y, s.grid)
		}
	}
}
