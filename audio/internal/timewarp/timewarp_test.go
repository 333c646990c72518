package timewarp

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/internal/ar"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
)

// TestInverseInvertsTau checks that inverse inverts tau if it is monotonic, and monotonic for several reaches.
func TestInverseInvertsTau(t *testing.T) {
	for _, c := range []Warp{{}, {Glide: 1e-4}, {Glide: -2.5e-4}, {Bend: 3e-7}, {Glide: 1e-4, Bend: -3e-7}, {Level: 1e-3}} {
		for x := -1000.0; x <= 1000; x += 37 {
			if !c.monotonic(math.Abs(x)) {
				continue
			}
			testkit.Near(t, c.inverse(c.tau(x)), x, 1e-6, c)
		}
	}
	for _, x := range []struct {
		Warp
		reach float64
		runs  bool
	}{
		{Warp{}, 1e9, true}, {Warp{Glide: 1e-3}, 799, true}, {Warp{Glide: 1e-3}, 801, false}, {Warp{Glide: -1e-3}, 801, false},
		{Warp{Bend: -1.6e-6}, 999, true}, {Warp{Bend: -1.6e-6}, 1001, false}, {Warp{Glide: 2e-3, Bend: 2e-6}, 2000, false},
	} {
		testkit.Equal(t, x.Warp.monotonic(x.reach), x.runs, x.Warp, " to ", x.reach)
	}
}

// tone returns a cosine with a frequency in cycles per sample and a phase.
func tone(n int, f, phase float64) []float64 {
	return testkit.Numbers(n, func(i int) float64 { return math.Cos(2*math.Pi*f*float64(i) + phase) })
}

// TestTonesAreInterpolated checks the interpolation of tones, with a larger tolerance near the Nyquist frequency, and zeros outside the samples.
func TestTonesAreInterpolated(t *testing.T) {
	for f, within := range map[float64]float64{0: 1e-3, 0.01: 1e-3, 0.1: 1e-3, 0.25: 1e-3, 0.4: 2e-2} {
		z := tone(400, f, 1)
		for x := 50.0; x < 350; x += 0.137 {
			testkit.Near(t, at(z, x), math.Cos(2*math.Pi*f*x+1), within, "a tone of ", f, " at ", x)
		}
		padded := slices.Concat(make([]float64, 50), z, make([]float64, 50))
		for x := -15.25; x < 416; x += 0.6875 {
			testkit.Equal(t, at(z, x), at(padded, x+50), "next to the ends")
		}
		testkit.Near(t, at(z, 100), z[100], 1e-15, "at a sample")
	}
}

// TestDecimate checks that a low tone is preserved and a tone above the new Nyquist frequency is removed.
func TestDecimate(t *testing.T) {
	for _, by := range []int{2, 3, 8} {
		for _, f := range []float64{0.1, 0.3, 0.8} { // relative to the new rate
			want := tone(101, f, 0)
			if f > 0.5 && by > 1 {
				clear(want)
			}
			low := decimate(tone(100*by+1, f/float64(by), 0), by)
			testkit.Within(t, "decimated", low[20:80], want[20:80], 5e-3)
			testkit.Equal(t, len(low), len(want), "length")
		}
	}
}

// gliding returns a synthetic voice: harmonics of a pitch that glides by rho per second, at a level that changes by level per second,
// plus noise.
func gliding(n int, rate, pitch, rho, level float64, harmonics int, noise float64) []float64 {
	rng := rand.New(rand.NewPCG(1, 2))
	z := make([]float64, n)
	for i := range z {
		t := (float64(i) - float64(n)/2) / rate
		for h := 1; h <= harmonics; h++ {
			z[i] += 0.1 / math.Sqrt(float64(h)) * math.Cos(2*math.Pi*float64(h)*pitch*(t+rho*t*t/2)+float64(h*h))
		}
		z[i] = z[i]*math.Exp(level*t) + noise*rng.NormFloat64()
	}
	return z
}

// hole returns a gap of n samples in the middle of z.
func hole(z []float64, n int) [][2]int { return [][2]int{{(len(z) - n) / 2, (len(z)-n)/2 + n}} }

