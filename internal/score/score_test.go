package score

import (
	"math"
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
		if math.Abs(c.got-c.want) > 1e-14 {
			t.Errorf("%s %v, want %v", c.name, c.got, c.want)
		}
	}
}
