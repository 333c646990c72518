package regression

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// inRoot runs a test in the root of the repository, where the kinds find their files.
func inRoot(t *testing.T) { t.Chdir(filepath.Join("..", "..", "..")) }

// testedKinds has by default a kind for each way of drawing rows, functions and noise.
var testedKinds = slow.Pick(Kinds(), Select([]string{"rbf-uneven", "ou-gaps", "lines-uneven", "one-line", "step",
	"repeated-1e-9", "few-12", "sunspots", "temperature"}))

// quick returns the problem of a kind, or nil if it is long or its data are not in the repository.
func quick(t *testing.T, k Kind, seed int) *Problem {
	t.Helper()
	if k.Long {
		return nil
	}
	p, err := k.Problem(seed, t.TempDir())
	if errors.Is(err, ErrMissing) {
		return nil
	}
	return testkit.Must(p, err)(t)
}

// TestProblemsDependOnSeed checks that a seed always gives the same numbers, other seeds others, and that the numbers
// are finite and in increasing order.
func TestProblemsDependOnSeed(t *testing.T) {
	inRoot(t)
	made := 0
	for _, k := range testedKinds {
		p := quick(t, k, 2)
		if p == nil {
			continue
		}
		made++
		if again := quick(t, k, 2); again.Digest != p.Digest || !slices.Equal(again.Y, p.Y) {
			t.Errorf("%s: a seed gives different numbers", k.Name)
		}
		if other := quick(t, k, 3); other.Digest == p.Digest || slices.Equal(other.Y, p.Y) {
			t.Errorf("%s: two seeds give the same numbers", k.Name)
		}
		for _, at := range append([]Place{{"train", p.X, p.Y}}, p.Places...) {
			if len(at.X) == 0 || len(at.X) != len(at.Y) || !slices.IsSorted(at.X) {
				t.Errorf("%s, %s: %d times for %d values, sorted: %v", k.Name, at.Name, len(at.X), len(at.Y), slices.IsSorted(at.X))
			}
			for i := range at.X {
				if v := at.X[i] + at.Y[i]; math.IsNaN(v) || math.IsInf(v, 0) {
					t.Errorf("%s, %s: point %d is (%v, %v)", k.Name, at.Name, i, at.X[i], at.Y[i])
				}
			}
		}
	}
	if want := slow.Pick(len(Kinds())-len(longKinds)-2, len(testedKinds)); made != want { // co2 and speech need data
		t.Errorf("%d kinds were built, want %d", made, want)
	}
}

// TestGapsHaveNoRows checks that no row is inside of a gap or beyond the end, and that every kind has the expected
// places.
func TestGapsHaveNoRows(t *testing.T) {
	inRoot(t)
	for _, k := range testedKinds {
		p := quick(t, k, 1)
		if p == nil {
			continue
		}
		for _, at := range p.Places {
			for _, x := range at.X {
				_, found := slices.BinarySearch(p.X, x)
				switch {
				case at.Name == Gap && found, at.Name == Beyond && x <= p.X[len(p.X)-1]:
					t.Errorf("%s: a row at %v, which is scored as %s", k.Name, x, at.Name)
				case at.Name == In && found != p.Latent:
					t.Errorf("%s: %v is scored as in; is it a row: %v", k.Name, x, found)
				}
			}
		}
		switch s := k.source.(type) {
		case made:
			if outside, _ := split(p.X, s.gaps); len(outside) != len(p.X) {
				t.Errorf("%s: %d rows in gaps", k.Name, len(p.X)-len(outside))
			}
			if names := placeNames(p); slices.Contains(names, Gap) != (s.gaps != nil || s.also != nil) ||
				slices.Contains(names, Beyond) != (s.beyond > 0) || !slices.Contains(names, In) {
				t.Errorf("%s: places %v", k.Name, names)
			}
		case table:
			if names := placeNames(p); !slices.Equal(names, PlaceNames) {
				t.Errorf("%s: places %v", k.Name, names)
			}
		}
	}
}

func placeNames(p *Problem) (names []string) {
	for _, at := range p.Places {
		names = append(names, at.Name)
	}
	return names
}

// TestHalvesShareNoGap checks that the gaps of even and odd seeds of a table do not overlap.
func TestHalvesShareNoGap(t *testing.T) {
	for _, k := range realKinds {
		s, ok := k.source.(table)
		if !ok {
			continue
		}
		for i, a := range s.gaps {
			for j, b := range s.gaps {
				if Half(i) != Half(j) && a[0] < b[1] && b[0] < a[1] {
					t.Errorf("%s: gaps %v and %v overlap", k.Name, a, b)
				}
			}
		}
		if len(s.gaps)%2 != 0 {
			t.Errorf("%s: %d gaps; an odd number gives both halves the same gaps", k.Name, len(s.gaps))
		}
	}
	for i, want := range []int{0, 2, 4} {
		if Seed(Dev, i) != want || Seed(Judge, i) != want+1 || Half(want) != Dev || Half(want+1) != Judge {
			t.Errorf("seed %d of the halves: %d, %d", i, Seed(Dev, i), Seed(Judge, i))
		}
	}
}

// TestDrawsHaveTheirCovariance compares the covariance of many draws with the kernel.
func TestDrawsHaveTheirCovariance(t *testing.T) {
	x := []float64{0, 0.1, 0.5, 0.9}
	for name, c := range map[string]struct {
		draw   drawer
		kernel func(float64) float64
	}{
		"rbf": {gp(rbf(0.5)), func(d float64) float64 { return math.Exp(-2 * d * d) }},
		"matern32": {gp(matern32(0.5)), func(d float64) float64 {
			return (1 + 2*math.Sqrt(3)*d) * math.Exp(-2*math.Sqrt(3)*d)
		}},
		"ou":   {ou(0.5), func(d float64) float64 { return math.Exp(-2 * d) }},
		"band": {gp(band(3, 0.9)), func(d float64) float64 { return math.Exp(-d*d/18) * math.Cos(1.8*math.Pi*d) }},
	} {
		draws := slow.Pick(20_000, 5000)
		random, sums := randomOf(name), make([]float64, len(x))
		for range draws {
			f := c.draw(random, x)
			for i := range x {
				sums[i] += f[0] * f[i] / float64(draws)
			}
		}
		for i, got := range sums {
			if want := c.kernel(x[i]); math.Abs(got-want) > slow.Pick(0.05, 0.1) { // five standard errors
				t.Errorf("%s: covariance %v at distance %v, want %v", name, got, x[i], want)
			}
		}
	}
}
