package series

import (
	"math"
	"math/cmplx"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/internal/parallel"
)

// Parameters of the search for seasons. Numbers of periods refer to the data range.
const (
	fewestSeasons = 3.5 // minimum number of periods of a calendar season
	fewestDated   = 1.9 // same if the dates propose it: two periods span a little less
	fewestCycles  = 8   // minimum number of periods of any other season
	minShare      = 0.2 // minimum fraction of the residual sum of squares explained by the strongest line
	combGain      = 0.7 // maximum ratio of residual sums of squares to prefer a subharmonic
	maxSeasons    = 3   // maximum number of seasons
	snap          = 0.3 // maximum distance to a calendar season, in cycles over the data range
	farOut        = 4   // standard deviations at which a robust fit clips residuals
	halfPeriods   = 8   // half periods removed from the data before the periodogram
	fewHalves     = 4   // same for few values: eight half periods contain a season of four periods
	fewRows       = 400 // number of values that are not few
	fewestFree    = 4   // minimum degrees of freedom of the residuals after a fit to few values
	oversampling  = 10  // of the periodogram
	smoothing     = 15  // width of a broad peak, in lines of the periodogram
	broadPeak     = 1.5 // weight of a broad peak
	sharpPeak     = 0.5 // fraction of the residual sum of squares at which a single line is preferred to a broad peak
)

// calendarSeasons contains the calendar seasons in steps of the data: quarters, weekdays, months, hours, half-hours, weeks, days of a year.
var calendarSeasons = []int{4, 7, 12, 24, 48, 52, 60, 96, 144, 168, 288, 336, 365, 366}

// A spectrum contains an output without its slow components, and its periodogram.
type spectrum struct {
	n       int       // number of values
	span    float64   // T in steps
	u       []float64 // [n] times
	r       []float64 // [n] residuals
	square  float64   // Σ r²
	spacing float64   // frequency spacing of the periodogram, in cycles per step
	power   []float64 // sum of squares explained by the line at frequency i·spacing

	// of few values; nil for others
	y    []float64   // [n] values; if robust, without outliers
	slow [][]float64 // regressors and slow components
}

// newSpectrum removes a quadratic, some half periods and the regressors from an output by least squares. If robust, it
// clips large residuals first.
func newSpectrum(u, y []float64, regressors [][]float64, span float64, robust bool) *spectrum {
	rows := present(y)
	s := &spectrum{n: len(rows), span: span, u: picked(u, rows), r: picked(y, rows)}
	var columns [][]float64
	for _, z := range regressors {
		columns = append(columns, picked(z, rows))
	}
	add := func(f func(t float64) float64) {
		c := make([]float64, s.n)
		for i, v := range s.u {
			c[i] = f(v/span - 0.5)
		}
		columns = append(columns, c)
	}
	add(func(float64) float64 { return 1 })
	add(func(t float64) float64 { return t })
	add(func(t float64) float64 { return t * t })
	for j := 1; j <= halfPeriods; j++ {
		add(func(t float64) float64 { return math.Cos(math.Pi * float64(j) * t) })
		add(func(t float64) float64 { return math.Sin(math.Pi * float64(j) * t) })
	}
	if s.n < fewRows {
		s.slow = columns
		columns = s.slowest()
	}
	if robust {
		for range 3 {
			left := residualOf(s.r, columns)
			_, sd := medianSD(left, 0)
			for i, v := range left {
				s.r[i] += min(max(v, -farOut*sd), farOut*sd) - v
			}
		}
	}
	if s.slow != nil {
		s.y = s.r
	}
	s.r = residualOf(s.r, columns)
	s.transform()
	return s
}

// slowest returns the slow components of few values that are removed first.
func (s *spectrum) slowest() [][]float64 { return s.slow[:len(s.slow)-2*(halfPeriods-fewHalves)] }

// sparse is the maximum ratio of grid points to observations. Above this ratio the grid is too sparse for a periodogram.
const sparse = 64

