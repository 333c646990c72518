package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
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
	set.StringVar(&o.drawn, "drawn", "", "K with drawn instead of learned frequencies (ssgp with frequency.mean fixed)")
	set.StringVar(&o.out, "out", "", "append lines of JSON to this file")
	set.StringVar(&o.dump, "dump", "", "write the splits to this folder, for peers/tables.py, instead of fitting")
	set.BoolVar(&o.show, "show", false, "print the table of the lines in the given file instead of fitting")
	commitFlag(set, &o.commit)
}

// maxTableFeatures is the maximum of -features and -drawn.
const maxTableFeatures = 10_000

func (o *tablesTask) check(files []string) (err error) {
	o.files = files
	if err := cmp.Or(
		demand(len(files) > 0, "no files given; CSV files are required, or with -show a file of lines"),
		demand(o.splits >= 1 && o.outputs >= 1, "-splits %d -outputs %d: must be positive", o.splits, o.outputs),
		demand(o.holes >= 0 && o.holes <= maxHoles, "-holes %d: must be from 0 to %d", o.holes, maxHoles),
	); err != nil {
		return err
	}
	if o.features != "" {
		o.counts, err = counts("features", o.features, maxTableFeatures)
	}
	if o.drawn != "" && err == nil {
		o.drawnK, err = counts("drawn", o.drawn, maxTableFeatures)
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

// The places of test rows, in the order of their scores.
const pointsPlace, holesPlace = "points", "holes"

// A testPart consists of the test rows of a place.
type testPart struct {
	place string
	*vssgp.Data
}

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
	}
	var lines []tableLine
	for _, file := range o.files {
		t, err := matrix.ReadFull(file)
		if err != nil {
			return err
		}
		for s := range o.splits {
			some, err := o.split(ctx, strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)), t, s)
			if err != nil {
				return err
			}
			lines = append(lines, some...)
		}
	}
	if o.dump != "" {
		return nil
	}
	return showTables(os.Stdout, lines)
}

