package series

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/internal/report"
	"github.com/vssgp/vssgp/internal/table"
	"github.com/vssgp/vssgp/series"
)

// drawing is --plot and --report.
type drawing struct{ plot, report string }

func (d *drawing) add(f *pflag.FlagSet) {
	f.Var(cli.OutputFile(&d.plot, cli.PlotFiles...), "plot",
		"draw the data, the bands and the model's parts to this `file`: .html, .png or .svg")
	f.Var(cli.OutputFile(&d.report, "html"), "report", "the same with the model's parts and hyper-parameters in tables: a page, .html")
}

// view is what charts of a series show.
func (r *timeSeries) view(title string, m *series.Model) *report.Series {
	v := modelView(title, m, r.axis)
	v.X, v.Y = r.X, r.Series.Y
	return v
}

// modelView is what charts of a model without its data show.
func modelView(title string, m *series.Model, axis *table.Axis) *report.Series {
	v := &report.Series{Title: title, Model: m, XName: axisLabel(m.XName, axis), YNames: m.YNames}
	if axis.Dates() {
		v.Time = axis.Seconds
	}
	return v
}

// draw makes the pictures, if any are wanted.
func draw(ctx context.Context, env *cli.Env, o drawing, view *report.Series) (files []fileio.File, err error) {
	if o == (drawing{}) {
		return nil, nil
	}
	done := env.Busy("drawing")
	defer done()
	if o.plot != "" {
		d, err := view.Plot(ctx)
		if err != nil {
			return nil, err
		}
		files = append(files, env.ReportFile(o.plot, d))
	}
	if o.report != "" {
		d, err := view.Report(ctx, env.Settings())
		if err != nil {
			return nil, err
		}
		files = append(files, env.ReportFile(o.report, d))
	}
	return files, nil
}

// axisLabel names an input with its unit; dates need none.
func axisLabel(name string, axis *table.Axis) string {
	if axis.Unit == "" || axis.Dates() || axis.Unit == "rows" {
		return name
	}
	return fmt.Sprintf("%s (%s)", name, axis.Unit)
}

// extent are the ends of a model's data and its reach, all on the grid.
func extent(m *series.Model) (first, last, reach float64) {
	first, last, end := m.Extent()
	const rounding = 1e-6 // of a step
	return first, last, first + math.Floor((end-first)/m.Step()+rounding)*m.Step()
}

// modelFields are what --json has of a fitted series.
func modelFields(env *cli.Env, m *series.Model, r *timeSeries, took time.Duration) cli.Object {
	return cli.Object{
		"periods", append([]float64{}, m.Periods()...), "parts", m.PartNames(), "log,omitempty", m.Log(), "noise_sd", noiseOf(m),
		"bound", m.Bound(), "features", m.Features(), "outliers,omitempty", outliersOf(m, r), "seconds", took, "device", env.Device.Name(),
	}
}

// ofLog marks numbers of a model of the values' logarithm.
func ofLog(m *series.Model) string {
	if m.Log() {
		return " of the values' logarithm, which is modelled"
	}
	return ""
}

// noiseOf is the standard deviation of each output's noise.
func noiseOf(m *series.Model) (sd []float64) {
	for d := range m.Outputs() {
		sd = append(sd, m.NoiseSD(d))
	}
	return sd
}

// outliersOf are the places of what a robust fit passed over, by output; nil if there is nothing.
func outliersOf(m *series.Model, r *timeSeries) map[string][]string {
	all := map[string][]string{}
	for d, name := range r.yNames {
		for _, n := range m.Outliers(d) {
			all[name] = append(all[name], r.axis.Format(r.X[n]))
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// printModel prints what was found in a series.
func printModel(env *cli.Env, m *series.Model, r *timeSeries, took time.Duration) {
	rows, features := cli.Counted(m.Rows(), "row"), cli.Counted(m.Features(), "feature")
	env.Print("bound %.9g, %s, %s, %.1f s on %s", m.Bound(), rows, features, took.Seconds(), env.Device.Name())
	env.Print("parts: %s", strings.Join(m.PartNames(), ", "))
	if periods := m.Periods(); len(periods) > 0 {
		env.Print("periods: %s%s", cli.Row(periods), unitOf(r.axis))
	}
	env.Print("noise sd: %s%s", cli.Row(noiseOf(m)), ofLog(m))
	outliers := outliersOf(m, r)
	for _, name := range r.yNames {
		if at := outliers[name]; len(at) > 0 {
			const most = 10
			shown := strings.Join(at[:min(len(at), most)], ", ")
			if len(at) > most {
				shown += ", …"
			}
			env.Print("passed over: %s of %s, at %s", cli.Counted(len(at), "value"), name, shown)
		}
	}
}

// unitOf is the unit of lengths along an axis, after a space; "" if it has none.
func unitOf(axis *table.Axis) string { return strings.TrimSuffix(" "+axis.Unit, " ") }
