package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
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
	Outputs    []tableScore    `json:"outputs,omitempty"` // the scores of each output, if there are several
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
	train, test, err := splitTable(t, o.outputs, uint64(s))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if o.dump != "" {
		return nil, dumpSplit(filepath.Join(o.dump, fmt.Sprintf("%s.%d", name, s)), t.Names, train, test)
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
		line, err := fitTable(ctx, train, test, m.o)
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

// tableSalt distinguishes this random stream from others.
const tableSalt = 7

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
	q := columns - outputs
	part := func(rows []int) *vssgp.Data {
		d := &vssgp.Data{N: len(rows), Q: q, D: outputs}
		for _, r := range rows {
			d.X = append(d.X, t.Data[r*columns:r*columns+q]...)
			d.Y = append(d.Y, t.Data[r*columns+q:(r+1)*columns]...)
		}
		return d
	}
	return part(order[n/10:]), part(order[:n/10]), nil
}

// dumpSplit writes the two tables of a split to PATH.train.csv and PATH.test.csv.
func dumpSplit(path string, names []string, train, test *vssgp.Data) error {
	for part, d := range map[string]*vssgp.Data{"train": train, "test": test} {
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

// fitTable fits a model to train and scores it on test.
func fitTable(ctx context.Context, train, test *vssgp.Data, o vssgp.Options) (l tableLine, err error) {
	began := time.Now()
	m, r, err := vssgp.Fit(ctx, train, o)
	if err != nil {
		return l, err
	}
	l = tableLine{N: train.N, Q: train.Q, K: m.Params.K, Bound: r.Bound, Iterations: r.Iterations, Seconds: time.Since(began).Seconds()}
	at, err := m.Predict(ctx, test.X)
	if err != nil {
		return l, err
	}
	sd := at.SD(true)
	all := scoreTable(at.Mean, sd, test.Y, -1, test.D)
	l.RMSE, l.NLPD, l.Coverage = all.RMSE, all.NLPD, all.Coverage
	for d := range test.D {
		if test.D > 1 {
			l.Outputs = append(l.Outputs, scoreTable(at.Mean, sd, test.Y, d, test.D))
		}
	}
	known, err := m.Predict(ctx, train.X)
	if err != nil {
		return l, err
	}
	l.Train = bayes.RMSE(known.Mean, train.Y)
	return l, nil
}

// byOutput returns the lines, each followed by a line for each of its outputs if there are several.
func byOutput(lines []tableLine) (all []tableLine) {
	for _, l := range lines {
		all = append(all, l)
		for d, s := range l.Outputs {
			one := l
			one.Table = fmt.Sprintf("%s, output %d", l.Table, d+1)
			one.RMSE, one.NLPD, one.Coverage = s.RMSE, s.NLPD, s.Coverage
			all = append(all, one)
		}
	}
	return all
}

// showTables prints the means over splits, with one row for each table and method and, if there are several
// outputs, for each output.
func showTables(w io.Writer, lines []tableLine) error {
	type key struct{ table, method string }
	of := func(l tableLine) key { return key{l.Table, l.Method} }
	fmt.Fprintln(w, "| table | method | splits | RMSE | NLPD | coverage | seconds | K |\n|---|---|---|---|---|---|---|---|")
	for _, group := range jsonl.Groups(byOutput(lines), of) {
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
		_, err := fmt.Fprintf(w, "| %s | %s | %d | %.4g | %.3f | %.3f | %.2f | %s |\n", group[0].Table, group[0].Method, len(ok),
			mean.RMSE, mean.NLPD, mean.Coverage, mean.Seconds, strings.Trim(fmt.Sprint(slices.Compact(ks)), "[]"))
		if err != nil {
			return err
		}
	}
	return nil
}
