package initialize

import (
	"context"

	"github.com/vssgp/vssgp/internal/initialize/autoregression"
)

const (
	// fillOrder is the order of the autoregressive interpolation, in grid steps, relative to W.
	fillOrder = 0.4
	// fillContext is the length of the context on either side of a gap, in W.
	fillContext = 1.0
	// fillWork is the maximum number of operations of an interpolation (some seconds), and
	// fillExcerpt the maximum for one excerpt (about one second). A third of them cannot be
	// interrupted.
	fillWork, fillExcerpt = 2e10, 4e9
	// fillLeast is the minimum order.
	fillLeast = 8
)

// fillRounds is the number of alternations between model and interpolation. With more iterations
// the model over-fits the interpolated samples.
const fillRounds = 3

// fill interpolates the missing samples autoregressively, for windows of the given length (0
// for none).
func (s *Series) fill(ctx context.Context, length float64) {
	if s.times != nil {
		return // uneven rows have no missing samples
	}
	gaps := runs(s.missing, true)
	f := s.filling(gaps, length)
	for _, y := range s.y {
		f.Fill(ctx, y, gaps) // if that fails, the samples remain at the mean, zero
	}
}

// filling returns the interpolation method for windows of the given length (0 for none): by gap,
// or by tile if that is too expensive, with order and context halved until the cost is acceptable.
// The order matters little for such data, which have many or long gaps.
func (s *Series) filling(gaps [][2]int, length float64) autoregression.Filling {
	if length == 0 {
		length = spectrumWindows[0] * s.step
	}
	f := autoregression.Filling{
		Order: min(len(s.missing)/4, int(fillOrder*length/s.step)), Reach: int(fillContext * length / s.step), Rounds: fillRounds,
	}
	for {
		all, largest := f.Work(len(s.missing), gaps)
		if all*float64(len(s.y)) <= fillWork && largest <= fillExcerpt || f.Tiled && f.Order < 2*fillLeast {
			return f
		}
		if f.Tiled {
			f.Order, f.Reach = f.Order/2, f.Reach/2
		}
		f.Tiled = true
	}
}

// spectrumWindows are the default candidate lengths in grid steps: 32 to 64 ms at 16 kHz.
var spectrumWindows = []float64{512, 768, 1024}
