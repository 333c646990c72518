package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/impute"
	"github.com/vssgp/vssgp/internal/atomicfile"
	"github.com/vssgp/vssgp/internal/page"
	"github.com/vssgp/vssgp/internal/report"
)

// given are the flags of a command line, for a report.
func given(cmd *cobra.Command) []report.Setting {
	var s []report.Setting
	cmd.Flags().Visit(func(f *pflag.Flag) { s = append(s, report.Setting{Name: "--" + f.Name, Value: f.Value.String()}) })
	return s
}

// checkPlot reports a path that cannot be a report's: whose extension names none
// of its formats. An empty one is passed over.
func checkPlot(flag, path string) error {
	return checkFormat(flag, path, report.HTML, report.PNG, report.SVG)
}

// checkFormat is checkPlot for some of the formats.
func checkFormat(flag, path string, allowed ...report.Format) error {
	if path == "" {
		return nil
	}
	as, err := report.FormatOf(path)
	if len(allowed) == 1 && (err != nil || as != allowed[0]) {
		return mistake("%s %s: the report is a page; want a name that ends in .html", flag, path)
	}
	if err != nil {
		return mistake("%s %w", flag, err)
	}
	return nil
}

// reportFile is a document as a file to write; the path's extension has been
// looked at.
func reportFile(path string, d *report.Document) atomicfile.File {
	return atomicfile.File{Path: path, Write: func(w io.Writer) error {
		as, err := report.FormatOf(path)
		if err != nil {
			return err
		}
		return d.Write(w, as)
	}}
}

// writeReport writes a document alone.
func (a *app) writeReport(path string, d *report.Document) error {
	d.Page.Foot = append(d.Page.Foot, readVersion().String())
	return a.write(reportFile(path, d))
}

// writeFitReport writes fit's --report, if it is asked for. It comes after the
// model, which it must not keep from being saved.
func (a *app) writeFitReport(dataPath string, m *vssgp.Model, r *vssgp.Result, data *vssgp.Data, trace *report.Trace, o *fitFlags) error {
	if o.report == "" {
		return nil
	}
	d, err := report.Fit(filepath.Base(dataPath), m, r, data, trace, o.set())
	if err != nil {
		return fmt.Errorf("%s is written, its report is not: %w", o.output, err)
	}
	return a.writeReport(o.report, d)
}

// fillReport is the page of impute's --report.
func fillReport(input string, o *imputeFlags, rec *audio.File, r *impute.Result, out imputeResult, reference impute.Source) (*report.Document, error) {
	f := &report.Fill{
		Name: filepath.Base(input), Output: filepath.Base(o.output), Samples: out.Samples, Rate: out.Rate, Channels: out.Channels,
		Gaps: audioGaps(out.Gaps), Result: r, Input: rec, Reference: reference, Density: o.densities, Settings: o.set(),
	}
	if out.Scores != nil {
		f.Scores = scoresTable(out.Scores)
	}
	d, err := report.Impute(f)
	if err != nil {
		return nil, err
	}
	d.Page.Foot = append(d.Page.Foot, readVersion().String())
	return d, nil
}

// scoresTable is what a fill and those it is compared with have scored.
func scoresTable(scores []namedScore) *page.Table {
	t := &page.Table{
		Caption: "The fill beside silence, linear interpolation and an autoregressive fill, against the reference",
		Head:    []string{"", "test RMSE", "train RMSE", "test STFT RMSE", "train STFT RMSE", "95 % coverage"},
	}
	for _, s := range scores {
		coverage := ""
		if s.Coverage != nil {
			coverage = short(*s.Coverage)
		}
		t.Rows = append(t.Rows, []string{s.Name, short(s.TestRMSE), short(s.TrainRMSE), short(s.TestSTFT), short(s.TrainSTFT), coverage})
	}
	return t
}
