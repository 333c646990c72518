package paper

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/bench/internal/baselines"
	"github.com/vssgp/vssgp/bench/internal/jsonl"
)

// The paper compares Gaussian process approximations on the yearly reconstructed solar irradiance, scaled to standard
// deviation 1. Five segments of 20 years are test data. All methods use one squared exponential.
//
// The paper does not specify the positions of its segments. Case fixed uses the positions of a later reproduction (VFF,
// Hensman et al.), shortened to 20 years. Case drawn draws them for each seed. The 50 features of ssgp are 25
// frequencies, each with a cosine and a sine. The paper does not specify the initial Σ either. Initialization paper
// uses the Σ of InitPaper, with the noise fixed in the first iterations. With Σ = 0.0001, features extend over a
// century, and all parameters are optimized from the first iteration on.
const (
	solarSegments = 5
	solarSegment  = 20 // years
	solarApart    = 10 // minimum years between drawn segments and from the ends
)

var solarFixed = []float64{1620, 1700, 1780, 1850, 1930}

func solarFits(s *session) ([]fit, error) {
	data, err := s.series("solar_lean2004.csv", "sunspots.csv")
	if err != nil {
		return nil, err
	}
	data = data.scaled()
	trials := solarTrials(s)
	fixed := slices.Repeat([][]bool{data.inside(solarFixed, solarSegment)}, int(s.repeats(5)))
	drawn := make([][]bool, s.repeats(10))
	for seed := range drawn {
		if drawn[seed], err = data.drawn(uint64(seed)); err != nil {
			return nil, err
		}
	}
	curve := grid(data.X[0], data.X[len(data.X)-1], 0.5)
	return append(data.fits(Key{Set: "solar", Quick: s.Quick, Case: "fixed"}, trials, fixed, curve),
		data.fits(Key{Set: "solar", Quick: s.Quick, Case: "drawn"}, trials, drawn, nil)...), nil
}

// drawn draws the segments of test data. All valid positions are equally likely.
func (s *series) drawn(seed uint64) ([]bool, error) {
	free := len(s.X) - solarSegments*solarSegment - (solarSegments+1)*solarApart
	if free < 0 {
		return nil, fmt.Errorf("%s: %d rows are too few for %d test segments of %d rows", s.Data, len(s.X), solarSegments, solarSegment)
	}
	rng := rand.New(rand.NewPCG(seed, 0x501a5))
	at := rng.Perm(free + solarSegments)[:solarSegments]
	slices.Sort(at)
	left := make([]bool, len(s.X))
	for i, a := range at {
		first := solarApart + a + i*(solarSegment+solarApart-1)
		for n := range solarSegment {
			left[first+n] = true
		}
	}
	return left, nil
}

// solarTrials returns the methods, each with the paper's initialization (length-scale of a year, σ² = 1, τ = 10) and
// with the best of several. It also includes trials that are initialized from the spectrum.
func solarTrials(s *session) (list []trial) {
	inducing, iterations := s.size(50, 10), s.size(1000, 10)
	common := func(lengthscale float64) baselines.Options {
		return baselines.Options{Covariance: baselines.SE(lengthscale), NoisePrecision: 10, Iterations: iterations}
	}
	for _, m := range []struct {
		name string
		baselines.Bound
	}{{"fitc", baselines.FITC}, {"vfe", baselines.VFE}} {
		list = append(list, scales(m.name, func(l float64) baselines.Method {
			return baselines.SPGP{Options: common(l), Inducing: inducing, Bound: m.Bound}
		})...)
	}
	random := vssgp.Options{
		Init: vssgp.InitPaper, Paper: vssgp.PaperOptions{Lengthscales: []float64{1}}, Features: inducing, NoisePrecision: 10,
		Iterations: iterations,
		Fix:        []string{"kernel.frequency"},
	}
	both := func(method string, o vssgp.Options) {
		list = append(list, features(method, paperStart, o, 1), features(method, bestStart, o, starts))
	}
	ssgp, rp := random, random
	ssgp.Method, rp.Method = vssgp.SSGP, vssgp.RP
	both("ssgp", ssgp)
	both("rp1", rp)
	rp.Features, rp.NoisePrecision, rp.Iterations = s.size(500, 50), 100, vssgp.NoIterations
	both("rp2", rp)
	list = append(list, scales("gp", func(l float64) baselines.Method { return baselines.GP{Options: common(l)} })...)
	mixture := common(1)
	mixture.Covariance = baselines.SE(20, 4)
	mixture.Covariance.Frequency[0] = 1. / 11
	list = append(list, deterministic("gp", mixtureStart, baselines.GP{Options: mixture}))
	both("vssgp", random)
	return append(list,
		smallSigmaFeatures(smallSigmaStart, random, 1), smallSigmaFeatures(smallSigmaBestStart, random, starts),
		spectrum(spectrumStart, s.size(0, 10)), spectrum(keptStart, vssgp.NoIterations))
}

