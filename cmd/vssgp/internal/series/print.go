package series

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/report"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/table"
	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/series"
)

// device is the device of all computations on series.
const device = "cpu"

// drawing contains the values of --plot and --report.
type drawing struct{ plot, report string }

func (d *drawing) add(f *pflag.FlagSet) {
	f.Var(cli.OutputFile(&d.plot, cli.PlotFiles...), "plot",
		"plot data, intervals and parts to this `file` (.html, .png, .svg)")
	f.Var(cli.OutputFile(&d.report, "html"), "report", "write the plots and the hyper-parameters to this HTML `file`")
}

// view returns the content of the charts of a series.
func (r *timeSeries) view(title string, m *series.Model) *report.Series {
	v := modelView(title, m, r.known)
	v.Y = make([][]float64, len(r.Y))
	for n, x := range r.X {
		if slices.ContainsFunc(r.Regressors, func(c series.Regressor) bool { return math.IsNaN(c.Values[n]) }) {
			continue // such a row has no value of an output
		}
		v.X = append(v.X, x)
		for d, y := range r.Y {
			v.Y[d] = append(v.Y[d], y[n])
		}
	}
	return v
}

// modelView returns the content of the charts of a model without data.
func modelView(title string, m *series.Model, k *known) *report.Series {
	v := &report.Series{Title: title, Model: m, Parts: partLabels(m, k.axis), XName: axisLabel(m.XName, k.axis),
		YNames: m.YNames}
	v.Regressors = func(x []float64) ([][]float64, error) { return k.at(m, x) }
	if k.axis.Dates() {
		v.Time = k.axis.Seconds
	}
	return v
}

