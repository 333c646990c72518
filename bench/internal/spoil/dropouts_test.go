package spoil

import (
	"math"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// TestDropouts: a channel is as it was outside of the damage, and within it as its kind says; the same seed makes the same.
func TestDropouts(t *testing.T) {
	const step = 1.0 / 32768
	x := testkit.Numbers(4000, func(n int) float64 { return step * math.Round(10000*math.Sin(0.1*float64(n))+5000) })
	for _, kind := range Stops {
		y, all := Dropouts(x, kind, 100, 500, step, 7)
		again, _ := Dropouts(x, kind, 100, 500, step, 7)
		if len(all) != 8 || !slices.Equal(y, again) {
			t.Fatalf("%s: %d dropouts, want 8, and the same again", kind, len(all))
		}
		end := 0
		for _, d := range all {
			if !slices.Equal(y[end:d.Start], x[end:d.Start]) || d.Len() != 100 {
				t.Errorf("%s: changed before %v, or that is not of 100 samples", kind, d)
			}
			end = d.End
			for n := d.Start; n < d.End; n++ {
				value, within := 0.0, 0.0
				switch kind {
				case Dithered:
					within = 1
				case Triangular:
					within = 2
				case Hold, HoldNoise:
					value = x[d.Start-1]
				}
				if kind == HoldNoise {
					within = 1
				}
				if math.Abs(y[n]-value) > (within+0.5)*step {
					t.Fatalf("%s: sample %d of %v is %v", kind, n, d, y[n]/step)
				}
			}
		}
		if !slices.Equal(y[end:], x[end:]) {
			t.Errorf("%s: changed behind the last", kind)
		}
	}
	if _, all := Dropouts(x, Zero, 300, 500, step, 1); all != nil {
		t.Errorf("%v in parts that are too short", all)
	}
}
