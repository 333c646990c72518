package initialize

import (
	"context"

	"github.com/vssgp/vssgp/internal/ar"
)

const (
	// fillOrder is the order of the autoregressive fill, in steps of the grid in W.
	fillOrder = 0.4
	// fillContext is how far its model looks to either side of a gap, in W.
	fillContext = 1.0
	// fillWork is how many operations a fill may take, some seconds, and fillExcerpt
	// how many one excerpt may take, about one second: a third of them cannot be
	// interrupted.
	fillWork, fillExcerpt = 2e10, 4e9
	// fillLeast is the order below which no fill goes.
	fillLeast = 8
)

// fillRounds is how often the model and the fill are made in turn: with more
// rounds the model begins to believe the fill.
const fillRounds = 3

// fill interpolates the missing places autoregressively, for windows of the given
// length; 0: none.
func (s *Series) fill(ctx context.Context, length float64) {
	if s.times != nil {
		return // uneven rows have no places to fill
	}
	gaps := runs(s.missing, true)
	f := s.filling(gaps, length)
	for _, y := range s.y {
		f.Fill(ctx, y, gaps) // where that fails, the places stay at the mean, zero
	}
}

// filling chooses how to fill gaps for windows of the given length, 0 for none:
// gap by gap, or, if that is too much work, tile by tile, with order and reach
// halved until it is not; both are in steps. Such data have many gaps or long ones, about which a
// fill of any order knows little.
func (s *Series) filling(gaps [][2]int, length float64) ar.Filling {
	if length == 0 {
		length = spectrumWindows[0] * s.step
	}
	f := ar.Filling{
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

// spectrumWindows are the lengths to choose from, in steps of the grid, if the
// settings name none: 32 to 64 ms at 16 kHz.
var spectrumWindows = []float64{512, 768, 1024}
