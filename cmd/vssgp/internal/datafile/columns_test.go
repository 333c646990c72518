package datafile

import (
	"bytes"
	"strings"
	"testing"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/internal/table"
	"github.com/vssgp/vssgp/internal/testkit"
)

// streamOf is a table that has been surveyed.
func streamOf(t *testing.T, text string) *table.Stream {
	t.Helper()
	s, err := table.OpenStream(t.Context(), table.In(bytes.NewReader([]byte(text)), int64(len(text)), "t.csv"))
	if err == nil {
		err = s.Survey(t.Context(), nil)
	}
	testkit.OK(t, err)
	return s
}

// Which columns each choice takes.
func TestColumns(t *testing.T) {
	tab := streamOf(t, "a,b,c\n1,2,3\n")
	named := func(s *table.Stream, cols []int) string { return strings.Join(NamesOf(s, cols), ",") }
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
