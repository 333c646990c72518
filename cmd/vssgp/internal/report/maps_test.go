package report

import (
	"bytes"
	"image/color"
	"image/png"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/testkit"
)

// gridPoints returns the points of a grid whose last input varies fastest.
func gridPoints(a, b []float64) (x []float64) {
	for _, u := range a {
		for _, v := range b {
			x = append(x, u, v)
		}
	}
	return x
}

// TestPicture checks the orientation of a map: the first input increases to the right, the second one upward. A value
// that is NaN is transparent.
func TestPicture(t *testing.T) {
	p := planeOf([]string{"a", "b"}, gridPoints([]float64{0, 1, 2}, []float64{5, 7}), []int{0, 1}, []int{3, 2})
	bar := colorBar{0, 255}
	img := p.picture([]float64{0, 10, 20, math.NaN(), 40, 255}, bar)
	for _, c := range []struct {
		column, row int
		want        color.Color
	}{
		{0, 1, mapColors[0]}, {0, 0, mapColors[10]}, {1, 1, mapColors[20]}, {1, 0, color.Transparent},
		{2, 1, mapColors[40]}, {2, 0, mapColors[255]},
	} {
		want := color.RGBAModel.Convert(c.want)
		testkit.Equal(t, img.At(c.column, c.row), want, "column ", c.column, ", row ", c.row, " from the top")
	}
	swapped := planeOf([]string{"a", "b"}, []float64{1, 2, 3, 4}, []int{1, 0}, nil)
	testkit.Equal(t, swapped.names, [2]string{"b", "a"}, "names")
	testkit.Equal(t, swapped.x, []float64{2, 4}, "the horizontal input")
}

// TestColors checks that lightness increases along the colors, that they differ from black and white, and that values
// outside of the bar, and equal values, have colors.
func TestColors(t *testing.T) {
	light := func(i int) float64 { // the luminance of sRGB
		linear := func(v uint32) float64 { return math.Pow((float64(v)/math.MaxUint16+0.055)/1.055, 2.4) }
		r, g, b, _ := mapColors[i].RGBA()
		return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
	}
	last := len(mapColors) - 1
	if light(0) < 0.002 || light(last) > 0.95 {
		t.Errorf("the colors have lightness %v to %v", light(0), light(last))
	}
	for i := 16; i <= last; i += 16 {
		if light(i) <= light(i-16) {
			t.Errorf("color %d is not lighter than color %d", i, i-16)
		}
	}
	for _, c := range []struct {
		values []float64
		v      float64
		want   int
	}{
		{[]float64{1, 3, 2}, 1, 0}, {[]float64{1, 3, 2}, 3, last}, {[]float64{1, 3, 2}, -5, 0}, {[]float64{1, 3, 2}, 9, last},
		{[]float64{7, 7, 7}, 7, 128}, {[]float64{0, 0}, 0, 128}, {[]float64{-2, -2 - 1e-15}, -2, 128},
		{[]float64{0, 1e-200}, 1e-200, last}, {[]float64{math.NaN(), 1, 3}, 3, last},
	} {
		testkit.Equal(t, int(colorBarOf(c.values).index(c.v)), c.want, "color of ", c.v, " among ", c.values)
	}
}

// TestRoundTicks checks that there are two to six ticks, at round numbers within the range.
func TestRoundTicks(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		want   string
	}{
		{0, 1, "0 0.2 0.4 0.6 0.8 1"}, {0.27, 99.6, "20 40 60 80"}, {-3, 3, "-2 0 2"}, {1.02, 1.58, "1.1 1.2 1.3 1.4 1.5"},
		{-0.5, 2.5, "0 1 2"}, {-0.4, 2.1, "0 0.5 1 1.5 2"}, {5432100, 5432900, "5432200 5432400 5432600 5432800"},
		{0, 2e-9, "0 5e-10 1e-09 1.5e-09 2e-09"},
	} {
		var labels []string
		for _, tick := range roundTicks(c.lo, c.hi) {
			labels = append(labels, tick.Label)
		}
		testkit.Equal(t, strings.Join(labels, " "), c.want, c.lo, " to ", c.hi)
	}
	for v := 1e-3; v < 1e3; v *= 1.01 {
		if n := len(roundTicks(3*v, 4*v)); n < 2 || n > 6 {
			t.Errorf("%d ticks from %v to %v", n, 3*v, 4*v)
		}
	}
}