// split fits or writes one split of a table.
func (o *tablesTask) split(ctx context.Context, name string, t *matrix.Matrix, s int) (lines []tableLine, err error) {
	train, tests, err := o.parts(t, uint64(s))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if o.dump != "" {
		return nil, dumpSplit(filepath.Join(o.dump, fmt.Sprintf("%s.%d", name, s)), t.Names, train, tests)
	}
	type method struct {
		name string
		o    vssgp.Options
	}
	methods := []method{{"default", vssgp.Options{}}}
	for _, k := range o.counts {
		methods = append(methods, method{fmt.Sprintf("vssgp K=%d", k), vssgp.Options{Features: k}})
	}
	for _, k := range o.drawnK {
		o := vssgp.Options{Method: vssgp.SSGP, Fix: []string{"frequency.mean"}, Features: k}
		methods = append(methods, method{fmt.Sprintf("drawn K=%d", k), o})
	}
	for _, m := range methods {
		line, err := fitTable(ctx, train, tests, m.o)
		if err != nil {
			return nil, fmt.Errorf("%s, split %d, %s: %w", name, s, m.name, err)
		}
		line.Machine, line.Time, line.Bench, line.Status = o.machine, machine.Now(), "tables", machine.OK
		line.Table, line.Split, line.Method = name, s, m.name
		if err := jsonl.Append(o.out, line); err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// parts splits the rows outside of the holes, and returns the rows in them as another part.
func (o *tablesTask) parts(t *matrix.Matrix, seed uint64) (train *vssgp.Data, tests []testPart, err error) {
	var inside *matrix.Matrix
	if o.holes > 0 {
		if len(t.Names)-o.outputs < 2 {
			return nil, nil, fmt.Errorf("-holes requires at least two inputs")
		}
		t, inside = punch(t, o.holes, seed)
	}
	train, test, err := splitTable(t, o.outputs, seed)
	if err != nil {
		return nil, nil, err
	}
	tests = []testPart{{pointsPlace, test}}
	if inside != nil {
		tests = append(tests, testPart{holesPlace, someRows(inside, o.outputs, nil)})
	}
	return train, tests, nil
}

// tableSalt and holeSalt distinguish these random streams from others.
const tableSalt, holeSalt = 7, 8

// Limits of the number of holes and of their length along each input, relative to its range.
const (
	maxHoles                  = 1000
	shortestHole, longestHole = 0.04, 0.08
)

// punch returns the rows outside and inside of random holes. A hole is a rectangle of the first two inputs that has the
// same length relative to the range of each.
func punch(t *matrix.Matrix, holes int, seed uint64) (outside, inside *matrix.Matrix) {
	rng := rand.New(rand.NewPCG(seed, holeSalt))
	var low, span [2]float64
	for q := range low {
		x := outputOf(t.Data, q, len(t.Names))
		low[q] = slices.Min(x)
		span[q] = slices.Max(x) - low[q]
	}
	corners := make([][2][2]float64, holes) // lower and upper
	for i := range corners {
		length := shortestHole + (longestHole-shortestHole)*rng.Float64()
		for q := range low {
			from := low[q] + (1-length)*span[q]*rng.Float64()
			corners[i][0][q], corners[i][1][q] = from, from+length*span[q]
		}
	}
	outside, inside = &matrix.Matrix{Names: t.Names, Cols: t.Cols}, &matrix.Matrix{Names: t.Names, Cols: t.Cols}
	for row := range slices.Chunk(t.Data, len(t.Names)) {
		part := outside
		if slices.ContainsFunc(corners, func(c [2][2]float64) bool {
			return row[0] >= c[0][0] && row[0] <= c[1][0] && row[1] >= c[0][1] && row[1] <= c[1][1]
		}) {
			part = inside
		}
		part.Data = append(part.Data, row...)
		part.Rows++
	}
	return outside, inside
}

// someRows returns rows of a table, or all rows if rows is nil.
func someRows(t *matrix.Matrix, outputs int, rows []int) *vssgp.Data {
	columns := len(t.Names)
	q := columns - outputs
	if rows == nil {
		for r := range len(t.Data) / columns {
			rows = append(rows, r)
		}
	}
	d := &vssgp.Data{N: len(rows), Q: q, D: outputs}
	for _, r := range rows {
		d.X = append(d.X, t.Data[r*columns:r*columns+q]...)
		d.Y = append(d.Y, t.Data[r*columns+q:(r+1)*columns]...)
	}
	return d
}

// splitTable draws a tenth of the rows for testing. The seed is the split's number.
func splitTable(t *matrix.Matrix, outputs int, seed uint64) (train, test *vssgp.Data, err error) {
	columns := len(t.Names)
	if outputs >= columns {
		return nil, nil, fmt.Errorf("%d outputs in %d columns; at least one column must be an input", outputs, columns)
	}
	n := len(t.Data) / columns
	if n < 10 {
		return nil, nil, fmt.Errorf("the table has %d rows, must have at least ten", n)
	}
	order := rand.New(rand.NewPCG(seed, tableSalt)).Perm(n)
	return someRows(t, outputs, order[n/10:]), someRows(t, outputs, order[:n/10]), nil
}

// dumpSplit writes the tables of a split to PATH.train.csv, PATH.test.csv and, if there are holes, PATH.holes.csv.
func dumpSplit(path string, names []string, train *vssgp.Data, tests []testPart) error {
	files := map[string]*vssgp.Data{"train": train, "test": tests[0].Data}
	for _, p := range tests[1:] {
		files[p.place] = p.Data
	}
	for part, d := range files {
		var all []float64
		for n := range d.N {
			all = append(all, d.X[n*d.Q:(n+1)*d.Q]...)
			all = append(all, d.Y[n*d.D:(n+1)*d.D]...)
		}
		if err := matrix.WriteCSV(path+"."+part+".csv", names, all); err != nil {
			return err
		}
	}
	return nil
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
// outputs, for each output.
func showTables(w io.Writer, lines []tableLine) error {
	var groups [][]tableLine
	for _, table := range jsonl.Groups(separately(lines), func(l tableLine) string { return l.Table }) {
		groups = append(groups, jsonl.Groups(table, func(l tableLine) string { return l.Method })...)
	}
	fmt.Fprintln(w, "| table | method | splits | RMSE | NLPD | coverage | seconds | K |\n|---|---|---|---|---|---|---|---|")
	for _, group := range groups {
		var mean tableLine
		var ks []int
		ok := slices.DeleteFunc(slices.Clone(group), func(l tableLine) bool { return l.Status != machine.OK })
		for _, l := range ok {
			n := float64(len(ok))
			mean.RMSE += l.RMSE / n
			mean.NLPD += l.NLPD / n
			mean.Coverage += l.Coverage / n
			mean.Seconds += l.Seconds / n
			ks = append(ks, l.K)
		}
		if len(ok) == 0 {
			fmt.Fprintf(w, "| %s | %s | %s |\n", group[0].Table, group[0].Method, group[0].Status)
			continue
		}
		slices.Sort(ks)
		spread := fmt.Sprintf("%.3f | %.3f", mean.NLPD, mean.Coverage)
		if ok[0].MeanOnly {
			spread = "– | –"
		}
		_, err := fmt.Fprintf(w, "| %s | %s | %d | %.4g | %s | %.2f | %s |\n", group[0].Table, group[0].Method, len(ok),
			mean.RMSE, spread, mean.Seconds, strings.Trim(fmt.Sprint(slices.Compact(ks)), "[]"))
		if err != nil {
			return err
		}
	}
	return nil
}
