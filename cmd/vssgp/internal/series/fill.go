package series

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
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
}

// NewFill returns the command fill.
func NewFill(env *cli.Env) *cobra.Command {
	o := &fillFlags{}
	cmd := env.Command(&cobra.Command{
		Use:   "fill DATA -o OUT",
		Short: "Fill the empty cells of a table's series, with bands",
		Long: `Fills the missing values (empty, NA, NaN, null, -) of one or several columns of a table,
each from all that is known of the series. Without --x the input is the first column of
dates, else the first of several columns of numbers, else the rows' number; a guess that
does not rise, or repeats because there are several series, is refused. Without --y the
outputs are all columns of numbers in which values are missing.

OUT is the table as it was, byte for byte, with the missing cells of the outputs filled in:
with as many decimals as the column has, or more where the value is known better. Its format
is the input's own. --bands is a table with a line for each filled cell: its row (from 1, the
names apart), the input, the column, mean, sd, lower and upper: the interval that holds 95 %
of observations, noise included.
` + modelHelp,
		Example: `  vssgp fill flow.csv -o whole.csv
  vssgp fill stations.csv --x date --y north,south -o whole.csv --bands bands.csv
  vssgp fill load.csv --period 24h --period 7d --robust -o - --report load.html`,
	}, func(ctx context.Context, args []string) error { return runFill(ctx, env, args[0], o) }, tableOperand)
	f := cmd.Flags()
	o.columns.AddSeries(f)
	f.Lookup("y").Usage = "output `columns`, by name or by number from 0 (default: those of numbers with missing values)"
	o.model.add(f)
	f.VarP(cli.FileName(&o.output, cli.FileUse{Written: true, Needed: "-o OUT.csv",
		Extensions: slices.Concat(cli.TableFiles, []string{"gz"}),
		Stdout:     true, Only: true}), "output", "o", "`file` to write, in the format of DATA, or - for stdout (required)")
	f.Var(cli.OutputFile(&o.bands, "csv", "tsv"), "bands", "write mean, sd and interval of each filled cell to this `file`: .csv or .tsv")
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
	began, holes := time.Now(), 0
	for _, n := range r.missing {
		holes += n
	}
	var m *series.Model
	var files []fileio.File
	filling := &series.Filling{}
	if holes > 0 || o.keep != "" || o.drawing != (drawing{}) {
		if m, err = fitModel(ctx, env, r, &o.model); err != nil {
			return err
		}
		done := env.Busy("filling %s", cli.Counted(holes, "cell"))
		filling, err = m.Fill(ctx, r.Series)
		done()
		if err != nil {
			return err
		}
		if o.keep != "" {
			files = append(files, fileio.File{Path: o.keep, Write: m.Write})
		}
		pictures, err := draw(ctx, env, o.drawing, r.view("Fill of "+filepath.Base(r.path), m))
		if err != nil {
			return err
		}
		files = append(files, pictures...)
	}
	if holes == 0 {
		env.Note("%s: no value of %s is missing; the output is a copy", r.path, datafile.Listed(r.yNames))
	}
	if o.bands != "" {
		files = append(files, fileio.File{Path: o.bands, Write: func(w io.Writer) error { return writeBands(w, o.bands, r, filling) }})
	}
	files = append(files, fileio.File{Path: o.output, Write: func(w io.Writer) error { return r.table.Edit(ctx, w, r.cells(filling)) }})
	return finish(env, r, m, began, files, cli.Object{"rows", len(r.X), "filled", holes, "columns", r.yNames}, nil, func() {
		for i, name := range r.yNames {
			env.Print("%s: filled %s of %d", name, cli.Counted(r.missing[i], "cell"), len(r.X))
		}
	})
}

// cells are what a filling puts into the table.
func (r *timeSeries) cells(f *series.Filling) (cells []table.Cell) {
	for d, rows := range f.Rows {
		for i, n := range rows {
			cells = append(cells, table.Cell{Row: n, Col: r.yCols[d], Value: f.Bands[d].Mean[i], SD: f.Bands[d].SD[i]})
		}
	}
	return cells
}

// writeBands writes a line for each filled cell, in the order of rows and then of columns.
func writeBands(w io.Writer, path string, r *timeSeries, f *series.Filling) error {
	to := csv.NewWriter(w)
	if cli.FormatOf(path) == "tsv" {
		to.Comma = '\t'
	}
	to.Write([]string{"row", r.xName, "column", "mean", "sd", "lower", "upper"}) // Flush keeps an error
	type place struct{ row, output, i int }
	var places []place
	for d, rows := range f.Rows {
		for i, n := range rows {
			places = append(places, place{n, d, i})
		}
	}
	slices.SortFunc(places, func(p, q place) int { return cmp.Or(cmp.Compare(p.row, q.row), cmp.Compare(p.output, q.output)) })
	for _, p := range places {
		b := f.Bands[p.output]
		line := []string{fmt.Sprint(p.row + 1), r.axis.Format(r.X[p.row]), r.yNames[p.output]}
		for _, v := range []float64{b.Mean[p.i], b.SD[p.i], b.Lower[p.i], b.Upper[p.i]} {
			line = append(line, strconv.FormatFloat(v, 'g', -1, 64))
		}
		to.Write(line)
	}
	to.Flush()
	return to.Error()
}
