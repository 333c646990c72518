package series

import (
	"fmt"
	"math"
)

// Constant is the level of the series. It has a wide fixed prior.
type Constant struct{}

// Slope is a straight line. SD is the prior of its rise over the data range.
type Slope struct{ SD Prior }

// SmoothTrend is a line whose slope is a random walk: integrated Brownian motion that starts at the first observation. SD is the prior of
// its standard deviation at the end of the data, in units of the output.
type SmoothTrend struct{ SD Prior }

// DampedTrend is a level whose slope is mean-reverting: the integral of an Ornstein–Uhlenbeck process with correlation
// length Length, in units of the input. Forecasts flatten over this length. SD is the prior of the standard deviation of
// its change over the data range, in units of the output.
type DampedTrend struct{ SD, Length Prior }

// RandomWalk is a level that follows Brownian motion. SD is the prior of its standard deviation after one data range.
type RandomWalk struct{ SD Prior }

// ShortMemory is a mean-reverting residual with correlation length Length, in units of the input, and standard deviation SD. Without
// Quality, it is an Ornstein–Uhlenbeck process. With Quality, it is a stochastic damped oscillator (a second-order autoregression):
// overdamped for a quality below 1/2, oscillating above it.
type ShortMemory struct{ SD, Length, Quality Prior }

// LevelShift is a permanent jump of the level at time At. SD is the prior of its size, which all shifts share.
type LevelShift struct {
	At float64 // input of the first observation after the shift
	SD Prior
}

// Season is a periodic pattern that may change slowly. Each harmonic has its own amplitude and changes with correlation length Length
// (Matérn-3/2), in units of the input.
type Season struct {
	Period    float64 // in units of the input
	Harmonics int     // 0: six, and 12 or 24 if Fit finds more evidence for them; at most up to the Nyquist frequency
	Length    Prior
	Amplitude Prior // prior of the first harmonic; for harmonic h, the median is divided by h^1.5

	// Cycle marks a period that is not a calendar period. Its default prior lets the shape change within a quarter of the data range, and
	// it has two harmonics by default.
	Cycle bool
}

// Product models how the pattern of a short season varies over a long season, such as the day over the week. It adds frequencies around
// each harmonic of Short, at up to three multiples of the frequency of Long. Long.Length and Short.Amplitude are its priors.
type Product struct{ Long, Short Season }

// Regressors is the weighted sum of the regressors, with weights N(0, SD²). Fit adds it to every series with regressors.
type Regressors struct{}

// Noise is independent observation noise. SD is the prior of its standard deviation or, if errors are known, of the factor that
// multiplies them.
type Noise struct{ SD Prior }

func (Constant) name() string     { return "constant" }
func (Slope) name() string        { return "slope" }
func (SmoothTrend) name() string  { return "smooth trend" }
func (DampedTrend) name() string  { return "damped trend" }
func (RandomWalk) name() string   { return "random walk" }
func (ShortMemory) name() string  { return "short memory" }
func (s LevelShift) name() string { return fmt.Sprintf("level shift %.10g", s.At) }
func (s Season) name() string     { return fmt.Sprintf("season %.6g", s.Period) }
func (p Product) name() string    { return p.Long.name() + " × " + p.Short.name() }
func (Regressors) name() string   { return "regressors" }
func (Noise) name() string        { return "noise" }

func (Constant) given() []Prior      { return nil }
func (p Slope) given() []Prior       { return []Prior{p.SD} }
func (p SmoothTrend) given() []Prior { return []Prior{p.SD} }
func (p DampedTrend) given() []Prior { return []Prior{p.SD, p.Length} }
func (p RandomWalk) given() []Prior  { return []Prior{p.SD} }
func (p ShortMemory) given() []Prior { return []Prior{p.SD, p.Length, p.Quality} }
func (s LevelShift) given() []Prior  { return []Prior{s.SD} }
func (s Season) given() []Prior      { return []Prior{s.Length, s.Amplitude} }
func (p Product) given() []Prior     { return append(p.Long.given(), p.Short.given()...) }
func (Regressors) given() []Prior    { return nil }
func (p Noise) given() []Prior       { return []Prior{p.SD} }

func (Constant) addTo(l *layout) {
	l.add(block{amp: fixed(constantSD * math.Pow(l.reach/l.frame.Range, 1.5)), cos: []float64{0}})
}

func (p Slope) addTo(l *layout) {
	// sin(εv)/ε deviates from a line by a relative error of (εv)²/6; v is relative to the middle.
	l.add(block{amp: l.amplitude("slope.sd", p.SD, Prior{Median: 1, SD: 1}), line: true})
}

