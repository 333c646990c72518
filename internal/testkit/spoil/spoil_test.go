package spoil

import (
	"math"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// TestClicks checks that a channel is unchanged outside the clicks, that the clicks have the given level and lengths
// and both polarities, and that the same seed gives the same clicks.
func TestClicks(t *testing.T) {
	const step, rate = 1.0 / 32768, 16000
	x := testkit.Numbers(60000, func(n int) float64 { return step * math.Round(300*math.Sin(0.1*float64(n))) })
	for _, level := range []float64{6, 25} {
		for _, shape := range Shapes {
			y, all := Clicks(x, []Shape{shape}, 60, 3, 40, level, rate, step, 5)
			again, _ := Clicks(x, []Shape{shape}, 60, 3, 40, level, rate, step, 5)
			if len(all) != 60 || !slices.Equal(y, again) {
				t.Fatalf("%d clicks", len(all))
			}
			end, up := 0, 0
			for _, d := range all {
				sum, most := 0.0, 0.0
				for n := d.Start; n < d.End; n++ {
					v := y[n] - x[n]
					if shape == Noise {
						v = y[n]
					}
					if sum += v * v; math.Abs(v) > math.Abs(most) {
						most = v
					}
				}
				got := 10 * math.Log10(sum/float64(d.Len())/(300*300*step*step/2))
				if d.Len() < 3 || d.Len() > 40 || math.Abs(got-level) > 0.5 {
					t.Errorf("%s of %d samples: %v dB, want %v", shape, d.Len(), got, level)
				}
				if !slices.Equal(y[end:d.Start], x[end:d.Start]) {
					t.Errorf("samples before %v changed", d)
				}
				if most > 0 {
					up++
				}
				end = d.End
			}
			if up < 15 || up > 45 {
				t.Errorf("%s: %d of 60 upwards", shape, up)
			}
		}
	}
	if _, all, _ := (Crackle{Shapes, 2000, 6, 12, 30, false}).Clicks(x, rate, step, 5); len(all) < 100 || len(all) > 150 {
		t.Errorf("%d clicks of crackle in 3.75 s, want about 125", len(all))
	}
	if _, all := Clicks(x[:100], Shapes, 60, 3, 40, 6, rate, step, 5); len(all) > 0 {
		t.Errorf("%d clicks in a recording that is too short", len(all))
	}
}

// TestDropouts checks that a channel is unchanged outside the dropouts, the kind of the dropouts, and that they are
// reproducible.
func TestDropouts(t *testing.T) {
	const step = 1.0 / 32768
	x := testkit.Numbers(4000, func(n int) float64 { return step * math.Round(10000*math.Sin(0.1*float64(n))+5000) })
	for _, kind := range Stops {
		y, all := Dropouts(x, kind, 100, 500, step, 7)
		again, _ := Dropouts(x, kind, 100, 500, step, 7)
		if len(all) != 8 || !slices.Equal(y, again) {
			t.Fatalf("%s: %d dropouts, want 8 and the same result for the same seed", kind, len(all))
		}
		end := 0
		for _, d := range all {
			if !slices.Equal(y[end:d.Start], x[end:d.Start]) || d.Len() != 100 {
				t.Errorf("%s: samples before %v changed, or its length is not 100", kind, d)
			}
			end = d.End
			for n := d.Start; n < d.End; n++ {
				value, within := 0.0, 0.0
				switch kind {
				case Dithered:
					within = 1
				case Triangular:
					within = 2
				case Repeat, RepeatNoise:
					value = x[d.Start-1]
				}
				if kind == RepeatNoise {
					within = 1
				}
				if math.Abs(y[n]-value) > (within+0.5)*step {
					t.Fatalf("%s: sample %d of %v is %v", kind, n, d, y[n]/step)
				}
			}
		}
		if !slices.Equal(y[end:], x[end:]) {
			t.Errorf("%s: samples after the last dropout changed", kind)
		}
	}
	if _, all := Dropouts(x, Zero, 300, 500, step, 1); all != nil {
		t.Errorf("%v in parts that are too short", all)
	}
}
