package detect

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// TestClippedCoarse checks sounds with few different values: clipping is found, also in a softer copy and in a file
// with smaller steps, and nothing is found in unclipped sounds, even if their peaks are flat because of the steps.
func TestClippedCoarse(t *testing.T) {
	const n = 100_000
	sound, sine := swelling(n, 1), loudTone(n)
	square := func(i int) float64 { return math.Copysign(1, float64(i%200)-99.5) }
	loud := func(i int) float64 { return sound[i] }
	clipped := func(by float64) func(i int) float64 {
		return func(i int) float64 { return by * max(-1, min(1, 1.6*sound[i])) }
	}
	for _, c := range []struct {
		name       string
		at         func(i int) float64
		bits, file int // of the sound and of the file
		found      bool
	}{
		{"clipped", clipped(1), 8, 8, true},
		{"clipped, made softer", clipped(0.7), 8, 8, true},
		{"clipped, 16-bit file", clipped(1), 8, 16, true},
		{"clipped, 12 bits", clipped(1), 12, 16, true},
		{"clipped, 12 bits, made softer", clipped(0.3), 12, 16, true},
		{"loud", loud, 8, 8, false},
		{"loud, 16-bit file", loud, 8, 16, false},
		{"loud, 12 bits", loud, 12, 16, false},
		{"quiet", func(i int) float64 { return 0.16 * sound[i] }, 8, 8, false},
		{"quiet, 16-bit file", func(i int) float64 { return 0.16 * sound[i] }, 8, 16, false},
		{"very quiet", func(i int) float64 { return 0.05 * sound[i] }, 8, 8, false},
		{"loud tone", func(i int) float64 { return 1.25 * sine[i] }, 8, 8, false},
		{"loud tone, 16-bit file", func(i int) float64 { return 1.25 * sine[i] }, 8, 16, false},
		{"quiet tone", func(i int) float64 { return 0.2 * sine[i] }, 8, 8, false},
		{"square wave", square, 8, 8, false},
	} {
		y, changed, clean := make([]float64, n), 0, clipped(1)
		for i := range y {
			full := math.Ldexp(1, c.bits-1)
			y[i] = max(-full, min(full-1, math.Round(full*c.at(i)))) / full
			if c.found && math.Abs(clean(i)) == 1 {
				changed++
			}
		}
		o := Options{Kinds: []Kind{Clipped}, Step: math.Ldexp(1, 1-c.file)}
		all := 0
		for _, f := range testkit.Must(Find(t.Context(), inMemory{y}, n, testRate, o))(t) {
			all += f.Len()
		}
		if all < changed || all > changed+changed/10 { // values near the level are rounded to it
			t.Errorf("%s: %d samples found of %d", c.name, all, changed)
		}
	}
}

// TestClippedSquareWaves checks that square waves, pulses and trapezoids with steep edges are not clipping, also with
// noise, at full scale, with pauses or an offset, while clipped tones that are periodic, heavily clipped or have pauses
// are.
func TestClippedSquareWaves(t *testing.T) {
	const n, period = 32_000, 80
	rng := rand.New(rand.NewPCG(4, 4))
	pulses := func(share, low, high, noise float64) func(i int) float64 {
		return func(i int) float64 {
			v := noise * rng.NormFloat64()
			if float64(i%period) < share*period {
				return high + v
			}
			return low + v
		}
	}
	limited := func(gain float64, tone func(x float64) float64) func(i int) float64 {
		return func(i int) float64 { return 0.61 * max(-1, min(1, gain*tone(float64(i)/period))) }
	}
	triangle := func(x float64) float64 { return 1 - 4*math.Abs(x-math.Floor(x)-0.5) }
	sine := func(x float64) float64 { return math.Sin(2 * math.Pi * (x + 0.1)) }
	for _, c := range []struct {
		name string
		at   func(i int) float64
		any  bool
	}{
		{"square wave", pulses(0.5, -0.61, 0.61, 0), false},
		{"at full scale", pulses(0.5, -1, 1, 0), false},
		{"noise", pulses(0.5, -0.61, 0.61, 0.0005), false},
		{"more noise", pulses(0.5, -0.61, 0.61, 0.005), false},
		{"noise at full scale", pulses(0.5, -1, 1, 0.003), false},
		{"pulses of 10 %", pulses(0.1, -0.61, 0.61, 0), false},
		{"pulses and zeros", pulses(0.1, 0, 0.61, 0), false},
		{"offset", pulses(0.1, 0.2, 0.61, 0), false},
		{"two volumes", func(i int) float64 { return pulses(0.5, -0.61, 0.61, 0)(i) / float64(1+2*i/n) }, false},
		{"trapezoid", limited(12, triangle), false},
		{"clipped sine", limited(2, sine), true},
		{"clipped by 14 dB", limited(5, sine), true},
		{"with pauses", func(i int) float64 { return limited(2, sine)(i) * float64(i/4000%2) }, true},
	} {
		y := make([]float64, n)
		for i := range y {
			y[i] = max(-1, min(32767.0/32768, rounded(c.at(i))))
		}
		if found := find(t, testRate, Clipped, y); len(found) > 0 != c.any {
			t.Errorf("%s: %d runs, such as %v", c.name, len(found), found[:min(1, len(found))])
		}
	}
}
