// Package forecasts builds the problems of `bench series`, forecasts them with the methods of this program, and scores
// all forecasts.
package forecasts

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"github.com/vssgp/vssgp/internal/testkit/matrix"
)

// A Series contains y over x, and the values of regressors if there are any.
type Series struct {
	X          []float64   `json:"x"`
	Y          []float64   `json:"y"`
	Regressors [][]float64 `json:"regressors,omitempty"` // [len(X)][regressors]
}

// split returns the rows whose index satisfies keep, and the other rows.
func (s Series) split(keep func(i int) bool) (kept, others Series) {
	for i, x := range s.X {
		to := &others
		if keep(i) {
			to = &kept
		}
		to.X, to.Y = append(to.X, x), append(to.Y, s.Y[i])
		if s.Regressors != nil {
			to.Regressors = append(to.Regressors, s.Regressors[i])
		}
	}
	return kept, others
}

// A source describes a data file with a series and its forecast task.
type source struct {
	name, file, column string // column "" is the second
	transform          func(y float64) float64
	season             int  // steps in a season, or in the mean period of a cycle; 1: none
	horizon            int  // rows to forecast
	given              bool // the file is in the folder of data, because its license does not allow redistribution
	regressors         bool // the columns after y are regressors
}

// sources lists the series with rolling origins. The horizon is five years for monthly and quarterly series, but two
// years if the season dominates. It is three solar cycles for sunspots, six for solar, and ten years for the Nile.
var sources = []source{
	{name: "co2", file: "testdata/co2_monthly.csv", season: 12, horizon: 60},
	{name: "airline", file: "testdata/series/airline.csv", transform: math.Log, season: 12, horizon: 24},
	{name: "sunspots", file: "testdata/sunspots.csv", season: 11, horizon: 33},
	{name: "solar", file: "solar_lean2004.csv", season: 11, horizon: 66, given: true},
	{name: "gdp", file: "testdata/series/macro.csv", column: "gdp", season: 1, horizon: 20,
		transform: func(y float64) float64 { return 100 * math.Log(y) }}, // differences are in percent
	{name: "unemployment", file: "testdata/series/macro.csv", column: "unemployment", season: 1, horizon: 20},
	{name: "nile", file: "testdata/series/nile.csv", season: 1, horizon: 10},
	{name: "elnino", file: "testdata/series/elnino.csv", season: 12, horizon: 24},
}

// co2 is a longer record than the first source, from the same station.
var co2 = source{name: "co2", file: "testdata/series/co2_scripps.csv", season: 12}

// load reads and transforms a series. data is the folder of data.
func (s *source) load(data string) (out Series, err error) {
	path := s.file
	if s.given {
		path = filepath.Join(data, s.file)
	}
	t, err := matrix.ReadFull(path)
	if err != nil {
		return out, err
	}
	column := 1
	if s.column != "" {
		column = slices.Index(t.Names, s.column)
	}
	if column < 1 || column >= t.Cols {
		return out, fmt.Errorf("%s: column %q of y must exist and follow the column of x", path, s.column)
	}
	for row := range slices.Chunk(t.Data, t.Cols) {
		y := row[column]
		if s.transform != nil {
			y = s.transform(y)
		}
		out.X, out.Y = append(out.X, row[0]), append(out.Y, y)
		if s.regressors {
			out.Regressors = append(out.Regressors, row[column+1:])
		}
	}
	return out, nil
}

// A contest is a series of the M4 competition, one line of its file.
type contest struct {
	Name  string    `json:"name"`
	Train []float64 `json:"train"`
	Test  []float64 `json:"test"`
}

func (c *contest) check() error {
	if c.Name == "" || len(c.Train) < 3 || len(c.Test) == 0 {
		return errors.New("the series must have a name, at least three training values, and test values")
	}
	return nil
}
