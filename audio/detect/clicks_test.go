package detect

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// clicked returns x with one click in each interval of every samples, and their positions. A click has least to most samples and a level
// in dB relative to the surrounding 20 ms. It is noise, half a sine or a decay of random sign that is added to the sound or replaces it.
func clicked(x []float64, rate, every, least, most int, level float64, seed uint64) (y []float64, gaps []audio.Gap) {
	rng := rand.New(rand.NewPCG(seed, 11))
	y = slices.Clone(x)
	for lo := every; lo+2*every <= len(x); lo += every {
		length := least + rng.IntN(most-least+1)
		start, shape, sign, keep := lo+rng.IntN(every-length-1), rng.IntN(3), float64(2*rng.IntN(2)-1), float64(rng.IntN(2))
		pulse := make([]float64, length)
		for i := range pulse {
			t := (float64(i) + 0.5) / float64(length)
			pulse[i] = sign * []float64{rng.NormFloat64(), math.Sin(math.Pi * t), math.Exp(-3 * t)}[shape]
		}
		around := meanSquare(x[max(0, start-rate/100):min(len(x), start+rate/100)])
		gain := max(16*step, math.Sqrt(around)*math.Pow(10, level/20)) / math.Sqrt(meanSquare(pulse))
		for i, v := range pulse {
			y[start+i] = step * math.Round((keep*y[start+i]+gain*v)/step)
		}
		gaps = append(gaps, audio.Gap{Start: start, End: start + length})
	}
	return y, gaps
}

// matched returns the number of gaps of which half is found, the number of detections outside all gaps, and the found share of these gaps.
func matched(found []Found, gaps []audio.Gap) (hits, others int, covered float64) {
	all, in := 0, 0
	for _, g := range gaps {
		n := 0
		for _, f := range found {
			n += max(0, min(f.End, g.End)-max(f.Start, g.Start))
		}
		if 2*n >= g.Len() {
			hits, all, in = hits+1, all+g.Len(), in+n
		}
	}
	for _, f := range found {
		if !slices.ContainsFunc(gaps, func(g audio.Gap) bool { return f.Start < g.End && g.Start < f.End }) {
			others++
		}
	}
	return hits, others, float64(in) / float64(max(1, all))
}

// speech returns the speech recording in testdata.
func speech(t *testing.T) []float64 {
	r := testkit.Must(audio.Open("../../testdata/speech.wav"))(t)
	return r.Samples[0][:slow.Pick(len(r.Samples[0]), 24000)]
}

// hum returns a chord of decaying partials with a little noise, struck twice a second.
func hum(n int) []float64 {
	rng := rand.New(rand.NewPCG(3, 3))
	return quantized(n, func(i int) (x float64) {
		t := float64(i%8000) / 16000
		for k := 1; k < 12; k++ {
			x += 0.03 * math.Exp(-float64(2+k)*t) / float64(k) * math.Sin(2*math.Pi*196.3*float64(k)*t+float64(k*k))
		}
		return x + 1e-4*rng.NormFloat64()
	})
}

// TestClicks checks recall, precision and the share of the clicks' samples that is found. Recall and precision are lower for real speech,
// whose pulses are sharp.
func TestClicks(t *testing.T) {
	slow.Race(t)
	for _, s := range []struct {
		name  string
		x     []float64
		least float64 // minimum recall and precision
	}{{"voice", voice(64000, 1), 0.9}, {"speech", speech(t), 0.7}, {"hum", hum(slow.Pick(64000, 32000)), 0.9}} {
		for _, c := range []struct {
			name               string
			every, least, most int
			level              float64
		}{{"faint", 480, 1, 5, 5}, {"crackle", 480, 1, 5, 15}, {"12 dB", 1000, 3, 40, 12}, {"15 dB", 1000, 3, 40, 15}, {"25 dB", 1000, 3, 60, 25}} {
			if !slow.Tests && s.name+c.name != "speech15 dB" && s.name+c.name != "humcrackle" {
				continue
			}
			y, gaps := clicked(s.x, testRate, c.every, c.least, c.most, c.level, 5)
			found := find(t, testRate, Clicks, y)
			hits, others, covered := matched(found, gaps)
			if float64(hits) < s.least*float64(len(gaps)) || float64(others) > (1-s.least)*float64(len(found)) || covered < 0.96 {
				t.Errorf("%s, %s: %d of %d found, %.3f of the samples, %d of %d detections wrong", s.name, c.name, hits, len(gaps), covered, others, len(found))
			}
		}
	}
}

