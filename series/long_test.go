package series

import (
	"math"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// TestMemory: filter, smoother, K_o c and K_o⁻¹ c of uneven rows, some at the same time, are the dense matrix's.
func TestMemory(t *testing.T) {
	u, e := []float64{0, 1, 2, 2, 3.5, 9, 10, 11}, []float64{1, 1, 1, 2, 0.5, 1, 1, 3}
	c := []float64{1, -1, 0.5, 2, 0, 1, -2, 1}
	for _, m := range []memory{{Ratio: 2, Length: 3}, {Ratio: 0.7, Length: 2, Quality: 0.3}, {Ratio: 3, Length: 4, Quality: 0.5}, {Ratio: 1, Length: 1, Quality: 2}} {
		k := newGaussian(t, c, func(i, j int) float64 {
			k := m.Ratio * m.Ratio * m.correlation(u[i]-u[j])
			if i == j {
				k += e[i] * e[i]
			}
			return k
		})
		steps := m.steps(u, e)
		applied, solved := m.apply(u, e, c), solve(steps, e, c)
		logDet, variances := 0.0, smoothedVariances(steps)
		for i := range u {
			want := 0.0
			for j := range u {
				want += k.k.At(i, j) * c[j]
			}
			testkit.Near(t, applied[i], want, 1e-12, m, " K c")
			cross := func(j int) float64 {
				if i == j {
					return k.k.At(i, j) - e[i]*e[i]
				}
				return k.k.At(i, j)
			}
			mean, less := k.given(t, cross)
			testkit.Near(t, solved[i], (c[i]-mean)/(e[i]*e[i]), 1e-10, m, " K⁻¹ c")
			testkit.Near(t, variances[i], m.Ratio*m.Ratio-less, 1e-10, m, " smoothed variance")
			logDet += steps[i].log
		}
		testkit.Near(t, logDet, k.factor.LogDet(), 1e-10, m, " log |K|")
	}
}

// TestLengths: a series cut to different lengths, around the lengths at which the program changes what it computes, gives forecasts that
// change little.
func TestLengths(t *testing.T) {
	lengths := []int{500, 999, 1001, averagedRows - 1, averagedRows + 1}
	if slow.Tests {
		lengths = append(lengths, linearRows-1, linearRows+1, searchedRows-1, searchedRows+1, 50000)
	}
	const ahead = 48
	whole := longSeries(slices.Max(lengths) + ahead)
	var first *Prediction
	for _, n := range lengths {
		s := whole.rows(len(whole.X)-ahead-n, len(whole.X)-ahead)
		m := fit(t, s, Options{})
		p := predict(t, m, m.Next(ahead))
		if first == nil {
			first = p
		}
		for i := range ahead {
			if math.Abs(p.Mean[0][i]-first.Mean[0][i]) > 0.35*first.SD[0][i] || math.Abs(math.Log(p.SD[0][i]/first.SD[0][i])) > 0.2 {
				t.Errorf("%d rows, step %d: %v ± %v, of %d rows %v ± %v", n, i+1, p.Mean[0][i], p.SD[0][i], lengths[0], first.Mean[0][i], first.SD[0][i])
			}
		}
	}
}

// TestMemoryFit: the memory and the noise of a made series are found, with intervals, forecasts cover, components add up, and a file gives
// the same numbers.
func TestMemoryFit(t *testing.T) {
	n := slow.Pick(4000, 2000)
	s := longSeries(n + 48)
	m := fit(t, s.rows(0, n), Options{})
	want := map[string]float64{"short_memory.sd": 1.03, "short_memory.length": 33, "noise.sd": 0.3}
	for _, v := range m.Hyper() {
		if w, ok := want[v.Name]; ok && !(v.Lower < w && w < v.Upper && v.Upper < 3*v.Lower) {
			t.Errorf("%s is %v (%v to %v); made with %v", v.Name, v.Mode, v.Lower, v.Upper, w)
		}
		delete(want, v.Name)
	}
	if len(want) > 0 {
		t.Errorf("no hyper-parameters %v", want)
	}
	x := slices.Concat(s.X[n:], s.X[100:102])
	if n := inside(predict(t, m, x), s.Y[0][n:]); n < 40 {
		t.Errorf("%d of 48 inside 95 %% intervals", n)
	}
	reloaded(t, m, x)
}

// TestBare: a series without features but a level, or with none, forecasts and keeps what it forecasts in its file.
func TestBare(t *testing.T) {
	for _, parts := range [][]Part{{Constant{}, ShortMemory{}}, {ShortMemory{}}} {
		m := fit(t, longSeries(300), Options{Parts: parts, Known: true})
		reloaded(t, m, m.Next(3))
		if p := predict(t, m, m.Next(3)); !(p.SD[0][0] > 0) {
			t.Errorf("forecasts %v ± %v", p.Mean, p.SD)
		}
	}
	for _, parts := range [][]Part{{Noise{}}, {}} {
		testkit.Fails(t, testkit.Error(Fit(t.Context(), longSeries(300), Options{Parts: parts, Known: true})), ErrOptions, "", parts)
	}
}

// TestLinearMoments: moments at a memory near the mode, by their first-order change, are those of a pass over the rows.
func TestLinearMoments(t *testing.T) {
	o := objectiveOf(t, made(200, true))
	v := o.layout.medians()
	var e bayes.Evaluation
	testkit.OK(t, o.evaluate(&e, v))
	at := o.at
	near := memory{at.Ratio * 1.01, at.Length * 0.99, at.Quality * 1.01}
	got, want := o.groups[0].near(at, near), o.layout.whiten(o.tracks[0], []memory{near})[0]
	for k, w := range want.gram {
		testkit.Near(t, got.gram[k], w, 1e-3*math.Abs(o.groups[0].gram[k])+1e-3*math.Abs(w)+1e-2, "G")
	}
	testkit.Near(t, got.log, want.log, 0.02, "log |K_o|")
}
