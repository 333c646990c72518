package main

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/internal/table"
)

// structural is the method of package series; the others are package vssgp's.
const structural = "structural"

// fitFlags are the flags of fit.
type fitFlags struct {
	seriesFitFlags
	model      modelFlags
	ofSeries   *pflag.FlagSet // those that belong to the structural model
	ofModel    *pflag.FlagSet // those that belong to the other methods
	hmc        bool
	priors     []string // names that --prior gave
	checkpoint checkpointFlags
}

// seriesFitFlags are the flags of fit that the structural model takes.
type seriesFitFlags struct {
	series         seriesFlags
	columns        columns
	output, report string
}

// prior takes the priors of either model; some names belong to one.
func (o *fitFlags) prior() *value {
	model := priors(&o.model.o.Priors)
	return &value{kind: "prior", list: true, words: slices.Concat(model.words, priorNames), set: func(s string) error {
		name, text, _ := strings.Cut(s, "=")
		if o.priors = append(o.priors, name); slices.Contains(priorNames, name) && text != "none" {
			if err := o.series.addPrior(s); err != nil || name != "noise" {
				return err
			}
		}
		return model.set(s)
	}}
}

// given are the first flags that belong to the structural model, and to the other methods; "" where there is none.
func (o *fitFlags) given() (series, model string) {
	series, model = firstGiven(o.ofSeries), firstGiven(o.ofModel)
	for _, name := range o.priors {
		switch {
		case name == "noise":
		case slices.Contains(priorNames, name):
			series = cmp.Or(series, "prior "+name)
		default:
			model = cmp.Or(model, "prior "+name)
		}
	}
	return series, model
}

// isStructural chooses the model of a fit: by --method; else by a flag that belongs to one; else the structural one for a table with one
// input.
func (a *app) isStructural(ctx context.Context, path string, o *fitFlags) (is bool, err error) {
	o.series.hmc, o.model.o.HMC = o.hmc, o.hmc
	series, model := o.given()
	switch method := o.model.method; {
	case series != "" && model != "":
		return false, mistake("--%s belongs to --method structural, and --%s to vssgp; want flags of one of them", series, model)
	case method == structural && model != "":
		return false, mistake("--%s belongs to --method vssgp; want --method vssgp, or leave the flag out", model)
	case method != "" && method != structural && series != "":
		return false, mistake("--%s belongs to --method structural; want --method structural, or leave the flag out", series)
	case method != "" || series != "":
		is = method == structural || method == ""
	case model != "" || !isTable(path):
		return false, nil
	default:
		if is, err = a.hasOneInput(ctx, path, o.columns); err != nil {
			return false, err
		}
	}
	return is, nil
}

// firstGiven is the first flag of a set that was given; "" if none was.
func firstGiven(flags *pflag.FlagSet) (name string) {
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed && name == "" {
			name = f.Name
		}
	})
	return name
}

// hasOneInput reports whether a fit of a table has one input: a column or, of a table of one column, the rows' number.
func (a *app) hasOneInput(ctx context.Context, path string, c columns) (bool, error) {
	s, err := a.openTable(ctx, path)
	if err == nil {
		err = c.rename(s)
	}
	if c.takeRow(s); c.rows {
		return true, err
	}
	if err == nil {
		err = c.survey(ctx, s)
	}
	if err != nil {
		return false, whileReading(path, err)
	}
	x, y, err := c.named(s)
	if err != nil || x != nil {
		return len(x) == 1, err
	}
	numbers := ofKind(s, table.Numbers)
	if y == nil && len(numbers) > 0 {
		y = numbers[len(numbers)-1:]
	}
	free := len(others(numbers, y))
	return len(y) > 0 && (len(others(ofKind(s, table.Dates), y)) > 0 || free == 1 || free == 0 && s.Cols == 1), nil
}

// fitStructural fits the structural model of a series.
func (a *app) fitStructural(ctx context.Context, path string, o *seriesFitFlags) error {
	r, err := a.seriesOf(ctx, path, o.columns, &o.series, false)
	if err != nil {
		return err
	}
	began := time.Now()
	m, err := a.fitSeries(ctx, r, &o.series)
	if err != nil {
		return err
	}
	files, err := a.draw(ctx, drawing{report: o.report}, r.view("Fit of "+filepath.Base(r.path), m))
	if err != nil {
		return err
	}
	files = append(files, fileio.File{Path: o.output, Write: m.Write})
	if err := a.write(files...); err != nil {
		return err
	}
	took := time.Since(began)
	times := a.computer.rankTimes(took)
	if a.json {
		return a.printJSON(slices.Concat(object{"rows", len(r.x)}, a.modelFields(m, r, took), object{"model", o.output, "ranks,omitempty", times}))
	}
	a.sayModel(m, r, took)
	if times != nil {
		a.say("%s", times)
	}
	a.say("wrote %s", pathsOf(files))
	return nil
}
