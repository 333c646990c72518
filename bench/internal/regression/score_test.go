package regression

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/internal/testkit"
)

func randomOf(name string) *rand.Rand { return rand.New(rand.NewPCG(uint64(len(name)), 1)) }

// TestScores compares scores with values by hand.
func TestScores(t *testing.T) {
	half := 0.5 * math.Log(2*math.Pi)
	for _, c := range []struct {
		name        string
		mean, sd, y []float64
		want        Scores
	}{
		{"exact", []float64{1, 2}, []float64{1, 1}, []float64{1, 2}, Scores{2, 0, half, 1}},
		{"one outside", []float64{0, 0}, []float64{1, 2}, []float64{2, 2}, Scores{2, 2, (2+0.5+math.Log(2))/2 + half, 0.5}},
		{"no deviation", []float64{0}, []float64{0}, []float64{1e-9}, Scores{1, 1e-9, 0.5 + math.Log(1e-9) + half, 1}},
	} {
		got := testkit.Must(score(c.mean, c.sd, c.y))(t)
		differences := []float64{got.RMSE - c.want.RMSE, got.NLPD - c.want.NLPD, got.Coverage - c.want.Coverage,
			float64(got.N - c.want.N)}
		for i, v := range differences {
			if math.Abs(v) > 1e-12 {
				t.Errorf("%s: score %d differs by %v", c.name, i, v)
			}
		}
	}
	nan, inf := math.NaN(), math.Inf(1)
	for _, bad := range [][2]float64{{nan, 1}, {0, nan}, {inf, 1}, {0, inf}, {inf, inf}} {
		if _, err := score(bad[:1], bad[1:], []float64{0}); err == nil {
			t.Errorf("%v is scored", bad)
		}
	}
}

// TestRun checks the lines of both methods, that real and latent values have the right standard deviation, and the
// statuses of a time limit and of an error.
func TestRun(t *testing.T) {
	random, p := randomOf("run"), &Problem{Kind: "few-60", Half: Dev, Latent: true}
	x := even(80, 0, 8)
	for _, v := range x {
		p.X, p.Y = append(p.X, v), append(p.Y, math.Sin(2*v)+0.5*random.NormFloat64())
	}
	p.add(In, x, values(x, func(v float64) float64 { return math.Sin(2 * v) }))
	for _, method := range Methods {
		predict, _, err := fits[method](t.Context(), p)
		testkit.OK(t, err)
		sd := map[bool]float64{}
		for _, p.Latent = range []bool{true, false} {
			_, s, err := predict(x[40:41])
			testkit.OK(t, err)
			sd[p.Latent] = s[0]
		}
		if !(sd[true] < 0.3 && sd[false] > 0.3 && sd[false] < 0.7) {
			t.Errorf("%s: standard deviations %v, want about 0.4 with noise, and less without", method, sd)
		}
		p.Latent = true
		l := testkit.Must(Run(t.Context(), p, method, time.Hour))(t)
		s := l.Places[In]
		if l.Status != machine.OK || s.RMSE > 0.4 || s.N != 80 || l.N != 80 || l.Found == "" || l.Seconds <= 0 {
			t.Errorf("%s: %+v", method, l)
		}
		if l := testkit.Must(Run(t.Context(), p, method, 1))(t); l.Status != "time limit: 1ns" || l.Places != nil {
			t.Errorf("%s: status %q after the time limit", method, l.Status)
		}
	}
	bad := *p
	bad.Y = make([]float64, 3)
	if l := testkit.Must(Run(t.Context(), &bad, "vssgp", time.Hour))(t); l.Status[:7] != "failed:" {
		t.Errorf("status %q of a fit with too few values", l.Status)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ended, p, "vssgp", time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v of an interrupted fit", err)
	}
}
