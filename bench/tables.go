package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/internal/bayes"
)

// tablesTask is `bench tables`.
type tablesTask struct {
	outputs, splits int
	holes           int // squares of the first two inputs that are held out
	features, drawn string
	counts          []int
	out, dump       string
	show            bool
	commit          string
	files           []string
	drawnK          []int
	machine         machine.Machine
}

func (o *tablesTask) flags(set *flag.FlagSet) {
	set.IntVar(&o.outputs, "outputs", 1, "number of outputs, which are the last columns of each file")
	set.IntVar(&o.splits, "splits", 10, "number of random splits of the rows into nine tenths for training and a tenth for testing")
	set.IntVar(&o.holes, "holes", 0,
		"for maps: also hold out this many squares of the first two inputs, of 4 to 8 % of their ranges")
	set.StringVar(&o.features, "features", "", "K of VSSGP to try in addition to the default, such as 25,50,100,200,400")
	set.StringVar(&o.drawn, "drawn", "",
		"K with drawn instead of learned frequencies (ssgp with frequency.mean fixed), "+
			"0 for the default of three inputs or more")
	set.StringVar(&o.out, "out", "", "append lines of JSON to this file")
	set.StringVar(&o.dump, "dump", "", "write the splits to this folder, for peers/tables.py, instead of fitting")
	set.BoolVar(&o.show, "show", false, "print the table of the lines in the given file instead of fitting")
	commitFlag(set, &o.commit)
}

// maxTableFeatures is the maximum of -features and -drawn. drawnIterations is the number of iterations of the default
// for three inputs or more. If it is given, there is no search for components of two inputs.
const maxTableFeatures, drawnIterations = 10_000, 30

func (o *tablesTask) check(files []string) (err error) {
	o.files = files
	if err := cmp.Or(
		demand(len(files) > 0,
			"no files given; CSV files or folders of splits are required, or with -show a file of lines"),
		demand(o.splits >= 1 && o.outputs >= 1, "-splits %d -outputs %d: must be positive", o.splits, o.outputs),
		demand(o.holes >= 0 && o.holes <= maxHoles, "-holes %d: must be from 0 to %d", o.holes, maxHoles),
	); err != nil {
		return err
	}
	if o.features != "" {
		o.counts, err = counts("features", o.features, 1, maxTableFeatures)
	}
	if o.drawn != "" && err == nil {
		o.drawnK, err = counts("drawn", o.drawn, 0, maxTableFeatures)
	}
	return err
}

// A tableLine is the result of a fit to one split, by this program or a peer.
type tableLine struct {
	Machine    machine.Machine `json:"machine"`
	Time       string          `json:"time"`
	Bench      string          `json:"bench"`
	Table      string          `json:"table"`
	Split      int             `json:"split"`
	N          int             `json:"N"`
	Q          int             `json:"Q"`
	Method     string          `json:"method"`
	K          int             `json:"K,omitempty"` // features per component
	RMSE       float64         `json:"rmse"`
	NLPD       float64         `json:"nlpd"`
	Coverage   float64         `json:"coverage95"`
	Seconds    float64         `json:"seconds"`
	Outputs    []tableScore    `json:"outputs,omitempty"`   // the scores of each output, if there are several
	Places     tablePlaces     `json:"places,omitempty"`    // with -holes, the scores by place
	MeanOnly   bool            `json:"mean_only,omitempty"` // a peer has no standard deviations; only the RMSE is scored
	Found      string          `json:"found,omitempty"`     // what a peer found, such as its kernel
	Train      float64         `json:"train_rmse,omitempty"`
	Bound      float64         `json:"bound,omitempty"`
	Iterations int             `json:"iterations,omitempty"`
	Status     string          `json:"status"`
}

// A tableScore contains the scores of one output.
type tableScore struct {
	RMSE     float64 `json:"rmse"`
	NLPD     float64 `json:"nlpd"`
	Coverage float64 `json:"coverage95"`
}

// tablePlaces maps the names of places to the scores of their test rows: holes, and points outside of the holes.
type tablePlaces map[string]tableScore

