package restore

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/vssgp/vssgp"
)

// TestMemoryOfGaps: what a long gap needs grows with it, and a fill that needs more than the limit is refused.
func TestMemoryOfGaps(t *testing.T) {
	bytes := func(seconds int, m Method) float64 {
		gaps := []Gap{{Start: 10 * rate, End: (10 + seconds) * rate}}
		f := &filler{res: &Result{rate: rate, samples: 100 * rate, channels: 1, gaps: gaps}}
		return f.bytes(m)
	}
	for _, m := range []Method{Mixture, AR} {
		short, once, twice := bytes(1, m), bytes(20, m), bytes(40, m)
		if a, b := once-short, twice-once; !(a > 0) || math.Abs(19*b-20*a) > 1e-6*b {
			t.Errorf("%s: 19 s more need %v bytes, 20 s %v", m, a, b)
		}
	}
	x, gaps := tones(4000, 1, 0.01), []Gap{{Start: 1000, End: 1100}}
	for limit, refused := range map[float64]bool{1e4: true, 1e9: false} {
		_, err := Fill(context.Background(), x, rate, gaps, Options{Model: vssgp.Options{MemoryLimit: limit}})
		if errors.Is(err, vssgp.ErrMemory) != refused || err == nil == refused || refused && !strings.Contains(err.Error(), "1 gaps") {
			t.Errorf("with %v bytes: %v", limit, err)
		}
	}
}
