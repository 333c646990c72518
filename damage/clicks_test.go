package damage

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/score"
	"gonum.org/v1/gonum/floats"
)

// clicked is x with bursts of noise in the gaps, so many decibels over the sound within 10 ms; or, with one sign, jumps that decay.
func clicked(x []float64, gaps []audio.Gap, level float64, sign float64) []float64 {
	rng, y := rand.New(rand.NewPCG(2, 9)), slices.Clone(x)
	for _, g := range gaps {
		power, near := 0.0, x[max(0, g.Start-160):min(len(x), g.End+160)]
		for _, v := range near {
			power += v * v
		}
		size := max(math.Sqrt(power/float64(len(near))), 10*step) * math.Pow(10, level/20)
		burst := make([]float64, g.Len())
		for i := range burst {
			if burst[i] = rng.NormFloat64(); sign != 0 {
				burst[i] = sign * math.Exp(-2*float64(i)/float64(g.Len()))
			}
		}
		floats.Scale(size/score.RMS(burst), burst)
		for i, v := range burst {
			if sign != 0 {
				v += x[g.Start+i]
			}
			y[g.Start+i] = step * math.Round(min(0.99, max(-0.99, v))/step)
		}
	}
	return y
}

// meets counts the gaps of which finds have at least half, and the finds that meet none.
func meets(found []Found, gaps []audio.Gap) (hits, others int) {
	overlap := func(f Found, g audio.Gap) int { return max(0, min(f.End, g.End)-max(f.Start, g.Start)) }
	for _, g := range gaps {
		covered := 0
		for _, f := range found {
			covered += overlap(f, g)
		}
		if 2*covered >= g.Len() {
			hits++
		}
	}
	for _, f := range found {
		if !slices.ContainsFunc(gaps, func(g audio.Gap) bool { return overlap(f, g) > 0 }) {
			others++
		}
	}
	return hits, others
}

// TestClicks: nine in ten clicks of each length and polarity are found in a voice, in noise and in a chord, hardly wider than they are, and
// next to nothing else.
func TestClicks(t *testing.T) {
	const n = 64000
	rng := rand.New(rand.NewPCG(3, 9))
	chord, noise := make([]float64, n), make([]float64, n)
	for i := range n {
		for _, f := range []float64{220, 277.2, 329.6, 1318} {
			chord[i] += 0.05 * math.Sin(2*math.Pi*f/testRate*float64(i)+f)
		}
		chord[i] = step * math.Round((chord[i]+1e-4*rng.NormFloat64())/step)
		noise[i] = step * math.Round(0.02*rng.NormFloat64()/step)
	}
	for name, x := range map[string][]float64{"voice": voice(n, 1), "chord": chord, "noise": noise} {
		if found := find(t, testRate, Clicks, x); len(found) > 1 {
			t.Errorf("%s without clicks: %v", name, found)
		}
		lengths := []int{1, 3, 10, 40, 60}
		if testing.Short() {
			lengths = []int{1, 10}
		} else if name != "voice" {
			lengths = []int{3, 40}
		}
		for _, length := range lengths {
			for _, c := range []struct{ level, sign float64 }{{25, 0}, {25, 1}, {25, -1}, {15, 0}} {
				if name == "noise" && (length == 1 || length < 10 && c.level < 25) {
					continue // 5 standard deviations, or a single sample far out, happen among so many
				}
				if length == 60 && c.sign != 0 && name == "voice" {
					continue // a pulse of the voice could be like that
				}
				gaps := places(length)
				found := find(t, testRate, Clicks, clicked(x, gaps, c.level, c.sign))
				hits, others := meets(found, gaps)
				wide := 0
				for _, f := range found {
					wide += f.Len()
				}
				if 10*hits < 9*len(gaps) || others > 1 || wide > len(gaps)*(length+16) {
					t.Errorf("%s, %d samples, %g dB, sign %g: %d of %d found, %d others, %d samples in all", name, length, c.level, c.sign, hits, len(gaps), others, wide)
				}
			}
		}
	}
}

// TestCrackle: of 2000 clicks a minute nine in ten are found in a voice.
func TestCrackle(t *testing.T) {
	x, rng := voice(64000, 2), rand.New(rand.NewPCG(4, 9))
	var gaps []audio.Gap
	for at := 100; at < 63000; at += 20 + int(460*rng.ExpFloat64()) {
		gaps = append(gaps, audio.Gap{Start: at, End: at + 1 + rng.IntN(4)})
	}
	hits, others := meets(find(t, testRate, Clicks, clicked(x, gaps, 20, 0)), gaps)
	if 10*hits < 9*len(gaps) || 10*others > len(gaps) {
		t.Errorf("%d of %d found, %d others", hits, len(gaps), others)
	}
}

