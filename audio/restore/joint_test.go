package restore

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// voice returns samples [from, to) of a speech recording.
func voice(t *testing.T, from, to int) []float64 {
	t.Helper()
	r := testkit.Must(audio.Open("../../testdata/speech.wav"))(t)
	return r.Samples[0][from:to]
}

// otherMicrophone returns x as recorded by a second microphone: attenuated, delayed and with independent noise relative to x.
func otherMicrophone(x []float64, later int, noise float64) []float64 {
	rng := rand.New(rand.NewPCG(5, 6))
	sd := noise * math.Sqrt(square(x)/float64(len(x)))
	return testkit.Numbers(len(x), func(i int) float64 { return 0.6*x[max(0, i-later)] + sd*rng.NormFloat64() })
}

func square(x []float64) float64 { return floats.Dot(x, x) }

// gapsOf returns count evenly spaced gaps of the given length in a channel.
func gapsOf(n, length, channel, count int) (gaps []Gap) {
	for k := range count {
		start := n*(2*k+1)/(2*count) - length/2
		gaps = append(gaps, Gap{Start: start, End: start + length, Channel: channel})
	}
	return gaps
}

// TestOtherChannelImprovesFill checks that a correlated channel improves a fill, that an independent or silent channel does not change it, and that the
// other channel is unchanged.
func TestOtherChannelImprovesFill(t *testing.T) {
	x, other := voice(t, 2000, slow.Pick(24_000, 13_000)), voice(t, 24_000, slow.Pick(46_000, 35_000))
	for _, c := range []struct {
		name   string
		y      []float64
		length int
		gain   float64 // minimum in dB; 0: identical to the fill without the other channel
	}{
		{"close by", otherMicrophone(x, 5, 0.05), 320, 6},
		{"independent", other, 320, 0},
		{"silent", make([]float64, len(x)), 320, 0},
		{"with noise", otherMicrophone(x, 5, 0.3), 320, 3},
		{"in a long gap", otherMicrophone(x, 0, 0.05), 4000, 6},
	}[:slow.Pick(5, 3)] {
		count := min(6, len(x)/(c.length+1500))
		gaps := gapsOf(len(x), c.length, 1, count)
		alone := mustFillAt(t, [][]float64{x}, gapsOf(len(x), c.length, 1, count), Options{Draws: 1})
		z := [][]float64{x, c.y}
		r := mustFillAt(t, z, gaps, Options{Draws: 1})
		if !sameBits(r.Filled[1:], z[1:]) || !sameBits(r.Draws[0][1:], z[1:]) || square(r.SD[1]) > 0 {
			t.Errorf("%s: the intact channel changed", c.name)
		}
		if c.gain == 0 {
			if !sameBits(r.Filled[:1], alone.Filled) || !sameBits(r.SD[:1], alone.SD) || !sameBits(r.Draws[0][:1], alone.Draws[0]) || r.Joint() != 0 {
				t.Errorf("%s: a different fill than without the other channel, %d joint", c.name, r.Joint())
			}
			continue
		}
		before, after := gapError(alone.Filled, z[:1], gaps), gapError(r.Filled[:1], z[:1], gaps)
		if gain := 20 * math.Log10(before/after); !(gain > c.gain) || r.Joint() == 0 {
			t.Errorf("%s: a gain of %.2f dB in %d joint fills, want more than %v", c.name, gain, r.Joint(), c.gain)
		}
		if share := covered(r, z[:1], gaps); !(share > 0.85) || !(share < 0.995) {
			t.Errorf("%s: %.3f of the samples are within 95 %% intervals", c.name, share)
		}
		for _, d := range r.Warnings() {
			if strings.Contains(d.Warning, "long") {
				t.Errorf("%s: warning about the length of %v, though the other channel predicts it", c.name, d.Gap)
			}
		}
	}
}

func mustFillAt(t *testing.T, x [][]float64, gaps []Gap, o Options) filled {
	t.Helper()
	return inWhole(x, testkit.Must(Fill(t.Context(), x, 16_000, gaps, o))(t))
}

