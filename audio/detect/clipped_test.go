package detect

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/testkit"
)

// swelling returns tones of varying loudness with a little noise and a maximum magnitude of 1, rounded to 16 bits.
func swelling(n int, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, seed))
	x := make([]float64, n)
	slow, top := 0.0, 0.0
	for i := range x {
		slow += 0.0003*rng.NormFloat64() - 0.00001*slow
		t := float64(i) / 16_000
		x[i] = math.Exp(10*slow)*(math.Sin(2*math.Pi*190*t)+0.6*math.Sin(2*math.Pi*431*t+1)+0.4*math.Sin(2*math.Pi*1207*t)) + 0.02*rng.NormFloat64()
		top = max(top, math.Abs(x[i]))
	}
	for i := range x {
		x[i] = rounded(x[i] / top)
	}
	return x
}

func rounded(x float64) float64 { return math.Round(x*32767) / 32768 }

// loudTone returns a tone of constant level.
func loudTone(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rounded(0.8 * math.Sin(2*math.Pi*100*float64(i)/44_100))
	}
	return x
}

// between returns x limited to [low, high], and the indices of the changed samples.
func between(x []float64, low, high float64) (y []float64, changed map[int]bool) {
	y, changed = slices.Clone(x), map[int]bool{}
	for i, v := range x {
		if y[i] = min(max(v, low), high); y[i] != v {
			changed[i] = true
		}
	}
	return y, changed
}

// TestClipped checks that clipped samples are found and few others, for any level and also after a change of volume with dither, and that
// nothing is found in unclipped sound.
func TestClipped(t *testing.T) {
	const n = 100_000 // two tiles
	scaled := func(y []float64, by, dither float64) []float64 {
		rng := rand.New(rand.NewPCG(8, 8))
		for i := range y {
			y[i] = rounded(by*y[i] + dither/32768*(rng.Float64()+rng.Float64()-1))
		}
		return y
	}
	sine := loudTone(n)
	for _, c := range []struct {
		name      string
		low, high float64
		change    func(y []float64) []float64
		recall    float64
		any       bool
	}{
		{"clean", -2, 2, nil, 0, false},
		{"at the rails", -0.4, 0.4, func(y []float64) []float64 { return scaled(y, 2.5, 0) }, 1, true},
		{"below the rails", -0.3, 0.3, nil, 1, true},
		{"light", -0.85, 0.85, nil, 1, true},
		{"above only", -2, 0.5, nil, 1, true},
		{"two levels", -0.5, 0.3, nil, 1, true},
		{"softer, with dither", -0.5, 0.5, func(y []float64) []float64 { return scaled(y, 0.7, 1) }, 0.97, true},
		{"softer, on three values", -0.5, 0.5, func(y []float64) []float64 { return scaled(y, 0.6, 1) }, 0.97, true},
		{"very soft, with dither", -0.5, 0.5, func(y []float64) []float64 { return scaled(y, 0.06, 1) }, 0.97, true},
		{"a tone as loud all the time", -2, 2, func([]float64) []float64 { return slices.Clone(sine) }, 0, false},
		{"full scale once", -2, 2, func(y []float64) []float64 { y[500], y[501] = 32767.0/32768, 32767.0/32768; return y }, 0, false},
		{"silence", 0, 0, nil, 0, false},
		{"with an offset", -2, 2, func(y []float64) []float64 { floats.AddConst(1e5, y); return y }, 0, false},
		{"nearly silent", -2, 2, func(y []float64) []float64 { return scaled(y, 1e-4, 1) }, 0, false},
	} {
		y, changed := between(swelling(n, 1), c.low, c.high)
		if c.change != nil {
			y = c.change(y)
		}
		found := find(t, testRate, Clipped, y)
		right, wrong := 0, 0
		for _, f := range found {
			if f.Kind != Clipped || !f.Clipped {
				t.Fatalf("%s: %+v is not clipped", c.name, f)
			}
			for i := f.Start; i < f.End; i++ {
				if changed[i] {
					right++
				} else {
					wrong++
				}
			}
		}
		if c.any && (right < int(c.recall*float64(len(changed))) || len(changed) == 0 || wrong > max(3, right/20)) {
			t.Errorf("%s: %d of %d found, %d others", c.name, right, len(changed), wrong)
		}
		if !c.any && len(found) > 0 {
			t.Errorf("%s: %d samples in %d runs found", c.name, right+wrong, len(found))
		}
	}
}

