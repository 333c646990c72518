package datafile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/table"
	"github.com/vssgp/vssgp/internal/testkit"
)

// TestColumns checks the columns selected by flags or by the names of a model.
func TestColumns(t *testing.T) {
	tab := testkit.Must(table.Read(t.Context(), table.In(strings.NewReader("a,b,c\n1,2,3\n"), 12, "t.csv")))(t)
	named := func(s *table.Table, cols []int) string { return strings.Join(NamesOf(s, cols), ",") }
	list := func(s string) []string {
		if s == "" {
			return nil
		}
		return strings.Split(s, ",")
	}
	for _, c := range []struct{ x, y, wantX, wantY string }{
		{"", "", "a,b", "c"}, {"a", "", "a", "c"}, {"", "b", "a,c", "b"}, {"b", "a,c", "b", "a,c"}, {"0,1", "2", "a,b", "c"},
		{"c", "", "", ""}, {"a", "a", "", ""}, {"d", "", "", ""}, {"3", "", "", ""}, {"-1", "", "", ""}, {"", "a,b,c", "", ""},
	} {
		d, err := Columns{X: list(c.x), Y: list(c.y)}.Split(tab, "t.csv")
		if err != nil {
			if c.wantX != "" || cli.ExitCode(err) != cli.ExitMistake {
				t.Errorf("--x %q --y %q: %v", c.x, c.y, err)
			}
			continue
		}
		if x, y := named(tab, d.X), named(tab, d.Y); x != c.wantX || y != c.wantY {
			t.Errorf("--x %q --y %q takes %s and %s, want %s and %s", c.x, c.y, x, y, c.wantX, c.wantY)
		}
	}
	for _, c := range []struct{ x, y, modelX, modelY, wantX, wantY string }{
		{"", "", "c", "a", "c", "a"}, {"", "", "q", "r", "", ""}, {"", "", "q,p", "r", "a,b", "c"}, {"", "b", "c", "a", "c", "b"},
		{"", "b", "p,q", "r", "a,c", "b"}, {"b", "", "p", "c", "b", "c"}, {"b", "", "p", "q,r", "b", "a,c"}, {"a,b", "", "p", "q", "", ""},
	} {
		m := &vssgp.Model{Params: vssgp.NewParams(1, 1, len(list(c.modelX)), len(list(c.modelY))), XNames: list(c.modelX), YNames: list(c.modelY)}
		d, err := Columns{X: list(c.x), Y: list(c.y)}.Match(tab, "t.csv", m, m.Params.D)
		if err != nil {
			if c.wantX != "" || cli.ExitCode(err) != cli.ExitMistake {
				t.Errorf("model %s -> %s, --x %q --y %q: %v", c.modelX, c.modelY, c.x, c.y, err)
			}
			continue
		}
		if x, y := named(tab, d.X), named(tab, d.Y); x != c.wantX || y != c.wantY {
			t.Errorf("model %s -> %s, --x %q --y %q takes %s and %s, want %s and %s", c.modelX, c.modelY, c.x, c.y, x, y, c.wantX, c.wantY)
		}
	}
}