// TestWarped checks that the correct warp makes a gliding voice periodic, and that back inverts it.
func TestWarped(t *testing.T) {
	const rate = 16000
	z := gliding(6001, rate, 125, 1.5, 8, 4, 0)
	p := &excerpt{z: z, gaps: hole(z, 161), rate: rate}
	c := Warp{Glide: 1.5 / rate, Level: 8.0 / rate}
	s := p.warped(c, 1500)
	const period = 128
	testkit.Within(t, "a period later", s.y[40+period:len(s.y)-40], s.y[40:len(s.y)-40-period], 2e-3)
	g := s.gaps[s.which]
	back := s.back(slices.Clone(s.y[g[0]:g[1]]), 161)
	start, end := p.gap()
	if e := bayes.RMSE(back, z[start:end]); e > 1e-3 {
		t.Errorf("back has the error %v", e)
	}
	even := p.warped(Warp{}, 1500)
	if !slices.Equal(even.y, z[start-1500:end+1500]) || even.gaps[0] != [2]int{1500, 1661} {
		t.Errorf("without a warp the samples from %d on are not the signal's, or the gap %v is not its", start-1500, even.gaps)
	}
	testkit.Equal(t, even.variances(make([]float64, 161), 161), make([]float64, 161), "variances of 0")
}

// TestPosterior checks that the evidence finds a glide and the most likely level change, and that the posterior mean of the level is
// between it and 0. With too few samples after the gap, there is no warp.
func TestPosterior(t *testing.T) {
	const rate = 16000
	voice := Mixture().All[0]
	for _, c := range []struct {
		rho, level float64
		after      int
	}{{0, 0, 4000}, {2, 0, 4000}, {-1, 0, 4000}, {0, 20, 4000}, {1, -20, 4000}, {2, 20, 700}, {2, 20, 100}} {
		z := gliding(9001, rate, 140, c.rho, c.level, 12, 0.002)[:4580+c.after]
		x := (&excerpt{z: z, gaps: [][2]int{{4420, 4580}}, rate: rate}).prefilled()
		found := voice.posterior(x, true)
		got, total := found[0], 0.0
		if even := len(found) == 1 && got.Warp == (Warp{}); even != (c.after == 100) {
			t.Errorf("%+v: %+v", c, found)
		}
		if c.after > 1000 {
			likeliest, most := 0.0, math.Inf(-1)
			for j, level := range voice.Level.values() {
				if p := voice.Level.logPrior(j) + temper*got.e.at(level/(rate/3)); p > most {
					likeliest, most = level, p
				}
			}
			if math.Abs(got.Glide*rate-c.rho) > 0.5 || likeliest != c.level || got.Level*c.level < 0 || math.Abs(got.Level*rate) > math.Abs(c.level)+1 {
				t.Errorf("%+v: found glide %v, likeliest level %v, mean %v", c, got.Glide*rate, likeliest, got.Level*rate)
			}
		}
		for i, w := range found {
			if total += w.weight; i > 0 && (w.weight > found[i-1].weight || w.weight < minWarp) {
				t.Errorf("weights %+v, want them falling, to %v at least", found, minWarp)
			}
		}
		if total > 1+1e-12 || total < 0.7 {
			t.Errorf("%d warps with weights that sum to %v", len(found), total)
		}
		if one := voice.posterior(x, false); len(one) != 1 || one[0].Bend != 0 {
			t.Errorf("%+v: the most likely warp without a bend is %+v", c, one)
		}
	}
}

func fillOf(t *testing.T, m Candidates, z []float64, gaps [][2]int, rate float64, draws int) *Filling {
	t.Helper()
	hidden := slices.Clone(z)
	for i := gaps[0][0]; i < gaps[0][1]; i++ {
		hidden[i] = 1e3
	}
	q := testkit.Must(NewFiller(m, rate).Fill(context.Background(), hidden, gaps, 0, draws, 7))(t)
	if n := gaps[0][1] - gaps[0][0]; len(q.Mean) != n || len(q.Variance) != n || len(q.Draws) != draws {
		t.Fatalf("%d means, %d variances, %d draws of %d samples", len(q.Mean), len(q.Variance), len(q.Draws), n)
	}
	for i, v := range q.Variance {
		if !(v >= 0) || math.IsInf(v, 0) || math.IsNaN(q.Mean[i]) || math.IsInf(q.Mean[i], 0) {
			t.Fatalf("sample %d: mean %v, variance %v", i, q.Mean[i], v)
		}
	}
	return q
}

