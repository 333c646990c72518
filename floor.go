package vssgp

import (
	"context"
	"slices"
)

// A point estimate of a spectrum is surer of itself than it should be. How much
// noise makes its error bars honest depends on the recording: a held vowel wants
// less than running speech. The bound cannot tell, it always prefers less; gaps
// of the data's own lengths, cut where the answer is known, can.

// spectrumFloors are the least starting noise variances to choose from, as
// shares of the data's variance, most first; the first stands where nothing can
// be tried.
var spectrumFloors = []float64{0.04, 0.02, 0.01, 0.005}

const (
	trialShare = 0.1 // of the places are hidden in a trial, at most
	trialRoom  = 3   // an observed stretch is this many gaps long before one is cut into it
	trialEvery = 6   // and gets one for each so many gaps of its length
	// trialMargin is how much of the predicted variance the squared errors may
	// reach in a trial.
	trialMargin = 0.8
)

// trialGaps are stretches [start, end) of observed places, as long as the
// median gap and in the middle of what is between gaps; none if nothing is
// missing.
func (g *grid) trialGaps() [][2]int {
	gaps := runs(g.missing, true)
	if len(gaps) == 0 {
		return nil
	}
	lengths := make([]int, len(gaps))
	for i, r := range gaps {
		lengths[i] = r[1] - r[0]
	}
	slices.Sort(lengths)
	length := lengths[len(lengths)/2]
	var all [][2]int
	for _, r := range runs(g.missing, false) {
		room := r[1] - r[0]
		if room < trialRoom*length {
			continue
		}
		n := max(1, room/(trialEvery*length))
		for i := range n {
			at := r[0] + (2*i+1)*room/(2*n) - length/2
			all = append(all, [2]int{at, at + length})
		}
	}
	most := max(1, int(trialShare*float64(len(g.missing))/float64(length)))
	if len(all) <= most {
		return all
	}
	out := make([][2]int, most)
	for i := range out {
		out[i] = all[(2*i+1)*len(all)/(2*most)]
	}
	return out
}

// runs are the stretches [start, end) of a that are all v.
func runs(a []bool, v bool) (out [][2]int) {
	for i, x := range a {
		switch {
		case x != v:
		case i > 0 && a[i-1] == v:
			out[len(out)-1][1]++
		default:
			out = append(out, [2]int{i, i + 1})
		}
	}
	return out
}

// bestFloor is the least floor under whose starting values the variance
// predicted over the hidden stretches, summed, still covers the squared errors
// there: sums, so that the loud ones count, as they do in the gaps.
func (m *Model) bestFloor(ctx context.Context, data *Data, g *grid, length float64, o Options) (float64, error) {
	trials := g.trialGaps()
	if len(trials) == 0 || o.NoisePrecision > 0 {
		return spectrumFloors[0], nil
	}
	known, asked := m.hide(data, g, trials)
	part := newGrid(m.X.ToModel(known.X), m.Y.ToModel(known.Y), data.D, g.step, g.unevenBand())
	part.fill(ctx, length)
	best := spectrumFloors[0]
	for _, floor := range spectrumFloors[1:] {
		try := *m
		try.Params = part.start(ctx, m, length, floor, o)
		square, variance, err := try.trial(ctx, known, asked)
		if err != nil {
			return 0, err
		}
		if !(square <= trialMargin*variance) {
			break
		}
		best = floor
	}
	return best, nil
}

// hide parts the rows into those outside and those inside the stretches.
func (m *Model) hide(data *Data, g *grid, stretches [][2]int) (known, asked *Data) {
	hidden := make([]bool, len(g.missing))
	for _, r := range stretches {
		for i := r[0]; i < r[1]; i++ {
			hidden[i] = true
		}
	}
	known, asked = &Data{Q: data.Q, D: data.D}, &Data{Q: data.Q, D: data.D}
	for n, x := range m.X.ToModel(data.X) {
		to := known
		if hidden[g.place(x)] {
			to = asked
		}
		to.N++
		to.X = append(to.X, data.X[n])
		to.Y = append(to.Y, data.Y[n*data.D:(n+1)*data.D]...)
	}
	return known, asked
}

// trial is the squared error and the predicted variance over the rows asked
// for, summed, given the known ones.
func (m *Model) trial(ctx context.Context, known, asked *Data) (square, variance float64, err error) {
	p, err := m.predictFrom(ctx, known, asked)
	if err != nil {
		return 0, 0, err
	}
	for i, sd := range p.SD(true) {
		d := asked.Y[i] - p.Mean[i]
		square += d * d
		variance += sd * sd
	}
	return square, variance, nil
}

// predictFrom conditions the model on the known rows and predicts those asked
// for.
func (m *Model) predictFrom(ctx context.Context, known, asked *Data) (*Prediction, error) {
	h, err := m.hold(known)
	if err != nil {
		return nil, err
	}
	defer h.close()
	h.ctx = ctx
	e, err := h.exact(m.Params, false)
	if err != nil {
		return nil, err
	}
	m.adopt(e)
	return m.predictRows(ctx, asked.X, asked.N)
}