// TestClippedChannels checks that each channel has separate levels and that detections are sorted, also without a quantization step.
func TestClippedChannels(t *testing.T) {
	left, changed := between(swelling(40_000, 2), -0.3, 0.3)
	found, err := Find(t.Context(), inMemory{swelling(40_000, 3), left}, 40_000, 16_000, Options{Kinds: []Kind{Clipped}})
	if err != nil || len(found) == 0 {
		t.Fatal(len(found), err)
	}
	if !slices.IsSortedFunc(found, func(a, b Found) int { return a.Start - b.Start }) {
		t.Error("detections are not sorted")
	}
	all := 0
	for _, f := range found {
		if all += f.Len(); f.Channel != 2 {
			t.Errorf("%v in the clean channel", f)
		}
	}
	if all < len(changed) || all > len(changed)+3 {
		t.Errorf("%d found of %d", all, len(changed))
	}
}

// TestClippedLevels checks that clipping is found below the largest values: in a part that was made softer, before
// an undamaged louder part, on one side, with the other polarity, with dither, and on a plateau that is not quite
// flat. It is not found in the soft copy of sounds with few values or a constant level.
func TestClippedLevels(t *testing.T) {
	const n, half = 100_000, 50_000
	loud := swelling(n, 1)
	joined := func(low, high float64, soft func(i int, v float64) float64) ([]float64, map[int]bool) {
		y, changed := between(loud, low, high)
		for i := range y {
			if i < half {
				y[i] = rounded(soft(i, y[i]))
			} else {
				y[i] = loud[i]
				delete(changed, i)
			}
		}
		return y, changed
	}
	same := func(_ int, v float64) float64 { return v }
	rng := rand.New(rand.NewPCG(8, 8))
	for _, c := range []struct {
		name       string
		low, high  float64
		soft       func(i int, v float64) float64
		by, recall float64
	}{
		{"before a louder part", -0.3, 0.3, same, 1, 0.99},
		{"inverted", -0.3, 0.3, same, -1, 0.99},
		{"one side", -2, 0.25, same, 1, 0.99},
		{"two levels", -0.4, 0.25, same, 1, 0.99},
		{"made softer", -0.4, 0.4, func(_ int, v float64) float64 { return 0.5 * v }, 1, 0.99},
		{"dither", -0.3, 0.3, func(_ int, v float64) float64 { return v + (rng.Float64()+rng.Float64()-1)/32768 }, 1, 0.99},
		{"not flat", -0.3, 0.3, func(i int, v float64) float64 { return v * (1 + 0.001*math.Sin(float64(i)/5000)) }, 1, 0.85},
		{"clean", -2, 2, same, 1, 0},
	} {
		y, changed := joined(c.low, c.high, c.soft)
		for i := range y {
			y[i] *= c.by
		}
		right, wrong := 0, 0
		for _, f := range find(t, testRate, Clipped, y) {
			for i := f.Start; i < f.End; i++ {
				if changed[i] {
					right++
				} else {
					wrong++
				}
			}
		}
		if right < int(c.recall*float64(len(changed))) || wrong > right/100 || c.recall > 0 && right < 100 {
			t.Errorf("%s: %d of %d found, %d others", c.name, right, len(changed), wrong)
		}
	}
	twice := func(at func(i int) float64) []float64 { // a soft copy before the sound
		y := make([]float64, n)
		for i := range y {
			if y[i] = rounded(at(i)); i < half {
				y[i] = rounded(at(i) / 2)
			}
		}
		return y
	}
	for name, y := range map[string][]float64{
		"tones":     twice(func(i int) float64 { return 0.8 * math.Sin(float64(i)/20) }),
		"test tone": twice(func(i int) float64 { return 0.8 * math.Sin(2*math.Pi*(float64(i%48)+0.5)/48) }),
		"8 bits":    twice(func(i int) float64 { return math.Round(120*loud[i]) / 128 }),
		"logarithmic": twice(func(i int) float64 { // 1/16 of an octave
			return math.Copysign(math.Exp2(math.Round(16*math.Log2(math.Abs(loud[i])+1e-6))/16), loud[i])
		}),
	} {
		if found := find(t, testRate, Clipped, y); len(found) > 0 && found[0].Start < half {
			t.Errorf("%s: %d runs, such as %v", name, len(found), found[0])
		}
	}
}