// TestNoClicks checks that at most one click is found in sound without clicks, and none in silence, noise and tones.
func TestNoClicks(t *testing.T) {
	slow.Race(t)
	x, rng := voice(slow.Pick(64000, 16000), 2), rand.New(rand.NewPCG(4, 4))
	each := func(f func(n int) float64) []float64 { return quantized(len(x), f) }
	ring := func(every, long int, gain float64) []float64 { // a resonance driven by noise with periodic bursts of long samples
		var a, b float64
		return each(func(n int) float64 {
			drive := 0.002 * rng.NormFloat64()
			if n%every < long {
				drive *= gain
			}
			a, b = 1.9*a-0.98*b+drive, a
			return a
		})
	}
	since := func(n, every int) float64 { return float64(n%every) / testRate }
	for _, c := range []struct {
		name string
		most int
		x    []float64
	}{
		{"voice", 1, x},
		{"speech", 1, speech(t)},
		{"quiet", 1, quiet(x, 1.0/300)},
		{"8 bits", 1, each(func(n int) float64 { return math.Round(128*x[n]) / 128 })},
		{"hum", 1, hum(len(x))},
		{"silence", 0, make([]float64, len(x))},
		{"noise of a step", 0, each(func(int) float64 { return step * float64(rng.IntN(3)-1) })},
		{"rare steps", 0, each(func(int) float64 { return step * math.Trunc(1.02*rng.Float64()) })},
		{"noise", 0, each(func(int) float64 { return 0.1 * rng.NormFloat64() })},
		{"strokes that ring", 1, ring(2000, 5, 10)},
		{"bows that ring", 1, ring(2000, 20, 5)},
		{"drum", 1, each(func(n int) float64 {
			return 1e-3*rng.NormFloat64() + 0.3*rng.NormFloat64()*math.Exp(-60*since(n, 8000))
		})},
		{"struck tones", 1, each(func(n int) float64 {
			return 1e-4*rng.NormFloat64() + 0.4*math.Exp(-30*since(n, 8000))*math.Sin(2*math.Pi*700*since(n, 8000))
		})},
		{"tone", 0, each(func(n int) float64 { return 0.5 * math.Sin(float64(n)/7) })},
		{"square wave", 0, each(func(n int) float64 { return math.Copysign(0.3, float64(n%200)-99.5) })},
		{"saw", 0, each(func(n int) float64 { return 0.004*float64(n%147) - 0.3 })},
		{"constant", 0, each(func(int) float64 { return 0.25 })},
	} {
		if found := find(t, testRate, Clicks, c.x); len(found) > c.most {
			t.Errorf("%s: %v", c.name, found)
		}
	}
}