// rmse returns the error of a fill of the first gap of z.
func rmse(z []float64, gaps [][2]int, q *Filling) float64 {
	return bayes.RMSE(q.Mean, z[gaps[0][0]:gaps[0][1]])
}

// coverage returns the coverage of its 95 % intervals.
func coverage(z []float64, gaps [][2]int, q *Filling) float64 {
	sd := testkit.Numbers(len(q.Mean), func(i int) float64 { return math.Sqrt(q.Variance[i]) })
	return bayes.Coverage(q.Mean, sd, z[gaps[0][0]:gaps[0][1]])
}

// TestGlides checks that a gliding voice is filled much better than by an autoregressive model and that the voice candidate has
// nearly all the weight, and that a steady chord is filled by the candidates for steady sounds.
func TestGlides(t *testing.T) {
	z := gliding(24_001, 16000, 120, 1.5, 5, 20, 0.001)
	gaps := hole(z, 320)
	voice, simple := fillOf(t, Mixture(), z, gaps, 16000, 0), fillOf(t, AR(), z, gaps, 16000, 0)
	if a, b := rmse(z, gaps, voice), rmse(z, gaps, simple); a > 0.6*b || voice.Weights[0] < 0.99 || voice.Weights[1] != 0 {
		t.Errorf("error %v, of an autoregressive fill %v; weights %v", a, b, voice.Weights)
	}
	chord := make([]float64, 24_001)
	for i := range chord {
		for k, f := range []float64{220, 223, 277.2, 329.6, 331, 440.5, 554, 659.3} {
			chord[i] += 0.05 * math.Cos(2*math.Pi*f*float64(i)/16000+float64(k))
		}
		chord[i] += 1e-4 * whiteNoise()[i%len(whiteNoise())]
	}
	q := fillOf(t, Mixture(), chord, gaps, 16000, 0)
	if e := rmse(chord, gaps, q); e > 0.005 || q.Weights[0] > 0.1 || q.Trials == 0 {
		t.Errorf("a steady chord is filled with error %v and weights %v by %d trials", e, q.Weights, q.Trials)
	}
}

// TestDrawsHaveMomentsOfTheMixture compares mean and variance of draws with the mixture, with and without an onset.
func TestDrawsHaveMomentsOfTheMixture(t *testing.T) {
	onset := gliding(8001, 8000, 130, 0, 0, 6, 0.03)
	for i := range 4000 {
		onset[i] /= 5
	}
	for name, z := range map[string][]float64{"gliding": gliding(8001, 8000, 130, 1, 5, 6, 0.03), "onset": onset} {
		t.Run(name, func(t *testing.T) { testDraws(t, z) })
	}
}

func testDraws(t *testing.T, z []float64) {
	gaps := hole(z, 40)
	const n = 400
	q := fillOf(t, Mixture(), z, gaps, 8000, n)
	for i, mean := range q.Mean {
		sum, squares := 0.0, 0.0
		for _, d := range q.Draws {
			sum += d[i] / n
			squares += (d[i] - mean) * (d[i] - mean) / n
		}
		if sd := math.Sqrt(q.Variance[i]); math.Abs(sum-mean) > 5*sd/math.Sqrt(n) || math.Abs(squares/q.Variance[i]-1) > 0.5 {
			t.Errorf("sample %d: mean %v of draws, want %v; variance %v, want %v", i, sum, mean, squares, q.Variance[i])
		}
	}
	few := fillOf(t, Mixture(), z, gaps, 8000, 3)
	for i, d := range few.Draws {
		testkit.Equal(t, d, q.Draws[i], "draw ", i, " of few and many draws")
	}
}