// TestLostOutput checks that a series is refused if its input would be forecast because the output has numbers in a
// form that is not read.
func TestLostOutput(t *testing.T) {
	index, uneven, values := []string{"1", "2", "3", "4"}, []string{"1", "2", "4", "5"}, []string{"3", "1", "2", "4"}
	days := []string{"2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"}
	cells := func(format string) (all []string) {
		for i := range 4 {
			all = append(all, fmt.Sprintf(format, i))
		}
		return all
	}
	arabic := []string{"١٠", "١١", "١٢", "١٣"}
	for name, c := range map[string]struct {
		columns [][]string
		y, want string // "" for no error
	}{
		"SAP":                {[][]string{index, cells("100%d.00-")}, "", "before the number"},
		"units":              {[][]string{index, cells("100%d.0 kg")}, "", `"1000.0 kg" is not a number`},
		"underscores":        {[][]string{index, cells("1_00%d.00")}, "", "underscores are not supported"},
		"hexadecimal":        {[][]string{index, cells("0x3e%d")}, "", "hexadecimal numbers"},
		"Arabic":             {[][]string{index, arabic}, "", "must be ASCII"},
		"Arabic separators":  {[][]string{index, cells("1٬00%d٫00")}, "", "must be ASCII"},
		"full width":         {[][]string{index, {"１００", "１０１", "１０２", "１０３"}}, "", "must be ASCII"},
		"one word":           {[][]string{index, {"9 kg", "broken", "7 kg", "8 kg"}}, "", "(a unit?)"},
		"an uneven input":    {[][]string{uneven, cells("%d kg")}, "", "(a unit?)"},
		"the output first":   {[][]string{cells("%d kg"), index}, "", "(a unit?)"},
		"an index and dates": {[][]string{days, index, cells("%d kg")}, "", "(a unit?)"},
		"--y":                {[][]string{index, cells("%d kg")}, "0", ""},
		"values":             {[][]string{values, cells("%d kg")}, "", ""},
		"addresses":          {[][]string{cells("1%d Main St"), values}, "", ""},
		"addresses, growing": {[][]string{cells("1%d Main St"), uneven}, "", ""},
		"addresses last":     {[][]string{values, cells("1%d Main St")}, "", ""},
		"names":              {[][]string{cells("shop %d"), index}, "", ""},
		"names last":         {[][]string{index, cells("shop %d")}, "", ""},
		"unreadable dates":   {[][]string{cells("01:0%d h"), index}, "", ""},
		"two more columns":   {[][]string{index, values, cells("%d kg")}, "", ""},
		"dates and a minus": {[][]string{days, cells("%d1.29-")}, "", `b" (1 from 0): "01.29-" is not a number; must be a ` +
			"decimal number such as -0.5 or 1e-3 (the minus must be before the number)"},
		"units alone":      {[][]string{cells("%d CR")}, "", "(a unit?)"},
		"longer units":     {[][]string{days, cells("150%d kg")}, "", `"1500 kg" is not a number`},
		"the last column":  {[][]string{days, cells("%d CR"), cells("%d kg"), cells("shop %d")}, "", `"0 kg" is not`},
		"short years":      {[][]string{{"01.01.24", "02.01.24", "03.01.24", "04.01.24"}, index}, "", ""},
		"only short years": {[][]string{{"01.01.24", "02.01.24", "03.01.24", "04.01.24"}}, "", "there is no column"},
		"more words":       {[][]string{{"9 kg", "?", "a", "b"}, index}, "", ""},
	} {
		text := ""
		for i := range c.columns {
			text += []string{"", ";"}[min(i, 1)] + string(rune('a'+i))
		}
		for row := range 4 {
			for i, column := range c.columns {
				text += []string{"\n", ";"}[min(i, 1)] + column[row]
			}
		}
		tab := testkit.Must(table.Read(t.Context(), table.In(strings.NewReader(text), int64(len(text)), "t.csv")))(t)
		columns := Columns{}
		if c.y != "" {
			columns.Y = []string{c.y}
		}
		_, err := columns.OfSeries(tab, "t.csv", false)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
		if err != nil {
			testkit.Equal(t, cli.ExitCode(err), cli.ExitMistake, name)
		}
	}
	tab := testkit.Must(table.Read(t.Context(), table.In(strings.NewReader("a;b\nu;5 kg\n"), 11, "t.csv")))(t)
	if _, err := (Columns{}).Split(tab, "t.csv"); err == nil || !strings.Contains(err.Error(), `"5 kg" is not a number`) {
		t.Errorf("an output with units: %v", err)
	}
}

// TestPlaces checks that a recording's times and a table's columns, in the model's order,
// are complete after reading in blocks, and that reading ends with the context.
func TestPlaces(t *testing.T) {
	const rows = 100_000 // of three columns, larger than a block
	var text strings.Builder
	text.WriteString("a,b,c\n")
	var pairs, whole, seconds []float64
	for i := range rows {
		fmt.Fprintf(&text, "%d,%d,%d\n", i, 2*i, 3*i)
		pairs = append(pairs, float64(3*i), float64(i))
		whole = append(whole, float64(i), float64(2*i), float64(3*i))
	}
	for i := range 70_000 {
		seconds = append(seconds, float64(i)/1000)
	}
	path := testkit.Put(t, t.TempDir(), "t.csv", text.String())
	s := testkit.Must(table.At(path))(t)
	two := testkit.Must(tablePlaces(t.Context(), s, path, Columns{}, 2, []string{"c", "a"}, nil))(t)
	all := testkit.Must(tablePlaces(t.Context(), s, path, Columns{}, 3, []string{"a", "b", "c"}, nil))(t)
	for name, c := range map[string]struct {
		at   *Places
		want []float64
	}{"two columns": {two, pairs}, "all columns": {all, whole}, "a recording": {SecondsOf(70_000, 1000), seconds}} {
		got, parts := []float64{}, 0
		err := c.at.Each(t.Context(), func(n int, x []float64) error {
			if n*len(c.at.Names) != len(got) {
				t.Errorf("%s: a part begins at row %d, after %d numbers", name, n, len(got))
			}
			got, parts = append(got, x...), parts+1
			return nil
		})
		if err != nil || parts < 2 || !slices.Equal(got, c.want) || c.at.Rows*len(c.at.Names) != len(got) {
			t.Errorf("%s: %d numbers of %d rows in %d parts, %v; want %d", name, len(got), c.at.Rows, parts, err, len(c.want))
		}
		if first, err := c.at.First(t.Context(), 3); err != nil || !slices.Equal(first, c.want[:3*len(c.at.Names)]) {
			t.Errorf("%s: the first three rows are %v, %v", name, first, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		visits := 0
		err = c.at.Each(ctx, func(int, []float64) error { visits++; cancel(); return nil })
		if !errors.Is(err, context.Canceled) || visits != 1 {
			t.Errorf("%s: %d parts and %v once the context has ended", name, visits, err)
		}
	}
}
