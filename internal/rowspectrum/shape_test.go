package rowspectrum

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// TestClasses: on both sides of every boundary between the ways to take a wave's sums, they are the sums over all rows.
func TestClasses(t *testing.T) {
	for kind := range positions {
		rng := rand.New(rand.NewPCG(3, 10))
		d := dataOf(kind, slow.Pick(3000, 1500), 1, rng)
		s := newSpectrum(newLayout(d))
		s.make(1<<14 + s.margin)
		counts := map[class]int{}
		for _, e := range s.boundaries() {
			for _, z := range []float64{-1e-7, 0, 1e-7} {
				e := e
				e.z += z
				for _, v := range []int{0, 1} {
					for range slow.Pick(3, 1) {
						w := wave{e, carrier{rng.Int64N(4000) - 2000, rng.Float64() - 0.5, rng.Float64() - 0.5}}
						class := s.compare(t, kind, w, v)
						if counts[class]++; class == whole {
							w.zLow = 0.01
							s.compare(t, kind, w, v)
						}
					}
				}
			}
		}
		t.Logf("%s: %v", kind, counts)
		if counts[few] == 0 || counts[grid] == 0 || counts[none] == 0 || counts[whole] == 0 && s.length > 0 {
			t.Errorf("%s: waves of each class: %v", kind, counts)
		}
	}
}

// boundaries are envelopes close to where another class begins: by width, by place, by amplitude and by the number of terms.
func (s *spectrum) boundaries() (out []envelope) {
	span := s.layout.span
	add := func(p, z float64) {
		if p > 0 {
			for _, log := range []float64{0, -1, -0.5 * digits * digits * 0.999, -0.5 * digits * digits * 1.001} {
				out = append(out, envelope{p: p, z: z, log: log})
			}
		}
	}
	for _, near := range []float64{0.999, 1, 1.001} {
		decays := []float64{0, 1e-30, shortest * near, 10 * near, digits * digits / (span * span) * near}
		for _, half := range []float64{mostPoints, 3 * mostPoints, float64(s.reach)} {
			q := half * s.h / digits * near
			decays = append(decays, q*q-s.p0)
		}
		for _, p := range decays {
			add(p, 0)
			add(p, 0.4*span)
			if p > 0 { // ends before the data do, or reaches few rows or none
				add(p, span/2-0.6*digits/math.Sqrt(p))
				add(p, span/2-digits/math.Sqrt(p)+6)
				add(p, span/2-digits/math.Sqrt(p)*near)
				add(p, -span/2-digits/math.Sqrt(p)*near)
			}
		}
	}
	return out
}

// compare takes a wave's sums in its class and over all rows, and returns the class.
func (s *spectrum) compare(t *testing.T, kind string, w wave, v int) class {
	t.Helper()
	var m shape
	m.set(s, w.envelope, v == 0)
	var b batch
	b.reset(s, v)
	b.add(&m, w.carrier)
	b.run()
	got, class := b.of(b.groups[0], 0), m.class
	m.from, m.to = 0, len(s.layout.values[0])
	want, scale := s.direct(&m, w.carrier, s.layout.values[v]), 1e-13*float64(len(s.layout.values[0]))
	reach := min(s.layout.span, 1/math.Sqrt(w.p)) // of |X − a|, on the rows that matter
	if class == grid || class == none {
		reach = s.layout.span
	}
	for r := range want.re {
		if e := math.Abs(got.re[r] - want.re[r]); !(e <= scale*math.Pow(max(1, reach), float64(r))) {
			t.Errorf("%s: v = %d, %+v (class %d): Re S_%d is %v, want %v", kind, v, w, class, r, got.re[r], want.re[r])
		}
	}
	for r := range want.im {
		if e := math.Abs(got.im[r] - want.im[r]); !(e <= scale*math.Pow(max(1, reach), float64(r))) {
			t.Errorf("%s: v = %d, %+v (class %d): Im S_%d is %v, want %v", kind, v, w, class, r, got.im[r], want.im[r])
		}
	}
	return class
}