// TestTransients: attacks are no clicks: struck tones, drum hits, noise that sets in, a voice after silence.
func TestTransients(t *testing.T) {
	const n = 64000
	sounds := map[string]func(i, since int, rng *rand.Rand) float64{
		"struck tone": func(_, since int, _ *rand.Rand) float64 {
			return math.Exp(-float64(since)/2000) * (math.Sin(0.2*float64(since)) + 0.5*math.Sin(0.71*float64(since)))
		},
		"drum": func(_, since int, rng *rand.Rand) float64 { return math.Exp(-float64(since)/600) * rng.NormFloat64() },
		"noise that sets in": func(_, since int, rng *rand.Rand) float64 {
			if since < 4000 {
				return rng.NormFloat64()
			}
			return 0
		},
	}
	for name, sound := range sounds {
		rng, x := rand.New(rand.NewPCG(5, 9)), make([]float64, n)
		for i := range x {
			v := 0.001 * rng.NormFloat64()
			if since := i%8000 - 1000; since >= 0 {
				v += 0.2 * sound(i, since, rng)
			}
			x[i] = step * math.Round(v/step)
		}
		if found := find(t, testRate, Clicks, x); len(found) > 2 {
			t.Errorf("%s: %v", name, found)
		}
	}
}

// TestClicksAnywhere: clicks are found in one channel, in silence, across tiles alike, by any number of processors, and more of them the
// more sensitive the search.
func TestClicksAnywhere(t *testing.T) {
	x, gaps := voice(64000, 3), places(10)
	y := clicked(x, gaps, 12, 0)
	found := find(t, testRate, Clicks, x, y)
	if hits, _ := meets(found, gaps); 10*hits < 9*len(gaps) || slices.ContainsFunc(found, func(f Found) bool { return f.Channel != 2 }) {
		t.Errorf("one channel: %v", found)
	}
	defer func(n int) { tileSamples = n }(tileSamples)
	tileSamples = 5000
	runtime.GOMAXPROCS(3)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	if again := find(t, testRate, Clicks, x, y); !slices.Equal(again, found) {
		t.Errorf("in tiles %v, want %v", again, found)
	}
	count := -1
	for _, sensitivity := range []float64{1, 5, 9} {
		all, err := Find(context.Background(), inMemory{y}, len(y), testRate, Options{Kinds: []Kind{Clicks}, Sensitivity: sensitivity, Step: step})
		if err != nil || len(all) < count {
			t.Errorf("sensitivity %v: %d found, after %d; %v", sensitivity, len(all), count, err)
		}
		count = len(all)
	}
	stop := audio.Gap{Start: 30000, End: 30400} // its edges are no clicks, whether it is looked for or not
	stopped := stopped(x, []audio.Gap{stop}, false, 0)
	all, err := Find(context.Background(), inMemory{stopped}, len(x), testRate, Options{Kinds: []Kind{Clicks, Dropouts}, Step: step})
	if err != nil || len(all) != 1 || all[0].Gap.Start != stop.Start || all[0].Kind != Dropouts {
		t.Errorf("a dropout is found as %v, %v", all, err)
	}
	if found := find(t, testRate, Clicks, stopped); len(found) > 0 {
		t.Errorf("edges of a dropout are found as %v", found)
	}
	silent := make([]float64, 32000)
	silent[20000], silent[20001] = 0.3, -0.2
	for i := 8000; i < 12000; i++ {
		silent[i] = step * float64(i*7919%3-1) // noise of a step
	}
	if found := find(t, testRate, Clicks, silent); len(found) > 1 || len(found) == 1 && found[0].Start != 19999 {
		t.Errorf("in silence: %v", found)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Find(ctx, inMemory{y}, len(y), testRate, Options{Kinds: []Kind{Clicks}}); !errors.Is(err, context.Canceled) {
		t.Errorf("after an interruption: %v", err)
	}
}

// TestClicksInSpeech: in speech and music less than one a second is found.
func TestClicksInSpeech(t *testing.T) {
	for _, name := range []string{"speech.wav"} {
		f, err := os.ReadFile("../testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := audio.Decode(f)
		if err != nil {
			t.Fatal(err)
		}
		if found := find(t, r.Rate, Clicks, r.Samples[0]); float64(len(found)) > r.Seconds() {
			t.Errorf("%s: %v", name, found)
		}
	}
}
