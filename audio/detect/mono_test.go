package detect

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/internal/ar"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// disc returns the channels of a mono disc with sound x: the second is softer and delayed by .2 samples, and each has separate noise with
// the given level relative to the sound, in dB.
func disc(x []float64, level float64, seed uint64) [][]float64 {
	rng := rand.New(rand.NewPCG(seed, 12))
	noise := math.Sqrt(meanSquare(x)) * math.Pow(10, level/20)
	return [][]float64{
		quantized(len(x), func(n int) float64 { return x[n] + noise*rng.NormFloat64() }),
		quantized(len(x), func(n int) float64 { return 0.75*x[n] + 0.2*x[max(0, n-1)] + noise*rng.NormFloat64() }),
	}
}

// findMono returns the clicks in the channels of a mono disc.
func findMono(t *testing.T, channels ...[]float64) []Found {
	t.Helper()
	o := Options{Kinds: []Kind{Clicks}, Step: step, Vinyl: Off, Mono: On}
	return testkit.Must(Find(context.Background(), audio.Samples(channels), len(channels[0]), testRate, o))(t)
}

// inChannel returns the detections in a channel, from 1.
func inChannel(all []Found, channel int) []Found {
	return slices.DeleteFunc(slices.Clone(all), func(f Found) bool { return f.Channel != channel && f.Channel != 0 })
}

// TestClicksOfMonoDisc checks that clicks far below the sound are found in the difference of the channels and attributed to their channel,
// and that the search in each channel finds few of them.
func TestClicksOfMonoDisc(t *testing.T) {
	slow.Race(t)
	n := slow.Pick(64000, 32000)
	for _, s := range []struct {
		name string
		x    []float64
	}{{"hum", hum(n)}, {"voice", voice(n, 3)}} {
		y, gaps := disc(s.x, -45, 1), make([][]audio.Gap, 2)
		for c := range y {
			y[c], gaps[c] = clicked(y[c], testRate, 1600, 5, 20, -22, uint64(5+c))
		}
		found := findMono(t, y...)
		for c := range y {
			own := inChannel(found, c+1)
			hits, wrong, _ := matched(own, gaps[c])
			_, none, _ := matched(own, slices.Concat(gaps...))
			alone, _, _ := matched(find(t, testRate, Clicks, y[c]), gaps[c])
			if float64(hits) < 0.8*float64(len(gaps[c])) || none > 1 || 3*wrong > len(gaps[c]) || hits < alone+5 {
				t.Errorf("%s, channel %d: %d of %d found, %d of the other channel or none, %d of none; %d in the channel alone",
					s.name, c+1, hits, len(gaps[c]), wrong, none, alone)
			}
		}
	}
}

// TestMonoTiles checks that the result does not depend on the tiles or on the number of cores.
func TestMonoTiles(t *testing.T) {
	slow.Race(t)
	defer func(n, cores int) { tileSamples = n; runtime.GOMAXPROCS(cores) }(tileSamples, runtime.GOMAXPROCS(1))
	y := disc(voice(28000, 3), -45, 1)
	y[0], _ = clicked(y[0], testRate, 3000, 5, 20, -15, 5)
	want := findMono(t, y...)
	tileSamples = 997
	runtime.GOMAXPROCS(4)
	if got := findMono(t, y...); !slices.Equal(got, want) || len(got) < 4 {
		t.Errorf("in small tiles %v, want %v", got, want)
	}
}

// TestNoClicksOfMonoDisc checks that the noise of a disc without clicks has none.
func TestNoClicksOfMonoDisc(t *testing.T) {
	for _, level := range []float64{-25, -50} {
		if found := findMono(t, disc(hum(32000), level, 2)...); len(found) > 0 {
			t.Errorf("noise of %v dB: found %v", level, found)
		}
	}
}

