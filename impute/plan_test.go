package impute

import (
	"testing"

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
