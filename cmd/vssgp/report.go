package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/atomicfile"
	"github.com/vssgp/vssgp/internal/report"
)

// settings are the flags of the command line, for a report.
func (a *app) settings() (s []report.Setting) {
	a.flags.Visit(func(f *pflag.Flag) { s = append(s, report.Setting{Name: "--" + f.Name, Value: f.Value.String()}) })
	return s
}

// reportFile is a document as a file to write; the path's extension has been
// looked at.
func reportFile(path string, d *report.Document) atomicfile.File {
	d.Foot = append(d.Foot, readVersion().String())
	return atomicfile.File{Path: path, Write: func(w io.Writer) error {
		as, err := report.FormatOf(path)
		if err != nil {
			return err
		}
		return d.Write(w, as)
	}}
}

// writeFitReport writes fit's --report, if it is asked for. It is written after the
// model, so that an error here does not keep the model from being saved.
func (a *app) writeFitReport(dataPath string, m *vssgp.Model, r *vssgp.Result, data *vssgp.Data, trace *report.Trace, o *fitFlags) error {
	if o.report == "" {
		return nil
	}
	d, err := report.Fit(filepath.Base(dataPath), m, r, data, trace, a.settings())
	if err != nil {
		return fmt.Errorf("%s is written, its report is not: %w", o.output, err)
	}
	return a.write(reportFile(o.report, d))
}