// scales returns trials of a deterministic method, with the paper's initialization and with the best of several initial
// length-scales.
func scales(method string, with func(lengthscale float64) baselines.Method) []trial {
	var best bestOf
	for i := range starts {
		best = append(best, with(float64(int(1)<<i)))
	}
	return []trial{deterministic(method, paperStart, with(1)), deterministic(method, bestStart, best)}
}

// solarPaper contains the paper's table: training and test RMSE, and the learned length-scale.
var solarPaper = map[string][3]string{
	"fitc":  {"0.23", "0.61", "5"},
	"vfe":   {"0.23", "0.61", "5"},
	"ssgp":  {"0.15", "0.63", "0.97"},
	"rp1":   {"0.32", "0.65", "1.66"},
	"rp2":   {"0.04", "0.76", "–"},
	"gp":    {"0.08", "0.50", "4"},
	"vssgp": {"0.13", "0.41", "3"},
}

func solarTable(w io.Writer, lines []Line) {
	fmt.Fprint(w, "RMSE in standard deviations of the data, next to the paper's (its SPGP is one of fitc and vfe); mean ± sd over the seeds.\n"+
		"Coverage is the fraction of test years inside the 95 % interval, NLPD their mean negative log predictive density.\n"+
		"“vssgp ahead”: how often vssgp has the lower test RMSE with the same start, and with start spectrum.\n\n")
	paper := func(i int) column {
		return column{"paper", func(l []Line) string {
			if strings.HasPrefix(l[0].Start, paperStart) {
				return solarPaper[l[0].Method][i]
			}
			return "–"
		}}
	}
	lengthscale := func(l Line) float64 {
		if l.Learned == nil || len(l.Learned.Lengthscale) != 1 {
			return math.NaN()
		}
		return l.Learned.Lengthscale[0]
	}
	for _, c := range []struct{ name, title string }{
		{"fixed", "Segments from 1620, 1700, 1780, 1850 and 1930; the seeds are for the starts"},
		{"drawn", "Segments drawn for each seed"},
	} {
		in := jsonl.Where(lines, caseOf, c.name)
		if len(in) == 0 {
			continue
		}
		fmt.Fprintf(w, "%s:\n\n", c.title)
		writeColumns(w, jsonl.Groups(in, variantOf), methodColumn, startColumn, fits("seeds"), scored("train", TrainRMSE), paper(0),
			scored("test", TestRMSE), paper(1), coverage, scored("NLPD", NLPD),
			summary("length-scale", spread, lengthscale), paper(2), secondsTaken,
			column{"vssgp ahead", func(l []Line) string { return ahead(l[0].Start, l, in) }},
			column{"from the spectrum", func(l []Line) string { return ahead(spectrumStart, l, in) }})
	}
}

// ahead counts the fits in g that have a larger test RMSE than the vssgp fit of the same case and seed with the given
// initialization. If either method has only one fit, it is compared with all fits of the other.
func ahead(start string, g, in []Line) string {
	if g[0].Method == "vssgp" {
		return ""
	}
	won, n := 0, 0
	ours := ok(jsonl.Where(in, variantOf, variant{"vssgp", start}))
	for _, v := range ours {
		for _, l := range ok(g) {
			if l.Seed != v.Seed && len(g) > 1 && len(ours) > 1 {
				continue
			}
			n++
			if v.Scores[TestRMSE] < l.Scores[TestRMSE] {
				won++
			}
		}
	}
	if n == 0 {
		return "–"
	}
	return fmt.Sprintf("%d of %d", won, n)
}

// solarViews lists the panels of the figure: the paper's and two more.
var solarViews = []view{
	{variant{"fitc", paperStart}, "Sparse pseudo-input GP (FITC)"},
	{variant{"vfe", paperStart}, "Sparse pseudo-input GP (variational)"},
	{variant{"ssgp", paperStart}, "Sparse spectrum GP"},
	{variant{"rp2", paperStart}, "Random projections (RP₂)"},
	{variant{"gp", paperStart}, "Full GP"},
	{variant{"vssgp", paperStart}, "Variational sparse spectrum GP, the paper's start"},
	{variant{"vssgp", smallSigmaBestStart}, "Variational sparse spectrum GP, the best of five with Σ = 0.0001"},
	{variant{"vssgp", spectrumStart}, "Variational sparse spectrum GP, from the spectrum"},
}

func solarFigures(lines []Line) []figure {
	return []figure{curves("solar", lines, solarViews, 3*vg.Centimeter)}
}
