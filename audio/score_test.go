package audio

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

func TestFrames(t *testing.T) {
	for _, c := range []struct{ n, rate, length, hop, count int }{
		{1000, 16000, 400, 192, 5}, {400, 16000, 400, 192, 1}, {401, 16000, 400, 192, 2}, {1, 16000, 400, 192, 1},
		{976, 16000, 400, 192, 4}, {500, 8000, 200, 96, 5}, {10, 1, 1, 1, 10},
	} {
		if s := NewResidual(c.n, c.rate); s.length != c.length || s.hop != c.hop || s.count != c.count {
			t.Errorf("%d at %d Hz: %d, %d, %d; want %v", c.n, c.rate, s.length, s.hop, s.count, c)
		}
	}
}

// TestSTFTRMSEIsParseval checks Parseval's theorem: the mean of |X|² over all bins is Σ (w·x)² of the frame.
func TestSTFTRMSEIsParseval(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, rate := range []int{16000, 11025} { // frames of even and odd length
		ref, est := make([]float64, 1000), make([]float64, 1000)
		mask := make([]bool, 1000)
		for n := range ref {
			ref[n], est[n], mask[n] = r.NormFloat64(), r.NormFloat64(), n%3 == 0
		}
		s := NewResidual(1000, rate)
		w := hamming(s.length)
		var want float64
		for f := range s.count {
			for i := range s.length {
				if n := f*s.hop + i; n < 1000 && mask[n] {
					e := w[i] * (est[n] - ref[n])
					want += e * e / float64(s.count)
				}
			}
		}
		if got := STFTRMSE(ref, est, mask, rate); math.Abs(got-math.Sqrt(want)) > 1e-12*got {
			t.Errorf("%d Hz: %v, want %v", rate, got, math.Sqrt(want))
		}
	}
}

func TestScores(t *testing.T) {
	ref := []float64{1, 2, 3, 4}
	est := []float64{1, 2, 0, 8}
	mask := []bool{false, false, true, true}
	testkit.Equal(t, RMSE(ref, est, mask), math.Sqrt(12.5), "RMSE")
	testkit.Equal(t, RMSE(ref, est, nil), 2.5, "RMSE of all")
	testkit.Near(t, SNR(ref, est, mask), 0, 1e-12, "SNR of an error as strong as the signal")
	testkit.Near(t, SNR([]float64{1, -2, 3}, []float64{1.1, -2.2, 3.3}, nil), 20, 1e-9, "SNR of an error of a tenth of the signal")
	if got := RMSE(ref, est, make([]bool, 4)); !math.IsNaN(got) {
		t.Errorf("RMSE of nothing is %v", got)
	}
}

func TestLeastStep(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{nil, 0}, {[]float64{3}, 0}, {[]float64{2, 2}, 0}, {[]float64{0.5, -1, 0.25, 0.5, 4}, 0.25}} {
		testkit.Equal(t, MinStep(c.values), c.want, c.values)
	}
}
