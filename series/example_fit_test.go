package series_test

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"strconv"

	"github.com/vssgp/vssgp/series"
)

// column reads a CSV file whose lines are a time and a value.
func column(path string) series.Series {
	f, err := os.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		log.Fatal(err)
	}
	var x, y []float64
	for _, line := range lines[1:] {
		at, err := strconv.ParseFloat(line[0], 64)
		if err != nil {
			log.Fatal(err)
		}
		v, err := strconv.ParseFloat(line[1], 64)
		if err != nil {
			log.Fatal(err)
		}
		x, y = append(x, at), append(y, v)
	}
	return series.Series{X: x, Y: [][]float64{y}}
}

// monthly returns n months of a line with a yearly season and some noise.
func monthly(n int) series.Series {
	s := series.Series{Y: [][]float64{nil}}
	for i := range n {
		t := float64(i)
		s.X, s.Y[0] = append(s.X, t), append(s.Y[0], 100+0.5*t+10*math.Sin(2*math.Pi*t/12)+math.Cos(7*t*t))
	}
	return s
}

// quick makes the examples fast: the parts are given, and predictions use the mode of the
// hyper-parameters.
var quick = series.Options{
	Parts: []series.Part{
		series.Constant{}, series.Slope{}, series.ShortMemory{}, series.Season{Period: 12, Harmonics: 2},
	},
	Known: true, Draws: series.AtMode, Log: series.LogNever, Robust: series.RobustNever,
}

