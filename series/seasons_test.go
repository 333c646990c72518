package series

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// TestSeasons checks that the seasons in the data are found, including products, and that none is found in noise.
func TestSeasons(t *testing.T) {
	slow.Race(t)
	random := rand.New(rand.NewPCG(5, 5))
	const n = 24 * 7 * 6
	day := func(i int) float64 { return 3 * math.Sin(2*math.Pi*float64(i)/24) }
	weekend := func(i int) float64 {
		if i%168 >= 120 {
			return 0.4
		}
		return 1
	}
	for name, c := range map[string]struct {
		y    func(i int) float64
		want []string
	}{
		"day and week": {func(i int) float64 { return weekend(i)*(5+day(i)) + 0.3*random.NormFloat64() }, []string{"season 24", "season 168", "season 168 × season 24"}},
		"day":          {func(i int) float64 { return day(i) + 0.5*random.NormFloat64() }, []string{"season 24"}},
		"noise":        {func(i int) float64 { return random.NormFloat64() }, nil},
		"a cycle":      {func(i int) float64 { return math.Sin(2*math.Pi*float64(i)/37.3) + 0.5*random.NormFloat64() }, []string{"season 37.3"}},
	} {
		if !slow.Tests && (name == "day" || name == "a cycle") {
			continue
		}
		m := fit(t, seriesOf(n, func(i float64) float64 { return c.y(int(i)) }), Options{Draws: AtMode})
		var got []string
		for _, p := range m.Parts() {
			switch p := p.(type) {
			case Season:
				got = append(got, fmt.Sprintf("season %.3g", p.Period))
			case Product:
				got = append(got, p.name())
			}
		}
		testkit.Equal(t, got, c.want, name)
	}
}

// TestSeasonNyquist checks that a season is found if its strongest harmonic is at the Nyquist frequency.
func TestSeasonNyquist(t *testing.T) {
	for period, pattern := range map[float64][]float64{4: {6, -3, 2, -3}, 2: {3, -3}} {
		random := rand.New(rand.NewPCG(6, 6))
		m := fit(t, seriesOf(36, func(i float64) float64 {
			return pattern[int(i)%len(pattern)] + 0.02*i + 0.4*random.NormFloat64()
		}), Options{Draws: AtMode})
		testkit.Equal(t, m.Periods(), []float64{period}, "periods")
	}
}

// TestCalendar checks the seasons that Calendar returns.
func TestCalendar(t *testing.T) {
	like := func(p float64) Season { return Season{Period: p} }
	for _, c := range []struct {
		word       string
		step, rows float64
		want       string
	}{
		{"hour", 1, 1000, "24 | 168 × 24"}, {"hour", 60, 1000, "1440 | 10080 × 1440"}, {"hour", 1, 40000, "24 | 168 × 24 | 8766"}, {"hour", 1, 45, ""}, {"hour", 1, 46, "24"},
		{"day", 1, 300, "7"}, {"day", 1, 2000, "7 | 365.25"}, {"month", 1, 100, "12"}, {"quarter", 3, 100, "12"}, {"week", 7, 300, "365.25"}, {"", 1, 1000, ""},
	} {
		var got []string
		for _, parts := range Calendar(c.word, c.step, c.step*c.rows, nil, like) {
			text := fmt.Sprint(parts[0].(Season).Period)
			if len(parts) > 1 {
				text += fmt.Sprintf(" × %v", parts[1].(Product).Short.Period)
			}
			got = append(got, text)
		}
		if strings.Join(got, " | ") != c.want {
			t.Errorf("%s by %v, %v rows: %q, want %q", c.word, c.step, c.rows, got, c.want)
		}
	}
	if all := Calendar("hour", 1, 1000, []float64{24}, nil); len(all) != 1 || len(all[0]) != 1 {
		t.Errorf("with a known day: %v", all)
	}
	for _, step := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if all := Calendar("hour", step, 1000*math.Abs(step), nil, like); all != nil {
			t.Errorf("step %v: %v", step, all)
		}
	}
}