// TestDegenerateData checks that fills are finite for gaps at the ends, short recordings, silence, constants, adjacent gaps, long
// gaps and common sample rates.
func TestDegenerateData(t *testing.T) {
	long := gliding(20_000, 16000, 120, 1, 5, 10, 0.01)
	constant := slices.Repeat([]float64{0.3}, 4000)
	dense := [][2]int{{9000, 9040}}
	for at := 9043; at < 11000; at += 60 {
		dense = append(dense, [2]int{at, at + 40})
	}
	for _, c := range []struct {
		name string
		z    []float64
		gaps [][2]int
		rate float64
	}{
		{"at the beginning", long, [][2]int{{0, 300}}, 16000},
		{"near the beginning", long, [][2]int{{7, 300}}, 16000},
		{"long, near the beginning", long, [][2]int{{30, 1500}}, 16000},
		{"at the end", long, [][2]int{{19_700, 20_000}}, 16000},
		{"near the end", long, [][2]int{{19_000, 19_999}}, 16000},
		{"silence", make([]float64, 4000), [][2]int{{2000, 2100}}, 16000},
		{"silence to one side", append(make([]float64, 4000), long[:4000]...), [][2]int{{3990, 4100}}, 16000},
		{"a constant", constant, [][2]int{{2000, 2100}}, 16000},
		{"short", long[:60], [][2]int{{20, 30}}, 16000},
		{"very short", long[:5], [][2]int{{2, 4}}, 16000},
		{"one sample known", long[:5], [][2]int{{1, 5}}, 16000},
		{"one sample missing", long, [][2]int{{9000, 9001}}, 16000},
		{"adjacent gaps", long, dense, 16000},
		{"a fifth of a second", long, [][2]int{{9000, 12_200}}, 16000},
		{"loud", gliding(9000, 16000, 120, 1, 5, 10, 1e4), [][2]int{{4000, 4100}}, 16000},
		{"8 kHz", long, [][2]int{{9000, 9100}}, 8000},
		{"96 kHz", gliding(120_000, 96000, 120, 1, 5, 10, 0.01), [][2]int{{60_000, 60_500}}, 96000},
		{"1 Hz", long, [][2]int{{9000, 9100}}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, m := range []Candidates{Mixture(), AR()} {
				q := fillOf(t, m, c.z, c.gaps, c.rate, 2)
				if c.name == "a constant" && math.Abs(q.Mean[50]-0.3) > 0.05 {
					t.Errorf("a constant is filled with %v", q.Mean[50])
				}
				if c.name == "silence" && (slices.Max(q.Mean) != 0 || slices.Max(q.Variance) != 0) {
					t.Errorf("silence is filled with %v ± %v", slices.Max(q.Mean), slices.Max(q.Variance))
				}
			}
			f := NewFiller(Mixture(), c.rate)
			if g := f.InitialFill(context.Background(), c.z, c.gaps, 0); len(g) != c.gaps[0][1]-c.gaps[0][0] || slices.ContainsFunc(g, math.IsNaN) {
				t.Errorf("initial fill %v", g)
			}
		})
	}
}

// TestSpeech checks on speech that the mixture has a smaller geometric mean error than autoregressive fills, and the coverage of its
// intervals. A few loud gaps would dominate the pooled error.
func TestSpeech(t *testing.T) {
	r := testkit.Must(audio.Open("../../../testdata/speech.wav"))(t)
	rate := float64(r.Rate)
	for _, ms := range []int{5, 20} {
		n := ms * r.Rate / 1000
		var logs, covered, count float64
		for start := 8000; start+n+8000 < len(r.Samples[0]); start += 1250 {
			reach := min(start, Reach(n, rate))
			z, gaps := r.Samples[0][start-reach:min(len(r.Samples[0]), start+n+reach)], [][2]int{{reach, reach + n}}
			q := fillOf(t, Mixture(), z, gaps, rate, 0)
			logs += math.Log(rmse(z, gaps, q) / rmse(z, gaps, fillOf(t, AR(), z, gaps, rate, 0)))
			covered, count = covered+coverage(z, gaps, q), count+1
		}
		if ratio := math.Exp(logs / count); ratio > 0.95 || covered < 0.9*count || covered > 0.98*count {
			t.Errorf("%d ms: the RMSE is %.3f of the autoregressive fill's, coverage %.3f", ms, ratio, covered/count)
		}
	}
}

