package detect

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/testkit"
)

// record returns decaying tones with surface noise, and decaying ticks at independent times, perSecond on average.
func record(seconds, perSecond float64, seed uint64) (x []float64, ticks []audio.Gap) {
	rng := rand.New(rand.NewPCG(seed, 7))
	x = make([]float64, int(seconds*testRate))
	for n := range x {
		t := float64(n%8000) / testRate
		x[n] = 0.05*math.Exp(-8*t)*math.Sin(2*math.Pi*440*t) + 0.004*rng.NormFloat64()
	}
	for at := 0.0; ; {
		at += rng.ExpFloat64() * testRate / perSecond
		length := 2 + rng.IntN(8)
		if int(at)+length > len(x) {
			break
		}
		size := 0.04 * math.Exp(rng.NormFloat64()/2) * float64(2*rng.IntN(2)-1)
		for i := range length {
			x[int(at)+i] += size * math.Exp(-3*float64(i)/float64(length))
		}
		ticks = append(ticks, audio.Gap{Start: int(at), End: int(at) + length})
	}
	return quantized(len(x), func(n int) float64 { return x[n] }), ticks
}

// TestVinyl checks that the vinyl mode is chosen for ticks on steady noise only, and that it finds more of them.
func TestVinyl(t *testing.T) {
	ticking, ticks := record(10, 30, 1)
	clean, _ := record(10, 1e-9, 2)
	both := append([]float64{}, ticking...) // with a level that changes
	for n := range both {
		both[n] *= math.Pow(10, -1.5*math.Abs(math.Sin(float64(n)/testRate)))
	}
	side, _ := record(40, 30, 3) // music hides the ticks but for 6 s, and 14 s are digital silence
	rng := rand.New(rand.NewPCG(4, 4))
	for n := range side {
		switch t := n / testRate; {
		case t < 14:
			side[n] = 0
		case t < 20 || t >= 23 && t < 37:
			side[n] += math.Round(1000*rng.NormFloat64()*(2+math.Sin(float64(n)/testRate))) * step
		}
	}
	most := 0 // ticks found in vinyl mode
	for _, c := range []struct {
		name  string
		lanes [][]float64
		by    Switch
		used  bool
	}{
		{"ticks", [][]float64{ticking}, Auto, true},
		{"ticks, off", [][]float64{ticking}, Off, false},
		{"stereo with a silent channel", [][]float64{make([]float64, len(ticking)), ticking}, Auto, true},
		{"a side with music", [][]float64{side}, Auto, true},
		{"no ticks", [][]float64{clean}, Auto, false},
		{"no ticks, on", [][]float64{clean}, On, true},
		{"noise of another level each second", [][]float64{both}, Auto, false},
		{"too short", [][]float64{ticking[:4000]}, Auto, false},
	} {
		var r Report
		o := Options{Kinds: []Kind{Clicks}, Step: step, Vinyl: c.by, Report: &r}
		found := testkit.Must(Find(t.Context(), inMemory(c.lanes), len(c.lanes[0]), testRate, o))(t)
		testkit.Equal(t, r.Vinyl.Used, c.used, c.name, ": vinyl mode ", r.Vinyl)
		hits, others, _ := matched(found, ticks)
		switch {
		case c.name == "ticks":
			if most = hits; hits < 7*len(ticks)/10 || 4*others > hits {
				t.Errorf("%d of %d ticks found, %d others", hits, len(ticks), others)
			}
		case c.name == "ticks, off" && hits > 9*most/10:
			t.Errorf("%d of %d ticks found in vinyl mode and %d otherwise", most, len(ticks), hits)
		case c.name == "no ticks" && len(found) > 0:
			t.Errorf("%v found in noise", found)
		}
	}
}

// TestNearMisses checks with and without the vinyl mode that the detections and the near misses are the detections at the
// sensitivity of the near misses.
func TestNearMisses(t *testing.T) {
	x, _ := record(6, 30, 1)
	at := func(sensitivity float64, vinyl Switch) (found, near []Found) {
		var r Report
		o := Options{Kinds: []Kind{Clicks}, Step: step, Vinyl: vinyl, Sensitivity: sensitivity, Report: &r}
		found = testkit.Must(Find(t.Context(), audio.Samples{x}, len(x), testRate, o))(t)
		return found, r.Near
	}
	for _, vinyl := range []Switch{Auto, Off} {
		for _, sensitivity := range []float64{3, 5} {
			found, near := at(sensitivity, vinyl)
			all := append(found, near...)
			more, _ := at(sensitivity+NearMiss, vinyl)
			for _, d := range more {
				touches := func(f Found) bool { return f.Start <= d.End && d.Start <= f.End }
				if !slices.ContainsFunc(all, touches) {
					t.Errorf("vinyl %v: %v is found at sensitivity %v only", vinyl, d.Gap, sensitivity+NearMiss)
				}
			}
			for _, f := range all {
				if !slices.ContainsFunc(more, func(d Found) bool { return d.Start <= f.Start && f.End <= d.End }) {
					t.Errorf("vinyl %v, sensitivity %v: %v is not found at sensitivity %v", vinyl, sensitivity, f.Gap, sensitivity+NearMiss)
				}
			}
		}
	}
}

// TestDecimated checks that a sine below the lower Nyquist frequency is sampled at a lower rate, also from another sample
// on and at the ends, and that one above it is removed.
func TestDecimated(t *testing.T) {
	for _, c := range []struct {
		from, by        int
		frequency, gain float64 // of the higher rate
	}{{0, 1, 0.2, 1}, {0, 2, 0.1, 1}, {7, 2, 0.1, 1}, {9, 4, 0.05, 1}, {0, 2, 0.35, 0}, {3, 4, 0.2, 0}} {
		at := func(n int) float64 { return math.Cos(2 * math.Pi * c.frequency * float64(n)) }
		y, first := decimated(testkit.Numbers(400, func(n int) float64 { return at(n + c.from) }), c.from, c.by)
		testkit.Equal(t, first, (c.from+c.by-1)/c.by, "first sample")
		testkit.Equal(t, len(y), (c.from+400+c.by-1)/c.by-first, "samples")
		for i, v := range y {
			tolerance := 0.01
			if i < decimateReach || i >= len(y)-decimateReach {
				tolerance = 0.5
			}
			testkit.Near(t, v, c.gain*at(c.by*(first+i)), tolerance, c, ": sample ", i)
		}
	}
}