// TestSeasonGain checks that a season is accepted only if the log posterior increases by two nats, or ten for a period that is not a calendar
// period, plus one per hyper-parameter.
func TestSeasonGain(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	noise := make([]float64, 48)
	for i := range noise {
		noise[i] = random.NormFloat64()
	}
	for _, c := range []struct {
		season      Season
		least, most float64 // swing
		gain        float64
	}{{Season{Period: 6}, 0.3, 1, 2}, {Season{Period: 6, Cycle: true}, 0.8, 1.5, 10}} {
		o := Options{Parts: []Part{Constant{}}, Try: [][]Part{{c.season}}, Known: true}
		between := 0 // number of gains above two nats but below the threshold
		for swing := c.least; swing < c.most; swing += 0.05 {
			search := searchOf(t, seriesOf(len(noise), func(i float64) float64 { return noise[int(i)] + swing*math.Cos(2*math.Pi*i/6) }), o)
			without := testkit.Must(search.trial(o.Parts, nil))(t)
			with := testkit.Must(search.trial([]Part{Constant{}, c.season}, without))(t)
			best := testkit.Must(search.run())(t)
			gain, more := with.fit()-without.fit(), float64(len(with.mode)-len(without.mode))
			if accepted := len(best.parts) > 1; accepted != (gain > c.gain+more) {
				t.Errorf("%+v with %v hyper-parameters that gains %.2f nats is accepted: %v", c.season, more, gain, accepted)
			}
			if gain > 2 && gain < c.gain+more {
				between++
			}
		}
		if between == 0 {
			t.Errorf("%+v: no gain is between 2 nats and the threshold", c.season)
		}
	}
}

// TestCompanions checks that the companion of a season is the next longer calendar season.
func TestCompanions(t *testing.T) {
	for word, steps := range calendars {
		for i, p := range steps[:len(steps)-1] {
			if got, ok := companions[int(p)]; ok && got != steps[i+1] {
				t.Errorf("%s: companion of %v is %v, want %v", word, p, got, steps[i+1])
			}
		}
	}
	for _, day := range []int{24, 48, 96, 144, 288} {
		testkit.Equal(t, companions[day], float64(7*day), "companion of a day of ", day)
	}
}

// TestSeasonsTried checks the candidates of the search: no duplicates of Try and Parts or between outputs, and no season that
// explains less than a fifth of the residual sum of squares.
func TestSeasonsTried(t *testing.T) {
	wave := func(n int, period, swing, noise float64) Series {
		random := rand.New(rand.NewPCG(7, 7))
		return seriesOf(n, func(i float64) float64 {
			return swing*math.Cos(2*math.Pi*i/period) + 0.1*math.Sin(i*i) + noise*random.NormFloat64()
		})
	}
	s, outputs := wave(200, 19.9, 1, 0), wave(200, 20, 1, 0)
	outputs.Y = append(outputs.Y, nil)
	for _, v := range outputs.Y[0] {
		outputs.Y[1] = append(outputs.Y[1], -v)
	}
	for name, c := range map[string]struct {
		s    Series
		o    Options
		want int
	}{
		"found":            {s, Options{}, 1},
		"tried":            {s, Options{Try: [][]Part{{Season{Period: 20}}}}, 1},
		"known":            {s, Options{Parts: []Part{Constant{}, Season{Period: 20}}}, 0},
		"another is known": {s, Options{Parts: []Part{Constant{}, Season{Period: 10}}}, 1},
		"two outputs":      {outputs, Options{}, 1},
		"noise":            {wave(300, 15, 0, 1), Options{}, 0},
		"too little":       {wave(300, 15, 0.5, 1), Options{}, 0},
		"in noise":         {wave(300, 15, 1.5, 1), Options{}, 1},
	} {
		if found := searchOf(t, c.s, c.o); len(found.try) != c.want {
			t.Errorf("%s: %v are tried, want %d", name, found.try, c.want)
		}
	}
}