// TestFarSamplesDoNotAffectFill checks that samples beyond Reach do not affect a fill.
func TestFarSamplesDoNotAffectFill(t *testing.T) {
	const rate = 8000
	z := gliding(24_000, rate, 120, 1, 2, 10, 0.01)
	gaps := hole(z, 100)
	reach := Reach(100, rate)
	whole := fillOf(t, Mixture(), z, gaps, rate, 1)
	part := fillOf(t, Mixture(), z[gaps[0][0]-reach:gaps[0][1]+reach], [][2]int{{reach, reach + 100}}, rate, 1)
	modeltest.Near(t, "means of the excerpt", part.Mean, whole.Mean, 1e-8)
	modeltest.Near(t, "a draw of the excerpt", part.Draws[0], whole.Draws[0], 1e-5)
}

// TestExactFillVariance checks that the variances of a nearly exact fill match its error, and that they are not narrowed if the note
// changes in the gap.
func TestExactFillVariance(t *testing.T) {
	const rate, n, length = 16000, 12000, 320
	for _, c := range []struct {
		name    string
		second  float64 // frequency after the center of the gap
		noise   float64
		largest float64 // maximum standard deviation
		exact   bool
	}{
		{"tone", 440, 0, 1e-3, true},
		{"16-bit tone", 440, 1. / 32768, 1e-3, true},
		{"note changes", 660, 0, 1, false},
		{"noisy tone", 440, 0.05, 1, false},
	} {
		random := rand.New(rand.NewPCG(1, 1))
		z := make([]float64, n)
		for i := range z {
			f := 440.
			if i >= n/2 {
				f = c.second
			}
			z[i] = math.Sin(2*math.Pi*f*float64(i)/rate) + c.noise*(random.Float64()-0.5)
		}
		q := fillOf(t, Mixture(), z, hole(z, length), rate, 0)
		sd, covered := math.Sqrt(slices.Max(q.Variance)), coverage(z, hole(z, length), q)
		if (q.narrow < 0.1) != c.exact || sd > c.largest || c.exact && covered < 0.9 {
			t.Errorf("%s: standard deviation %v, narrowed by %v, coverage %v", c.name, sd, q.narrow, covered)
		}
	}
}

// TestMixtureMomentsMatchTotalVariance checks the moments of a mixture by the law of total variance. The weights need not sum to 1.
func TestMixtureMomentsMatchTotalVariance(t *testing.T) {
	mean, variance := mix([]part{{1, []float64{0, 2}, []float64{1, 0}, nil}, {3, []float64{4, 2}, []float64{5, 2}, nil}}, 2)
	testkit.Equal(t, mean, []float64{3, 2}, "means")
	testkit.Equal(t, variance, []float64{7, 1.5}, "variances") // 7 = (1·1 + 3·5)/4 + (1·9 + 3·1)/4
}

// TestVariances checks that standard deviations have the same gain and time warp as the samples.
func TestVariances(t *testing.T) {
	const rate, n = 8000, 81
	z := gliding(4001, rate, 130, 0, 0, 3, 0)
	for _, c := range []Warp{{Level: 2e-3}, {Glide: 2e-4}, {Glide: -2e-4, Level: -1e-3}} {
		s := (&excerpt{z: z, gaps: hole(z, n), rate: rate}).warped(c, 600)
		g := s.gaps[s.which]
		linear := make([]float64, g[1]-g[0]) // in the time of the signal
		for i := range linear {
			linear[i] = 100 + s.t[g[0]+i]
		}
		for i, v := range s.variances(linear, n) {
			time := float64(i - n/2)
			want := math.Exp(2*c.Level*time) * (100 + time)
			testkit.Near(t, v, want, 5e-3*want, c, " at ", time)
		}
	}
}

