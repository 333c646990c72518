package series

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/datafile"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/report"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/table"
	"github.com/vssgp/vssgp/internal/fileio"
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
		Short: "Fill missing values in a time series",
		Long: `Fills missing values (empty, NA, NaN, null, -) in columns of a table from the values
before and after them, with the model of "vssgp forecast". By default the input is the
first column of dates, or of numbers, or the row number, and the outputs are all columns
of numbers with missing values. --by names a column that identifies the series if the
table has several.

The output is the table with its missing cells filled; all other bytes are unchanged.
--bands writes a table with a row for each filled cell: its row (from 1), input and
column, the mean, the standard deviation, and the 95 % prediction interval.

Details: "vssgp help forecasting" and "vssgp help series".`,
		Example: `  vssgp fill flow.csv -o whole.csv
  vssgp fill stations.csv --x date --y north,south -o whole.csv --bands bands.csv
  vssgp fill load.csv --period 24h --period 7d --robust -o - --report load.html`,
	}, func(ctx context.Context, args []string) error { return runFill(ctx, env, args[0], o) }, tableOperand)
	cmd.Annotations = cli.FlagGroups("Most used: output bands plot x y by period robust",
		"Input: dayfirst decimal yerr regressor holidays events trading-days days-of-year",
		"Output: report model level quantiles digits overwrite", modelGroup)
	f := cmd.Flags()
	o.columns.AddSeries(f)
	f.Lookup("y").Usage = "output `columns` (default: those with missing values)"
	o.model.add(f)
	f.VarP(cli.FileName(&o.output, cli.FileUse{Written: true, Needed: "-o OUT.csv",
		Extensions: slices.Concat(cli.TableFiles, []string{"gz"}),
		Stdout:     true, Only: true}), "output", "o", "`file` to write, in the format of DATA, or - for stdout (required)")
	f.Var(cli.OutputFile(&o.bands, "csv", "tsv"), "bands", "write the intervals of the filled cells to this `file` (.csv, .tsv)")
	o.form.Add(f)
	f.VarP(cli.FileName(&o.keep, cli.FileUse{Written: true, Extensions: cli.ModelFiles}), "model", "m", "write the model to this `file`, for predict")
	o.drawing.add(f)
	return cmd
}

func runFill(ctx context.Context, env *cli.Env, path string, o *fillFlags) error {
	in, out := cli.FormatOf(path), cli.FormatOf(o.output)
	if path != cli.FromStdin && in != "" && in != out && !(o.output == cli.ToStdout && in != "npy") {
		return cli.Mistake("-o %s: the output has the same format as %s; the extension must be .%s", o.output, path, in)
	}
	r, err := seriesOf(ctx, env, path, o.columns, &o.model, true)
	if err != nil {
		return err
	}
	if err := r.alone(env, "plot", "report", "model"); err != nil {
		return err
	}
	o.form.levels.warn(env)
	all, err := each(ctx, env, r, func(one *timeSeries) ([]filled, *series.Model, *result, error) {
		cells, m, err := one.fill(ctx, env, o, o.keep != "" || o.drawing != (drawing{}))
		count := len(cells)
		return cells, m, &result{Filled: &count}, err
	})
	if err != nil {
		return err
	}
	files, err := all.modelFiles(ctx, env, o.drawing, func(one *job[[]filled]) *report.Series {
		view := one.view("Fill of "+filepath.Base(r.path), one.model)
		view.Levels = o.form.levels
		return view
	}, o.keep)
	if err != nil {
		return err
	}
	var cells []filled
	for _, one := range all.finished {
		cells = append(cells, one.value...)
	}
	if len(cells) == 0 {
		env.Note("%s: no value of %s is missing; the output is a copy", r.path, datafile.Listed(r.yNames))
	}
	return all.finish(ctx, env, append(files, r.fillFiles(ctx, cells, o)...), &answer{Columns: r.yNames}, func() {
		for d, name := range r.yNames {
			count := 0
			for _, c := range cells {
				if c.output == d {
					count++
				}
			}
			env.Print("%s: filled %s of %d", name, cli.Counted(count, "cell"), len(r.X))
		}
	})
}

// A filled is a filled cell with its line of --bands.
type filled struct {
	table.Cell
	output int
	band   []string
}

// fill fits the model and returns the filled cells. If no cells are missing, it fits the model only if needed is set.
func (r *timeSeries) fill(ctx context.Context, env *cli.Env, o *fillFlags, needed bool) (all []filled, m *series.Model, err error) {
	holes := 0
	for _, n := range r.missing {
		holes += n
	}
	if holes == 0 && !needed {
		return nil, nil, nil
	}
	if m, err = fitModel(ctx, env, r, &o.model); err != nil {
		return nil, nil, err
	}
	r.showing(env, "filling %s", cli.Counted(holes, "cell"))(0)
	var lacking []float64
	for n, x := range r.X {
		if slices.ContainsFunc(r.Y, func(y []float64) bool { return math.IsNaN(y[n]) }) {
			lacking = append(lacking, x)
		}
	}
	if _, err := r.known.at(m, lacking); err != nil {
		return nil, nil, err
	}
	f, err := m.Fill(ctx, r.Series)
	if err != nil {
		return nil, nil, err
	}
	for d, rows := range f.Rows {
		b := f.Bands[d]
		var p *prediction // contains the intervals of --level and the quantiles
		if len(rows)*len(o.form.columns("")) > 0 {
			x := picked(r.X, rows)
			z, err := r.known.at(m, x)
			if err == nil {
				p, err = predictParts(ctx, m, x, z, &o.form, nil)
			}
			if err != nil {
				return nil, nil, err
			}
		}
		for i, n := range rows {
			n = r.rows[n]
			cell := table.Cell{Row: n, Col: r.yCols[d], Value: b.Mean[i], SD: b.SD[i]}
			text := r.labeled(r.name, fmt.Sprint(n+1), r.axis.Format(r.X[rows[i]]), r.yNames[d])
			values := []float64{b.Mean[i], b.SD[i], b.Lower[i], b.Upper[i]}
			if p != nil {
				values = p.row(d, i) // begins with the same, up to rounding
			}
			for _, v := range values {
				text = append(text, (*table.Axis)(nil).Format(o.form.rounded(m, v, b.SD[i], r.decimals[d])))
			}
			all = append(all, filled{cell, d, text})
		}
	}
	return all, m, nil
}

// fillFiles returns the file of --bands, ordered by row and then by column, and the table.
func (r *timeSeries) fillFiles(ctx context.Context, all []filled, o *fillFlags) (files []fileio.File) {
	slices.SortFunc(all, func(p, q filled) int { return cmp.Or(cmp.Compare(p.Row, q.Row), cmp.Compare(p.output, q.output)) })
	var cells []table.Cell
	for _, f := range all {
		cells = append(cells, f.Cell)
	}
	if o.bands != "" {
		input := r.xName
		if input == datafile.RowName { // with --by, its numbers count the rows of one series
			input = "input"
		}
		names := r.labeled(r.byName, "row", input, "column", "mean", "sd", "lower", "upper")
		names = append(names, o.form.columns("")...)
		files = append(files, textFile(o.bands, names, func(write func([]string)) {
			for _, f := range all {
				write(f.band)
			}
		}))
	}
	return append(files, fileio.File{Path: o.output, Write: func(w io.Writer) error { return r.table.Edit(w, cells) }})
}