// draw returns the files of --plot and --report.
func draw(ctx context.Context, env *cli.Env, o drawing, view *report.Series) (files []fileio.File, err error) {
	if o == (drawing{}) {
		return nil, nil
	}
	env.ShowProgress(0, "plotting")
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

// axisLabel returns the name of an input with its unit, which dates and row numbers do not have.
func axisLabel(name string, axis *table.Axis) string {
	if axis.Unit == "" || axis.Dates() || axis.Unit == "rows" {
		return name
	}
	return fmt.Sprintf("%s (%s)", name, axis.Unit)
}

// extent returns the first and last time of a model's data and the last time that it can predict, rounded to the grid.
func extent(m *series.Model) (first, last, reach float64) {
	first, last, end := m.Extent()
	const rounding = 1e-6 // of a step
	return first, last, first + math.Floor((end-first)/m.Step()+rounding)*m.Step()
}

// summaryOf returns the summary of a model for --json.
func summaryOf(m *series.Model, axis *table.Axis) *summary {
	s := &summary{Periods: m.Periods(), Parts: inTime(m, partNames(m, axis)), Log: m.Log(), Bound: m.Bound(),
		Features: m.Features()}
	if p := m.LogProbability(); p < 1 {
		s.LogShare = p
	}
	for d := 0; d < m.Outputs() && !m.Counts(); d++ {
		s.NoiseSD = append(s.NoiseSD, m.NoiseSD(d))
	}
	return s
}

// scaleOf returns a remark about the scale of numbers, "" for a model of the values alone.
func scaleOf(m *series.Model) string {
	switch p := m.LogProbability(); {
	case p == 0:
		return ""
	case p == 1:
		return " (log scale)"
	case m.Log():
		return fmt.Sprintf(" (log scale, probability %.0f %%)", 100*p)
	default:
		return fmt.Sprintf(" (linear scale, probability %.0f %%)", 100*(1-p))
	}
}

// outliersOf returns the times of the outliers by output, nil if there are none.
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

// printFindings prints the level, trend and seasons of a series, and the standard deviation of its next value. The trend is the change of
// the level over the next step or unit of the input or, for dates, over the longest unit of time within the range of the data. Its
// standard deviation assumes that the error of the level persists.
func printFindings(ctx context.Context, env *cli.Env, m *series.Model, r *timeSeries) error {
	_, last, _ := m.Extent()
	per, unit := m.Step(), "step"
	if r.axis.Unit == "" && m.Step() < 1 && 1 <= r.grid.Last-r.grid.First { // such as decimal years
		per, unit = 1, "unit of "+r.xName
	}
	for _, u := range printedUnits {
		if n := units[u.unit] / units[r.axis.Unit]; r.axis.Dates() && n <= r.grid.Last-r.grid.First {
			per, unit = n, u.name
			break
		}
	}
	parts, err := m.Components(ctx, []float64{last, last + per}, r.latest(2)...)
	if err != nil {
		return err
	}
	next, err := m.Predict(ctx, r.next(1), r.latest(1)...)
	if err != nil {
		return err
	}
	for d, name := range r.yNames {
		trend := parts[slices.IndexFunc(parts, func(c series.Component) bool { return c.Name == "trend" })]
		level, change := trend.Mean[d][0], trend.Mean[d][1]-trend.Mean[d][0]
		sd := math.Sqrt(max(0, trend.SD[d][1]*trend.SD[d][1]-trend.SD[d][0]*trend.SD[d][0]))
		known, text := next.SD[d][0], ""
		if m.Log() {
			level = math.Exp(level)
		}
		const none = 1e-4 // of the noise
		if percent := ""; max(sd, math.Abs(change)) > none*m.NoiseSD(d) {
			if m.Log() {
				change, sd, percent = 100*math.Expm1(change), 100*sd, " %"
			}
			word := "rising by "
			switch {
			case math.Abs(change) < sd:
				word = "no clear trend: "
			case change < 0:
				word, change = "falling by ", -change
			}
			text = fmt.Sprintf(", %s%s%s (sd %s) per %s", word, shown(change, sd), percent, shown(sd, sd), unit)
		}
		env.Print("%s: level %s at %s%s, sd of the next value %s", name, shown(level, known), r.axis.Format(last), text, shown(known, known))
	}
	printSeasons(env, m, r.axis)
	effects, err := effectsOf(ctx, m, r.axis)
	if err == nil {
		printEffects(env, m, r.known.Columns, effects)
	}
	return err
}

// printEffects prints the effect of one unit of each regressor on each output. Regressors from columns come first, then those with the
// largest ratio of effect to standard deviation.
func printEffects(env *cli.Env, m *series.Model, columns []string, all []series.Effect) {
	const most = 6
	for d, output := range m.YNames {
		slices.SortStableFunc(all, func(a, b series.Effect) int {
			if first := slices.Contains(columns, a.Name); first != slices.Contains(columns, b.Name) {
				return map[bool]int{true: -1, false: 1}[first]
			}
			return cmp.Compare(math.Abs(b.Mean[d]/b.SD[d]), math.Abs(a.Mean[d]/a.SD[d]))
		})
		var shows []string
		for _, e := range all[:min(len(all), most)] {
			mean, sd, percent := e.Mean[d], e.SD[d], ""
			if m.Log() {
				mean, sd, percent = 100*math.Expm1(mean), 100*math.Exp(mean)*sd, " %"
			}
			sign := ""
			if mean > 0 {
				sign = "+"
			}
			shows = append(shows, fmt.Sprintf("%s %s%s%s (sd %s)", e.Name, sign, shown(mean, sd), percent, shown(sd, sd)))
		}
		if len(all) > most {
			shows = append(shows, fmt.Sprintf("and %d more", len(all)-most))
		}
		if len(shows) > 0 {
			env.Print("effects on %s: %s", output, strings.Join(shows, ", "))
		}
	}
}

// printSeasons prints the periods of a model's seasons.
func printSeasons(env *cli.Env, m *series.Model, axis *table.Axis) {
	var spans []string
	for _, p := range m.Periods() {
		spans = append(spans, spanOf(p, axis))
	}
	if len(spans) > 0 {
		env.Print("seasons: %s", strings.Join(spans, ", "))
	}
}

// shown formats a number with two digits of its standard deviation. Very small and large numbers have an exponent.
func shown(v, sd float64) string {
	const digits = 2 // of the standard deviation
	if size := max(math.Abs(v), sd); size > 0 && size < 1e-5 || size >= 1e15 && !math.IsInf(sd, 0) {
		significant := math.Floor(math.Log10(math.Abs(v))) - math.Floor(math.Log10(sd)) + digits
		return strconv.FormatFloat(v, 'g', int(min(max(significant, 1), 15)), 64)
	}
	decimals := decimalsFor(sd, 0, digits)
	return strconv.FormatFloat(rounded(v, decimals), 'f', min(decimals, 17), 64)
}

// printForecasts prints a table of forecasts, also with --quiet, which suppresses only messages.
func printForecasts(env *cli.Env, all *run[*forecastOf], form *Form) {
	head := all.table.labeled(all.table.byName, all.finished[0].value.at.Name)
	for _, y := range all.table.yNames {
		head = append(head, y, "lower", "upper")
		for _, name := range form.columns("") {
			head = append(head, strings.ReplaceAll(name, "_", " "))
		}
	}
	to := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(to, strings.Join(head, "\t")+"\t")
	for _, one := range all.finished {
		p := one.value.p
		for n, x := range p.x {
			line := one.labeled(one.name, one.value.at.Axis.Format(x))
			for d := range p.values {
				sd := p.row(d, 0)[1] // all rows have as many decimals
				for i, v := range p.row(d, n) {
					if i != 1 { // the standard deviation
						line = append(line, shown(v, sd))
					}
				}
			}
			fmt.Fprintln(to, strings.Join(line, "\t")+"\t")
		}
	}
	env.ClearProgress()
	to.Flush()
}

// partNames returns the names of a model's parts for --json and files, in the order of Model.Parts. Level shifts have
// their times in the format of the input.
func partNames(m *series.Model, axis *table.Axis) []string {
	names := m.PartNames()
	for i, p := range m.Parts() {
		if s, ok := p.(series.LevelShift); ok {
			names[i] = "level shift at " + axis.Format(s.At)
		}
	}
	return names
}

// partLabels returns the names of a model's parts for readers, in the order of Model.Parts: seasons have their periods
// with units.
func partLabels(m *series.Model, axis *table.Axis) []string {
	season := func(s series.Season) string {
		if axis.Unit == "" {
			return fmt.Sprintf("season of period %s in %s", cli.Short(s.Period), m.XName)
		}
		return "season of " + spanOf(s.Period, axis)
	}
	labels := partNames(m, axis)
	for i, p := range m.Parts() {
		switch p := p.(type) {
		case series.Season:
			labels[i] = season(p)
		case series.Product:
			labels[i] = season(p.Long) + " × " + season(p.Short)
		case series.ShortMemory:
			labels[i] = "autocorrelated residual"
		}
	}
	return labels
}

// effectsOf returns the effects of a model's regressors. Level shifts have the names of partNames.
func effectsOf(ctx context.Context, m *series.Model, axis *table.Axis) ([]series.Effect, error) {
	all, err := m.Effects(ctx)
	if err != nil {
		return nil, err
	}
	next, names := len(m.Regressors()), partNames(m, axis)
	for i, p := range m.Parts() {
		if _, ok := p.(series.LevelShift); ok {
			all[next].Name = names[i]
			next++
		}
	}
	return all, nil
}

// inTime returns the names of a model's parts with level shifts in the order of time.
func inTime(m *series.Model, names []string) []string {
	parts := m.Parts()
	var shifts []int
	for i, p := range parts {
		if _, ok := p.(series.LevelShift); ok {
			shifts = append(shifts, i)
		}
	}
	sorted := slices.Clone(names)
	for k, i := range slices.SortedFunc(slices.Values(shifts), func(i, j int) int {
		return cmp.Compare(parts[i].(series.LevelShift).At, parts[j].(series.LevelShift).At)
	}) {
		sorted[shifts[k]] = names[i]
	}
	return sorted
}

// printParts prints the parts of a model.
func printParts(env *cli.Env, m *series.Model, axis *table.Axis) {
	env.Print("parts: %s", strings.Join(inTime(m, partLabels(m, axis)), ", "))
}

// printNoise prints the standard deviation of the noise, which counts do not have.
func printNoise(env *cli.Env, m *series.Model, s *summary) {
	if !m.Counts() {
		env.Print("noise sd: %s%s", cli.Row(s.NoiseSD), scaleOf(m))
	}
}

// printModel prints the parts, the noise and the outliers of a model.
func printModel(env *cli.Env, m *series.Model, s *summary, axis *table.Axis) {
	printParts(env, m, axis)
	printNoise(env, m, s)
	for _, name := range m.YNames {
		if at := s.Outliers[name]; len(at) > 0 {
			const most = 10
			shown := strings.Join(at[:min(len(at), most)], ", ")
			if len(at) > most {
				shown += ", …"
			}
			env.Print("outliers: %s of %s, at %s", cli.Counted(len(at), "value"), name, shown)
		}
	}
}

// printedUnits are the units of time in printed lengths, the longest first.
var printedUnits = []struct{ unit, name string }{{"y", "year"}, {"mo", "month"}, {"d", "day"}, {"h", "hour"}, {"min", "minute"}, {"s", "second"}}

// spanOf formats a length along an axis with its unit. For dates, it uses the longest unit in which the length is a whole number, else the
// longest unit that does not exceed the length.
func spanOf(length float64, axis *table.Axis) string {
	text := ""
	for _, u := range printedUnits {
		n := length * units[axis.Unit] / units[u.unit]
		const most, near = 1000, 2e-3 // 365 and 365.25 days are a year
		switch whole := math.Round(n); {
		case !axis.Dates() || n < 1-near:
		case math.Abs(n-whole) <= near && n < most:
			return cli.Counted(int(whole), u.name)
		case text == "":
			text = cli.Short(n) + " " + u.name + "s"
		}
	}
	if text == "" {
		text = strings.TrimSuffix(cli.Short(length)+" "+axis.Unit, " ")
	}
	return text
}
