package detect

import "context"

const (
	clickHop   = 0.020 // seconds of a window's own part
	clickReach = 0.015 // seconds of the sound on either side of it that its model is fitted to
	clickEdge  = 1     // samples that are added on either side, as a click fades in and out below the noise
)

// clickDetector finds bursts of up to some sixty samples that were added to the sound or replaced it.
type clickDetector struct {
	recording
	step, sensitivity float64
}

func newClicks(_ context.Context, r recording, o *Options) (detector, error) {
	step, err := r.step(o.Step)
	return &clickDetector{r, step, o.Sensitivity}, err
}

func (d *clickDetector) size() (block, margin int) {
	return max(256, int(clickHop*float64(d.rate))), max(192, int(clickReach*float64(d.rate)))
}

func (d *clickDetector) find(b block) (out []candidate) {
	for _, f := range newClickWindow(b.x[b.channel], d.step, d.sensitivity).find(b.lo-b.from, b.hi-b.from) {
		out = append(out, candidate{max(0, b.from+f.lo-clickEdge), min(d.n, b.from+f.hi+clickEdge), f.level, 0})
	}
	return out
}

func (d *clickDetector) choose(all []candidate) []candidate { return joined(all) }