// TestClippedIsNoDropout checks that long plateaus at a level below louder parts nearby are clipping for every
// order of the kinds, while two runs of a repeated sample are dropouts.
func TestClippedIsNoDropout(t *testing.T) {
	const n, part = 12_000, 210 // samples at each level
	y := make([]float64, n)
	for i := range y {
		level := 0.8 - 0.3*float64(i/part%2)
		tone := 6 * (math.Sin(float64(i)/40) + 0.5*math.Sin(float64(i)/27+1) + 0.3*math.Sin(float64(i)/3))
		y[i] = rounded(level * max(-1, min(1, tone)))
	}
	const at = 6_030
	for _, at := range []int{at, at + 1000} { // twice the same value, larger than the neighbors
		y[at-1], y[at+100] = -0.2, -0.2
		for i := at; i < at+100; i++ {
			y[i] = 0.13
		}
	}
	clipped := 0
	for _, kinds := range [][]Kind{{Dropouts}, {Dropouts, Clipped}, {Clipped, Dropouts}} {
		found := testkit.Must(Find(t.Context(), inMemory{y}, n, testRate, Options{Kinds: kinds, Step: step}))(t)
		dropouts := 0
		for _, f := range found {
			switch {
			case f.Kind == Clipped:
				clipped++
			case f.Start < at-2 || f.End > at+102 && f.Start < at+998 || f.End > at+1102:
				t.Errorf("%v: a dropout at %v", kinds, f.Gap)
			default:
				dropouts++
			}
		}
		testkit.Equal(t, dropouts, 2, kinds)
	}
	if clipped < 40 {
		t.Errorf("%d clipped", clipped)
	}
}

// TestClippedAndClicks checks that clicks found at the highest sensitivity do not replace clipped samples, whose
// restoration needs the limits, and that a click at full scale remains a click.
func TestClippedAndClicks(t *testing.T) {
	const n, at = 16_000, 9_000
	y, _ := between(voice(n, 3), -0.1, 0.1)
	for i := range y {
		y[i] = rounded(9.99 * y[i])
	}
	only := findAt(t, 10, testRate, Clipped, y)
	both := testkit.Must(Find(t.Context(), inMemory{y}, n, testRate, Options{Kinds: Kinds, Step: step,
		Sensitivity: 10}))(t)
	kept := 0
	for _, f := range both {
		if f.Clipped {
			kept++
		}
	}
	if 100*kept < 99*len(only) || kept < 100 {
		t.Errorf("%d clipped alone, %d with clicks", len(only), kept)
	}
	y[at], y[at+1] = 0.999, 0.999
	both = testkit.Must(Find(t.Context(), inMemory{y}, n, testRate, Options{Kinds: Kinds, Step: step}))(t)
	if i := slices.IndexFunc(both, func(f Found) bool { return f.Start <= at && f.End > at+1 }); i < 0 ||
		both[i].Kind != Clicks || both[i].Clipped {
		t.Errorf("a click at full scale: %+v", both)
	}
}

// TestClippedSensitivity checks that a higher sensitivity accepts a level with a smaller excess of samples: a tone of constant level is
// found at the highest sensitivity, and light clipping is missed at the lowest.
func TestClippedSensitivity(t *testing.T) {
	const n = 30_000
	tone, light := loudTone(n), make([]float64, n)
	for i := range light {
		light[i] = rounded(min(0.99, 4*math.Abs(math.Remainder(float64(i)/997, 1))-1)) // 21 times as many samples as at other values
	}
	for _, c := range []struct {
		name        string
		y           []float64
		sensitivity float64
		any         bool
	}{
		{"tone", tone, DefaultSensitivity, false}, {"tone", tone, 10, true},
		{"light", light, 0.1, false}, {"light", light, DefaultSensitivity, true},
	} {
		if found := findAt(t, c.sensitivity, testRate, Clipped, c.y); len(found) > 0 != c.any {
			t.Errorf("%s at sensitivity %v: %d runs; want some: %v", c.name, c.sensitivity, len(found), c.any)
		}
	}
}

// TestClippedAtFullScale checks that three adjacent samples are sufficient at full scale but not below it.
func TestClippedAtFullScale(t *testing.T) {
	const n = 30_000
	for top, want := range map[float64]int{32767.0 / 32768: 1, 0.9: 0} {
		y := swelling(n, 1)
		for i := range y {
			y[i] *= 0.8
		}
		copy(y[500:], []float64{top, top, top})
		found := find(t, testRate, Clipped, y)
		if len(found) != want || want > 0 && found[0].Gap != (audio.Gap{Start: 500, End: 503, Channel: found[0].Channel, Clipped: true}) {
			t.Errorf("three samples at %v: %+v; want %d run", top, found, want)
		}
	}
}

// TestClippedSingles checks that single samples at a lower level are omitted unless a longer run of the same level
// is near.
func TestClippedSingles(t *testing.T) {
	d := &clippedDetector{rate: 1000}
	got := d.choose([]candidate{{lo: 10, hi: 12, logOdds: 1, width: 1}, {lo: 50, hi: 51, logOdds: 1, width: -1}, {lo: 60, hi: 61, logOdds: 1, width: -2}, {lo: 500, hi: 501, logOdds: 1, width: -1}, {lo: 900, hi: 903, logOdds: 1, width: 1},
		{lo: 1100, hi: 1101, logOdds: 1, width: -1}})
	testkit.Equal(t, len(got), 3, "candidates")
	testkit.Equal(t, got[1].lo, 50, "the single sample")
}
