package forecasts

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/vssgp/vssgp/bench/internal/jsonl"
)

// A Key identifies a problem.
type Key struct {
	Set    string `json:"set"`
	Name   string `json:"series"`
	Origin int    `json:"origin"` // number of rows before the forecast; for missing rows, the number of the draw
}

// A Problem contains a series up to an origin, or with missing rows, and the inputs At to forecast. Peers do not get
// the true values.
type Problem struct {
	Key
	Season int `json:"season"` // steps in a season, for methods that need it; 1: none
	Series
	At           []float64   `json:"at"`
	AtRegressors [][]float64 `json:"at_regressors,omitempty"` // values of the regressors at At
	truth        []float64
}

// newProblem returns the problem of predicting the rows asked from the rows known.
func newProblem(k Key, season int, known, asked Series) Problem {
	return Problem{Key: k, Season: season, Series: known, At: asked.X, AtRegressors: asked.Regressors, truth: asked.Y}
}

// A set is a named function that returns problems.
type set struct {
	name     string
	problems func(set, data string) ([]Problem, error)
}

// sets lists all sets of problems. data is the folder of data.
var sets = []set{
	{"origins", func(set, data string) ([]Problem, error) { return rolling(set, data, sources, 6) }},
	{"m4-hourly", func(set, data string) ([]Problem, error) {
		return competition(set, filepath.Join(data, "m4_hourly_dev.jsonl"), 24)
	}},
	{"m4-weekly", func(set, data string) ([]Problem, error) {
		return competition(set, filepath.Join(data, "m4_weekly_dev.jsonl"), 1)
	}},
	{"co2-years", years},
	{"demand", func(set, data string) ([]Problem, error) { return demand(set, data, true) }},
	{"demand-without", func(set, data string) ([]Problem, error) { return demand(set, data, false) }},
	{"co2-tenth", func(set, _ string) ([]Problem, error) { return holes(set, tenth) }},
	{"co2-blocks", func(set, _ string) ([]Problem, error) { return holes(set, blocks) }},
}

// Sets returns the names of the sets of problems.
func Sets() []string { return jsonl.Distinct(sets, func(s set) string { return s.name }) }

// errNotGiven is wrapped by errors about a file that is neither in the repository nor in the folder of data.
var errNotGiven = errors.New("skipped")

// Problems returns the problems of the named sets. The current folder must be the repository's root. skipped is called
// for each set with a file that is missing in the folder of data.
func Problems(names []string, data string, skipped func(error)) (all []Problem, err error) {
	for _, s := range sets {
		if !slices.Contains(names, s.name) {
			continue
		}
		problems, err := s.problems(s.name, data)
		if errors.Is(err, errNotGiven) {
			skipped(fmt.Errorf("%s: %w", s.name, err))
		} else if err != nil {
			return nil, err
		}
		all = append(all, problems...)
	}
	return all, nil
}

// ends returns up to the given number of origins in n rows, in ascending order. The last leaves one horizon. The
// origins are one horizon apart, or closer if less than half of the rows would precede the first.
func ends(n, horizon, origins int) (out []int) {
	last := n - horizon
	step := max(1, min(horizon, (last-(n+1)/2)/(origins-1)))
	for r := range origins {
		if end := last - (origins-1-r)*step; end > 0 {
			out = append(out, end)
		}
	}
	return out
}

// rolling returns problems with several origins for every source.
func rolling(set, data string, sources []source, origins int) (all []Problem, missing error) {
	for _, s := range sources {
		series, err := s.load(data)
		if errors.Is(err, fs.ErrNotExist) && s.given {
			missing = fmt.Errorf("%w: %w", errNotGiven, err)
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, end := range ends(len(series.X), s.horizon, origins) {
			known, rest := series.split(func(i int) bool { return i < end })
			asked, _ := rest.split(func(i int) bool { return i < s.horizon })
			all = append(all, newProblem(Key{set, s.name, end}, s.season, known, asked))
		}
	}
	return all, missing
}

// demand returns problems of forecasting daily series two weeks ahead from ten origins, with or without the regressors'
// true values.
func demand(set, data string, regressors bool) ([]Problem, error) {
	var daily []source
	for _, name := range []string{"victoria", "bikes"} {
		daily = append(daily, source{name: name, file: filepath.Join("demand", name+".csv"), season: 7, horizon: 14, given: true,
			regressors: regressors})
	}
	return rolling(set, data, daily, 10)
}

// competition returns the forecast problems of the M4 competition. x counts the steps.
func competition(set, path string, season int) (all []Problem, err error) {
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("%w: %w", errNotGiven, err)
	}
	lines, err := jsonl.Read(path, (*contest).check)
	if err == nil && len(lines) == 0 {
		err = fmt.Errorf("%s: no series", path)
	}
	if err != nil {
		return nil, err
	}
	for _, l := range lines {
		series := Series{Y: slices.Concat(l.Train, l.Test)}
		for i := range series.Y {
			series.X = append(series.X, float64(i))
		}
		known, asked := series.split(func(i int) bool { return i < len(l.Train) })
		all = append(all, newProblem(Key{set, l.Name, len(l.Train)}, season, known, asked))
	}
	return all, nil
}

// years returns problems of forecasting CO2 from three dates to the end of the record.
func years(set, data string) (all []Problem, err error) {
	series, err := co2.load(data)
	if err != nil {
		return nil, err
	}
	for _, year := range []float64{1994, 2003, 2005} {
		known, asked := series.split(func(i int) bool { return series.X[i] < year })
		all = append(all, newProblem(Key{set, fmt.Sprintf("to %g", year), len(known.X)}, co2.season, known, asked))
	}
	return all, nil
}

// draws is the number of random selections of missing rows.
const draws = 5

// holes returns problems of predicting missing rows of CO2. leave draws their indices. The first and the last row are
// never missing.
func holes(set string, leave func(rng *rand.Rand, n int) (left []int)) (all []Problem, err error) {
	s := sources[0]
	series, err := s.load("")
	if err != nil {
		return nil, err
	}
	for draw := range draws {
		left := leave(rand.New(rand.NewPCG(17, uint64(draw))), len(series.X)-2)
		known, asked := series.split(func(i int) bool { return !slices.Contains(left, i-1) })
		all = append(all, newProblem(Key{set, s.name, draw}, s.season, known, asked))
	}
	return all, nil
}

// tenth returns a random tenth of n rows.
func tenth(rng *rand.Rand, n int) []int { return rng.Perm(n)[:n/10] }

// blocks returns two years of months in each quarter of n rows, at a random position.
func blocks(rng *rand.Rand, n int) (left []int) {
	const long, parts = 24, 4
	for p := range parts {
		first := p*n/parts + rng.IntN(n/parts-long)
		for i := range long {
			left = append(left, first+i)
		}
	}
	return left
}