// TestMarks checks that marks have their full size if they are few, and that the area of more does not grow.
func TestMarks(t *testing.T) {
	for n, want := range map[int]vg.Length{1: 2, 600: 2, 2400: 1, 60_000: 0.2} {
		rows := plane{x: make([]float64, n), y: make([]float64, n)}
		radius := marks(rows, markColor, 2).(*plotter.Scatter).GlyphStyle.Radius
		testkit.Near(t, float64(radius), float64(want), 1e-12, n, " marks")
	}
}

// TestVarying checks which inputs have more than one value.
func TestVarying(t *testing.T) {
	for _, c := range []struct {
		x    []float64
		q    int
		want []int
	}{
		{[]float64{1, 2, 1, 3}, 2, []int{1}}, {[]float64{1, 2, 2, 3}, 2, []int{0, 1}}, {[]float64{1, 2}, 2, nil},
		{[]float64{1, 2}, 1, []int{0}},
		{[]float64{1, 2, 3, 1, 5, 3, 1, 2, 4}, 3, []int{1, 2}},
	} {
		testkit.Equal(t, varying(c.x, c.q), c.want, c.x)
	}
}

// TestBounds checks that the cells of a grid are centered at its points, and that scattered points have a margin.
func TestBounds(t *testing.T) {
	x := gridPoints([]float64{0, 1, 2}, []float64{10, 14})
	for _, c := range []struct {
		sizes []int
		want  []float64
	}{{[]int{3, 2}, []float64{-0.5, 2.5, 8, 16}}, {nil, []float64{-0.06, 2.06, 9.88, 14.12}}} {
		left, right, bottom, top := planeOf([]string{"a", "b"}, x, []int{0, 1}, c.sizes).bounds()
		testkit.Within(t, "bounds", []float64{left, right, bottom, top}, c.want, 1e-12)
	}
}

// shape is a picture of an SVG file.
type shape struct{ width, height float64 }

var pictureSize = regexp.MustCompile(`<image x="[^"]*" y="[^"]*" width="([^"]*)" height="([^"]*)"`)

// picturesOf returns the pictures of an SVG file: for each map its picture, unless it is of scattered points, and its
// color bar.
func picturesOf(t *testing.T, svg string) (all []shape) {
	t.Helper()
	for _, found := range pictureSize.FindAllStringSubmatch(svg, -1) {
		w, h := testkit.Must(strconv.ParseFloat(found[1], 64))(t), testkit.Must(strconv.ParseFloat(found[2], 64))(t)
		all = append(all, shape{w, h})
	}
	return all
}

// TestAspect checks that the axes of both maps have equal scales unless the ranges differ by more than a factor of 5,
// in figures of any width, and that two maps are side by side only if there is space.
func TestAspect(t *testing.T) {
	for _, c := range []struct{ across, up, want float64 }{
		{10, 10, 1}, {100, 60, 0.6}, {3, 12, 4}, {12, 3, 0.25}, {1, 30, filled}, {1e4, 1, filled}, {5, 1, 0.2},
		{1e-3, 4e-3, 4},
	} {
		const n = 6
		axis := func(size float64) (v []float64) { // the cells of n values extend over the size
			for i := range n {
				v = append(v, 50+size*float64(i)/n)
			}
			return v
		}
		p := planeOf([]string{"a", "b"}, gridPoints(axis(c.across), axis(c.up)), []int{0, 1}, []int{n, n})
		values := testkit.Numbers(n*n, func(i int) float64 { return float64(i) })
		for _, width := range []vg.Length{22 * vg.Centimeter, 10 * vg.Centimeter} {
			maps := newMaps("", "", p, p.panel("left", values, plane{}), p.panel("right", values, plane{}))
			f := figureOf([]*chart{maps}, width, vg.Centimeter)
			testkit.Equal(t, len(f.rows), map[bool]int{true: 1, false: 2}[width > 20*vg.Centimeter], "rows")
			var b bytes.Buffer
			testkit.OK(t, f.SVG(&b))
			all := picturesOf(t, b.String())
			if len(all) != 4 {
				t.Fatalf("%d pictures, want two maps and two color bars", len(all))
			}
			for i := 0; i < 4; i += 2 {
				if got := all[i].height / all[i].width; math.Abs(got/c.want-1) > 0.01 {
					t.Errorf("%v by %v, width %v: map %d has aspect %v, want %v", c.across, c.up, width, i/2, got, c.want)
				}
				testkit.Near(t, all[i+1].height, all[i].height, 1e-3, "height of the color bar")
			}
		}
	}
}

