package regression

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A made problem is a function observed with noise.
type made struct {
	family string                                         // of the kernel
	f      func(random *rand.Rand, x []float64) []float64 // draws a function and returns its values at increasing x
	rows   func(random *rand.Rand) []float64              // draws x; need not be sorted
	noise  func(random *rand.Rand, x float64) float64     // draws the noise at x
	gaps   [][2]float64                                   // rows inside are not given
	also   func(rows []float64) []float64                 // further points in gaps, or nil
	beyond float64                                        // end of the points after the last row; 0: none
}

// beyondPoints is the number of points after the last row.
const beyondPoints = 200

func (m made) build(p *Problem, random *rand.Rand, _ string) error {
	p.Family, p.Latent = m.family, true
	rows := m.rows(random)
	slices.Sort(rows)
	kept, gap := split(rows, m.gaps)
	if m.also != nil {
		gap = slices.Sorted(slices.Values(append(gap, m.also(rows)...)))
	}
	var beyond []float64
	if m.beyond > 0 {
		beyond = even(beyondPoints, rows[len(rows)-1], m.beyond)[1:]
	}
	all := slices.Sorted(slices.Values(slices.Concat(kept, gap, beyond)))
	f := m.f(random, all)
	at := func(x []float64) (y []float64) {
		for _, v := range x {
			i, _ := slices.BinarySearch(all, v)
			y = append(y, f[i])
		}
		return y
	}
	p.X = kept
	for i, v := range at(kept) {
		p.Y = append(p.Y, v+m.noise(random, kept[i]))
	}
	p.add(In, kept, at(kept))
	p.add(Gap, gap, at(gap))
	p.add(Beyond, beyond, at(beyond))
	return nil
}

// split returns the values outside and inside of open intervals.
func split(x []float64, gaps [][2]float64) (outside, inside []float64) {
	for _, v := range x {
		if slices.ContainsFunc(gaps, func(g [2]float64) bool { return v > g[0] && v < g[1] }) {
			inside = append(inside, v)
		} else {
			outside = append(outside, v)
		}
	}
	return outside, inside
}

// even returns n evenly spaced numbers from first to last.
func even(n int, first, last float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = first + (last-first)*float64(i)/float64(n-1)
	}
	return x
}

// grid returns rows that are evenly spaced from 0 to end.
func grid(n int, end float64) func(*rand.Rand) []float64 {
	return func(*rand.Rand) []float64 { return even(n, 0, end) }
}

// uniform returns rows at random times from 0 to end.
func uniform(n int, end float64) func(*rand.Rand) []float64 {
	return func(random *rand.Rand) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = end * random.Float64()
		}
		return x
	}
}

// repeated returns 100 times at a distance of 1 with five rows each, whose times differ by at most jitter.
func repeated(jitter float64) func(*rand.Rand) []float64 {
	return func(random *rand.Rand) []float64 {
		x := make([]float64, 500)
		for i := range x {
			x[i] = float64(i/5) + jitter*random.Float64()
		}
		return x
	}
}

// bursts returns 40 bursts at random times from 0 to 40. Each has 20 rows within 0.02.
func bursts(random *rand.Rand) (x []float64) {
	for range 40 {
		begin := 40 * random.Float64()
		for range 20 {
			x = append(x, begin+0.02*random.Float64())
		}
	}
	return x
}

// awayFrom returns the ones of 200 points from 0 to end whose distance to the next row is at least distance.
func awayFrom(distance, end float64) func(rows []float64) []float64 {
	return func(rows []float64) (x []float64) {
		for _, v := range even(200, 0, end) {
			if !slices.ContainsFunc(rows, func(row float64) bool { return math.Abs(row-v) < distance }) {
				x = append(x, v)
			}
		}
		return x
	}
}

// halves returns the points in the middle between the times of repeated.
func halves([]float64) []float64 { return even(99, 0.5, 98.5) }

// normal returns Gaussian noise.
func normal(sd float64) func(*rand.Rand, float64) float64 {
	return func(random *rand.Rand, _ float64) float64 { return sd * random.NormFloat64() }
}

// withOutliers returns Gaussian noise of which 3 % has a standard deviation of 4.
func withOutliers(sd float64) func(*rand.Rand, float64) float64 {
	return func(random *rand.Rand, _ float64) float64 {
		noise, outlier := sd*random.NormFloat64(), 4*random.NormFloat64()
		if random.Float64() < 0.03 {
			return noise + outlier
		}
		return noise
	}
}

// growing returns noise whose standard deviation grows 30-fold from 0 to 10.
func growing(random *rand.Rand, x float64) float64 {
	return 0.03 * math.Pow(30, x/10) * random.NormFloat64()
}

// slowLine draws a sinusoid with a period of about 63.
var slowLine = line(1, 0.1/(2*math.Pi))