// TestCalendarCandidates checks the calendar season of few values: it is found if the data contain it four times, if no line is strong, and
// in addition to a trend.
func TestCalendarCandidates(t *testing.T) {
	for name, c := range map[string]struct {
		rows, period int
		y            func(i int) float64
	}{
		"four times": {28, 7, func(i int) float64 { return float64(i % 7) }},
		"one day":    {70, 7, func(i int) float64 { return float64(i % 7 / 6) }},
		"constant":   {60, 0, func(int) float64 { return 5 }},
		"rising":     {48, 12, func(i int) float64 { return float64(i%12) + 0.1*float64(i*i) }},
		"none":       {60, 0, func(i int) float64 { return math.Sin(float64(i * i)) }},
	} {
		s := seriesOf(c.rows, func(i float64) float64 { return c.y(int(i)) })
		f := frameOf(t, s, false)
		p, ok := newSpectrum(f.u, f.y[0], nil, f.Range, false).calendar(nil, 1)
		if p != c.period || ok != (c.period > 0) {
			t.Errorf("%s: season %d, want %d", name, p, c.period)
		}
	}
}

// TestHiddenCycle checks that a slow component of few values, which four half periods do not remove, does not hide a
// cycle.
func TestHiddenCycle(t *testing.T) {
	s := seriesOf(240, func(i float64) float64 { return 3*math.Sin(2*math.Pi*i/65) + math.Sin(2*math.Pi*i/11) })
	f := frameOf(t, s, false)
	all := newSpectrum(f.u, f.y[0], nil, f.Range, false).candidates(1)
	found := slices.ContainsFunc(all, func(c []Part) bool { return math.Abs(c[0].(Season).Period-11) < 0.1 })
	if !found {
		t.Errorf("candidates %v, want a period of 11", all)
	}
}

// TestBursts checks that the search of a long series uses the last rows, and bursts of consecutive earlier rows at all phases of a year.
func TestBursts(t *testing.T) {
	const rows, year = 100_000, 8766.0
	whole := &track{u: make([]float64, rows), e: make([]float64, rows), y: [][]float64{make([]float64, rows)}}
	for n := range rows {
		whole.u[n], whole.e[n], whole.y[0][n] = float64(n), 1, float64(n)
	}
	s := &search{frame: &frame{Rows: rows, Range: rows, Step: 1}, whole: []*track{whole}}
	s.cover([]Part{Season{Period: year}})
	u := s.tracks[0].u
	testkit.Equal(t, len(u), searchedRows+burstCount*burstRows, "searched rows")
	testkit.Equal(t, u[len(u)-searchedRows], rows-searchedRows, "first of the last rows")
	testkit.Equal(t, s.tracks[0].y[0], u, "values")
	gaps, phases := 0, map[int]bool{}
	for n, v := range u {
		if v < rows-searchedRows {
			phases[int(12*math.Mod(v, year)/year)] = true
		}
		if n > 0 && v > u[n-1]+1 {
			gaps++
		}
	}
	testkit.Equal(t, len(phases), 12, "months seen by bursts")
	if gaps < burstCount-1 || gaps > burstCount {
		t.Errorf("%d gaps, want one before each of %d bursts but the first", gaps, burstCount)
	}
	near := &search{frame: s.frame, whole: s.whole}
	near.cover([]Part{Season{Period: 3000}})
	testkit.Equal(t, len(near.tracks[0].u), 12_000, "rows of a season with few earlier rows")
}