// TestMapsInFigure checks that maps and other charts of a figure do not overlap and that the other charts are aligned.
func TestMapsInFigure(t *testing.T) {
	p := planeOf([]string{"a", "b"}, gridPoints([]float64{0, 1}, []float64{0, 1}), []int{0, 1}, []int{2, 2})
	values := []float64{1, 2, 3, 4}
	maps := func() *chart {
		return newMaps("", "", p, p.panel("left", values, plane{}), p.panel("right", values, plane{}))
	}
	lines := func(factor float64) *chart {
		c := newChart("lines", "", "x", "y")
		c.line("one", Red, []float64{0, 1}, []float64{0, factor})
		return c
	}
	f := figureOf([]*chart{lines(1), maps(), maps(), lines(1), lines(1e6)}, 22*vg.Centimeter, 8*vg.Centimeter)
	var sizes []int
	for group := range groups(f.rows) {
		sizes = append(sizes, len(group))
	}
	testkit.Equal(t, sizes, []int{1, 2, 2}, "rows in each group")
	f.draw(draw.New(vgsvg.New(f.width, f.height)))
	total := vg.Length(0)
	for _, r := range f.rows {
		total += r.height
	}
	testkit.Equal(t, f.height, total, "height")
}

// TestPredictMaps checks the maps of a prediction: of a grid, of scattered rows and of a slice, in all formats.
func TestPredictMaps(t *testing.T) {
	m, _, data := several(t)
	grid := gridPoints([]float64{0, 0.5, 1}, []float64{0, 0.25, 0.5, 1})
	still := gridPoints([]float64{0.3}, []float64{0, 0.5, 1})
	for name, c := range map[string]struct {
		view     Predicted
		pictures int
		page     []string
	}{
		"grid": {Predicted{X: grid, Sizes: []int{3, 4}, Rows: 12}, 8,
			[]string{"Map of y0", "Map of y1", "of the function without noise", "12 rows"}},
		"thinned": {Predicted{X: grid, Sizes: []int{3, 4}, Rows: 500, Noise: true}, 8,
			[]string{"of an observation", "The maps have 12 points over the same range; the output has all."}},
		"marked": {Predicted{X: grid, Sizes: []int{3, 4}, Rows: 12, Data: data.X, DataShare: "The dots are data."}, 8,
			[]string{"The dots are data."}},
		"scattered": {Predicted{X: data.X, Rows: data.N, Drawn: 3}, 4, []string{"Map of y0", "the charts show 0"}},
		"first":     {Predicted{X: data.X, Rows: 1000}, 4, []string{"only the first 60 rows"}},
		"curve": {Predicted{X: still, Sizes: []int{1, 3}, Rows: 3, Value: func(_ int, x float64) any { return x }}, 0,
			[]string{"<b>y1 at a 0.3</b>", "95 % interval"}},
	} {
		c.view.P = testkit.Must(m.Predict(t.Context(), c.view.X))(t)
		d := Predict(m, c.view)
		testkit.Contains(t, written(t, d), c.page...)
		svg := writtenAs(t, d, SVG)
		testkit.Equal(t, len(picturesOf(t, svg)), c.pictures, name)
		if c.pictures > 0 {
			testkit.Contains(t, svg, ">y0, mean<", ">y0, standard deviation<", ">y1, mean<", ">a<", ">b<")
			testkit.Equal(t, strings.Count(svg, `preserveAspectRatio="none"`), c.pictures, name)
		} else {
			testkit.Contains(t, svg, ">y0 at a 0.3<", ">b<")
		}
		dark, ringed := strings.Count(svg, "fill:#111111"), len(c.view.Data)/2*4
		testkit.Equal(t, dark, ringed, name, ": marks in four maps")
		img := testkit.Must(png.Decode(strings.NewReader(writtenAs(t, d, PNG))))(t)
		if w, h := img.Bounds().Dx(), img.Bounds().Dy(); w != 1247 || h < 500 {
			t.Errorf("%s: a picture of %d by %d dots", name, w, h)
		}
	}
}

