package series

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// TestSeasons checks that the seasons in the data are found, including products, and that none is found in noise.
func TestSeasons(t *testing.T) {
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
		{"hour", 1, 1000, "24 | 168 × 24"}, {"hour", 60, 1000, "1440 | 10080 × 1440"}, {"hour", 1, 40000, "24 | 168 × 24 | 8766"}, {"hour", 1, 80, ""},
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

// TestSeasonGain checks that a season is accepted only if the log posterior increases by two nats plus one per hyper-parameter.
func TestSeasonGain(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	noise := make([]float64, 48)
	for i := range noise {
		noise[i] = random.NormFloat64()
	}
	season := Season{Period: 6}
	o := Options{Parts: []Part{Constant{}}, Try: [][]Part{{season}}, Known: true}
	between := 0 // number of gains above two nats but below the threshold
	for swing := 0.3; swing < 1; swing += 0.05 {
		search := searchOf(t, seriesOf(len(noise), func(i float64) float64 { return noise[int(i)] + swing*math.Cos(2*math.Pi*i/6) }), o)
		without := testkit.Must(search.trial(o.Parts, nil))(t)
		with := testkit.Must(search.trial([]Part{Constant{}, season}, without))(t)
		best := testkit.Must(search.run())(t)
		gain, more := with.fit()-without.fit(), float64(len(with.mode)-len(without.mode))
		if accepted := len(best.parts) > 1; accepted != (gain > 2+more) {
			t.Errorf("a season with %v hyper-parameters that gains %.2f nats is accepted: %v", more, gain, accepted)
		}
		if gain > 2 && gain < 2+more {
			between++
		}
	}
	if between == 0 {
		t.Error("no gain is between 2 nats and the threshold")
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