// TestSearchedPeriods checks that the search in a long series uses four periods of its longest season, for any unit of the input.
func TestSearchedPeriods(t *testing.T) {
	for _, step := range []float64{1, 1.0 / 24, 3600} {
		s := &search{frame: &frame{Rows: 100_000, Range: 100_000, Step: step}}
		s.whole = []*track{{}}
		testkit.Equal(t, s.cover([]Part{Season{Period: 24 * step}}), false, "step ", step, ": first call adds observations")
		testkit.Equal(t, s.from, 100_000-searchedRows, "step ", step)
		testkit.Equal(t, s.cover([]Part{Constant{}, Season{Period: 8766 * step}}), true, "step ", step, ": more observations")
		testkit.Near(t, s.from, 100_000-4*8766, 1e-6, "step ", step)
	}
}

// TestSpectrumOfOutliers checks that a robust spectrum finds a season masked by a few outliers.
func TestSpectrumOfOutliers(t *testing.T) {
	const n = 240
	var u, y []float64
	for i := range n {
		u, y = append(u, float64(i)), append(y, math.Cos(2*math.Pi*float64(i)/12)+0.1*math.Sin(float64(i*i)))
	}
	for _, i := range []int{31, 77, 150, 201} {
		y[i] += 60
	}
	if f, ok := newSpectrum(u, y, nil, n-1, true).strongest(); !ok || math.Abs(f*12-1) > 0.02 {
		t.Errorf("a frequency of %v, %v; want 1/12", f, ok)
	}
}

// TestSidebands checks the frequencies of a season: eight sidebands on each side of the first two harmonics and four of the others, in spacings
// of the layout's period.
func TestSidebands(t *testing.T) {
	f := frameOf(t, seriesOf(240, func(i float64) float64 { return math.Sin(i) }), false)
	l := newLayout(f, []Part{Season{Period: 12}, Noise{}}, 1.5*f.Range, nil, 0, func(float64) float64 { return 1 })
	for h, sides := range []int{8, 8, 4, 4, 4} {
		b := l.blocks[h]
		if len(b.cos) != 2*sides+1 {
			t.Fatalf("harmonic %d has %d frequencies, want %d", h+1, len(b.cos), 2*sides+1)
		}
		for i, c := range b.cos {
			testkit.Near(t, c, float64(h+1)/12+float64(i-sides)/l.period(), 1e-12, "frequency")
		}
	}
}

// weeks returns n days with the values 10, 20, …, 70 repeated.
func weeks(n int) Series {
	return seriesOf(n, func(i float64) float64 { return 10 * float64(int(i)%7+1) })
}

// TestFewPeriods checks that a season seen four times is found, with noise, is not explained by the short memory
// instead, and is repeated by the forecast. The evidence is not below the
// evidence without the short memory or of a known season.
func TestFewPeriods(t *testing.T) {
	slow.Race(t)
	all := []struct {
		rows, period int
		noise        float64
	}{{28, 7, 5}, {28, 7, 0}, {48, 12, 15}}
	for _, c := range all[:slow.Pick(len(all), 1)] {
		random := rand.New(rand.NewPCG(uint64(c.rows), 3))
		season := func(i float64) float64 { return 10 * float64(int(i)%c.period+1) }
		s := seriesOf(c.rows, func(i float64) float64 { return season(i) + c.noise*random.NormFloat64() })
		o := Options{Average: true, Draws: AtMode, Log: LogNever}
		m := fit(t, s, o)
		testkit.Equal(t, m.Periods(), []float64{float64(c.period)}, "periods")
		for i, mean := range predict(t, m, m.Next(c.period)).Mean[0] {
			testkit.Near(t, mean, season(float64(c.rows+i)), 1+2*c.noise, "mean forecast")
		}
		evidence := func() float64 { // of the most probable variant
			all := testkit.Must(searchOf(t, s, o).fit())(t).variants
			return slices.MaxFunc(all, func(a, b *variant) int { return cmp.Compare(a.evidence, b.evidence) }).evidence
		}
		best := evidence()
		for name, parts := range map[string][]Part{
			"without short memory": without(defaultParts, ShortMemory{}),
			"known season":         append(slices.Clone(defaultParts), Season{Period: float64(c.period)}),
		} {
			o.Parts = parts
			if other := evidence(); best < other-1 {
				t.Errorf("%d rows, noise %v: evidence %v, %s %v", c.rows, c.noise, best, name, other)
			}
		}
	}
}