// TestCloseGaps checks that a fill does not depend on values in other gaps within the model order, because they are filled jointly.
func TestCloseGaps(t *testing.T) {
	const rate, order = 8000, 40
	z := gliding(3001, rate, 130, 0, 0, 6, 0.05)
	m := ar.Burg([]ar.Segment{{X: z}}, order)
	gaps := [][2]int{{1440, 1470}, {1500, 1540}, {1560, 1580}}
	want, ok := m.Conditional(z, gaps, nil)
	other := slices.Clone(z)
	for _, i := range []int{1445, 1460, 1565, 1579} {
		other[i] += 5
	}
	c, filled := (&excerpt{z: other, gaps: gaps, which: 1, rate: rate}).warped(Warp{}, 600).conditional(m, nil)
	if !ok || !filled {
		t.Fatal("the model is not positive definite")
	}
	modeltest.Near(t, "means", c.Mean, want.Mean[30:70], 1e-9)
	modeltest.Near(t, "variances", c.Variance, want.Variance[30:70], 1e-9)
}

// TestQuietFill checks that an initial fill of zeros does not reduce the estimated variance of the innovations.
func TestQuietFill(t *testing.T) {
	const n, rate = 1000, 1000
	z := make([]float64, 4*n)
	rng := rand.New(rand.NewPCG(3, 1))
	for i := range z {
		z[i] = rng.NormFloat64()
	}
	m := (&excerpt{z: z, gaps: hole(z, n), rate: rate}).filled(nil).warped(Warp{}, n).estimate(Estimate{Tapered: true, Context: 1, Order: 0.001}, rate)
	testkit.Near(t, m.E, 1, 0.15, "the variance of the innovations of white noise")
}

// TestWidenScalesDrawsNotMeans checks that Widen scales draws by its square root and does not change the means.
func TestWidenScalesDrawsNotMeans(t *testing.T) {
	const rate = 8000
	z := gliding(3001, rate, 130, 0, 0, 6, 0.05)
	m := AR()
	m.Distances, m.Widen = nil, 1
	narrow := fillOf(t, m, z, hole(z, 40), rate, 1)
	m.Widen = 4
	wide := fillOf(t, m, z, hole(z, 40), rate, 1)
	for i, mean := range narrow.Mean {
		a, b := narrow.Draws[0][i]-mean, wide.Draws[0][i]-mean
		if wide.Mean[i] != mean || math.Abs(wide.Variance[i]/narrow.Variance[i]-4) > 1e-9 || math.Abs(b-2*a) > 1e-9 {
			t.Fatalf("sample %d: a draw is %v off with the variance %v, and %v off with %v", i, a, narrow.Variance[i], b, wide.Variance[i])
		}
	}
}

// TestLogPrior checks that the prior on an uneven grid has the moments of the normal distribution.
func TestLogPrior(t *testing.T) {
	g := Mixture().All[0].Glide
	total, square := 0.0, 0.0
	for i, v := range g.Values {
		w := math.Exp(g.logPrior(i))
		total, square = total+w, square+w*v*v
	}
	testkit.Near(t, math.Sqrt(square/total), g.SD, 0.05*g.SD, "the standard deviation on the grid")
}

// TestLikeliest checks that the remaining warps keep their probabilities among all warps.
func TestLikeliest(t *testing.T) {
	for least, want := range map[float64][]float64{0: {0.5, 0.25, 0.15, 0.1}, 0.2: {0.5, 0.25}, 0.9: {0.5}} {
		var all []weighted
		for _, p := range []float64{0.1, 0.5, 0.15, 0.25} {
			all = append(all, weighted{weight: 7 + math.Log(p)})
		}
		got := likeliest(all, least)
		if !slices.EqualFunc(got, want, func(w weighted, p float64) bool { return math.Abs(math.Exp(w.weight)-p) < 1e-12 }) {
			t.Errorf("of at least %v: %+v, want %v", least, got, want)
		}
	}
}

// TestShortEstimate checks that the model order is limited by the number of samples on the longer side.
func TestShortEstimate(t *testing.T) {
	p := &excerpt{z: gliding(60, 16000, 120, 0, 0, 3, 0.01), gaps: [][2]int{{20, 30}}, rate: 16000}
	for _, e := range Mixture().All[0].Estimates {
		if m := p.warped(Warp{}, 1000).estimate(e, 16000); len(m.A)-1 > 24 || len(m.A) < 2 {
			t.Errorf("%+v: %d coefficients of 30 samples, want at most 24", e, len(m.A)-1)
		}
	}
}

