package paper

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/internal/testkit"
)

// counted returns a set whose fits append their names to ran.
func counted(ran *[]string) set {
	return set{
		name: "counted", title: "Counted",
		fits: func(s *session) ([]fit, error) {
			var fits []fit
			for _, m := range []string{"a", "b", "fails"} {
				for seed := range uint64(2) {
					fits = append(fits, fit{Line{Key: Key{Set: "counted", Method: m, Seed: seed}, Source: Source{SHA256: s.Data}}, func(ctx context.Context, l *Line) error {
						*ran = append(*ran, fmt.Sprint(m, seed))
						if m == "fails" {
							return errors.New("no such luck")
						}
						l.Scores = map[Score]float64{TestRMSE: float64(seed)}
						return ctx.Err()
					}})
				}
			}
			return fits, nil
		},
		table: func(w io.Writer, lines []Line) { fmt.Fprintln(w, len(ok(lines)), "lines") },
		figures: func(lines []Line) []figure {
			p := panel("A", "x", "y")
			c := whole().Curve
			c.Observed = &Trace{[]float64{1, 1.5, 2}, []float64{3, 20, 3}}
			addCurve(p, c)
			return []figure{{name: "counted", panels: []*plot.Plot{p}, columns: 1, width: 5 * vg.Centimeter, height: 5 * vg.Centimeter}}
		},
	}
}

// TestGoesOn checks that a run performs the fits without a line, and that lines are in the
// order of the fits, including failed ones. Fits are repeated with Again or other data.
func TestGoesOn(t *testing.T) {
	var ran []string
	c := counted(&ran)
	s := &session{Options: Options{Out: t.TempDir(), Data: "one"}, log: io.Discard}
	run := func(want ...string) []Line {
		t.Helper()
		ran = nil
		lines := testkit.Must(s.set(context.Background(), c))(t)
		if !slices.Equal(ran, want) {
			t.Errorf("ran %v, want %v", ran, want)
		}
		return lines
	}
	s.Methods = []string{"b"}
	run("b0", "b1")
	s.Methods = nil
	lines := run("a0", "a1", "fails0", "fails1")
	var order []string
	for _, l := range lines {
		order = append(order, fmt.Sprint(l.Method, l.Seed))
	}
	if !slices.Equal(order, []string{"a0", "a1", "b0", "b1", "fails0", "fails1"}) {
		t.Errorf("lines in the order %v", order)
	}
	if lines[4].Status != "no such luck" {
		t.Errorf("status of a failed fit: %q", lines[4].Status)
	}
	if again := run(); !reflect.DeepEqual(again, lines) {
		t.Error("the lines changed without a run")
	}
	testkit.OK(t, jsonl.Write(s.path(c.name+".jsonl"), slices.Delete(slices.Clone(lines), 1, 2)))
	run("a1")
	s.Again, s.Methods = true, []string{"a"}
	run("a0", "a1")
	s.Again, s.Methods, s.Data = false, nil, "other"
	run("a0", "a1", "b0", "b1", "fails0", "fails1")
	s.Draw, s.Data = true, "one"
	var out bytes.Buffer
	testkit.OK(t, s.show(c, run(), &out))
	testkit.Contains(t, out.String(), "## Counted", "4 lines", "no result: fails, seed 1: no such luck")
	checkFigure(t, filepath.Join(s.Out, "paper-counted"))
}

// TestInterrupted checks that an interrupted run keeps the lines of completed fits only.
func TestInterrupted(t *testing.T) {
	var ran []string
	c := counted(&ran)
	ctx, cancel := context.WithCancel(context.Background())
	fits := c.fits
	c.fits = func(s *session) ([]fit, error) {
		list, err := fits(s)
		list[1].run = func(context.Context, *Line) error { cancel(); return nil }
		return list, err
	}
	s := &session{Options: Options{Out: t.TempDir()}, log: io.Discard}
	if _, err := s.set(ctx, c); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "run the same command again") {
		t.Errorf("error %v", err)
	}
	if lines, err := jsonl.Read[Line](s.path(c.name+".jsonl"), nil); err != nil || len(lines) != 1 {
		t.Errorf("%d lines left, %v", len(lines), err)
	}
}

// checkFigure checks that PATH.png is an image with the colors of a curve and that PATH.svg is valid XML.
func checkFigure(t *testing.T, path string) {
	t.Helper()
	f := testkit.Must(os.Open(path + ".png"))(t)
	defer f.Close()
	img := testkit.Must(png.Decode(f))(t)
	seen := map[any]bool{}
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			seen[img.At(x, y)] = true
		}
	}
	if !seen[red] || !seen[blue] || !seen[pale] {
		t.Errorf("%s.png: red %v, blue %v, pale %v", path, seen[red], seen[blue], seen[pale])
	}
	svg := testkit.Must(os.Open(path + ".svg"))(t)
	defer svg.Close()
	d := xml.NewDecoder(svg)
	elements := 0
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%s.svg: %v", path, err)
		}
		if _, is := token.(xml.StartElement); is {
			elements++
		}
	}
	if elements < 20 {
		t.Errorf("%s.svg has %d elements", path, elements)
	}
}

// TestMistakes checks the errors of invalid options.
func TestMistakes(t *testing.T) {
	t.Chdir("../../..")
	for _, c := range []struct {
		o    Options
		text string
	}{
		{Options{Sets: []string{"lunar"}}, "must be one of co2, solar"},
		{Options{Sets: []string{"solar"}, Quick: true, Methods: []string{"gp", "pg"}}, `"pg": must be one of fitc, vfe`},
		{Options{Seeds: -1}, "-1 seeds"},
		{Options{Draw: true, Again: true}, "drawing"},
		{Options{Draw: true, Methods: []string{"gp"}}, "drawing"},
		{Options{Sets: []string{"solar", "co2"}, Data: "nowhere"}, "nowhere"},
	} {
		c.o.Out = t.TempDir()
		var out bytes.Buffer
		err := Run(context.Background(), c.o, &out, io.Discard)
		if !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%+v: error %v, want %q", c.o, err, c.text)
		}
		if c.o.Data == "nowhere" && strings.Count(out.String(), "SKIPPED: ") != 2 {
			t.Errorf("output %q", out.String())
		}
	}
}