// TestVariants checks that data that say little about the trend have all variants, with weights proportional to their
// tempered evidence.
func TestVariants(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	search := searchOf(t, seriesOf(24, func(float64) float64 { return random.NormFloat64() }), Options{Known: true})
	all := testkit.Must(search.variants(testkit.Must(search.run())(t)))(t)
	sum := 0.0
	for _, v := range all {
		sum += v.weight
		testkit.Near(t, math.Log(v.weight/all[0].weight), (v.evidence-all[0].evidence)*24/(24+temperedRows), 1e-9, "log weight")
	}
	testkit.Near(t, sum, 1, 1e-12, "sum of the weights")
	testkit.Equal(t, len(all), 3<<3, "number of variants: three trend parts, with a memory, with its quality, without")
}

// TestBetterMultiple checks that a multiple of a period of the model is not proposed.
func TestBetterMultiple(t *testing.T) {
	s := seriesOf(96, func(i float64) float64 { return 10*float64(int(i)%12) + 5*float64(int(i)/12%2) })
	m := fit(t, s, Options{Parts: []Part{Constant{}, Season{Period: 12}}, Known: true, Draws: AtMode, Log: LogNever})
	if n := testkit.Must(m.Better(t.Context(), 0))(t); n != nil && n.Period == 24 {
		t.Errorf("%+v", n)
	}
}

// TestBetterRefit checks that the model's error in the last period comes from a fit without this period: the short
// memory has learned the cycle from it, but could not have predicted it.
func TestBetterRefit(t *testing.T) {
	random := rand.New(rand.NewPCG(0, 1))
	s := seriesOf(40, func(i float64) float64 { return 0.3*i + 10*math.Sin(2*math.Pi*i/12) + 1.5*random.NormFloat64() })
	m := fit(t, s, Options{Draws: AtMode, Log: LogNever})
	if n := testkit.Must(m.Better(t.Context(), 0))(t); n == nil || n.Period != 12 || n.ModelMAE < 3 {
		t.Errorf("%+v, must have the period 12 and an error of the model of more than 3", n)
	}
}

// TestBetter checks that the seasonal naive forecast is better than a model without the season, in each output, and that it is not better than
// a model with the season, for noise, a random walk, few or uneven data.
func TestBetter(t *testing.T) {
	random, level := rand.New(rand.NewPCG(8, 8)), 0.0
	walk := func(float64) float64 { level += random.NormFloat64(); return level }
	seasonal, plain := Options{Parts: []Part{Constant{}, Season{Period: 7}}}, Options{Parts: []Part{Constant{}, ShortMemory{}}}
	two := weeks(42)
	two.Y = append([][]float64{seriesOf(42, func(i float64) float64 { return math.Sin(i * i) }).Y[0]}, two.Y[0])
	line := Options{Parts: []Part{Constant{}, Slope{}, ShortMemory{}}}
	rising := func(n int) Series {
		return seriesOf(n, func(i float64) float64 { return 10*float64(int(i)%7) + 3*i })
	}
	uneven := weeks(42).times(func(i float64) float64 { return i + 0.3*math.Sin(i) })
	level40 := fit(t, weeks(42), Options{Parts: []Part{Constant{}}, Known: true, Draws: AtMode, Log: LogNever})
	testkit.Near(t, testkit.Must(level40.Better(t.Context(), 0))(t).ModelMAE, 120./7, 0.1, "error of the level")
	for name, c := range map[string]struct {
		s      Series
		o      Options
		d      int
		better bool
	}{
		"no season": {weeks(42), plain, 0, true}, "second output": {two, plain, 1, true}, "first output": {two, plain, 0, false},
		"season": {weeks(42), seasonal, 0, false}, "noise": {seriesOf(60, func(float64) float64 { return random.NormFloat64() }), plain, 0, false},
		"walk": {seriesOf(60, walk), plain, 0, false}, "few": {weeks(6), plain, 0, false}, "twice": {weeks(14), plain, 0, true},
		"less": {weeks(13), plain, 0, false}, "uneven": {uneven, plain, 0, false}, "rising": {rising(21), line, 0, true},
		"rising, twice": {rising(20), line, 0, false}, "line": {seriesOf(42, func(i float64) float64 { return i }), line, 0, false},
		"constant": {seriesOf(42, func(float64) float64 { return 1e30 }), plain, 0, false},
	} {
		c.o.Known, c.o.Draws, c.o.Log = true, AtMode, LogNever
		n, err := fit(t, c.s, c.o).Better(t.Context(), c.d)
		testkit.OK(t, err)
		drift := 0.0
		if name == "rising" {
			drift = 21
		}
		if (n != nil) != c.better || n != nil && (n.Period != 7 || math.Abs(n.Drift-drift) > 1e-9 || n.MAE > 1e-9 || n.ModelMAE < 5) {
			t.Errorf("%s: %+v, want a better naive forecast: %v", name, n, c.better)
		}
	}
}

