package series_test

import (
	"math"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/series"
)

// TestSeeds checks that forecasts hardly depend on the seed of the draws. They did when draws far from the mode, where
// the Laplace approximation is too wide, were used: one of them doubled the variance.
func TestSeeds(t *testing.T) {
	nile := column("../testdata/series/nile.csv")
	least, most := math.Inf(1), 0.0
	for seed := range uint64(5) {
		m := testkit.Must(series.Fit(t.Context(), nile, series.Options{Seed: seed}))(t)
		f := testkit.Must(m.Forecast(t.Context(), 10))(t)
		sd := f.SD[0][9]
		least, most = min(least, sd), max(most, sd)
	}
	if most > 1.15*least {
		t.Errorf("the standard deviation of the tenth forecast is %.0f to %.0f for five seeds", least, most)
	}
}
