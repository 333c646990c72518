package report

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/vssgp/vssgp"
)

const (
	// MapSide is the maximum number of points of a map along each input.
	MapSide = 200
	// reportSide is the number of points of the map of a fit along each input, and the maximum number of cells.
	reportSide = 100
	// MaxMarks is the maximum number of rows in a map that shows each as a dot.
	MaxMarks = 3000
	// maxStretch is the maximum ratio of the ranges of two inputs for equal scales on both axes. If it is exceeded, the
	// aspect is filled.
	maxStretch = 5
	// filled is the height of a map without equal scales divided by its width.
	filled = 0.75
)

// mapColors have uniform steps of lightness, as in spectrogramPalette. They omit black and white, the colors of marks
// and of the page.
var mapColors = func() color.Palette {
	const n, dark, light = 256, 16, 12
	return moreland.ExtendedBlackBody().Palette(n + dark + light).Colors()[dark : dark+n]
}()

// markColor is almost black. Unlike black it is not replaced in pages by the color of the text.
var markColor = color.RGBA{0x11, 0x11, 0x11, 0xff}

// A plane contains points [N,Q] in the plane of two inputs.
type plane struct {
	names [2]string
	x, y  []float64 // [N]
	sizes [2]int    // of a grid, of which y varies faster; 0 for scattered points
}

// planeOf returns the points x [N,Q] in the plane of two inputs. sizes are the numbers of values of each input of a
// grid, nil for scattered points.
func planeOf(names []string, x []float64, inputs []int, sizes []int) plane {
	i, j := inputs[0], inputs[1]
	p := plane{names: [2]string{names[i], names[j]}, x: column(x, len(names), i), y: column(x, len(names), j)}
	if sizes != nil {
		p.sizes = [2]int{sizes[i], sizes[j]}
	}
	return p
}

// varying returns the inputs that have more than one value in x [N,Q].
func varying(x []float64, q int) (inputs []int) {
	for i := range q {
		if slices.ContainsFunc(column(x, q, i), func(v float64) bool { return v != x[i] }) {
			inputs = append(inputs, i)
		}
	}
	return inputs
}

// bounds returns the range of the map. The cells of a grid extend by half a step around its points.
func (p plane) bounds() (left, right, bottom, top float64) {
	side := func(v []float64, points int) (lo, hi float64) {
		lo, hi = floats.Min(v), floats.Max(v)
		if points == 0 {
			const margin = 0.03 // so that no point is on the border
			return lo - margin*(hi-lo), hi + margin*(hi-lo)
		}
		half := (hi - lo) / float64(points-1) / 2
		return lo - half, hi + half
	}
	left, right = side(p.x, p.sizes[0])
	bottom, top = side(p.y, p.sizes[1])
	return left, right, bottom, top
}

// aspect returns the height of the map divided by its width. The scales of the axes are equal unless the ranges differ
// by more than maxStretch.
func (p plane) aspect() float64 {
	left, right, bottom, top := p.bounds()
	if ratio := (top - bottom) / (right - left); ratio <= maxStretch && ratio >= 1./maxStretch {
		return ratio
	}
	return filled
}

// panel returns a panel with a map of values [N], their color bar, and marks at the points of data.
func (p plane) panel(title string, values []float64, data plane) *plot.Plot {
	panel := newPanel(title, p.names[0], p.names[1])
	for _, axis := range []*plot.Axis{&panel.X, &panel.Y} {
		axis.Tick.Marker, axis.Padding = plot.TickerFunc(roundTicks), 0
		axis.LineStyle.Width = 0 // the border of the map replaces the line
		axis.Tick.LineStyle, axis.Tick.Length = border, 2*barTick
	}
	bar := colorBarOf(values)
	left, right, bottom, top := p.bounds()
	if p.sizes[0] > 0 {
		panel.Add(plotter.NewImage(p.picture(values, bar), left, bottom, right, top))
	} else {
		panel.Add(p.dots(values, bar))
	}
	panel.Add(frame{}, bar)
	if len(data.x) > 0 {
		panel.Add(marks(data, color.White, 1.2), marks(data, markColor, 0.7))
	}
	panel.X.Min, panel.X.Max, panel.Y.Min, panel.Y.Max = left, right, bottom, top
	return panel
}

// picture returns the values on a grid as an image, which is transparent where they are NaN.
func (p plane) picture(values []float64, bar colorBar) image.Image {
	width, height := p.sizes[0], p.sizes[1]
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for i, v := range values {
		if !math.IsNaN(v) {
			img.Set(i/height, height-1-i%height, mapColors[bar.index(v)])
		}
	}
	return img
}

// dots returns scattered points in the colors of their values. The size of the dots decreases with their number.
func (p plane) dots(values []float64, bar colorBar) plot.Plotter {
	radius := vg.Points(min(2.5, max(0.8, 36/math.Sqrt(float64(len(values))))))
	return &plotter.Scatter{XYs: points(p.x, p.y), GlyphStyleFunc: func(i int) draw.GlyphStyle {
		return draw.GlyphStyle{Color: mapColors[bar.index(values[i])], Radius: radius, Shape: draw.CircleGlyph{}}
	}}
}

