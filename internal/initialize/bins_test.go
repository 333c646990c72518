package initialize

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit/modeltest"
)

// TestLongSpectrum checks that a periodogram replaces models of an order above spectrumLongest, and
// that its bins contain the power of the data, with each tone in one or two bins.
func TestLongSpectrum(t *testing.T) {
	d := modeltest.Tones(20_000, 0)
	s := seriesOf(d)
	n := float64(d.N)
	center, count := (n-1)/2, s.binCount(n)
	masses := s.periodogram(t.Context(), center, n, count)
	all, weight := s.tapered(center, n)
	tapered := all[0]
	total := 0.0
	for _, m := range masses {
		total += m
	}
	if want := sumSquares(tapered) / weight; len(tapered) != d.N || !(math.Abs(total-want) <= 1e-12*want) {
		t.Errorf("the bins of %d grid points contain %v, want %v", len(tapered), total, want)
	}
	got := s.rankings(t.Context(), []float64{center}, n, n, 10, false)[0].bins
	for _, w := range []float64{0.0131, 0.31} {
		if f := w / (2 * math.Pi); !slices.ContainsFunc(got, func(b bin) bool { return math.Abs(b.freq-f) < 1/n }) {
			t.Errorf("none of the ten heaviest bins is at the tone %v: %v", f, got)
		}
	}
	share := 0.0
	for _, b := range got {
		share += b.mass
	}
	if !(share > 0.95*total) {
		t.Errorf("ten bins contain %v of %v", share, total)
	}
}

// TestUnevenMasses checks that the masses of a window add up to the mean square of its rows
// weighted by a squared cosine, averaged over the outputs. A single row has no mass.
func TestUnevenMasses(t *testing.T) {
	d := uneven(400)
	var both []float64
	for _, y := range d.Y {
		both = append(both, y, 0) // a second output, which is zero
	}
	s := series(d.X, both, 2, 0.5)
	const center, half = 150, 100
	square, total := 0.0, 0.0
	for i, x := range d.X {
		if math.Abs(x-center) < half {
			w := math.Pow(math.Cos(math.Pi/2*(x-center)/half), 2)
			square, total = square+w*d.Y[i]*d.Y[i], total+w
		}
	}
	sum := 0.0
	for _, m := range s.unevenMasses(t.Context(), center, half, 60) {
		sum += m
	}
	if want := square / total / 2; !(math.Abs(sum/want-1) <= 1e-3) {
		t.Errorf("the masses add up to %v, want %v", sum, want)
	}
	one := slices.Max(s.unevenMasses(t.Context(), d.X[200], 0.01, 60))
	if one != 0 {
		t.Errorf("one row has a mass of %v", one)
	}
}

// TestRankAndSplit checks rank and split on simple bins. For uneven rows, bins below eight times
// the median are dropped. For all rows, the lightest bins are dropped while their total mass is
// below the noise.
func TestRankAndSplit(t *testing.T) {
	masses := slices.Repeat([]float64{1}, 40)
	for i, m := range []float64{90, 9, 7.9, 50, 8.1, 20, 30, 40, 60, 70, 80, 100} {
		masses[3*i] = m
	}
	uneven := &Series{band: 2, times: []float64{}}
	r := uneven.rank(masses, 0, 20)
	if r.lines != 11 || len(r.bins) != 20 || r.rest != 20 {
		t.Errorf("%d lines among %d bins, and %v left; want 11, 20 and 20", r.lines, len(r.bins), r.rest)
	}
	if r.bins[0] != (bin{0, 33.5 * 2 / 40, 100}) {
		t.Errorf("the heaviest is %+v", r.bins[0])
	}
	set := &Settings{}
	if keep, rest := set.split(r, 0); keep != 11 || rest != 20+8+7.9 {
		t.Errorf("%d bins kept and a mass of %v dropped; want 11 and %v", keep, rest, 20+8+7.9)
	}
	if keep, _ := (&Settings{Components: 15}).split(r, 1e9); keep != 15 {
		t.Errorf("%d bins kept, want the given number of 15", keep)
	}
	even := (&Series{band: 0.5}).rank(slices.Repeat([]float64{1}, 20), 0, 20)
	if keep, rest := set.split(even, 3.5); keep != 17 || rest != 3 {
		t.Errorf("%d bins kept and a mass of %v dropped; want 17 and 3", keep, rest)
	}
	if keep, _ := set.split(even, 1e9); keep != spectrumFewest {
		t.Errorf("%d bins kept, want %d", keep, spectrumFewest)
	}
	if n := uneven.binCount(96); n != 256 { // two cycles per step, 96/0.75 bins per cycle
		t.Errorf("%d bins", n)
	}
}

// TestSpectraAgain checks that cached rankings are used only for the same arguments.
func TestSpectraAgain(t *testing.T) {
	d := modeltest.Tones(600, 0)
	s, centers := seriesOf(d), []float64{150, 450}
	for _, c := range []struct {
		half   float64
		most   int
		shared bool
	}{{150, 5, false}, {75, 5, false}, {75, 4, false}, {75, 4, true}} {
		got := s.rankings(t.Context(), centers, c.half, 150, c.most, c.shared)
		want := seriesOf(d).rankings(t.Context(), centers, c.half, 150, c.most, c.shared)
		for v := range want {
			if !slices.Equal(got[v].bins, want[v].bins) {
				t.Errorf("%+v, window %d: %v, without a cache %v", c, v, got[v].bins, want[v].bins)
			}
		}
	}
}

// TestSpectraEnd checks that after the context has ended no spectrum is computed, and that the
// zero result is not cached.
func TestSpectraEnd(t *testing.T) {
	ended, stop := context.WithCancel(t.Context())
	stop()
	d := modeltest.Tones(600, 0)
	for _, s := range []*Series{seriesOf(d), series(d.X, d.Y, 1, 0.5)} {
		mass := func(ctx context.Context) (sum float64) {
			for _, r := range s.rankings(ctx, []float64{150, 450}, 150, 150, 5, false) {
				for _, b := range r.bins {
					sum += b.mass
				}
			}
			return sum
		}
		if none, some := mass(ended), mass(t.Context()); none != 0 || !(some > 0) {
			t.Errorf("the bins contain %v after the context has ended, and %v with another context", none, some)
		}
	}
}