// madeKinds are functions of which most have the parameters of the prototype in Python. Their phases and frequencies
// depend on the seed.
var madeKinds = []Kind{
	{Name: "rbf-gap", source: made{family: rbfFamily, f: gp(rbf(0.5)), rows: grid(1000, 10), noise: normal(0.1),
		gaps: [][2]float64{{4, 6}}}},
	{Name: "rbf-uneven", source: made{family: rbfFamily, f: gp(rbf(0.5)), rows: uniform(600, 10), noise: normal(0.1),
		gaps: [][2]float64{{4, 6}}}},
	{Name: "matern32-gaps", source: made{family: matern32Family, f: gp(matern32(0.5)), rows: grid(1000, 10),
		noise: normal(0.1), gaps: [][2]float64{{2, 2.5}, {5, 6.5}}}},
	{Name: "ou-gaps", source: made{family: ouFamily, f: ou(1), rows: grid(800, 50), noise: normal(0.2),
		gaps: [][2]float64{{10, 11}, {25, 28}}}},
	{Name: "ou-100-lengths", source: made{family: ouFamily, f: ou(1), rows: grid(1000, 100), noise: normal(0.2),
		gaps: [][2]float64{{30, 32}, {60, 65}}}},
	{Name: "band-gap", source: made{f: gp(band(3, 0.9)), rows: grid(800, 30), noise: normal(0.2),
		gaps: [][2]float64{{12, 17}}}},
	{Name: "lines-gaps", source: made{f: threeLines(1), rows: grid(800, 20), noise: normal(0.5),
		gaps: [][2]float64{{4, 6}, {12, 15}}, beyond: 24}},
	{Name: "lines-uneven", source: made{f: threeLines(1), rows: uniform(400, 20), noise: normal(0.5),
		gaps: [][2]float64{{8, 11}}, beyond: 24}},
	{Name: "one-line", source: made{f: slowLine, rows: grid(500, 499), noise: normal(0.2), beyond: 598.8}},
	{Name: "lines-rbf", source: made{f: sum(threeLines(1), gp(rbf(3))), rows: grid(800, 20), noise: normal(0.3),
		gaps: [][2]float64{{8, 11}}}},
	{Name: "trend-rbf", source: made{f: sum(trend(0.5), gp(rbf(0.5))), rows: grid(800, 10), noise: normal(0.1),
		gaps: [][2]float64{{4, 6}}, beyond: 12}},
	{Name: "waves", source: made{f: waves, rows: grid(1000, 10), noise: normal(0.1), gaps: [][2]float64{{4, 6}}}},
	{Name: "chirp", source: made{f: chirp, rows: grid(1500, 10), noise: normal(0.2),
		gaps: [][2]float64{{4, 4.3}, {7, 7.2}}}},
	{Name: "step", source: made{f: step, rows: grid(800, 10), noise: normal(0.1), gaps: [][2]float64{{4, 5}}}},
	{Name: "white-noise", source: made{f: zero, rows: grid(1000, 10), noise: normal(1), gaps: [][2]float64{{4, 5}}}},
	{Name: "repeated-0", source: made{f: slowLine, rows: repeated(0), noise: normal(0.2), also: halves}},
	{Name: "repeated-1e-9", source: made{f: slowLine, rows: repeated(1e-9), noise: normal(0.2), also: halves}},
	{Name: "repeated-1e-3", source: made{f: slowLine, rows: repeated(1e-3), noise: normal(0.2), also: halves}},
	{Name: "repeated-1e-2", source: made{f: slowLine, rows: repeated(1e-2), noise: normal(0.2), also: halves}},
	{Name: "clusters", source: made{family: rbfFamily, f: gp(rbf(1)), rows: bursts, noise: normal(0.2),
		also: awayFrom(0.05, 40)}},
	{Name: "outliers", source: made{family: rbfFamily, f: gp(rbf(0.5)), rows: grid(800, 10), noise: withOutliers(0.1),
		gaps: [][2]float64{{4, 6}}}},
	{Name: "heteroscedastic", source: made{family: rbfFamily, f: gp(rbf(0.7)), rows: grid(1000, 10), noise: growing,
		gaps: [][2]float64{{4, 5}}}},
	{Name: "few-12", source: made{family: rbfFamily, f: gp(rbf(1)), rows: uniform(12, 10), noise: normal(0.1),
		also: awayFrom(0, 10)}},
	{Name: "few-25", source: made{family: rbfFamily, f: gp(rbf(1)), rows: uniform(25, 10), noise: normal(0.1),
		also: awayFrom(0, 10)}},
	{Name: "few-60", source: made{family: rbfFamily, f: gp(rbf(1)), rows: uniform(60, 10), noise: normal(0.1),
		also: awayFrom(0, 10)}},
}

// longKinds have ten gaps.
var longKinds = []Kind{
	{Name: "long-ou", Long: true, source: made{family: ouFamily, f: ou(500), rows: grid(100_000, 99_999),
		noise: normal(0.2), gaps: every(10_000, 500, 10)}},
	{Name: "long-lines", Long: true, source: made{f: threeLines(0.01), rows: grid(1_000_000, 999_999),
		noise: normal(0.5), gaps: every(100_000, 2000, 10)}},
}

// every returns n gaps of a given length in the middle of each period.
func every(period, length float64, n int) (gaps [][2]float64) {
	for i := range n {
		middle := period * (float64(i) + 0.5)
		gaps = append(gaps, [2]float64{middle - length/2 - 0.5, middle + length/2 - 0.5})
	}
	return gaps
}
