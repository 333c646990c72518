package bayes

import (
	"math"
	"slices"
	"testing"
)

func TestScores(t *testing.T) {
	mean, sd, y := []float64{0, 1, 2, 3}, []float64{1, 1, 2, 0.5}, []float64{1.9, 1, 6, 3.98}
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"RMS", RMS([]float64{3, -4}), math.Sqrt(12.5)},
		{"RMSE", RMSE(mean, y), math.Sqrt((1.9*1.9 + 16 + 0.98*0.98) / 4)},
		// 1.9, 0, 2 and 1.96 standard deviations off: the last is just outside.
		{"coverage", Coverage(mean, sd, y), 0.5},
		{"NLPD", NLPD(mean, sd, y), (0.5*(1.9*1.9+4+1.96*1.96) + math.Log(2) + math.Log(0.5) + 2*math.Log(2*math.Pi)) / 4},
	} {
		if !(math.Abs(c.got-c.want) <= 1e-14) {
			t.Errorf("%s %v, want %v", c.name, c.got, c.want)
		}
	}
}

// TestMeanSD: numbers of any size, in columns, have the mean and the deviation that
// they have in a unit of 1; one number again and again has no rounding in either.
func TestMeanSD(t *testing.T) {
	for _, unit := range []float64{1, 0x1p-1000, 0x1p-450, 0x1p450, 0x1p1000} {
		a := []float64{9 * unit, 1 * unit, 9 * unit, 2 * unit, 9 * unit, 6 * unit}
		if mean, sd := MeanSD(a, 1, 2); !(math.Abs(mean/unit-3) <= 1e-15) || !(math.Abs(sd/unit-math.Sqrt(14./3)) <= 1e-15) {
			t.Errorf("unit %g: %v ± %v, want 3 ± %v", unit, mean/unit, sd/unit, math.Sqrt(14./3))
		}
	}
	for _, v := range []float64{3, 0.1, -1e300, 3e-300, 0} {
		if mean, sd := MeanSD(slices.Repeat([]float64{v}, 60), 0, 1); mean != v || sd != 0 {
			t.Errorf("%v sixty times: %v ± %v", v, mean, sd)
		}
	}
}