// TestOnsetFillsSilenceBeforeIt checks that the fill of a gap with an onset is accurate in the silence before it and that its intervals cover the truth.
// If a sound ends in the gap, onsets do not change the fill.
func TestOnsetFillsSilenceBeforeIt(t *testing.T) {
	const rate, n = 16000, 320
	without := Mixture()
	without.Onsets = false
	for _, length := range []int{20_000, 8000} {
		rng := rand.New(rand.NewPCG(4, 1))
		z := gliding(20_000, rate, 200, 0, 0, 8, 0)[:length]
		for i := range z {
			if i < 6200 {
				z[i] = 0
			}
			z[i] += 1e-3 * rng.NormFloat64()
		}
		gaps := [][2]int{{6000, 6000 + n}}
		q, r := fillOf(t, Mixture(), z, gaps, rate, 0), fillOf(t, without, z, gaps, rate, 0)
		covered := coverage(z, gaps, q)
		if a, b := bayes.RMSE(q.Mean[:200], z[6000:6200]), bayes.RMSE(r.Mean[:200], z[6000:6200]); a > 0.6*b || covered < 0.8 {
			t.Errorf("%d samples: error %v in the silence, without onsets %v; coverage %v", length, a, b, covered)
		}
		slices.Reverse(z)
		gaps = [][2]int{{length - 6000 - n, length - 6000}}
		testkit.Equal(t, fillOf(t, Mixture(), z, gaps, rate, 0).Mean, fillOf(t, without, z, gaps, rate, 0).Mean, "a sound that ends")
	}
}

// TestShortGap checks that a gap as short as a click is filled by one model without trials, about as well as by autoregressive models
// weighted by trials.
func TestShortGap(t *testing.T) {
	z := gliding(40_000, 44_100, 150, 1, 5, 20, 1e-2)
	gaps := hole(z, 30)
	q := fillOf(t, Mixture(), z, gaps, 44_100, 1)
	if a, b := rmse(z, gaps, q), rmse(z, gaps, fillOf(t, AR(), z, gaps, 44_100, 0)); q.Trials != -1 || len(q.Weights) != 1 || a > 1.3*b {
		t.Errorf("%d trials, weights %v, error %v, by autoregressive models %v", q.Trials, q.Weights, a, b)
	}
}

// TestCompare checks that half the amplitude reduces the squared error to a quarter, and that the gain is 0 without trials. A
// canceled context stops Compare and Fill.
func TestCompare(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	a, half := make([]float64, 16_000), make([]float64, 16_000)
	for i := range a {
		a[i] = rng.NormFloat64()
		half[i] = a[i] / 2
	}
	f := NewFiller(Mixture(), 16_000)
	for _, c := range []struct {
		name   string
		b      []float64
		gap    [2]int
		gain   float64
		trials int
	}{
		{"half", half, [2]int{8000, 8160}, math.Log(4), 2}, // stops after two trials
		{"the same", a, [2]int{8000, 8160}, 0, 6},
		{"one side", a, [2]int{15_840, 16_000}, 0, 3},
		{"no space", half, [2]int{100, 15_900}, 0, 0},
	} {
		gain, trials, err := f.Compare(t.Context(), a, c.b, [][2]int{c.gap}, 0)
		if err != nil || math.Abs(gain-c.gain) > 1e-6 || trials != c.trials {
			t.Errorf("%s: gain %v by %d trials, %v; want %v by %d", c.name, gain, trials, err, c.gain, c.trials)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := f.Compare(ctx, a, half, [][2]int{{8000, 8160}}, 0)
	testkit.Fails(t, err, context.Canceled, "", "Compare")
	testkit.Fails(t, testkit.Error(f.Fill(ctx, a, [][2]int{{8000, 8160}}, 0, 0, 1)), context.Canceled, "", "Fill")
}
