package restore

import (
	"fmt"
	"slices"

	"github.com/vssgp/vssgp/internal/parallel"
)

// batch is how many gaps are filled before the guesses of the next ones are made: memory holds no more guesses than they look at.
const batch = 512

// fillGaps fills all gaps. Each gap looks at the samples around it; where those have gaps, it looks at a guess of them, which are
// made first. So no fill depends on another, and the result not on the order of work.
func (f *filler) fillGaps(m Method) error {
	g := newGapFiller(f, m)
	f.units = len(f.res.gaps)
	doubts := make([][]Doubt, f.units)
	for lo := 0; lo < f.units; lo += batch {
		hi := min(lo+batch, f.units)
		err := g.guessFor(lo, hi)
		if err == nil {
			err = parallel.Try(hi-lo, f.o.workers(hi-lo), func(i int) (err error) {
				doubts[lo+i], err = g.fill(lo + i)
				return err
			})
		}
		if err != nil {
			return g.stopped(err)
		}
	}
	err := g.fillClipped(doubts)
	f.res.Doubts = slices.Concat(doubts...)
	f.res.Joint, f.res.fills = g.joined, g.fills
	return g.stopped(err)
}

// stopped reports that the fill was interrupted if it was.
func (g *gapFiller) stopped(err error) error {
	if err != nil && g.ctx.Err() != nil {
		return fmt.Errorf("restore: interrupted: %w", g.ctx.Err())
	}
	return err
}