// residualOf returns the residual of r after a least-squares fit of the columns, with a small ridge.
func residualOf(r []float64, columns [][]float64) []float64 {
	k := len(columns)
	gram, right := mat.NewSymDense(k, nil), mat.NewVecDense(k, nil)
	parallel.For(k, runtime.GOMAXPROCS(0), func(i int) {
		a := columns[k-1-i] // the longest row first
		for j := range k - i {
			gram.SetSym(k-1-i, j, dot(a, columns[j]))
		}
		right.SetVec(k-1-i, dot(a, r))
	})
	for i := range k {
		gram.SetSym(i, i, gram.At(i, i)*(1+1e-9)+1e-6)
	}
	var chol mat.Cholesky
	left := slices.Clone(r)
	if !chol.Factorize(gram) {
		return left
	}
	var w mat.VecDense
	if chol.SolveVecTo(&w, right) != nil {
		return left
	}
	const share = 4096 // rows
	parallel.For((len(r)+share-1)/share, runtime.GOMAXPROCS(0), func(tile int) {
		part := left[tile*share : min(len(r), (tile+1)*share)]
		for i, a := range columns {
			for n, v := range a[tile*share:][:len(part)] {
				part[n] -= w.AtVec(i) * v
			}
		}
	})
	return left
}

// spectrumSize returns the size of the Fourier transform for a data range of span steps.
func spectrumSize(span float64) int { return 1 << int(math.Ceil(math.Log2(oversampling*(span+1)))) }

// transform computes the periodogram of r, with times rounded to the grid.
func (s *spectrum) transform() {
	s.square = dot(s.r, s.r)
	if s.span > sparse*float64(s.n) {
		return // no periodogram: no season
	}
	size := spectrumSize(s.span)
	grid := make([]float64, size)
	for i, u := range s.u {
		grid[int(math.Round(u))] += s.r[i]
	}
	s.spacing = 1 / float64(size)
	lines := fourier.NewFFT(size).Coefficients(nil, grid)
	s.power = make([]float64, len(lines))
	for i, c := range lines {
		s.power[i] = real(c*cmplx.Conj(c)) * 2 / float64(s.n)
	}
}

// amplitude returns the amplitude of the line at f cycles per step.
func (s *spectrum) amplitude(f float64) float64 {
	var c, q float64
	for i, u := range s.u {
		sin, cos := math.Sincos(2 * math.Pi * f * u)
		c, q = c+cos*s.r[i], q+sin*s.r[i]
	}
	return 2 * math.Hypot(c, q) / float64(s.n)
}

// strongest returns the frequency of the strongest peak; ok is false if there is none.
func (s *spectrum) strongest() (f float64, ok bool) {
	if s.power == nil {
		return 0, false
	}
	per := 1 / (s.spacing * s.span) // lines of the periodogram per cycle over the data range
	lo, hi := int(math.Ceil(fewestSeasons*per)), int(0.5/s.spacing)
	if hi-lo < 20 || s.square == 0 {
		return 0, false
	}
	power := s.power[lo:hi]
	half := max(1, int(math.Round(smoothing/2.0*per/oversampling)))
	mean := make([]float64, len(power)) // moving average
	sum := 0.0
	for i := -half; i < len(power); i++ {
		if i+half < len(power) {
			sum += power[i+half]
		}
		if i-half-1 >= 0 {
			sum -= power[i-half-1]
		}
		if i >= 0 {
			mean[i] = sum / float64(2*half+1)
		}
	}
	broad := argmax(mean)
	first := max(0, broad-half)
	k := first + argmax(power[first:min(len(power), broad+half+1)])
	share := max(power[k], broadPeak*mean[broad]) / s.square
	if sharp := argmax(power); power[sharp] > sharpPeak*s.square {
		k, share = sharp, power[sharp]/s.square
	}
	switch k {
	case 0:
		return 0, false
	case len(power) - 1: // Nyquist frequency, a harmonic of an even season
		return 0.5, share >= minShare
	}
	a, b, c := power[k-1], power[k], power[k+1]
	shift := 0.0
	if curve := a - 2*b + c; curve < 0 {
		shift = 0.5 * (a - c) / curve
	}
	return (float64(lo+k) + shift) * s.spacing, share >= minShare
}

