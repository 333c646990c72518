package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/testkit/matrix"
)

// fieldsTask is `bench fields`.
type fieldsTask struct {
	out, method string
	show        bool
	commit      string
	files       []string
}

func (o *fieldsTask) flags(set *flag.FlagSet) {
	set.StringVar(&o.out, "out", "", "append lines of JSON to this file")
	set.StringVar(&o.method, "method", "", "only this method: default or drawn")
	set.BoolVar(&o.show, "show", false, "print the table of the lines in the given files instead of fitting")
	commitFlag(set, &o.commit)
}

func (o *fieldsTask) check(files []string) error {
	o.files = files
	known := o.method == ""
	for _, m := range fieldMethods {
		known = known || m.name == o.method
	}
	return cmp.Or(
		demand(len(files) > 0, "no files given; files of peers/fields.py are required, or with -show files of lines"),
		demand(known, "-method %q: must be default or drawn", o.method),
	)
}

// A fieldLine has the scores of predictions of a field at some of the rows that were not fitted.
type fieldLine struct {
	Machine  machine.Machine `json:"machine"`
	Time     string          `json:"time"`
	Bench    string          `json:"bench"`
	Field    string          `json:"field"`
	Part     string          `json:"part"` // "random" or "hole"
	Method   string          `json:"method"`
	N        int             `json:"N"`    // number of fitted rows
	RMSE     float64         `json:"rmse"` // in standard deviations of the fitted y
	NLPD     float64         `json:"nlpd"`
	Coverage float64         `json:"coverage95"`
	Seconds  float64         `json:"seconds"` // of the fit
	Status   string          `json:"status"`
}

// fieldMethods are the fits that are compared, by their options: the default, and drawn frequencies with their default
// number of iterations.
var fieldMethods = []struct {
	name string
	o    vssgp.Options
}{{"default", vssgp.Options{}}, {"drawn", vssgp.Options{Iterations: 30}}}

// fieldParts are the parts of the rows of a field, by the number in its last column. The first part is fitted.
var fieldParts = []string{"fitted", "random", "hole"}

// A field has rows of two inputs and one output, by part.
type field struct {
	name  string
	parts [3]vssgp.Data
}

// readField reads a file with the columns of two inputs, the output, the output without noise, and the number of the
// part.
func readField(path string) (*field, error) {
	t, err := matrix.ReadFull(path)
	if err != nil {
		return nil, err
	}
	f := &field{name: strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))}
	const columns = 5
	if len(t.Names) != columns {
		return nil, fmt.Errorf("%s: %d columns, must be %d", path, len(t.Names), columns)
	}
	for row := range slices.Chunk(t.Data, columns) {
		part := row[columns-1]
		if part != 0 && part != 1 && part != 2 {
			return nil, fmt.Errorf("%s: part %g, must be 0, 1 or 2", path, part)
		}
		d := &f.parts[int(part)]
		d.Q, d.D, d.N = 2, 1, d.N+1
		d.X, d.Y = append(d.X, row[:2]...), append(d.Y, row[2])
	}
	return f, nil
}

func (o *fieldsTask) run() error {
	var lines []fieldLine
	if o.show {
		for _, file := range o.files {
			some, err := jsonl.Read[fieldLine](file, nil)
			if err != nil {
				return err
			}
			lines = append(lines, some...)
		}
		return showFields(os.Stdout, lines)
	}
	ctx, stop := interruptible()
	defer stop()
	here := machine.This(o.commit)
	for _, file := range o.files {
		f, err := readField(file)
		if err != nil {
			return err
		}
		for _, m := range fieldMethods {
			if o.method != "" && o.method != m.name {
				continue
			}
			some, err := f.fit(ctx, m.o)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", f.name, m.name, err)
			}
			for _, l := range some {
				l.Machine, l.Time, l.Bench, l.Method, l.Status = here, machine.Now(), "fields", m.name, machine.OK
				if err := jsonl.Append(o.out, l); err != nil {
					return err
				}
				lines = append(lines, l)
			}
		}
	}
	return showFields(os.Stdout, lines)
}

// fit fits the first part of a field and scores the predictions of the others.
func (f *field) fit(ctx context.Context, o vssgp.Options) (lines []fieldLine, err error) {
	began := time.Now()
	m, _, err := vssgp.Fit(ctx, &f.parts[0], o)
	if err != nil {
		return nil, err
	}
	seconds := time.Since(began).Seconds()
	_, unit := bayes.MeanSD(f.parts[0].Y, 0, 1)
	for i, part := range fieldParts[1:] {
		d := &f.parts[i+1]
		if d.N == 0 {
			continue
		}
		p, err := m.Predict(ctx, d.X)
		if err != nil {
			return nil, err
		}
		s := scoreTable(p.Mean, p.SD(true), d.Y, -1, 1)
		lines = append(lines, fieldLine{Field: f.name, Part: part, N: f.parts[0].N, RMSE: s.RMSE / unit, NLPD: s.NLPD,
			Coverage: s.Coverage, Seconds: seconds})
	}
	return lines, nil
}

// showFields prints the means over fields by part and method, and the mean differences to the first method on the same
// fields with their standard errors. The RMSE is a geometric mean.
func showFields(w io.Writer, lines []fieldLine) error {
	type key struct{ part, method string }
	ok := slices.DeleteFunc(slices.Clone(lines), func(l fieldLine) bool { return l.Status != machine.OK })
	slices.SortStableFunc(ok, func(a, b fieldLine) int { return -cmp.Compare(a.Part, b.Part) })
	fmt.Fprintln(w, "| rows | method | fields | RMSE | difference | NLPD | difference | coverage | seconds |")
	fmt.Fprintln(w, strings.Repeat("|---", 9)+"|")
	first := map[string]fieldLine{} // by part and field
	for _, group := range jsonl.Groups(ok, func(l fieldLine) key { return key{l.Part, l.Method} }) {
		var ratio, nats, rmse, nlpd, coverage, seconds []float64
		for _, l := range group {
			at := l.Part + " " + l.Field
			if _, found := first[at]; !found {
				first[at] = l
			}
			ratio, nats = append(ratio, math.Log(l.RMSE/first[at].RMSE)), append(nats, l.NLPD-first[at].NLPD)
			rmse, nlpd = append(rmse, math.Log(l.RMSE)), append(nlpd, l.NLPD)
			coverage, seconds = append(coverage, 100*l.Coverage), append(seconds, l.Seconds)
		}
		mean := func(a []float64) (m, e float64) {
			m, sd := bayes.MeanSD(a, 0, 1)
			return m, sd / math.Sqrt(float64(len(a)))
		}
		r, re := mean(ratio)
		n, ne := mean(nats)
		each := []float64{0, 0, 0, 0}
		for i, a := range [][]float64{rmse, nlpd, coverage, seconds} {
			each[i], _ = mean(a)
		}
		_, err := fmt.Fprintf(w, "| %s | %s | %d | %.3f | %+.1f ± %.1f %% | %.3f | %+.3f ± %.3f | %.1f %% | %.1f |\n",
			group[0].Part, group[0].Method, len(group), math.Exp(each[0]), 100*r, 100*re, each[1], n, ne, each[2], each[3])
		if err != nil {
			return err
		}
	}
	return nil
}
