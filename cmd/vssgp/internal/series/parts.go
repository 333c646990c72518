package series

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/datafile"
	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/series"
)

// partsTable returns the table of --parts at the times of the data and of the forecast: each output, its seasonally adjusted
// values and its components (series.Model.Components). On the scale of logarithms, the components are factors and the
// adjusted values quotients. Without the seasons and the calendar's regressors, the adjusted values keep the effects of columns.
func (r *timeSeries) partsTable(
	ctx context.Context, path string, m *series.Model, at *datafile.Times, form *Form,
) (fileio.File, error) {
	view := r.view("", m)
	x := slices.Concat(view.X, at.X)
	z, err := r.known.at(m, x)
	if err != nil {
		return fileio.File{}, err
	}
	all, err := m.Components(ctx, x, z...)
	if err != nil {
		return fileio.File{}, outOfReach(m, at.Axis, x, err)
	}
	kinds, seasonal, names := r.componentNames(m, all), make([]bool, len(all)), []string{r.xName}
	for i, c := range all {
		_, isSeason := seasonNamed(m, c.Name)
		seasonal[i] = isSeason || slices.Contains(calendarGroups, c.Name)
	}
	for _, y := range r.yNames {
		names = append(names, y, y+"_adjusted")
		for _, kind := range kinds {
			names = append(names, y+"_"+kind)
		}
	}
	decimals := decimalsOf(m)
	var rows []float64
	for n, at := range x {
		rows = append(rows, at)
		for d := range r.yNames {
			y, season, row := math.NaN(), 0.0, []float64(nil)
			if n < len(view.X) {
				y = view.Y[d][n]
			}
			for i, c := range all {
				v, unit := c.Mean[d][n], m.NoiseSD(d)
				if seasonal[i] {
					season += v
				}
				if m.Log() {
					v = math.Exp(v)
					unit *= v
				}
				row = append(row, form.rounded(m, v, unit, decimals[d]))
			}
			adjusted, unit := y-season, m.NoiseSD(d)
			if m.Log() {
				adjusted = y * math.Exp(-season)
				unit *= math.Abs(adjusted)
			}
			rows = append(append(rows, y, form.rounded(m, adjusted, unit, decimals[d])), row...)
		}
	}
	names, err = datafile.WithDraws(names, nil, 0)
	if err != nil {
		return fileio.File{}, err
	}
	return textFile(path, names, func(write func([]string)) {
		for row := range slices.Chunk(rows, len(names)) {
			write(cells(r.axis, row))
		}
	}), nil
}

// calendarGroups are the groups of regressors that are removed from seasonally adjusted values.
var calendarGroups = []string{holidays, dayBefore, dayAfter, onWeekends, tradingDays, yearDays}

// componentNames returns the names of components in columns: seasons have their periods with units.
func (r *timeSeries) componentNames(m *series.Model, all []series.Component) (names []string) {
	for _, c := range all {
		name := c.Name
		if s, ok := seasonNamed(m, name); ok {
			name = "season " + spanOf(s.Period, r.axis)
		}
		names = append(names, strings.ReplaceAll(name, " ", "_"))
	}
	return names
}

// seasonNamed returns the season of a model with a name.
func seasonNamed(m *series.Model, name string) (series.Season, bool) {
	for i, own := range m.PartNames() {
		if s, ok := m.Parts()[i].(series.Season); ok && own == name {
			return s, true
		}
	}
	return series.Season{}, false
}