func (p SmoothTrend) addTo(l *layout) { // its Karhunen–Loève expansion on [0, trendRange]
	b := block{amp: l.amplitude("smooth_trend.sd", p.SD, Prior{Median: 0.3 / l.frame.growth(), SD: 1.5}), start: true}
	ratio := l.trendRange / l.frame.Range
	b.amp.trend = func(c float64) float64 { return math.Sqrt(6) * math.Pow(ratio, 1.5) / (c * c) }
	most := min(trendCosines, max(fewestCosines, l.frame.Range/2)) // of few values, the fastest cosines are noise
	for j := range int(math.Ceil(most * l.reach / l.frame.Range)) {
		b.cos = append(b.cos, (float64(j)+0.5)/(2*l.trendRange))
	}
	l.add(b)
}

func (p DampedTrend) addTo(l *layout) {
	l.index.rise = l.amplitude("damped_trend.sd", p.SD, Prior{Median: 0.3 / l.frame.growth(), SD: 1.5}).sd
	l.index.back = l.parameter("damped_trend.length", p.Length.or(Prior{Median: 0.5 * l.frame.Range, SD: 1}, l.frame.Step))
}

func (p RandomWalk) addTo(l *layout) {
	l.index.walk = l.amplitude("random_walk.sd", p.SD, Prior{Median: 0.3, SD: 1.5}).sd
}

func (p ShortMemory) addTo(l *layout) {
	l.index.sd = l.amplitude("short_memory.sd", p.SD, Prior{Median: 0.2, SD: 1.2}).sd
	l.index.length = l.parameter("short_memory.length", p.Length.or(Prior{Median: max(l.frame.Range/30, 2), SD: 1.2}, l.frame.Step))
	if p.Quality.Median != 0 {
		l.index.quality = l.parameter("short_memory.quality", p.Quality)
	}
}

func (p LevelShift) addTo(l *layout) {
	from := l.frame.steps(p.At)
	l.add(block{amp: l.amplitude("level_shift.sd", p.SD, Prior{Median: 1, SD: 1}), cos: []float64{0}, from: &from})
}

func (p Regressors) addTo(l *layout) {
	for _, r := range l.frame.Regressors {
		l.add(block{component: r.Group, known: true, amp: l.amplitude("regressor "+r.Group+".sd", r.SD, Prior{Median: 0.3, SD: 1.5})})
	}
}

func (p Season) addTo(l *layout) {
	carrier := l.frame.Step / p.Period // cycles per step
	shape := p.shape(l)
	for h := 1; h <= p.harmonics(carrier); h++ {
		sides := int(math.Round(sidebands * l.reach / (1.5 * l.frame.Range)))
		if h > 2 {
			sides = max(2, sides/2)
		}
		b := block{amp: l.harmonic(p, h, p.name(), shape)}
		b.comb(float64(h)*carrier, l.maxSides(&b, sides), l.period())
		l.add(b)
	}
}

// shape returns the amplitude of a frequency that deviates by f from its harmonic: the square root of the Matérn-3/2 spectral density
// times the frequency spacing. It adds the length as a hyper-parameter.
func (p Season) shape(l *layout) amplitude {
	median := 2.0
	if p.Cycle {
		median = 0.25
	}
	period, length := l.period(), p.Length.or(Prior{Median: median * l.frame.Range, SD: 1.2}, l.frame.Step)
	return amplitude{
		length: l.parameter(p.name()+".length", length), factor: 1,
		shape: func(f, length float64) (float64, slope) {
			z, w := math.Sqrt(3)/length, 2*math.Pi*f
			z2, w2 := z*z, w*w
			return math.Sqrt(4*z2*z/period) / (z2 + w2), slope(0.5 * (4*z2/(z2+w2) - 3))
		},
	}
}

// fewPeriods reports whether the data contain a calendar season so few times that its harmonics share one amplitude, which
// falls with 1/h. The data would not determine six amplitudes.
func (f *frame) fewPeriods(p Season) bool {
	most := fewestSeasons
	if f.Rows < fewRows {
		most = sharedPeriods
	}
	return !p.Cycle && f.Range*f.Step < most*p.Period
}

