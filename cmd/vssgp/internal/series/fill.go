package series

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/datafile"
	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/internal/table"
	"github.com/vssgp/vssgp/series"
)

// fillFlags are the flags of fill.
type fillFlags struct {
	model   Flags
	columns datafile.Columns
	output  string
	bands   string
	keep    string
	drawing drawing
	form    Form
}

// NewFill returns the command fill.
func NewFill(env *cli.Env) *cobra.Command {
	o := &fillFlags{}
	cmd := env.Command(&cobra.Command{
		Use:   "fill DATA -o OUT",
		Short: "Fill the empty cells of a table's series, with bands",
		Long: `Fills the missing values (empty, NA, NaN, null, -) of one or several columns of a table,
each from all that is known of the series. Without --x the input is the first column of
dates, else the first of several columns of numbers, else the rows' number. Without --y the
outputs are all columns of numbers in which values are missing. For a table of several
series, one below the other, --by names the column that tells them apart: each gets its own
model. One that fails is named, and keeps its empty cells.

OUT is the table as it was, byte for byte, with the missing cells of the outputs filled in:
with as many decimals as the column has, or more if the value is known better. Its format
is the input's own. --bands is a table with a line for each filled cell: its row (from 1, the
names apart), the input, the column, mean, sd, lower and upper: the interval that contains
95 % of observations, noise included. --level 80 adds lower_80 and upper_80.
` + modelHelp,
		Example: `  vssgp fill flow.csv -o whole.csv
  vssgp fill stations.csv --x date --y north,south -o whole.csv --bands bands.csv
  vssgp fill load.csv --period 24h --period 7d --robust -o - --report load.html`,
	}, func(ctx context.Context, args []string) error { return runFill(ctx, env, args[0], o) }, tableOperand)
	f := cmd.Flags()
	o.columns.AddSeries(f)
	f.Lookup("y").Usage = "output `columns`, by name or number from 0 (default: with missing values)"
	o.model.add(f)
	f.VarP(cli.FileName(&o.output, cli.FileUse{Written: true, Needed: "-o OUT.csv",
		Extensions: slices.Concat(cli.TableFiles, []string{"gz"}),
		Stdout:     true, Only: true}), "output", "o", "`file` to write, in the format of DATA, or - for stdout (required)")
	f.Var(cli.OutputFile(&o.bands, "csv", "tsv"), "bands", "write mean, sd and interval of each filled cell to this `file`: .csv, .tsv")
	o.form.Add(f)
	f.VarP(cli.FileName(&o.keep, cli.FileUse{Written: true, Extensions: cli.ModelFiles}), "model", "m", "keep the model in this `file`")
	o.drawing.add(f)
	return cmd
}

func runFill(ctx context.Context, env *cli.Env, path string, o *fillFlags) error {
	in, out := cli.FormatOf(path), cli.FormatOf(o.output)
	if path != cli.FromStdin && in != out && !(o.output == cli.ToStdout && in != "npy") {
		return cli.Mistake("-o %s: the table is written in the format of %s, byte for byte; want a name that ends in .%s", o.output, path,
			in)
	}
	r, err := seriesOf(ctx, env, path, o.columns, &o.model, true)
	if err != nil {
		return err
	}
	if r.byName != "" {
		return fillBy(ctx, env, r, o)
	}
	began := time.Now()
	f, err := r.fill(ctx, env, o, o.keep != "" || o.drawing != (drawing{}))
	if err != nil {
		return err
	}
	var files []fileio.File
	if f.model != nil {
		if o.keep != "" {
			files = append(files, fileio.File{Path: o.keep, Write: f.model.Write})
		}
		pictures, err := draw(ctx, env, o.drawing, r.view("Fill of "+filepath.Base(r.path), f.model))
		if err != nil {
			return err
		}
		files = append(files, pictures...)
	}
	if len(f.cells) == 0 {
		env.Note("%s: no value of %s is missing; the output is a copy", r.path, datafile.Listed(r.yNames))
	}
	files = append(files, r.fillFiles(ctx, f.cells, o)...)
	return finish(ctx, env, r, f.model, began, files, cli.Object{"rows", len(r.X), "filled", len(f.cells), "columns", r.yNames}, nil, func() {
		for i, name := range r.yNames {
			env.Print("%s: filled %s of %d", name, cli.Counted(r.missing[i], "cell"), len(r.X))
		}
	})
}

// A filled is a cell with its new value, and its line of --bands.
type filled struct {
	table.Cell
	output int
	band   []string
}

