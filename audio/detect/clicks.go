package detect

import (
	"context"

	"github.com/vssgp/vssgp/audio/internal/clicks"
)

// clickEdge returns the number of samples added on each side of a click with the given length, because clicks fade in and out below the
// noise. docs/repair-clicks.md shows the effect of fewer samples.
func clickEdge(length int) int { return 1 + length/5 }

// clickDetector finds clicks and crackle (see package clicks).
type clickDetector struct {
	recording
	*clicks.Search
	sensitivity float64
}

func newClicks(_ context.Context, r recording, o *Options) (detector, error) {
	step, err := r.step(o.Step)
	d := &clickDetector{r, clicks.New(r.rate, step, o.Sensitivity), o.Sensitivity}
	if o.Mono && r.channels == 2 {
		return &wallDetector{d, clicks.NewNoise(r.rate, step, o.Sensitivity)}, err
	}
	return d, err
}

func (d *clickDetector) size() (block, margin int) { return d.Size() }

func (d *clickDetector) find(b block) (out []candidate) {
	for _, c := range d.Find(b.x[b.channel], b.from, b.lo, b.hi) {
		out = append(out, candidate{c.Lo, c.Hi, c.LogOdds, 0})
	}
	return out
}

func (d *clickDetector) choose(all []candidate) (out []candidate) {
	some := make([]clicks.Candidate, len(all))
	for i, c := range all {
		some[i] = clicks.Candidate{Lo: c.lo, Hi: c.hi, LogOdds: c.logOdds}
	}
	for _, c := range clicks.Choose(some, d.n, d.rate, d.sensitivity) {
		out = append(out, candidate{c.Lo, c.Hi, c.LogOdds, 0})
	}
	return d.withEdges(out)
}

// withEdges returns clicks with their edges in increasing order. It merges clicks that touch or overlap.
func (d *clickDetector) withEdges(all []candidate) (out []candidate) {
	for _, c := range all {
		edge := clickEdge(c.hi - c.lo)
		out = append(out, candidate{max(0, c.lo-edge), min(d.n, c.hi+edge), c.logOdds, 0})
	}
	return joined(out)
}