// TestJointMissing checks that channels with overlapping gaps are filled separately, and that channels with gaps or clipped samples
// elsewhere are used.
func TestJointMissing(t *testing.T) {
	x := voice(t, 6000, 22_000)
	z := [][]float64{x, otherMicrophone(x, 3, 0.1)}
	gaps := []Gap{{Start: 3000, End: 3200}, {Start: 9000, End: 9200, Channel: 1}, {Start: 9190, End: 9400, Channel: 2}}
	r := mustFillAt(t, z, gaps, Options{})
	for c := range z {
		own := []Gap{gaps[0], gaps[c+1]}
		if alone := mustFillAt(t, z[c:c+1], []Gap{{Start: own[0].Start, End: own[0].End}, {Start: own[1].Start, End: own[1].End}}, Options{}); !sameBits(r.Filled[c:c+1], alone.Filled) {
			t.Errorf("channel %d is filled differently without the other channel", c+1)
		}
	}
	if r.Joint() != 0 {
		t.Errorf("%d joint fills of simultaneous gaps, want none", r.Joint())
	}
	for _, c := range []struct {
		other Gap
		joint int
	}{
		{Gap{Start: 9300, End: 9400, Channel: 2}, 1}, {Gap{Start: 9210, End: 9240, Channel: 2}, 0}, {Gap{Start: 9100, End: 9110, Channel: 2, Clipped: true}, 0},
		{Gap{Start: 9400, End: 9410, Channel: 2, Clipped: true}, 1},
	} {
		r := mustFillAt(t, z, []Gap{gaps[1], c.other}, Options{})
		if !c.other.Clipped && c.joint == 1 {
			c.joint = 2 // each predicts the other
		}
		testkit.Equal(t, r.Joint(), c.joint, "joint fills next to a gap ", c.other, " of another channel")
	}
}

// TestDualMono checks that an identical channel restores the samples up to quantization, and that the standard deviation is not
// smaller than the quantization error.
func TestDualMono(t *testing.T) {
	x := voice(t, 6000, 22_000)
	const step = 1.0 / 32768
	dithered := slices.Clone(x)
	for i := range dithered {
		dithered[i] += step * float64(i*7919%3-1)
	}
	gaps := gapsOf(len(x), 1000, 1, 2)
	for name, c := range map[string]struct {
		y   []float64
		off float64
	}{"copy": {x, step / 2}, "other rounding": {dithered, 2.5 * step}} {
		r := mustFillAt(t, [][]float64{x, c.y}, gaps, Options{Draws: 1})
		for _, i := range missing(gaps, 1) {
			if d := math.Abs(r.Filled[0][i] - x[i]); !(d < c.off) || !(r.SD[0][i] >= step/math.Sqrt(12)*(1-1e-9)) || !(r.SD[0][i] < 3*step) {
				t.Fatalf("%s: sample %d is off by %v ± %v steps", name, i, d/step, r.SD[0][i]/step)
			}
			if d := math.Abs(r.Draws[0][0][i] - x[i]); !(d < c.off+6*r.SD[0][i]) {
				t.Fatalf("%s: sample %d of a draw is off by %v steps", name, i, d/step)
			}
		}
		if r.Joint() != len(gaps) || len(r.Warnings()) > 0 {
			t.Errorf("%s: %d joint fills, warnings %v", name, r.Joint(), r.Warnings())
		}
	}
}

// TestJointOfAR checks that method AR uses no other channel.
func TestJointOfAR(t *testing.T) {
	x, gap := tones(4000, 1, 0.01)[0], []Gap{{Start: 2000, End: 2080, Channel: 1}}
	alone := mustFillAt(t, [][]float64{x}, gap, Options{Method: AR})
	if r := mustFillAt(t, [][]float64{x, x}, gap, Options{Method: AR}); r.Joint() != 0 || !sameBits(r.Filled[:1], alone.Filled) {
		t.Errorf("%d joint fills, or a different fill than without the other channel", r.Joint())
	}
}

// TestJointBits checks that joint fills do not depend on GOMAXPROCS.
func TestJointBits(t *testing.T) {
	x := voice(t, 6000, 22_000)
	z := [][]float64{x, otherMicrophone(x, 3, 0.1), otherMicrophone(x, 0, 0.2), otherMicrophone(x, 7, 0.4), voice(t, 30_000, 46_000)}
	gaps := append(gapsOf(len(x), 200, 1, 3), Gap{Start: 400, End: 600, Channel: 3})
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one := mustFillAt(t, z, gaps, Options{Draws: 1})
	runtime.GOMAXPROCS(4)
	four := mustFillAt(t, z, gaps, Options{Draws: 1})
	if !sameBits(one.Filled, four.Filled) || !sameBits(one.SD, four.SD) || !sameBits(one.Draws[0], four.Draws[0]) || four.Joint() != one.Joint() {
		t.Errorf("different bits with four processors, or other than %d joint fills", one.Joint())
	}
	if one.Joint() != len(gaps) {
		t.Errorf("%d joint fills, want %d", one.Joint(), len(gaps))
	}
}