// marks returns dots at the rows of data. More than fullMarks dots cover the same area as fullMarks, which is about a
// tenth of a map, so that the map remains visible.
func marks(data plane, clr color.Color, radius float64) plot.Plotter {
	const fullMarks = 600
	radius *= math.Sqrt(min(1, fullMarks/float64(len(data.x))))
	return &plotter.Scatter{XYs: points(data.x, data.y),
		GlyphStyle: draw.GlyphStyle{Color: clr, Radius: vg.Points(radius), Shape: draw.CircleGlyph{}}}
}

// border is the style of the borders and ticks of maps and color bars.
var border = draw.LineStyle{Color: color.Black, Width: vg.Points(0.5)}

// roundTicks returns ticks at the multiples of 1, 2 or 5 times a power of 10: at most six, and at least two.
func roundTicks(lo, hi float64) (all []plot.Tick) {
	const most = 6
	power := math.Pow(10, math.Floor(math.Log10((hi-lo)/most)))
	for _, factor := range []float64{1, 2, 5, 10} {
		step := factor * power
		first, last := math.Ceil(lo/step), math.Floor(hi/step)
		if last-first >= most {
			continue
		}
		for i := first; i <= last; i++ {
			v := i*step + 0 // + 0 removes the sign of −0
			all = append(all, plot.Tick{Value: v, Label: fmt.Sprintf("%.8g", v)})
		}
		return all
	}
	return all
}

// A frame is the border of a map.
type frame struct{}

// Plot draws the border.
func (frame) Plot(c draw.Canvas, _ *plot.Plot) { c.StrokeLines(border, rectangle(c.Rectangle)) }

// rectangle returns the closed border of r.
func rectangle(r vg.Rectangle) []vg.Point {
	return []vg.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}, r.Min}
}

// A colorBar maps values from lo to hi to colors, and is drawn to the right of a map.
type colorBar struct{ lo, hi float64 }

const (
	barGap   = 3 * vg.Millimeter
	barWidth = 4 * vg.Millimeter
	barTick  = vg.Millimeter
)

// extent returns the smallest and the largest value, without NaNs.
func extent(values []float64) (lo, hi float64) {
	known := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	return floats.Min(known), floats.Max(known)
}

// colorBarOf returns the color bar of values. If they differ only by rounding errors, they get the color in the middle.
func colorBarOf(values []float64) colorBar {
	lo, hi := extent(values)
	size := max(math.Abs(lo), math.Abs(hi))
	if hi-lo > 1e-9*size {
		return colorBar{lo, hi}
	}
	if size == 0 {
		size = 1
	}
	return colorBar{lo - size/10, hi + size/10}
}

// index returns the index of a value's color.
func (b colorBar) index(v float64) uint8 {
	last := float64(len(mapColors) - 1)
	return uint8(math.Round(max(0, min(1, (v-b.lo)/(b.hi-b.lo))) * last))
}

// barLabel is the style of the labels of a color bar.
var barLabel = func() draw.TextStyle {
	style := textStyle
	style.Font.Size, style.YAlign = vg.Points(9), draw.YCenter
	return style
}()

// Plot draws the bar with ticks.
func (b colorBar) Plot(c draw.Canvas, _ *plot.Plot) {
	left := c.Max.X + barGap
	bar := vg.Rectangle{Min: vg.Point{X: left, Y: c.Min.Y}, Max: vg.Point{X: left + barWidth, Y: c.Max.Y}}
	img := image.NewPaletted(image.Rect(0, 0, 1, len(mapColors)), mapColors)
	for i := range mapColors {
		img.SetColorIndex(0, len(mapColors)-1-i, uint8(i))
	}
	c.DrawImage(bar, img)
	c.StrokeLines(border, rectangle(bar))
	for _, t := range roundTicks(b.lo, b.hi) {
		y := c.Min.Y + vg.Length((t.Value-b.lo)/(b.hi-b.lo))*(c.Max.Y-c.Min.Y)
		c.StrokeLine2(border, bar.Max.X, y, bar.Max.X+barTick, y)
		c.FillText(barLabel, vg.Point{X: bar.Max.X + 2*barTick, Y: y}, t.Label)
	}
}

// GlyphBoxes reserves space for the bar and its labels.
func (b colorBar) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	labels := vg.Length(0)
	for _, t := range roundTicks(b.lo, b.hi) {
		labels = max(labels, barLabel.Width(t.Label))
	}
	right := barGap + barWidth + 3*barTick + labels
	return []plot.GlyphBox{{X: 1, Y: 0.5, Rectangle: vg.Rectangle{Max: vg.Point{X: right}}}}
}

// newMaps returns a chart with two maps side by side.
func newMaps(title, text string, p plane, left, right *plot.Plot) *chart {
	return &chart{Title: title, Text: text, panel: left, right: right, aspect: p.aspect()}
}

