package regression

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/testkit/matrix"
)

// A table is a series in a file. A tenth of its rows is held out. Each seed has one of the gaps. The gaps of even seeds
// do not overlap the gaps of odd seeds.
type table struct {
	file    string       // path in the repository, or in the folder of data if outside
	outside bool         // the file is in the folder of data
	gaps    [][2]float64 // an even number
	horizon float64      // rows after it are not given
}

func (t table) build(p *Problem, random *rand.Rand, data string) error {
	path := t.file
	if t.outside {
		path = filepath.Join(data, t.file)
	}
	rows, err := matrix.ReadFull(path)
	if err != nil {
		return err
	}
	if rows.Cols < 2 {
		return fmt.Errorf("%s: the table has one column, must have two: times and values", path)
	}
	const heldOut = 0.1
	gap := t.gaps[p.Seed%len(t.gaps)]
	all := parts{}
	for row := range slices.Chunk(rows.Data, rows.Cols) {
		x, to := row[0], given
		switch {
		case x > t.horizon:
			to = Beyond
		case x > gap[0] && x < gap[1]:
			to = Gap
		case random.Float64() < heldOut:
			to = In
		}
		all.put(to, x, row[1])
	}
	all.fill(p)
	return nil
}

// parts are the points of a problem by place.
type parts map[string]*Place

// given is the key of the rows in parts.
const given = ""

func (all parts) put(name string, x, y float64) {
	if all[name] == nil {
		all[name] = &Place{}
	}
	all[name].X, all[name].Y = append(all[name].X, x), append(all[name].Y, y)
}

// fill moves the points to the problem.
func (all parts) fill(p *Problem) {
	p.X, p.Y = all[given].X, all[given].Y
	for _, name := range PlaceNames {
		if at := all[name]; at != nil {
			p.add(name, at.X, at.Y)
		}
	}
}

// speech is a second of a recording with ten gaps of 5 ms. A fiftieth of the other samples is held out.
type speech struct {
	files map[string][]string // in the folder of data, by half
}

func (s speech) build(p *Problem, random *rand.Rand, data string) error {
	i, files := p.Seed/2, s.files[p.Half]
	path := filepath.Join(data, files[i%len(files)])
	r, err := audio.Open(path)
	if err != nil {
		return err
	}
	excerpts := slices.Collect(slices.Chunk(r.Samples[0], r.Rate))
	excerpts = slices.DeleteFunc(excerpts, func(e []float64) bool { return len(e) < r.Rate })
	if len(excerpts) == 0 {
		return fmt.Errorf("%s: must have at least a second", path)
	}
	slices.SortStableFunc(excerpts, func(a, b []float64) int { return cmp.Compare(bayes.RMS(b), bayes.RMS(a)) })
	const gaps, gapSeconds, heldOut = 10, 0.005, 0.02
	all := parts{}
	for n, y := range excerpts[i/len(files)%len(excerpts)] {
		x, to := float64(n)/float64(r.Rate), given
		_, period := math.Modf(gaps * x)
		switch {
		case math.Abs(period-0.5) < gaps*gapSeconds/2:
			to = Gap
		case random.Float64() < heldOut:
			to = In
		}
		all.put(to, x, y)
	}
	all.fill(p)
	return nil
}

var realKinds = []Kind{
	{Name: "co2", source: table{file: "co2_mauna_loa_monthly.csv", outside: true, horizon: 1996,
		gaps: [][2]float64{{1975, 1978}, {1982, 1985}, {1966, 1969}, {1970, 1973}, {1988, 1991}, {1992, 1995}}}},
	{Name: "sunspots", source: table{file: "testdata/sunspots.csv", horizon: 2000,
		gaps: [][2]float64{{1800, 1815}, {1740, 1755}, {1860, 1875}, {1830, 1845}, {1920, 1935}, {1890, 1905}}}},
	{Name: "temperature", source: table{file: "testdata/series/seattle.csv", horizon: 16_709, // days since 1970
		gaps: [][2]float64{{15_440, 15_480}, {15_640, 15_680}, {15_840, 15_880},
			{16_040, 16_080}, {16_240, 16_280}, {16_440, 16_480}}}},
	{Name: "speech", source: speech{files: map[string][]string{
		Dev:   {"arctic_aew_a0001.wav", "arctic_aew_a0002.wav"},
		Judge: {"libri_198-209-0000.wav", "libri_3436-172162-0000.wav"},
	}}},
}
