package impute

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
	f.res.fills = g
	if err := g.kept.open(f.o.Model.Resume); err != nil {
		return err
	}
	defer g.kept.close()
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
	f.res.Joint = g.joined
	return g.stopped(err)
}

// stopped has the checkpoint written to the disk, and says that the fill was interrupted if it was.
func (g *gapFiller) stopped(err error) error {
	if kept := g.kept.sync(true); err == nil && kept != nil && g.kept.warn == nil {
		return fmt.Errorf("impute: checkpoint: %w", kept)
	}
	if err != nil && g.ctx.Err() != nil {
		return fmt.Errorf("impute: interrupted: %w", g.ctx.Err())
	}
	return err
}

// filling returns the fill of gap i in the k-th channel that misses it.
func (g *gapFiller) filling(i, k int) (Filling, error) {
	if k >= len(g.places[i]) {
		return Filling{}, fmt.Errorf("it is not filled in so many channels: %w", ErrGaps)
	}
	p := g.places[i][k]
	s, err := p.in.get(p.at)
	if err != nil {
		return Filling{}, err
	}
	return Filling{s.mean, s.sd, s.draws, s.level}, nil
}

// release ends the use of the files that hold the fills.
func (g *gapFiller) release() { g.kept.release() }
