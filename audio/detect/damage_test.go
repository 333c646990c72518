package detect

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/audio"
)

// gone is damage of a kind in a channel, from 1; 0 is all.
func gone(start, end, channel int, kind Kind) Found {
	return Found{Gap: audio.Gap{Start: start, End: end, Channel: channel}, Kind: kind}
}

func TestApart(t *testing.T) {
	kinds := []Kind{Zeros, Dropouts}
	clipped := gone(4, 6, 1, Clipped)
	clipped.Clipped = true
	for _, c := range []struct {
		name      string
		all, want []Found
	}{
		{"nothing", nil, nil},
		{"touching", []Found{gone(5, 9, 1, Zeros), gone(1, 5, 1, Dropouts)}, []Found{gone(1, 5, 1, Dropouts), gone(5, 9, 1, Zeros)}},
		{"overlapping", []Found{gone(1, 5, 1, Dropouts), gone(4, 9, 1, Zeros)}, []Found{gone(1, 9, 1, Zeros)}},
		{"within", []Found{gone(1, 9, 1, Zeros), gone(4, 5, 1, Dropouts)}, []Found{gone(1, 9, 1, Zeros)}},
		{"partly clipped", []Found{gone(1, 5, 1, Zeros), clipped}, []Found{gone(1, 6, 1, Zeros)}},
		{"edges", []Found{gone(1, 5, 1, Zeros), gone(5, 7, 1, Clicks), gone(8, 9, 1, Clicks), gone(9, 12, 1, Dropouts), gone(14, 15, 1, Clicks)},
			[]Found{gone(1, 5, 1, Zeros), gone(9, 12, 1, Dropouts), gone(14, 15, 1, Clicks)}},
	} {
		if c.name == "partly clipped" {
			kinds = []Kind{Zeros, Clipped}
		}
		if got := apart(c.all, kinds); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestTogether(t *testing.T) {
	for _, c := range []struct {
		name  string
		lanes [][]Found
		want  []Found
	}{
		{"mono", [][]Found{{gone(1, 5, 1, Zeros)}}, []Found{gone(1, 5, 0, Zeros)}},
		{"both", [][]Found{{gone(1, 5, 1, Zeros)}, {gone(1, 5, 2, Zeros)}}, []Found{gone(1, 5, 0, Zeros)}},
		{"one", [][]Found{{gone(3, 5, 1, Zeros)}, {gone(1, 2, 2, Zeros)}}, []Found{gone(1, 2, 2, Zeros), gone(3, 5, 1, Zeros)}},
		{"other strengths", [][]Found{{{gone(1, 5, 1, Clicks).Gap, Clicks, 20}}, {{gone(1, 5, 2, Clicks).Gap, Clicks, 8}}},
			[]Found{{gone(1, 5, 0, Clicks).Gap, Clicks, 20}}},
		{"other ends", [][]Found{{gone(1, 5, 1, Zeros)}, {gone(1, 6, 2, Zeros)}}, []Found{gone(1, 5, 1, Zeros), gone(1, 6, 2, Zeros)}},
		{"other kinds", [][]Found{{gone(1, 5, 1, Zeros)}, {gone(1, 5, 2, Clipped)}}, []Found{gone(1, 5, 2, Clipped), gone(1, 5, 1, Zeros)}},
	} {
		if got := together(c.lanes); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestFindKinds: a run of zeros is a dropout too; the kind that is asked for first names it.
func TestFindKinds(t *testing.T) {
	x := voice(16000, 3)
	clear(x[9000:9320])
	for _, kinds := range [][]Kind{{Zeros, Dropouts}, {Dropouts, Zeros}} {
		got, err := Find(context.Background(), inMemory{x}, len(x), testRate, Options{Kinds: kinds, Step: step})
		if want := []Found{gone(9000, 9320, 0, kinds[0])}; err != nil || !slices.Equal(got, want) {
			t.Errorf("%v: %v, %v; want %v", kinds, got, err, want)
		}
	}
}

func TestFindMistakes(t *testing.T) {
	x := inMemory{make([]float64, 100)}
	for _, c := range []struct {
		name    string
		src     Source
		n, rate int
		o       Options
		want    error
	}{
		{"nil", nil, 100, 8000, Options{}, ErrArgument},
		{"no samples", x, 0, 8000, Options{}, ErrArgument},
		{"no rate", x, 100, 0, Options{}, ErrArgument},
		{"too sensitive", x, 100, 8000, Options{Sensitivity: 10.1}, ErrArgument},
		{"less than insensitive", x, 100, 8000, Options{Sensitivity: -1}, ErrArgument},
		{"sensitivity without a number", x, 100, 8000, Options{Sensitivity: math.NaN()}, ErrArgument},
		{"no such kind", x, 100, 8000, Options{Kinds: []Kind{"hum"}}, ErrArgument},
		{"no kinds", x, 100, 8000, Options{}, nil},
	} {
		if found, err := Find(context.Background(), c.src, c.n, c.rate, c.o); !errors.Is(err, c.want) || found != nil {
			t.Errorf("%s: %v, %v; want %v", c.name, found, err, c.want)
		}
	}
}

// sameInTiles: what is found in x does not depend on the tiles nor on the cores.
func sameInTiles(t *testing.T, kind Kind, tile *int, tiles []int, x []float64) {
	t.Helper()
	want := find(t, testRate, kind, x)
	defer func(n, cores int) { *tile = n; runtime.GOMAXPROCS(cores) }(*tile, runtime.GOMAXPROCS(1))
	for _, *tile = range tiles {
		if got := find(t, testRate, kind, x); !slices.Equal(got, want) || len(got) == 0 {
			t.Errorf("tiles of %d: %v, want %v", *tile, got, want)
		}
		runtime.GOMAXPROCS(4)
	}
}

// TestDropoutSensitivity checks that dropouts in a soft voice, some of which are missed at the lowest sensitivity, are found at the highest.
func TestDropoutSensitivity(t *testing.T) {
	x := stopped(quiet(voice(64000, 1), 0.02), places(160), false, 1)
	if low, high := findAt(t, 0.1, testRate, Dropouts, x), findAt(t, 10, testRate, Dropouts, x); len(high) <= len(low) {
		t.Errorf("%d found at the lowest sensitivity, %d at the highest", len(low), len(high))
	}
}

// TestForemost checks that of stops that overlap the flattest is kept and, of these, the longest.
func TestForemost(t *testing.T) {
	all := []stop{{20, 30, 0}, {10, 40, 1}, {50, 60, 1}, {50, 80, 1}, {55, 85, 1}, {80, 90, 2}}
	if got, want := foremost(all), []stop{{20, 30, 0}, {50, 80, 1}, {80, 90, 2}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestDropoutInSilence checks that zeros in noise of a few steps of the quantizer are no dropout: a silence may have them.
func TestDropoutInSilence(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for level, want := range map[float64]int{1: 0, 2: 0, 20: 1} {
		x := quantized(8000, func(int) float64 { return step * level * max(-2, min(2, rng.NormFloat64())) })
		clear(x[4000:4100])
		if found := find(t, testRate, Dropouts, x); len(found) != want {
			t.Errorf("noise of %v steps: %+v, want %d", level, found, want)
		}
	}
}