// TestJointOracle compares mean and standard deviation of a fill with the exact conditional distribution of a known process.
func TestJointOracle(t *testing.T) {
	const n, at, length, around = 16_000, 8000, 24, 60
	rng := rand.New(rand.NewPCG(7, 8))
	own, others := []float64{1, -1.6, 0.8}, []float64{1, -0.7} // of r and of y
	hear := map[int]float64{2: 0.8, -1: 0.4}                   // x_i = Σ h_l y_{i−l} + r_i
	filter := func(a []float64, e func(i int) float64, n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = e(i)
			for j := 1; j < len(a) && j <= i; j++ {
				v[i] -= a[j] * v[i-j]
			}
		}
		return v
	}
	chance := func(int) float64 { return rng.NormFloat64() }
	x, y := filter(own, chance, n), filter(others, chance, n)
	for i := 2; i < n-1; i++ {
		x[i] += hear[2]*y[i-2] + hear[-1]*y[i+1]
	}
	covariance := func(a []float64) func(lag int) float64 {
		v := filter(a, func(i int) float64 { return max(0, 1-float64(i)) }, 600) // response to an impulse
		return func(lag int) (sum float64) {
			for i := range 600 - max(lag, -lag) {
				sum += v[i] * v[i+max(lag, -lag)]
			}
			return sum
		}
	}
	rr, yy := covariance(own), covariance(others)
	total := length + 2*around
	of := func(i, j int) (sum float64) { // of x at i < total and y at i − total
		switch lag := i%total - j%total; {
		case i < total && j < total:
			for l, h := range hear {
				for m, k := range hear {
					sum += h * k * yy(lag-l+m)
				}
			}
			return sum + rr(lag)
		case i >= total && j >= total:
			return yy(lag)
		case i >= total:
			lag = -lag
			fallthrough
		default:
			for l, h := range hear {
				sum += h * yy(lag-l)
			}
			return sum
		}
	}
	mean, sd := conditionalOf(of, append(slices.Clone(x[at-around:at+length+around]), y[at-around:at+length+around]...), around, around+length)
	r := mustFillAt(t, [][]float64{x, y}, []Gap{{Start: at, End: at + length, Channel: 1}}, Options{})
	if r.Joint() != 1 {
		t.Fatal("the fill is not joint")
	}
	off := 0.0
	for i := range mean {
		off += math.Pow((r.Filled[0][at+i]-mean[i])/sd[i], 2) / length
		if ratio := r.SD[0][at+i] / sd[i]; !(ratio > 0.85) || !(ratio < 1.45) { // variances are widened by 1.3
			t.Errorf("sample %d: ratio of the standard deviation to the conditional's is %.3f", i, ratio)
		}
	}
	if !(math.Sqrt(off) < 0.35) {
		t.Errorf("the mean is off by %.3f standard deviations", math.Sqrt(off))
	}
}

// conditionalOf returns the conditional of samples [lo, hi) of z, given the others.
func conditionalOf(covariance func(i, j int) float64, z []float64, lo, hi int) (mean, sd []float64) {
	var known []int
	for i := range z {
		if i < lo || i >= hi {
			known = append(known, i)
		}
	}
	k, v := mat.NewSymDense(len(known), nil), mat.NewVecDense(len(known), nil)
	for i, a := range known {
		v.SetVec(i, z[a])
		for j, b := range known[:i+1] {
			k.SetSym(i, j, covariance(a, b))
		}
	}
	var f mat.Cholesky
	if !f.Factorize(k) {
		panic("the covariance is not positive definite")
	}
	for u := lo; u < hi; u++ {
		c, w := mat.NewVecDense(len(known), nil), mat.NewVecDense(len(known), nil)
		for i, a := range known {
			c.SetVec(i, covariance(u, a))
		}
		if f.SolveVecTo(w, c) != nil {
			panic("the covariance is singular")
		}
		mean, sd = append(mean, mat.Dot(w, v)), append(sd, math.Sqrt(covariance(u, u)-mat.Dot(w, c)))
	}
	return mean, sd
}