// TestFitMaps checks that the report of a fit of two inputs has maps, and that a fit of another number of inputs has
// none.
func TestFitMaps(t *testing.T) {
	m, _, data := several(t)
	charts := testkit.Must(fitMaps(t.Context(), m, data))(t)
	var titles []string
	for _, c := range charts {
		titles = append(titles, c.Title)
	}
	want := []string{"Map of y0", "Map of y1", "Data and residuals of y0", "Data and residuals of y1"}
	testkit.Equal(t, titles, want, "charts")
	for i, want := range []int{2, 2, 1, 1} {
		text := pictureOf(t, charts[i])
		testkit.Equal(t, len(picturesOf(t, text)), 2*want, titles[i])
	}
	constant := *data
	constant.X = slices.Clone(data.X)
	for n := range data.N {
		constant.X[2*n] = 1
	}
	for name, d := range map[string]*vssgp.Data{
		"a constant input": &constant, "one input": {N: 60, Q: 1, D: 2, X: data.X[:60], Y: data.Y},
	} {
		if charts, err := fitMaps(t.Context(), m, d); charts != nil || err != nil {
			t.Errorf("%s: %d charts, %v", name, len(charts), err)
		}
	}
}

// TestDenseFitMaps checks that the maps of many rows have no dots, and that data and residuals are means over cells.
func TestDenseFitMaps(t *testing.T) {
	m, _, few := several(t)
	data := *few
	data.N, data.X, data.Y = 60*51, slices.Repeat(few.X, 51), slices.Repeat(few.Y, 51)
	for i, c := range testkit.Must(fitMaps(t.Context(), m, &data))(t) {
		svg := pictureOf(t, c)
		testkit.Equal(t, len(picturesOf(t, svg)), 4, c.Title)
		testkit.Equal(t, strings.Count(svg, "fill:#111111"), 0, c.Title, ": marks")
		if i >= 2 {
			testkit.Contains(t, c.Text, "The means of 3060 rows over 60 × 60 cells, empty for")
		}
	}
}

// TestCellMeans checks the means over cells. The centers of the first and the last cell are the ends of the range.
func TestCellMeans(t *testing.T) {
	none := math.NaN()
	for name, c := range map[string]struct {
		x, y, want []float64
		sizes      []int
		last       []float64 // center
	}{
		"a grid with holes": {[]float64{0, 10, 2, 20, 0, 10, 1, 10, 2, 10}, []float64{1, 5, 3, 7, 9},
			[]float64{2, none, 7, none, 9, 5}, []int{3, 2}, []float64{2, 20}},
		"uneven values": {[]float64{0, 0, 0.4, 0, 2, 5}, []float64{1, 2, 4}, []float64{1.5, none, none, none, none, 4},
			[]int{3, 2}, []float64{2, 5}},
	} {
		data := &vssgp.Data{N: len(c.y), Q: 2, D: 2, X: c.x}
		for _, v := range c.y {
			data.Y = append(data.Y, v, 10*v)
		}
		got := cellMeans(data)
		testkit.Equal(t, got.sizes, c.sizes, name)
		testkit.Equal(t, got.x[len(got.x)-2:], c.last, name, ": the last center")
		for d, scale := range []float64{1, 10} {
			for i, v := range column(got.y, 2, d) {
				if want := scale * c.want[i]; v != want && !(math.IsNaN(v) && math.IsNaN(want)) {
					t.Errorf("%s: output %d, cell %d: %v, want %v", name, d, i, v, want)
				}
			}
		}
	}
}

// TestCells checks the number of cells along each input: of a grid, of many values, and of a mixture.
func TestCells(t *testing.T) {
	for _, c := range []struct {
		n, first, second int // the number of rows, and of values of each input
		want             [2]int
	}{
		{3600, 60, 60, [2]int{60, 60}}, {10_000, 100, 100, [2]int{100, 100}}, {10_201, 101, 101, [2]int{50, 50}},
		{4000, 4000, 5, [2]int{31, 5}}, {90_000, 90_000, 300, [2]int{100, 100}},
	} {
		data := &vssgp.Data{N: c.n, Q: 2, D: 1}
		for n := range c.n {
			data.X = append(data.X, float64(n%c.first), float64(n%c.second))
		}
		testkit.Equal(t, cells(data), c.want, c)
	}
}
