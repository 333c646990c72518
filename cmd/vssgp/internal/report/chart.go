package report

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"image/color"
	"iter"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A chart is a panel with a title and a text alternative for screen readers. Its methods omit values that are not finite.
type chart struct {
	Title, Text string
	panel       *plot.Plot
	right       *plot.Plot // a second panel on the right, nil for none; then each panel has its own title
	aspect      float64    // height of the data area divided by its width; 0 to fill the chart
	legend      []entry
	logY        bool // if all y are positive
}

func newChart(title, text, x, y string) *chart {
	c := &chart{Title: title, Text: text, panel: newPanel("", x, y)}
	c.panel.X.Tick.Marker, c.panel.Y.Tick.Marker = plot.TickerFunc(ticks), plot.TickerFunc(ticks)
	return c
}

// ticks returns plot's default ticks with distinct labels. Plot's own labels may be rounded to the same text.
func ticks(lo, hi float64) []plot.Tick {
	all := plot.DefaultTicks{}.Ticks(lo, hi)
	for i, t := range all {
		if math.Abs(t.Value) < 1e-9*(hi-lo) { // a rounding error
			t.Value = 0
		}
		if t.Label != "" {
			all[i].Label = fmt.Sprintf("%.8g", t.Value)
		}
	}
	return all
}

// dateSteps are the possible steps of ticks on an axis of dates, in months or as a duration, with the layouts of their labels.
var dateSteps = []struct {
	months int
	time   time.Duration
	layout string
}{
	{0, time.Second, "15:04:05"}, {0, 10 * time.Second, "15:04:05"}, {0, time.Minute, "15:04"}, {0, 5 * time.Minute, "15:04"},
	{0, 15 * time.Minute, "01-02 15:04"}, {0, time.Hour, "01-02 15:04"}, {0, 3 * time.Hour, "01-02 15:04"},
	{0, 6 * time.Hour, "01-02 15:04"}, {0, 12 * time.Hour, "01-02 15:04"}, {0, 24 * time.Hour, time.DateOnly},
	{0, 48 * time.Hour, time.DateOnly}, {0, 7 * 24 * time.Hour, time.DateOnly}, {0, 14 * 24 * time.Hour, time.DateOnly},
	{1, 0, "2006-01"}, {2, 0, "2006-01"}, {3, 0, "2006-01"}, {6, 0, "2006-01"}, {12, 0, "2006"}, {24, 0, "2006"}, {60, 0, "2006"},
	{120, 0, "2006"}, {240, 0, "2006"}, {600, 0, "2006"}, {1200, 0, "2006"}, {6000, 0, "2006"}, {12000, 0, "2006"},
}

// dateTicks returns at most four ticks at round dates for an axis in seconds since 1970.
func dateTicks(lo, hi float64) (all []plot.Tick) {
	for _, s := range dateSteps {
		all = all[:0]
		at := time.Unix(int64(lo), 0).UTC()
		if s.months > 0 {
			month := at.Year()*12 + int(at.Month()) - 1
			at = time.Date(0, time.Month(month/s.months*s.months+1), 1, 0, 0, 0, 0, time.UTC)
		} else {
			at = at.Truncate(s.time)
		}
		for ; len(all) < 5 && float64(at.Unix()) <= hi; at = at.AddDate(0, s.months, 0).Add(s.time) {
			if v := float64(at.Unix()); v >= lo {
				all = append(all, plot.Tick{Value: v, Label: at.Format(s.layout)})
			}
		}
		if len(all) < 5 {
			break
		}
	}
	return all
}

// add adds a plotter and, if its name is new, an entry of the legend.
func (c *chart) add(name string, mark plot.Thumbnailer, p plot.Plotter) {
	c.panel.Add(p)
	if name != "" && !slices.ContainsFunc(c.legend, func(e entry) bool { return e.name == name }) {
		c.legend = append(c.legend, entry{name, mark})
	}
}

// runs yields the ranges of indices at which all columns are finite.
func runs(columns ...[]float64) iter.Seq2[int, int] {
	finite := func(i int) bool {
		return !slices.ContainsFunc(columns, func(c []float64) bool { return math.IsNaN(c[i]) || math.IsInf(c[i], 0) })
	}
	return func(yield func(lo, hi int) bool) {
		for lo, n := 0, len(columns[0]); lo < n; lo++ {
			hi := lo
			for hi < n && finite(hi) {
				hi++
			}
			if hi > lo && !yield(lo, hi) {
				return
			}
			lo = hi
		}
	}
}

// line adds a line through the points of each run.
func (c *chart) line(name string, clr color.Color, x, y []float64) {
	for lo, hi := range runs(x, y) {
		l := &plotter.Line{XYs: points(x[lo:hi], y[lo:hi]), LineStyle: stroke(clr)}
		c.add(name, l, l)
	}
}