// TestLargestClicks checks that every magnitude of a sample that can be read is found as a click, also in soft sound.
func TestLargestClicks(t *testing.T) {
	const n, at = 8000, 4000
	for _, c := range []struct {
		size float64
		read bool
	}{{1e5, true}, {1 << 31, true}, {1e10, true}, {1.1e10, false}, {1e13, false}, {3e38, false}, {1e99, false}} {
		for _, loudness := range []float64{1, 1e-4} {
			y := swelling(n, 1)
			rng := rand.New(rand.NewPCG(2, 2))
			for i := range y {
				y[i] = loudness * (y[i] + 1e-3*rng.NormFloat64())
			}
			copy(y[at:], []float64{c.size, -0.7 * c.size, 0.3 * c.size})
			var file bytes.Buffer
			w := testkit.Must(audio.NewWriter(&file, testRate, audio.Float64, 1, n))(t)
			testkit.OK(t, w.Write(y))
			testkit.OK(t, w.Close())
			f := testkit.Must(audio.NewFile(bytes.NewReader(file.Bytes()), int64(file.Len())))(t)
			found, err := Find(t.Context(), f, n, testRate, Options{Kinds: Kinds})
			if (err == nil) != c.read || err != nil && !errors.Is(err, audio.ErrFormat) {
				t.Errorf("%v: error %v", c.size, err)
			}
			if c.read && (len(found) != 1 || found[0].Kind != Clicks || found[0].Start > at || found[0].End < at+3) {
				t.Errorf("%v in sound of %v: %+v", c.size, loudness, found)
			}
		}
	}
}

// TestClickExtents checks that a click of either sign in a decaying chord is found once, to within a sample, and extended by clickEdge.
func TestClickExtents(t *testing.T) {
	slow.Race(t)
	for _, sign := range []float64{-1, 1} {
		for _, length := range []int{1, 2, 7, 30} {
			x := hum(32000)
			for n := 20000; n < 20000+length; n++ {
				x[n] += 0.2 * sign
			}
			got := find(t, testRate, Clicks, x)
			want := audio.Gap{Start: 20000 - clickEdge(length), End: 20000 + length + clickEdge(length)}
			if len(got) != 1 || max(want.Start-got[0].Start, got[0].Start-want.Start, want.End-got[0].End, got[0].End-want.End) > 1 ||
				got[0].Kind != Clicks || !(got[0].LogOdds > 2) {
				t.Errorf("%d samples, sign %v: %v, want %v", length, sign, got, want)
			}
		}
	}
}

// TestNoClicksAtEdgesOfSilence checks that no click is found at a border between sound and digital silence or at the edges of a dropout.
func TestNoClicksAtEdgesOfSilence(t *testing.T) {
	x := voice(24000, 3)
	y := stopped(x, []audio.Gap{{Start: 9000, End: 9400}, {Start: 16000, End: 16200}}, false, 0)
	was := find(t, testRate, Clicks, x)
	if found := find(t, testRate, Clicks, y); len(found) > len(was) {
		t.Errorf("clicks at edges: %v", found)
	}
	all, err := Find(context.Background(), inMemory{y}, len(y), testRate, Options{Kinds: []Kind{Clicks, Dropouts}, Step: step})
	if err != nil || len(all) != 2+len(was) || !slices.ContainsFunc(all, func(f Found) bool { return f.Kind == Dropouts && f.Start == 9000 && f.End == 9400 }) {
		t.Errorf("two dropouts are found as %v, %v", all, err)
	}
}

// TestClickBorders checks that clicks at the border of two windows are found as often as clicks in the middle of a window.
func TestClickBorders(t *testing.T) {
	const hop, clicks = 320, 120
	s := speech(t)
	var onBorder, inside int
	for i := range clicks {
		length := 5 + i%36
		middle := hop * (4 + i%65)
		lo, x := middle-length/2, slices.Clone(s)
		size := 4 * math.Sqrt(meanSquare(x[lo-160:lo+160]))
		for k := range length {
			decay := math.Exp(-3 * (float64(k) + 0.5) / float64(length))
			x[lo+k] = step * math.Round((x[lo+k]+size*decay*math.Cos(float64(k)))/step)
		}
		hits := func(from int) int {
			return len(slices.DeleteFunc(find(t, testRate, Clicks, x[from:min(len(x), from+5*hop)]), func(f Found) bool {
				return f.Start+from > middle || f.End+from <= middle
			}))
		}
		onBorder, inside = onBorder+hits(middle-3*hop), inside+hits(middle-5*hop/2)
	}
	if onBorder < inside || 3*inside < 2*clicks {
		t.Errorf("%d of %d found on borders, %d inside", onBorder, clicks, inside)
	}
}