// harmonic returns the amplitude of harmonic h and adds its hyper-parameter.
func (l *layout) harmonic(p Season, h int, name string, shape amplitude) amplitude {
	prior := p.Amplitude
	if prior.Median == 0 && l.frame.fewPeriods(p) {
		shape.sd, shape.factor = l.parameter(name+".amplitude[1]", fewAmplitude), 1/float64(h)
		l.most[shape.sd] = math.Log(maxAmplitude)
		return shape
	}
	if prior.Median == 0 {
		prior = Prior{Median: max(l.peak(l.frame.Step/p.Period), minPeak), SD: 1.2}
	} else {
		prior.Median /= l.frame.Scale[0]
	}
	prior.Median *= math.Pow(float64(h), -1.5)
	shape.sd = l.parameter(fmt.Sprintf("%s.amplitude[%d]", name, h), prior)
	most := float64(maxAmplitude)
	if p.Amplitude.Median != 0 {
		most = max(most, prior.Median*math.Exp(3*prior.SD))
	}
	l.most[shape.sd] = math.Log(most)
	return shape
}

// maxSides returns the number of sidebands of a block on each side of a harmonic.
func (l *layout) maxSides(b *block, usual int) int {
	if most, ok := l.sides[l.names[b.amp.sd]]; ok {
		return min(most, usual)
	}
	return usual
}

// comb adds frequencies around a carrier, with spacing 1/period.
func (b *block) comb(carrier float64, sides int, period float64) {
	for j := -sides; j <= sides; j++ {
		offset := float64(j) / period
		if f := carrier + offset; f > 0 && f < 0.5+1e-6 {
			b.cos, b.offset = append(b.cos, f), append(b.offset, offset)
		}
	}
}

func (p Product) addTo(l *layout) {
	long, short := l.frame.Step/p.Long.Period, l.frame.Step/p.Short.Period
	shape := p.Long.shape(l)
	weak := p.Short
	if weak.Amplitude.Median == 0 {
		weak.Amplitude = Prior{Median: productShare * max(l.peak(short), minPeak) * l.frame.Scale[0], SD: 1.2}
	}
	for h := 1; h <= p.Short.harmonics(short); h++ {
		b := block{amp: l.harmonic(weak, h, p.name(), shape)}
		for k := -productLines; k <= productLines; k++ {
			if k != 0 {
				b.comb(float64(h)*short+float64(k)*long, 0, l.period())
			}
		}
		if len(b.cos) > 0 {
			l.add(b)
		}
	}
}

// harmonics returns the number of harmonics, limited by the Nyquist frequency.
func (p Season) harmonics(carrier float64) int {
	most := p.Harmonics
	if most == 0 {
		most = defaultHarmonics
		if p.Cycle {
			most = 2
		}
	}
	return int(min(float64(most), max(1, 0.5/carrier+1e-6)))
}

func (p Noise) addTo(l *layout) {
	if l.frame.Error != nil {
		l.noise = l.parameter("noise.factor", p.SD.or(Prior{Median: 1, SD: 0.5}, 1))
	} else {
		l.noise = l.amplitude("noise.sd", p.SD, Prior{Median: 0.1, SD: 1.5}).sd
	}
}

const (
	defaultHarmonics  = 6
	sharpestHarmonics = 24   // maximum that is tried
	constantSD        = 10   // sd of the constant, in sds of the data; 3 was too small
	sidebands         = 8    // on each side of a harmonic
	maxAmplitude      = 10   // maximum amplitude of a season, in sds of the data; larger ones extrapolate badly
	sharedPeriods     = 5.0  // number of periods from which on each harmonic has its own amplitude, of few values
	minPeak           = 0.01 // minimum prior median of a season's amplitude, in sds of the data
	productShare      = 0.2  // prior median of a product's amplitude, relative to the short season
	productLines      = 3    // harmonics of the long season on each side of a harmonic of the short season
)

// fewAmplitude is the prior of the first harmonic's amplitude, in sds of the data, if the data contain few periods.
var fewAmplitude = Prior{Median: 0.3, SD: 1}

// ofKind returns the parts of type P.
func ofKind[P Part](parts []Part) (all []P) {
	for _, p := range parts {
		if own, ok := p.(P); ok {
			all = append(all, own)
		}
	}
	return all
}

// ordered returns a copy of parts with the regressors, if any, after all other features and the noise last.
func (f *frame) ordered(parts []Part) []Part {
	noise, all := Part(Noise{}), []Part(nil)
	for _, p := range parts {
		switch p.(type) {
		case Noise:
			noise = p
		case Regressors:
		default:
			all = append(all, p)
		}
	}
	if len(f.Regressors) > 0 {
		all = append(all, Regressors{})
	}
	return append(all, noise)
}