func (c *chart) points(name string, clr color.Color, x, y []float64) {
	s := &plotter.Scatter{GlyphStyle: draw.GlyphStyle{Color: clr, Radius: vg.Points(1.2), Shape: draw.CircleGlyph{}}}
	for lo, hi := range runs(x, y) {
		s.XYs = append(s.XYs, points(x[lo:hi], y[lo:hi])...)
	}
	if len(s.XYs) > 0 {
		c.add(name, s, s)
	}
}

// transparent returns a translucent version of a color.
func transparent(c color.RGBA) color.Color { return color.NRGBA{c.R, c.G, c.B, 0x48} }

// band fills the area between lower and upper with a translucent color.
func (c *chart) band(name string, clr color.RGBA, x, lower, upper []float64) {
	c.area(name, transparent(clr), x, lower, upper)
}

// An interval is a band of a fan.
type interval struct {
	level        float64 // in percent
	lower, upper []float64
}

// fan adds nested bands, of which one has the level 95. No band covers another one, so the legend shows
// their shades.
func (c *chart) fan(clr color.RGBA, x []float64, bands []interval) {
	bands = slices.SortedFunc(slices.Values(bands), func(a, b interval) int { return cmp.Compare(b.level, a.level) })
	usual := slices.IndexFunc(bands, func(b interval) bool { return b.level == 95 })
	for i, b := range bands {
		const alpha, darkest = 0x48, 0xa0 // of the usual band, as in band
		shade := alpha * (i + 1) / (usual + 1)
		if narrower := len(bands) - 1 - usual; i > usual {
			shade = alpha + (darkest-alpha)*(i-usual)/max(narrower, 2)
		}
		name, own := fmt.Sprintf("%v %% band", b.level), color.NRGBA{clr.R, clr.G, clr.B, uint8(shade)}
		if i == len(bands)-1 {
			c.area(name, own, x, b.lower, b.upper)
			break
		}
		c.area(name, own, x, b.lower, bands[i+1].lower)
		c.area(name, own, x, bands[i+1].upper, b.upper)
	}
}

// area fills the area between lower and upper.
func (c *chart) area(name string, clr color.Color, x, lower, upper []float64) {
	for lo, hi := range runs(x, lower, upper) {
		back := points(x[lo:hi], lower[lo:hi])
		slices.Reverse(back)
		p := &plotter.Polygon{XYs: []plotter.XYs{append(points(x[lo:hi], upper[lo:hi]), back...)}, Color: clr}
		c.add(name, p, p)
	}
}

// stems adds a stem plot of y on a logarithmic scale over x ≥ 0, in which each point has an interval [lower, upper] of x.
func (c *chart) stems(clr color.RGBA, x, y, lower, upper []float64) {
	c.logY = true
	base := floats.Min(y) / 2 // so that the smallest has a stem
	c.line("", clr, []float64{0, 1.02 * floats.Max(upper)}, []float64{base, base})
	for i := range x {
		c.line("", clr, []float64{x[i], x[i]}, []float64{base, y[i]})
		c.line("", clr, []float64{lower[i], upper[i]}, []float64{y[i], y[i]})
	}
	c.points("", clr, x, y)
}

// frame sets the range of x and adds a margin to the range of y, so that no point is on the border.
func (c *chart) frame(from, to float64) {
	const margin = 0.04
	if y := &c.panel.Y; y.Min < y.Max {
		y.Min, y.Max = y.Min-margin*(y.Max-y.Min), y.Max+margin*(y.Max-y.Min)
	}
	c.panel.X.Min, c.panel.X.Max = from, to
}

// label adds a text to the right of a point.
func (c *chart) label(x, y float64, text string) {
	style := textStyle
	style.Font.Size = vg.Points(9)
	c.panel.Add(&plotter.Labels{XYs: plotter.XYs{{X: x, Y: y}}, Labels: []string{text},
		TextStyle: []draw.TextStyle{style}, Offset: vg.Point{X: vg.Points(3)}})
}

// A rule is a vertical line with a label above the plot, in the given row of labels.
type rule struct {
	at    float64
	label string
	row   int
}

const ruleRow = 4 * vg.Millimeter

// Plot draws the rule over the full height of the plot.
func (r rule) Plot(c draw.Canvas, p *plot.Plot) {
	x, top := c.X(p.X.Norm(r.at)), c.Max.Y+vg.Length(r.row)*ruleRow
	if !c.ContainsX(x) {
		return
	}
	c.StrokeLine2(stroke(Red), x, c.Min.Y, x, top)
	style, gap := textStyle, vg.Points(3)
	if style.Color, style.Font.Size = Red, vg.Points(9); x > c.Center().X {
		style.XAlign, gap = draw.XRight, -gap
	}
	c.FillText(style, vg.Point{X: x + gap, Y: top}, r.label)
}

