package impute

import (
	"math"
	"testing"
	"time"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/cost"
)

// What a draw takes while it is made is held by each excerpt at work at a time,
// and grows with the missing samples and not with their square.
func TestPlanDraws(t *testing.T) {
	beside := func(workers, length int) float64 {
		gaps := []Gap{{Start: 2000, End: 2000 + length}, {Start: 10000, End: 10000 + length}}
		peak := func(draws int) float64 {
			o := Options{Workers: workers, Draws: draws, Model: vssgp.Options{Window: 0.032, Components: 5}}
			p, err := NewPlan(1, 16000, 16000, gaps, o)
			if err != nil {
				t.Fatal(err)
			}
			return p.PeakBytes - cost.Collected*p.FillBytes
		}
		return peak(1) - peak(0)
	}
	one, two := beside(1, 200), beside(2, 200)
	if !(one > 0) || two != 2*one {
		t.Errorf("a draw takes %v bytes with one worker and %v with two, want twice as much", one, two)
	}
	if most := beside(1, 400); most > 2*one {
		t.Errorf("a draw of twice the samples takes %v bytes, of once %v", most, one)
	}
}

// TestPlanLongGap: what a long gap takes grows with it in memory, and not at all in operations, since its ends alone are filled.
func TestPlanLongGap(t *testing.T) {
	plan := func(seconds int, o Options) *Plan {
		p, err := NewPlan(1, 100*rate, rate, []Gap{{Start: 10 * rate, End: (10 + seconds) * rate}}, o)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, m := range []Method{Mixture, AR} {
		short, once, twice := plan(1, Options{Method: m}), plan(20, Options{Method: m}), plan(40, Options{Method: m})
		if once.Flops != short.Flops || twice.Flops != short.Flops || !(short.Flops > 0) {
			t.Errorf("%s: %v operations for 1 s, %v for 20 s, %v for 40 s", m, short.Flops, once.Flops, twice.Flops)
		}
		if a, b := once.PeakBytes-short.PeakBytes, twice.PeakBytes-once.PeakBytes; !(a > 0) || math.Abs(19*b-20*a) > 1e-6*b {
			t.Errorf("%s: 19 s more take %v bytes, 20 s %v", m, a, b)
		}
	}
}

// TestPlanChannels checks that a gap of all channels takes as many operations as gaps of each of them.
func TestPlanChannels(t *testing.T) {
	flops := func(gaps ...Gap) float64 {
		p, err := NewPlan(3, 4*rate, rate, gaps, Options{Method: AR})
		if err != nil {
			t.Fatal(err)
		}
		return p.Flops
	}
	all, one := flops(Gap{Start: rate, End: rate + 80}), flops(Gap{Start: rate, End: rate + 80, Channel: 2})
	if math.Abs(all/one-3) > 1e-9 {
		t.Errorf("%v operations for a gap of three channels, %v for a gap of one", all, one)
	}
}

// TestTimeLeft checks that the time left is in proportion to the gaps left.
func TestTimeLeft(t *testing.T) {
	var p Progress
	f := &filler{o: Options{Progress: func(q Progress) { p = q }}, units: 4, began: time.Now().Add(-time.Hour)}
	for done, want := range []float64{0, 3, 1, 1. / 3, 0} {
		if f.tell(func() { f.done = done }); math.Abs(p.Left.Seconds()/p.Elapsed.Seconds()-want) > 1e-6 || p.Excerpt != done {
			t.Errorf("%d of 4 in %v: %v left, want %.2f times as long", p.Excerpt, p.Elapsed, p.Left, want)
		}
	}
}