// TestTwoPeriods checks that a season that the dates propose is found and repeated after two periods, that its harmonics
// share one amplitude, and that noise has none.
func TestTwoPeriods(t *testing.T) {
	pattern := []float64{0, 3, 9, 4, -2, -7, -9, -3, 1, 6, 2, -4}
	for name, size := range map[string]float64{"season": 1, "noise": 0} {
		random := rand.New(rand.NewPCG(1, 4))
		s := seriesOf(24, func(i float64) float64 { return size*pattern[int(i)%12] + random.NormFloat64() })
		o := Options{Draws: AtMode, Log: LogNever, Known: true, Average: true, Try: Calendar("month", 1, 23, nil, nil)}
		m := fit(t, s, o)
		testkit.Equal(t, len(m.Periods()), int(size), name, ": number of seasons")
		if size == 0 {
			continue
		}
		amplitudes := 0
		for _, v := range m.Hyper() {
			if strings.Contains(v.Name, ".amplitude") {
				amplitudes++
			}
		}
		testkit.Equal(t, amplitudes, 1, "amplitudes")
		for i, mean := range predict(t, m, m.Next(12)).Mean[0] {
			testkit.Near(t, mean, pattern[i], 3, "mean forecast")
		}
	}
}

// TestHarmonics checks that a sharp daily pattern has more than six harmonics, that a smooth one has not, and that fixed
// parts do not change.
func TestHarmonics(t *testing.T) {
	slow.Race(t)
	day := func(width float64) Series {
		random := rand.New(rand.NewPCG(1, 12))
		return seriesOf(400, func(i float64) float64 {
			z := (math.Mod(i, 24) - 12) / width
			return 5*math.Exp(-z*z/2) + 0.2*random.NormFloat64()
		})
	}
	season := Season{Period: 24}
	for name, c := range map[string]struct {
		s    Series
		o    Options
		want int
	}{
		"sharp":  {day(0.7), Options{Try: [][]Part{{season}}, Known: true, Draws: AtMode}, 12},
		"smooth": {day(4), Options{Try: [][]Part{{season}}, Known: true, Draws: AtMode}, 0},
		"fixed":  {day(0.7), Options{Parts: []Part{Constant{}, season, Noise{}}, Draws: AtMode}, 0},
	} {
		m := fit(t, c.s, c.o)
		if all := ofKind[Season](m.layout.parts); len(all) != 1 || all[0].Harmonics != c.want {
			t.Errorf("%s: seasons %+v, want %d harmonics", name, all, c.want)
		}
	}
}