// A fillOf has the values of a series' missing cells. model is nil if nothing was fitted.
type fillOf struct {
	cells []filled
	model *series.Model
}

// fill fits the model and fills the missing cells, if there are any or if the model is needed anyway.
func (r *timeSeries) fill(ctx context.Context, env *cli.Env, o *fillFlags, needed bool) (*fillOf, error) {
	holes := 0
	for _, n := range r.missing {
		holes += n
	}
	if holes == 0 && !needed {
		return &fillOf{}, nil
	}
	m, err := fitModel(ctx, env, r, &o.model)
	if err != nil {
		return nil, err
	}
	done := r.busy(env, "filling %s", cli.Counted(holes, "cell"))
	defer done()
	var lacking []float64
	for n, x := range r.X {
		if slices.ContainsFunc(r.Y, func(y []float64) bool { return math.IsNaN(y[n]) }) {
			lacking = append(lacking, x)
		}
	}
	if _, err := r.known.at(m, lacking); err != nil {
		return nil, err
	}
	f, err := m.Fill(ctx, r.Series)
	if err != nil {
		return nil, err
	}
	all := &fillOf{model: m}
	for d, rows := range f.Rows {
		b := f.Bands[d]
		ends := make([][2]float64, len(rows)*len(o.form.levels))
		if len(ends) > 0 {
			x := picked(r.X, rows)
			z, err := r.known.at(m, x)
			if err != nil {
				return nil, err
			}
			p, err := predictParts(ctx, m, x, z, o.form.levels)
			if err != nil {
				return nil, err
			}
			ends = p.ends[d]
		}
		for i, n := range rows {
			n = r.row(n)
			cell := table.Cell{Row: n, Col: r.yCols[d], Value: b.Mean[i], SD: b.SD[i]}
			text := []string{fmt.Sprint(n + 1), r.axis.Format(r.X[rows[i]]), r.yNames[d]}
			values := []float64{b.Mean[i], b.SD[i], b.Lower[i], b.Upper[i]}
			for _, e := range ends[i*len(o.form.levels) : (i+1)*len(o.form.levels)] {
				values = append(values, e[:]...)
			}
			for _, v := range values {
				text = append(text, (*table.Axis)(nil).Format(o.form.rounded(m, v, b.SD[i], r.decimals[d])))
			}
			all.cells = append(all.cells, filled{cell, d, text})
		}
	}
	return all, nil
}

// fillFiles are the bands, in the order of rows and then of columns, and the table.
func (r *timeSeries) fillFiles(ctx context.Context, all []filled, o *fillFlags) (files []fileio.File) {
	slices.SortFunc(all, func(p, q filled) int { return cmp.Or(cmp.Compare(p.Row, q.Row), cmp.Compare(p.output, q.output)) })
	var cells []table.Cell
	for _, f := range all {
		cells = append(cells, f.Cell)
	}
	if o.bands != "" {
		names := []string{"row", r.xName, "column", "mean", "sd", "lower", "upper"}
		for _, name := range o.form.levels.columns("") {
			names = append(names, name[1:])
		}
		if r.byName != "" {
			names = append([]string{r.byName}, names...)
		}
		files = append(files, textFile(o.bands, names, func(write func([]string)) {
			for _, f := range all {
				write(f.band)
			}
		}))
	}
	return append(files, fileio.File{Path: o.output, Write: func(w io.Writer) error { return r.table.Edit(w, cells) }})
}

// fillBy fills the missing cells of each series of a table.
func fillBy(ctx context.Context, env *cli.Env, r *timeSeries, o *fillFlags) error {
	if err := alone(env, "plot", "report", "model"); err != nil {
		return err
	}
	all, err := sideBySide(ctx, env, r, func(one *timeSeries) ([]filled, cli.Object, error) {
		began := time.Now()
		f, err := one.fill(ctx, env, o, false)
		if err != nil {
			return nil, nil, err
		}
		for i := range f.cells {
			f.cells[i].band = append([]string{one.name}, f.cells[i].band...)
		}
		summary := cli.Object{"filled", len(f.cells)}
		if f.model != nil {
			summary = append(summary, fittedFields(f.model, began)...)
		}
		return f.cells, summary, nil
	})
	if err != nil {
		return err
	}
	var cells []filled
	for _, w := range all.good {
		cells = append(cells, w.result...)
	}
	return all.finish(env, r.fillFiles(ctx, cells, o), func() {
		env.Print("filled %s of %d", cli.Counted(len(cells), "cell"), len(r.X)*len(r.yNames))
	})
}