// season returns the season of a line at frequency f: a subharmonic if its harmonics explain much more, rounded to a calendar season if
// one is close. ok is false if the data contain too few periods.
func (s *spectrum) season(f float64) (carrier float64, cycle, ok bool) {
	best := f
	one := s.combLeft(f, 3)
	for c := 2; c <= 3; c++ {
		if f/float64(c) >= fewestSeasons/s.span && s.combLeft(f/float64(c), 3*c) < combGain*one {
			best = f / float64(c)
			break
		}
	}
	period := math.Round(1 / best)
	if slices.Contains(calendarSeasons, int(period)) && math.Abs(1/period-best) < snap/s.span {
		return 1 / period, false, true
	}
	return best, true, best >= fewestCycles/s.span
}

// combLeft returns the residual sum of squares after a fit of the given number of harmonics of f.
func (s *spectrum) combLeft(f float64, harmonics int) float64 {
	left := residualOf(s.r, s.comb(f, harmonics))
	return dot(left, left)
}

// comb returns cosines and sines of the harmonics of f at the observation times.
func (s *spectrum) comb(f float64, harmonics int) (columns [][]float64) {
	harmonics = min(harmonics, int(0.5001/f))
	columns = make([][]float64, 2*harmonics)
	parallel.For(harmonics, runtime.GOMAXPROCS(0), func(h int) {
		cos, sin := make([]float64, s.n), make([]float64, s.n)
		for i, u := range s.u {
			sin[i], cos[i] = math.Sincos(2 * math.Pi * float64(h+1) * f * u)
		}
		columns[2*h], columns[2*h+1] = cos, sin
	})
	return columns
}

// companions maps a season to a longer one that usually accompanies it, in steps: day to week, week or day to year.
var companions = map[int]float64{24: 168, 48: 336, 96: 672, 144: 1008, 288: 2016, 7: 365.25, 168: 8766}

// calendars maps a time step to its calendar seasons, in steps.
var calendars = map[string][]float64{
	"minute": {60 * 24, 60 * 24 * 7}, "hour": {24, 168, 8766}, "day": {7, 365.25}, "week": {365.25 / 7}, "month": {12}, "quarter": {4},
}

// Calendar returns candidates for Options.Try: the calendar seasons of data with a step of one "minute", "hour", "day", "week", "month"
// or "quarter". step is the length of this step and span the data range, both in units of the input. Seasons with fewer than 1.9 periods
// in the span or with a known period are omitted. like returns a Season of a given period with its priors; nil: the default ones. A weekly
// season after a daily one includes their Product. There are no candidates for another word, or if step is not positive and finite.
func Calendar(word string, step, span float64, known []float64, like func(period float64) Season) (all [][]Part) {
	if like == nil {
		like = func(period float64) Season { return Season{Period: period} }
	}
	var first *Season
	for _, steps := range calendars[word] {
		p := steps * step
		there := slices.ContainsFunc(known, func(q float64) bool { return math.Abs(p-q) < 1e-3*p })
		if there || !(p > 0 && span >= fewestDated*p) || math.IsInf(p, 0) {
			continue
		}
		season := like(p)
		parts := []Part{season}
		if first != nil && math.Abs(p-7*first.Period) < 1e-6*p {
			parts = append(parts, Product{Long: season, Short: *first})
		}
		all, first = append(all, parts), &season
	}
	return all
}