// scoreTable returns the scores of output d of n, or of all outputs if d is negative.
func scoreTable(mean, sd, y []float64, d, n int) tableScore {
	if d >= 0 {
		mean, sd, y = outputOf(mean, d, n), outputOf(sd, d, n), outputOf(y, d, n)
	}
	return tableScore{RMSE: bayes.RMSE(mean, y), NLPD: bayes.NLPD(mean, sd, y), Coverage: bayes.Coverage(mean, sd, y)}
}

// outputOf returns column d of a matrix with n columns.
func outputOf(a []float64, d, n int) (out []float64) {
	for i := d; i < len(a); i += n {
		out = append(out, a[i])
	}
	return out
}

func (o *tablesTask) run() error {
	if o.show {
		lines, err := jsonl.Read[tableLine](o.files[0], nil)
		if err != nil {
			return err
		}
		return showTables(os.Stdout, lines)
	}
	ctx, stop := interruptible()
	defer stop()
	o.machine = machine.This(o.commit)
	if o.dump != "" {
		if err := os.MkdirAll(o.dump, 0o777); err != nil {
			return err
		}
		return o.eachSplit(func(s *tableSplit) error { return s.write(o.dump) })
	}
	var lines []tableLine
	err := o.eachSplit(func(s *tableSplit) error {
		some, err := o.fit(ctx, s)
		lines = append(lines, some...)
		return err
	})
	if err != nil {
		return err
	}
	return showTables(os.Stdout, lines)
}

// A tableMethod is a fit by its options.
type tableMethod struct {
	name string
	vssgp.Options
}

// methods returns the fits of each split.
func (o *tablesTask) methods() []tableMethod {
	all := []tableMethod{{"default", vssgp.Options{}}}
	for _, k := range o.counts {
		all = append(all, tableMethod{fmt.Sprintf("vssgp K=%d", k), vssgp.Options{Features: k}})
	}
	for _, k := range o.drawnK {
		if k == 0 {
			all = append(all, tableMethod{"drawn", vssgp.Options{Iterations: drawnIterations}})
			continue
		}
		drawn := vssgp.Options{Method: vssgp.SSGP, Fix: []string{"frequency.mean"}, Features: k}
		all = append(all, tableMethod{fmt.Sprintf("drawn K=%d", k), drawn})
	}
	return all
}