// GlyphBoxes reserves space for the label.
func (r rule) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	return []plot.GlyphBox{{X: 0.5, Y: 1, Rectangle: vg.Rectangle{Max: vg.Point{Y: vg.Length(r.row+1) * ruleRow}}}}
}

// A shade fills the full height of the plot between two x.
type shade struct{ from, to float64 }

var shadeColor = transparent(Orange)

func (s shade) Plot(c draw.Canvas, p *plot.Plot) {
	from, to := max(c.Min.X, c.X(p.X.Norm(s.from))), min(c.Max.X, c.X(p.X.Norm(s.to)))
	if from < to {
		c.FillPolygon(shadeColor, []vg.Point{{X: from, Y: c.Min.Y}, {X: to, Y: c.Min.Y}, {X: to, Y: c.Max.Y}, {X: from, Y: c.Max.Y}})
	}
}

// figureOf returns a figure with the charts in one column. Charts without an aspect have the given height.
func figureOf(charts []*chart, width, height vg.Length) figure {
	f := figure{width: width}
	for _, c := range charts {
		f.rows = append(f.rows, c.rows(width, height)...)
		for _, e := range c.legend {
			if len(c.legend) > 1 && !slices.ContainsFunc(f.legend, func(o entry) bool { return o.name == e.name }) {
				f.legend = append(f.legend, e)
			}
		}
	}
	for _, r := range f.rows {
		f.height += r.height
	}
	return f
}

// rows returns the rows of the chart in a figure: two panels are side by side if they are not too narrow.
func (c *chart) rows(width, height vg.Length) []row {
	if c.right == nil {
		c.complete()
		return []row{{panels: []*plot.Plot{c.panel}, height: height}}
	}
	const (
		narrow          = 8 * vg.Centimeter                       // width of a panel
		across, above   = 3.8 * vg.Centimeter, 2 * vg.Centimeter  // space around the data area
		lowest, tallest = 4.5 * vg.Centimeter, 14 * vg.Centimeter // of a panel
	)
	columns := [][]*plot.Plot{{c.panel, c.right}}
	if width < 2*narrow {
		columns = [][]*plot.Plot{{c.panel}, {c.right}}
	}
	var rows []row
	for _, panels := range columns {
		data := width/vg.Length(len(panels)) - across
		high := min(tallest, max(lowest, data*vg.Length(c.aspect)+above))
		rows = append(rows, row{panels: panels, height: high, aspect: c.aspect})
	}
	return rows
}

// complete sets the title and the scale of the panel.
func (c *chart) complete() {
	p := c.panel
	if p.Title.Text = c.Title; c.logY && p.Y.Min > 0 && !math.IsInf(p.Y.Min, 1) {
		if p.Y.Max < 1.1*p.Y.Min { // plot would extend an empty range below 0
			p.Y.Min, p.Y.Max = p.Y.Min/2, 2*p.Y.Max
		}
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
}

// Wide returns the chart as an element of a page for wide screens.
func (c *chart) Wide() (template.HTML, error) { return c.element(22*vg.Centimeter, 7*vg.Centimeter) }

// Narrow returns the chart for phones, on which the text of a wide chart would be too small.
func (c *chart) Narrow() (template.HTML, error) { return c.element(10*vg.Centimeter, 7*vg.Centimeter) }

var (
	styleAttribute = regexp.MustCompile(`style="[^"]*"`)
	declaration    = regexp.MustCompile(`([a-z-]+):([^;]+);?`)
)

// element returns the chart as an svg element, without its title, which is part of the page. It replaces style attributes, which the page's
// policy forbids, by presentation attributes. It replaces black by the color of the page's text.
func (c *chart) element(width, height vg.Length) (template.HTML, error) {
	untitled := *c
	untitled.Title = ""
	f := figureOf([]*chart{&untitled}, width, height)
	for _, r := range f.rows {
		for _, p := range r.panels {
			p.BackgroundColor = nil
		}
	}
	var b bytes.Buffer
	if err := f.SVG(&b); err != nil {
		return "", fmt.Errorf("draw %q: %w", c.Title, err)
	}
	svg := styleAttribute.ReplaceAllStringFunc(b.String(), func(style string) string {
		attributes := declaration.ReplaceAllString(style[len(`style="`):len(style)-1], `$1="$2" `)
		return strings.ReplaceAll(attributes, "#000000", "currentColor")
	})
	return template.HTML(svg[strings.Index(svg, "<svg"):]), nil
}