// Fit the flow of the Nile, whose level fell when a dam was built in 1898. The parts are given
// here: a level with a shift at that year, and noise, which is always added.
func ExampleFit() {
	nile := column("../testdata/series/nile.csv") // 1871 to 1970, in 10⁸ m³ per year
	m, err := series.Fit(context.Background(), nile, series.Options{
		Parts: []series.Part{series.Constant{}, series.LevelShift{At: 1899, SD: series.Prior{Median: 200, SD: 1}}},
		Known: true, // search for no seasons
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.PartNames(), "of", m.Rows(), "years")
	effects, err := m.Effects(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %.0f ± %.0f\n", effects[0].Name, effects[0].Mean[0], effects[0].SD[0])
	fmt.Printf("noise: %.0f\n", m.NoiseSD(0))
	// Output:
	// [constant level shift 1899 noise] of 100 years
	// level shift 1899: -244 ± 28
	// noise: 127
}

// The number of airline passengers grows, and so do its seasons: the logarithms have a higher
// evidence than the values.
func ExampleModel_Log() {
	m, err := series.Fit(context.Background(), column("../testdata/series/airline.csv"), series.Options{
		Parts: []series.Part{
			series.Constant{}, series.Slope{}, series.ShortMemory{}, series.Season{Period: 1, Harmonics: 4},
		},
		Known: true, Draws: 4, Log: series.LogByEvidence, Robust: series.RobustByEvidence,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("logarithms: %t, with probability %.1f\n", m.Log(), m.LogProbability())
	fmt.Printf("noise below 5 percent: %t\n", m.NoiseSD(0) < 0.05)
	// Output:
	// logarithms: true, with probability 1.0
	// noise below 5 percent: true
}

// Parts returns the parts that a fit has selected, each with its type.
func ExampleModel_Parts() {
	m, err := series.Fit(context.Background(), monthly(96), series.Options{Draws: series.AtMode, Log: series.LogNever})
	if err != nil {
		log.Fatal(err)
	}
	for i, part := range m.Parts() {
		switch p := part.(type) {
		case series.Season:
			fmt.Printf("%s: of the calendar: %t\n", m.PartNames()[i], !p.Cycle)
		case series.ShortMemory:
			fmt.Printf("%s: oscillating: %t\n", m.PartNames()[i], p.Quality.SD > 0)
		case series.Regressors:
			fmt.Println("regressors")
		}
	}
	fmt.Println("features:", m.Features() > 0)
	for _, v := range m.Hyper() {
		if !(v.Lower <= v.Mode && v.Mode <= v.Upper) {
			fmt.Println(v.Name, "is outside of its interval")
		}
	}
	// Output:
	// short memory: oscillating: true
	// season 12: of the calendar: true
	// features: true
}

// Priors and data are checked before a fit.
func ExamplePrior() {
	fmt.Println(series.Prior{Median: 10, SD: 0.5}.Check())
	_, err := series.Fit(context.Background(), monthly(48), series.Options{
		Parts: []series.Part{series.RandomWalk{SD: series.Prior{Median: -1, SD: 0.5}}},
	})
	fmt.Println(errors.Is(err, series.ErrOptions))
	_, err = series.Fit(context.Background(), series.Series{X: []float64{1, 2}, Y: [][]float64{{3}}}, series.Options{})
	fmt.Println(errors.Is(err, series.ErrData))
	// Output:
	// <nil>
	// true
	// true
}

// Regressors are known series that explain the outputs. Their weight is learned, and a forecast
// needs their future values.
func ExampleRegressor() {
	s := monthly(60)                // 60 months of a line with a yearly season
	campaign := make([]float64, 60) // months with an advertising campaign
	for i := range campaign {
		if i%9 == 4 {
			campaign[i] = 1
			s.Y[0][i] += 25
		}
	}
	s.Regressors = []series.Regressor{{Name: "campaign", Values: campaign, SD: series.Prior{Median: 20, SD: 1}}}
	m, err := series.Fit(context.Background(), s, quick)
	if err != nil {
		log.Fatal(err)
	}
	effects, err := m.Effects(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %.0f\n", m.Regressors()[0], effects[0].Mean[0])

	without, err := m.Forecast(context.Background(), 1, []float64{0})
	if err != nil {
		log.Fatal(err)
	}
	with, err := m.Forecast(context.Background(), 1, []float64{1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("next month: %.0f or, with a campaign, %.0f\n", without.Mean[0][0], with.Mean[0][0])
	// Output:
	// campaign: 25
	// next month: 131 or, with a campaign, 156
}

// Daily data have seasons of a week and a year. Calendar returns them as candidates, which Fit
// adds if the data support them.
func ExampleCalendar() {
	s := series.Series{Y: [][]float64{nil}}
	for i := range 200 {
		t := float64(i)
		s.X, s.Y[0] = append(s.X, t), append(s.Y[0], 20+3*math.Sin(2*math.Pi*t/7)+math.Cos(5*t*t))
	}
	candidates := series.Calendar("day", 1, 200, nil, nil) // the span is too short for a yearly season
	m, err := series.Fit(context.Background(), s, series.Options{
		Parts: []series.Part{series.Constant{}}, Try: candidates, Known: true, Draws: series.AtMode,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(candidates), "candidate; seasons:", m.Periods())
	// Output: 1 candidate; seasons: [7]
}

// A robust fit learns that single values may be wrong, and finds them.
func ExampleModel_Outliers() {
	s := monthly(60) // 60 months of a line with a yearly season
	s.Y[0][20] += 60
	o := quick
	o.Robust = series.RobustAlways
	m, err := series.Fit(context.Background(), s, o)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("outliers:", m.Outliers(0))
	// Output: outliers: [20]
}

// Small integers are modeled as counts if the evidence for that is higher.
func ExampleModel_Counts() {
	rng := rand.New(rand.NewPCG(1, 1))
	s := series.Series{Y: [][]float64{nil}}
	for i := range 120 {
		mean, visits := 2+1.5*math.Sin(float64(i)/20), 0.0
		for range 1000 { // people, each of whom rarely visits
			if rng.Float64() < mean/1000 {
				visits++
			}
		}
		s.X, s.Y[0] = append(s.X, float64(i)), append(s.Y[0], visits)
	}
	m, err := series.Fit(context.Background(), s, series.Options{
		Parts: []series.Part{series.Constant{}, series.RandomWalk{}}, Known: true,
	})
	if err != nil {
		log.Fatal(err)
	}
	f, err := m.Forecast(context.Background(), 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("counts:", m.Counts(), "the interval has integer ends:", f.Upper[0][0] == math.Trunc(f.Upper[0][0]))
	// Output: counts: true the interval has integer ends: true
}