// fit fits the methods to a split.
func (o *tablesTask) fit(ctx context.Context, s *tableSplit) (lines []tableLine, err error) {
	for _, m := range o.methods() {
		line, err := fitTable(ctx, s.train, s.tests, m.Options)
		if err != nil {
			return nil, fmt.Errorf("%s, split %d, %s: %w", s.table, s.number, m.name, err)
		}
		line.Machine, line.Time, line.Bench, line.Status = o.machine, machine.Now(), "tables", machine.OK
		line.Table, line.Split, line.Method = s.table, s.number, m.name
		if err := jsonl.Append(o.out, line); err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// fitTable fits a model to train and scores it on the test rows of all places and, if there are several, of each.
func fitTable(ctx context.Context, train *vssgp.Data, tests []testPart, o vssgp.Options) (l tableLine, err error) {
	began := time.Now()
	m, r, err := vssgp.Fit(ctx, train, o)
	if err != nil {
		return l, err
	}
	l = tableLine{N: train.N, Q: train.Q, K: m.Params.K, Bound: r.Bound, Iterations: r.Iterations}
	var mean, sd, y []float64
	for _, part := range tests {
		at, err := m.Predict(ctx, part.X)
		if err != nil {
			return l, err
		}
		mean, sd, y = append(mean, at.Mean...), append(sd, at.SD(true)...), append(y, part.Y...)
		if len(tests) > 1 {
			if l.Places == nil {
				l.Places = tablePlaces{}
			}
			l.Places[part.place] = scoreTable(at.Mean, at.SD(true), part.Y, -1, part.D)
		}
	}
	l.Seconds = time.Since(began).Seconds()
	all := scoreTable(mean, sd, y, -1, train.D)
	l.RMSE, l.NLPD, l.Coverage = all.RMSE, all.NLPD, all.Coverage
	for d := range train.D {
		if train.D > 1 {
			l.Outputs = append(l.Outputs, scoreTable(mean, sd, y, d, train.D))
		}
	}
	known, err := m.Predict(ctx, train.X)
	if err != nil {
		return l, err
	}
	l.Train = bayes.RMSE(known.Mean, train.Y)
	return l, nil
}

// separately returns a line for each place instead of each line with places, and the other lines. A line is followed by
// a line for each of its outputs if there are several.
func separately(lines []tableLine) (all []tableLine) {
	part := func(l tableLine, name string, s tableScore) {
		l.Table = fmt.Sprintf("%s, %s", l.Table, name)
		l.RMSE, l.NLPD, l.Coverage = s.RMSE, s.NLPD, s.Coverage
		all = append(all, l)
	}
	for _, l := range lines {
		if len(l.Places) == 0 {
			all = append(all, l)
		}
		for _, place := range slices.Sorted(maps.Keys(l.Places)) {
			part(l, place, l.Places[place])
		}
		for d, s := range l.Outputs {
			part(l, fmt.Sprintf("output %d", d+1), s)
		}
	}
	return all
}

// showTables prints the means over splits, with one row for each table and method and, if there are several
// outputs, for each output. The first method of a table is compared with the others.
func showTables(w io.Writer, lines []tableLine) error {
	fmt.Fprintln(w, "| table | method | splits | RMSE | change | NLPD | change | coverage | seconds | K |")
	fmt.Fprintln(w, strings.Repeat("|---", 10)+"|")
	for _, table := range jsonl.Groups(separately(lines), func(l tableLine) string { return l.Table }) {
		first := map[int]tableLine{} // by split
		for _, l := range table {
			if l.Method == table[0].Method && l.Status == machine.OK {
				first[l.Split] = l
			}
		}
		for _, group := range jsonl.Groups(table, func(l tableLine) string { return l.Method }) {
			if _, err := fmt.Fprintln(w, tableRow(group, first)); err != nil {
				return err
			}
		}
	}
	return nil
}

// tableRow returns the row of the lines of a method. Its scores are compared with the lines in first.
func tableRow(group []tableLine, first map[int]tableLine) string {
	var mean tableLine
	var ks []int
	ok := slices.DeleteFunc(slices.Clone(group), func(l tableLine) bool { return l.Status != machine.OK })
	if len(ok) == 0 {
		return fmt.Sprintf("| %s | %s | %s |", group[0].Table, group[0].Method, group[0].Status)
	}
	for _, l := range ok {
		n := float64(len(ok))
		mean.RMSE += l.RMSE / n
		mean.NLPD += l.NLPD / n
		mean.Coverage += l.Coverage / n
		mean.Seconds += l.Seconds / n
		ks = append(ks, l.K)
	}
	features := fmt.Sprint(slices.Min(ks))
	if most := slices.Max(ks); most > slices.Min(ks) {
		features += fmt.Sprintf(" to %d", most)
	}
	rmse, nlpd := changes(ok, first)
	spread := fmt.Sprintf("%.3f | %s | %.3f", mean.NLPD, nlpd, mean.Coverage)
	if ok[0].MeanOnly {
		spread = "– | – | –"
	}
	return fmt.Sprintf("| %s | %s | %d | %.4g | %s | %s | %.2f | %s |", group[0].Table, group[0].Method, len(ok),
		mean.RMSE, rmse, spread, mean.Seconds, features)
}

// changes returns how much the scores differ from another method's on the same splits: the ratio of the RMSE as a
// geometric mean, and the mean difference of the NLPD, with their standard errors. They are empty for the same lines.
func changes(lines []tableLine, from map[int]tableLine) (rmse, nlpd string) {
	var ratio, nats []float64
	for _, l := range lines {
		if f, both := from[l.Split]; both && f.Method != l.Method {
			ratio, nats = append(ratio, math.Log(l.RMSE/f.RMSE)), append(nats, l.NLPD-f.NLPD)
		}
	}
	if len(ratio) == 0 {
		return "", ""
	}
	r, rsd := stat.MeanStdDev(ratio, nil)
	n, nsd := stat.MeanStdDev(nats, nil)
	rmse, nlpd = fmt.Sprintf("%+.1f", 100*math.Expm1(r)), fmt.Sprintf("%+.3f", n)
	if count := float64(len(ratio)); count > 1 {
		rmse = fmt.Sprintf("%s ± %.1f", rmse, 100*math.Exp(r)*stat.StdErr(rsd, count))
		nlpd = fmt.Sprintf("%s ± %.3f", nlpd, stat.StdErr(nsd, count))
	}
	return rmse + " %", nlpd
}
