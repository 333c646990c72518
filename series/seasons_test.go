package series

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/slow"
)

// TestSeasons: those in the data are found, with the products of a day and a week, and none where there is none.
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
		s := Series{Y: [][]float64{nil}}
		for i := range n {
			s.X, s.Y[0] = append(s.X, float64(i)), append(s.Y[0], c.y(i))
		}
		m := fit(t, s, Options{Draws: AtMode})
		var got []string
		for _, p := range m.Parts() {
			switch p := p.(type) {
			case Season:
				got = append(got, fmt.Sprintf("season %.3g", p.Period))
			case Product:
				got = append(got, p.name())
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: found %q, want %q", name, got, c.want)
		}
	}
}

// TestCalendar: the seasons that a calendar's steps suggest.
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
	if all := Calendar("hour", 1, 1000, []float64{24}, like); len(all) != 1 || len(all[0]) != 1 {
		t.Errorf("a day that is known: %v", all)
	}
}