// calendar returns the calendar season of few values that most improves the Bayesian information criterion of a joint
// fit with the slow components and the found seasons. The periodogram may not show it, because its lines are close to
// the slow components or many. ok is false if no season improves the criterion.
func (s *spectrum) calendar(found []Season, step float64) (period int, ok bool) {
	if s.slow == nil {
		return 0, false
	}
	others := slices.Clone(s.slowest())
	for _, season := range found {
		others = append(others, s.comb(step/season.Period, defaultHarmonics)...)
	}
	n := float64(s.n)
	criterion := func(columns [][]float64) float64 {
		r := residualOf(s.y, columns)
		return n*math.Log(dot(r, r)) + float64(len(columns))*math.Log(n)
	}
	least := criterion(others)
	for _, p := range calendarSeasons {
		periods, columns := s.span/float64(p), slices.Concat(others, s.comb(1/float64(p), defaultHarmonics))
		if periods < fewestSeasons || s.n < len(columns)+fewestFree {
			continue
		}
		if c := criterion(columns); c < least {
			least, period, ok = c, p, true
		}
	}
	return period, ok
}

// candidates returns candidate seasons in decreasing order of strength. Each candidate is a set of parts. Of few
// values, a slow component may hide the seasons unless all half periods are removed.
func (s *spectrum) candidates(step float64) [][]Part {
	all, seasons := s.lines(step)
	if len(all) == 0 && s.slow != nil {
		fast := *s
		fast.r = residualOf(s.y, s.slow)
		fast.transform()
		all, seasons = fast.lines(step)
	}
	if period, ok := s.calendar(seasons, step); ok {
		all = slices.Insert(all, 0, []Part{Season{Period: step * float64(period)}})
	}
	return all
}

// lines returns the seasons of the strongest lines, as candidates and as a list. A line in the sidebands of an earlier
// season only indicates that its pattern changes; it is removed and is not a candidate.
func (s *spectrum) lines(step float64) (all [][]Part, seasons []Season) {
	left := *s
	for range 2 * maxSeasons {
		f, ok := left.strongest()
		if !ok || len(all) >= maxSeasons {
			break
		}
		carrier, cycle, enough := left.season(f)
		if inSidebands(seasons, step, f, s.span) || inSidebands(seasons, step, carrier, s.span) {
			left.remove(carrier)
			continue
		}
		if !enough || cycle && slices.ContainsFunc(seasons, func(s Season) bool { return s.Cycle }) {
			break
		}
		found := Season{Period: step / carrier, Cycle: cycle}
		all, seasons = append(all, []Part{found}), append(seasons, found)
		left.remove(carrier)
		if long := companions[int(math.Round(1/carrier))] * step; !cycle && long > 0 && s.span*step >= fewestSeasons*long {
			c := Season{Period: long}
			all, seasons = append(all, []Part{c, Product{Long: c, Short: found}}), append(seasons, c)
			left.remove(step / long)
		}
	}
	return all, seasons
}

// remove removes the harmonics of a carrier and recomputes the periodogram.
func (s *spectrum) remove(carrier float64) {
	var columns [][]float64
	for h := 1; h <= defaultHarmonics; h++ {
		for _, side := range []float64{-1, 0, 1} {
			if f := float64(h)*carrier + side/s.span; f > 0 && f < 0.5+1e-6 {
				columns = append(columns, s.comb(f, 1)...)
			}
		}
	}
	s.r = residualOf(s.r, columns)
	s.transform()
}

// inSidebands reports whether a frequency is within the sidebands of a season's harmonics.
func inSidebands(seasons []Season, step, f, span float64) bool {
	for _, c := range seasons {
		carrier := step / c.Period
		h := math.Round(f / carrier)
		if h >= 1 && h <= defaultHarmonics && math.Abs(f-h*carrier) < sidebands/(2.4*span) {
			return true
		}
	}
	return false
}

func dot(a, b []float64) float64 {
	s := 0.0
	for i, v := range a {
		s += v * b[i]
	}
	return s
}

func argmax(a []float64) int {
	best := 0
	for i, v := range a {
		if v > a[best] {
			best = i
		}
	}
	return best
}