// predictionMaps returns the maps of the mean and the standard deviation of each output of a prediction at points of a
// plane.
func predictionMaps(m *vssgp.Model, p *vssgp.Prediction, noise bool, at, data plane) (charts []*chart) {
	sd, what := p.SD(noise), predicted(noise)
	for d, name := range outputNames(m)[:min(p.D, maxSeries)] {
		mean, spread := column(p.Mean, p.D, d), column(sd, p.D, d)
		text := fmt.Sprintf("The predictive mean, %s to %s, and the standard deviation of %s, %s to %s.",
			short(floats.Min(mean)), short(floats.Max(mean)), what, short(floats.Min(spread)), short(floats.Max(spread)))
		charts = append(charts, newMaps("Map of "+name, text, at,
			at.panel(name+", mean", mean, data), at.panel(name+", standard deviation", spread, data)))
	}
	return charts
}

// fitMaps returns the maps of a fit of two inputs: predictions over the range of the data, the data, and their
// residuals. It returns nil if there are not two inputs that vary.
func fitMaps(ctx context.Context, m *vssgp.Model, data *vssgp.Data) (charts []*chart, err error) {
	inputs, names := varying(data.X, data.Q), inputNames(m)
	if data.Q != 2 || len(inputs) != 2 {
		return nil, nil
	}
	grid := gridOver(data, [2]int{reportSide, reportSide})
	p, err := m.Predict(ctx, grid)
	if err != nil {
		return nil, err
	}
	var rows plane
	shown := observed{x: data.X, y: data.Y,
		text: "The values of " + Counted(data.N, "row") + ", and the values minus the mean"}
	if data.N > MaxMarks {
		shown = cellMeans(data)
	} else {
		rows = planeOf(names, data.X, inputs, nil)
	}
	charts = predictionMaps(m, p, true, planeOf(names, grid, inputs, []int{reportSide, reportSide}), rows)
	residuals, err := shown.maps(ctx, m)
	return append(charts, residuals...), err
}

// observed are the values of the data to show in maps: at the rows, or means over the cells of a grid.
type observed struct {
	x, y  []float64 // [N,2] and [N,D], NaN in cells without rows
	sizes []int     // of the grid, nil for rows
	text  string    // what y and the residuals are
}

// maps returns the maps of the values and their residuals for each output.
func (o observed) maps(ctx context.Context, m *vssgp.Model) (charts []*chart, err error) {
	p, err := m.Predict(ctx, o.x)
	if err != nil {
		return nil, err
	}
	at := planeOf(inputNames(m), o.x, []int{0, 1}, o.sizes)
	for d, name := range outputNames(m)[:min(p.D, maxSeries)] {
		y := column(o.y, p.D, d)
		rest := floats.SubTo(make([]float64, p.N), y, column(p.Mean, p.D, d))
		lo, hi := extent(rest)
		text := fmt.Sprintf("%s, %s to %s.", o.text, short(lo), short(hi))
		charts = append(charts, newMaps("Data and residuals of "+name, text, at,
			at.panel(name+", data", y, plane{}), at.panel(name+" − mean", rest, plane{})))
	}
	return charts, nil
}

// cellMeans returns the means of the outputs over the cells of a grid. Its points are the centers of the cells.
func cellMeans(data *vssgp.Data) observed {
	sides := cells(data)
	o := observed{x: gridOver(data, sides), y: make([]float64, sides[0]*sides[1]*data.D), sizes: sides[:]}
	o.text = fmt.Sprintf("The means of %d rows over %d × %d cells, empty for cells without rows, and these values minus "+
		"the predictive mean at the centers", data.N, sides[0], sides[1])
	last, counts := o.x[len(o.x)-2:], make([]float64, sides[0]*sides[1])
	for n := range data.N {
		var at [2]int
		for q := range at {
			lo, hi := o.x[q], last[q]
			at[q] = int(math.Round((data.X[2*n+q] - lo) / (hi - lo) * float64(sides[q]-1)))
		}
		cell := at[0]*sides[1] + at[1]
		counts[cell]++
		floats.Add(o.y[cell*data.D:][:data.D], data.Y[n*data.D:][:data.D])
	}
	for i := range o.y {
		o.y[i] /= counts[i/data.D] // NaN without rows
	}
	return o
}

// cells returns the number of cells along each input: its number of values, so that the rows of a grid have own cells.
// If there are too many, cells of scattered rows have four on average, so that few are empty.
func cells(data *vssgp.Data) (sides [2]int) {
	const rows = 4
	for q := range sides {
		values := column(data.X, 2, q)
		slices.Sort(values)
		if sides[q] = len(slices.Compact(values)); sides[q] > reportSide {
			sides[q] = min(reportSide, int(math.Sqrt(float64(data.N)/rows)))
		}
	}
	return sides
}

// gridOver returns a grid [sides[0]·sides[1],2] over the range of data with two inputs.
func gridOver(data *vssgp.Data, sides [2]int) (x []float64) {
	var axes [2][]float64
	for q, side := range sides {
		v := column(data.X, 2, q)
		axes[q] = floats.Span(make([]float64, side), floats.Min(v), floats.Max(v))
	}
	for _, a := range axes[0] {
		for _, b := range axes[1] {
			x = append(x, a, b)
		}
	}
	return x
}