// TestMonoOfOneChannel checks that Options.Mono changes nothing unless there are two channels.
func TestMonoOfOneChannel(t *testing.T) {
	x, _ := clicked(voice(16000, 1), testRate, 1000, 3, 40, 15, 5)
	for _, channels := range [][][]float64{{x}, {x, x[:], x}} {
		o := Options{Kinds: []Kind{Clicks}, Step: step, Vinyl: Off, Mono: Off}
		want := testkit.Must(Find(t.Context(), audio.Samples(channels), len(x), testRate, o))(t)
		if got := findMono(t, channels...); !slices.Equal(got, want) || len(got) == 0 {
			t.Errorf("%d channels: %v, want %v", len(channels), got, want)
		}
	}
}

// TestWalls checks the evidence of mono discs, stereo sound and identical channels.
func TestWalls(t *testing.T) {
	const n = 48000
	a, b, silence := hum(n), voice(n, 4), make([]float64, n)
	loud := func(x []float64) []float64 {
		scale := 0.05 / math.Sqrt(meanSquare(x))
		return quantized(n, func(i int) float64 { return scale * x[i] })
	}
	a, b = loud(a), loud(b)
	mixed := func(x, y float64) []float64 { return quantized(n, func(i int) float64 { return x*a[i] + y*b[i] }) }
	crackled := disc(b, -30, 3)
	crackled[0], _ = clicked(crackled[0], testRate, 400, 1, 10, 10, 5)
	second, _ := clicked(crackled[1], testRate, 400, 1, 10, 10, 6)
	for _, c := range []struct {
		name            string
		x               [][]float64
		mono, identical bool
	}{
		{"disc with loud noise", disc(b, -25, 1), true, false}, {"disc with soft noise", disc(b, -50, 1), true, false},
		{"disc with crackle", crackled, true, false}, {"its channels exchanged", [][]float64{crackled[1], crackled[0]}, true, false},
		{"crackle in both", [][]float64{crackled[0], second}, true, false},
		{"two sounds", [][]float64{a, b}, false, false}, {"two mixtures", [][]float64{mixed(0.6, 0.4), mixed(0.4, 0.6)}, false, false},
		{"nearly in the middle", [][]float64{mixed(0.5, 0.5), mixed(0.45, 0.55)}, false, false},
		{"identical", [][]float64{a, a}, false, true}, {"silence", [][]float64{silence, silence}, false, false},
		{"one channel is silent", [][]float64{a, silence}, false, false}, {"short", [][]float64{a[:20], a[:20]}, false, false},
	} {
		w := testkit.Must(recording{audio.Samples(c.x), len(c.x[0]), testRate, 2}.walls(t.Context()))(t)
		if w.mono() != c.mono || w.Reduction > maxMono != c.identical {
			t.Errorf("%s: mono %v, %+v", c.name, w.mono(), w)
		}
	}
}

// TestExplained compares with the reduction of the sum of squares by a change of one amplitude, also at the ends.
func TestExplained(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	a := []float64{1, -0.9, 0.3}
	x := testkit.Numbers(60, func(int) float64 { return rng.NormFloat64() })
	sum := func(x []float64) (sum float64) {
		for _, e := range ar.Errors(a, x) {
			sum += e * e
		}
		return sum
	}
	for _, c := range []struct{ lo, length int }{{20, 1}, {20, 7}, {0, 4}, {1, 1}, {55, 5}} {
		d := testkit.Numbers(c.length, func(int) float64 { return rng.NormFloat64() })
		with := func(amplitude float64) float64 { // a parabola
			y := slices.Clone(x)
			for i, v := range d {
				y[c.lo+i] -= amplitude * v
			}
			return sum(y)
		}
		curvature := (with(1)+with(-1))/2 - with(0)
		slope := (with(1) - with(-1)) / 2
		var outside []float64
		for i, v := range ar.Errors(a, x) {
			if n := i + len(a) - 1; n < c.lo || n >= c.lo+c.length+len(a)-1 {
				outside = append(outside, math.Abs(v))
			}
		}
		slices.Sort(outside)
		s := outside[len(outside)/2] / 0.6745
		want := slope * slope / (4 * curvature * s * s)
		if got := explained(x, a, d, c.lo); math.Abs(got-want) > 1e-9*want {
			t.Errorf("%d samples from %d on: %v, want %v", c.length, c.lo, got, want)
		}
	}
}
