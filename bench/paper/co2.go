package paper

import (
	"gonum.org/v1/gonum/stat"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/baseline"
)

// co2Set is the paper's first experiment: monthly CO2 at Mauna Loa, a spectral
// mixture of two components with ten features each, phases drawn and fixed.
//
// The paper does not say how its data are scaled, and so what τ = 10 means. Here
// y stays in ppm, for which it says what is right: months differ from a smooth
// curve by less than a third of a ppm. For y scaled to standard deviation 1 it
// is more noise than there are seasons: start scaledStart. Components start with
// half of the data's variance each, not with σ² = 1.
//
// The second component has no period at the start, but its p moves like the
// other's (the paper's stayed infinite): its learnt period comes out long. Case
// all fits every row, as the paper does; case forecast leaves the years from
// 1995 on out.
var co2Set = set{name: "co2", title: "Mauna Loa CO2, a spectral mixture of two components", fits: co2Fits, table: co2Table, figures: co2Figures}

const (
	co2Forecast = 1995. // the first year that case forecast leaves out
	co2Before   = 10.   // years that the curve begins before the data
	co2After    = 20.   // and ends after them

	scaledStart = "paper, τ of scaled y"
)

func co2Fits(s *session) ([]fit, error) {
	data, err := s.series("co2_mauna_loa_monthly.csv", "co2_monthly.csv")
	if err != nil {
		return nil, err
	}
	features, iterations, byDefault := 10, 500, 0
	if s.Quick {
		features, iterations, byDefault = 4, 5, 5
	}
	trials, err := co2Trials(features, iterations, byDefault, stat.PopStdDev(data.y, nil))
	if err != nil {
		return nil, err
	}
	last := data.x[len(data.x)-1]
	dense := grid(data.x[0]-co2Before, last+co2After, 1./16)
	var fits []fit
	for _, c := range []struct {
		name string
		left []bool
	}{
		{"all", make([]bool, len(data.x))},
		{"forecast", data.inside([]float64{co2Forecast}, last)},
	} {
		for _, t := range trials {
			for seed := range s.repeats(5) {
				if seed > 0 && !t.draws {
					break
				}
				over := dense
				if seed > 0 {
					over = nil
				}
				key := Key{Set: "co2", Quick: s.Quick, Case: c.name, Method: t.method, Start: t.start, Seed: seed}
				fits = append(fits, data.fit(key, t.with(seed), c.left, over))
			}
		}
	}
	return fits, nil
}

// co2Trials are the methods; sd is the data's standard deviation.
func co2Trials(k, iterations, byDefault int, sd float64) ([]trial, error) {
	lengthscales, periods := []float64{0.1, 1000}, []float64{5, 0}
	mixture, err := baseline.SpectralMixture(1, lengthscales, periods)
	if err != nil {
		return nil, err
	}
	paper := vssgp.Options{
		Init: vssgp.InitPaper, Lengthscales: lengthscales, Periods: periods, Features: k, NoisePrecision: 10, Iterations: iterations,
	}
	scaled := paper
	scaled.NoisePrecision /= sd * sd
	return []trial{
		settled("gp", paperStart, baseline.GP{Options: baseline.Options{Covariance: mixture, NoisePrecision: 10, Iterations: iterations}}),
		features("vssgp", paperStart, paper, false),
		features("vssgp", bestStart, paper, true),
		features("vssgp", scaledStart, scaled, false),
		spectrum(spectrumStart, byDefault),
	}, nil
}
