package main

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

	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/internal/table"
	"github.com/vssgp/vssgp/series"
)

// fillFlags are the flags of fill.
type fillFlags struct {
	model   seriesFlags
	columns columns
	output  string
	bands   string
	keep    string
	drawing drawing
}

func (a *app) fillCommand() *cobra.Command {
	o := &fillFlags{}
	cmd := a.command(&cobra.Command{
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
	}, func(ctx context.Context, args []string) error { return a.fill(ctx, args[0], o) }, tableOperand)
	f := cmd.Flags()
	o.columns.addSeries(f)
	f.Lookup("y").Usage = "output `columns`, by name or by number from 0 (default: those of numbers with missing values)"
	o.model.add(f)
	f.VarP(fileName(&o.output, file{written: true, needed: "-o OUT.csv", extensions: slices.Concat(tableFiles, []string{"gz"}), stdout: true, only: true}), "output", "o", "`file` to write, in the format of DATA, or - for stdout (required)")
	f.Var(fileName(&o.bands, file{written: true, extensions: []string{"csv", "tsv"}, only: true}), "bands", "write mean, sd and interval of each filled cell to this `file`: .csv or .tsv")
	f.VarP(fileName(&o.keep, file{written: true, extensions: modelFiles}), "model", "m", "keep the model in this `file`")
	o.drawing.add(f)
	return cmd
}

func (a *app) fill(ctx context.Context, path string, o *fillFlags) error {
	in, out := formatOf(path), formatOf(o.output)
	if path != fromStdin && in != out && !(o.output == toStdout && in != "npy") {
		return mistake("-o %s: the table is written in the format of %s, byte for byte; want a name that ends in .%s", o.output, path, in)
	}
	r, err := a.seriesOf(ctx, path, o.columns, &o.model, true)
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
		m, filling, files, err = a.fillSeries(ctx, r, o, holes)
	}
	if err != nil {
		return err
	}
	if holes == 0 {
		a.note("%s: no value of %s is missing; the output is a copy", r.path, listed(r.yNames))
	}
	if o.bands != "" {
		files = append(files, fileio.File{Path: o.bands, Write: func(w io.Writer) error { return writeBands(w, o.bands, r, filling) }})
	}
	files = append(files, fileio.File{Path: o.output, Write: func(w io.Writer) error { return r.table.Edit(ctx, w, r.cells(filling)) }})
	if err := a.writeLast(files, func() {}); err != nil {
		return err
	}
	took := time.Since(began)
	if a.json {
		fields := object{"rows", len(r.x), "filled", holes, "columns", r.yNames}
		if m != nil {
			fields = append(fields, a.modelFields(m, r, took)...)
		}
		return a.printJSON(fields)
	}
	if o.output == toStdout {
		return nil
	}
	if m != nil {
		a.sayModel(m, r, took)
	}
	for i, name := range r.yNames {
		a.say("%s: filled %s of %d", name, counted(r.missing[i], "cell"), len(r.x))
	}
	a.say("wrote %s", pathsOf(files))
	return nil
}

// fillSeries fits and fills the series; files are all but the table.
func (a *app) fillSeries(ctx context.Context, r *timeSeries, o *fillFlags, holes int) (m *series.Model, f *series.Filling, files []fileio.File, err error) {
	if m, err = a.fitSeries(ctx, r, &o.model); err != nil {
		return nil, nil, nil, err
	}
	done := a.busy("filling %s", counted(holes, "cell"))
	f, err = m.Fill(ctx, r.data())
	done()
	if err != nil {
		return nil, nil, nil, err
	}
	if o.keep != "" {
		files = append(files, fileio.File{Path: o.keep, Write: m.Write})
	}
	pictures, err := a.draw(ctx, o.drawing, r.view("Fill of "+filepath.Base(r.path), m))
	return m, f, append(files, pictures...), err
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
	if formatOf(path) == "tsv" {
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
		line := []string{fmt.Sprint(p.row + 1), r.axis.Format(r.x[p.row]), r.yNames[p.output]}
		for _, v := range []float64{b.Mean[p.i], b.SD[p.i], b.Lower[p.i], b.Upper[p.i]} {
			line = append(line, strconv.FormatFloat(v, 'g', -1, 64))
		}
		to.Write(line)
	}
	to.Flush()
	return to.Error()
}
