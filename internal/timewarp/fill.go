// Package timewarp fills gaps in sound. Around a gap the pitch may glide and the level may change, so a Candidate models the signal there
// as a mixture of processes, each of which is stationary once its time is warped and its level is evened (Warp). Candidates are weighted
// by their errors in artificial gaps nearby.
package timewarp

import (
	"context"
	"math"
	"slices"

	"github.com/vssgp/vssgp/internal/ar"
)

// A Filling is the fill of a gap.
type Filling struct {
	Mean, Variance []float64   // per sample
	Draws          [][]float64 // [draw][sample], joint
	Weights        []float64   // of the candidates; 0 for those without a part
	Trials         int         // artificial gaps that were filled to weigh them; 0 without space for any, −1 if there is one candidate

	narrow float64 // factor of the variances for an exact fill, else 1
}

// A Filler fills gaps of recordings of one sample rate, one at a time.
type Filler struct {
	candidates Candidates
	rate       float64
	means      map[int]*ar.Mean // by size
}

// NewFiller returns a Filler for some candidates and a sample rate in hertz.
func NewFiller(c Candidates, rate float64) *Filler { return &Filler{c, rate, map[int]*ar.Mean{}} }

// Reach returns how many samples on either side a fill of a gap of n samples looks at.
func Reach(n int, rate float64) int { return n + samples(furthest, rate) }

// Fill fills gap number which of z. The other gaps contain initial fills; the values of z in the gap are ignored. gaps are [start, end),
// rising and disjoint, all that are in z. draws are joint, and depend on the seed and on nothing else. Errors are ctx's.
func (f *Filler) Fill(ctx context.Context, z []float64, gaps [][2]int, which, draws int, seed uint64) (*Filling, error) {
	x := f.excerpt(z, gaps, which)
	start, end := x.gap()
	of := f.candidates.of(end-start, f.rate)
	out, err := f.weigh(ctx, x, of)
	if err != nil {
		return nil, err
	}
	parts := f.mixture(x, of, out.Weights)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out.Mean, out.Variance = mix(parts, end-start)
	out.Draws = drawn(parts, draws, seed)
	widen := f.candidates.Widen * out.narrow
	for i, m := range out.Mean {
		out.Variance[i] *= widen
		for _, d := range out.Draws {
			d[i] = m + math.Sqrt(widen)*(d[i]-m)
		}
	}
	if x.backward {
		for _, v := range append(out.Draws[:draws:draws], out.Mean, out.Variance) {
			slices.Reverse(v)
		}
	}
	return out, nil
}

// excerpt returns a gap to fill with an initial fill in it. It is backward in time if that puts the longer side first.
func (f *Filler) excerpt(z []float64, gaps [][2]int, which int) *excerpt {
	x := (&excerpt{z: z, gaps: gaps, which: which, rate: f.rate}).filled(nil)
	if start, end := x.gap(); start < len(z)-end {
		x = x.reversed()
	}
	return x.prefilled()
}

// InitialFill returns a first fill of a gap of z for the fills of other gaps nearby. If gaps are so close that little lies between
// them, it is Janssen's, which solves for all of them jointly and ignores what z contains in gaps.
func (f *Filler) InitialFill(ctx context.Context, z []float64, gaps [][2]int, which int) []float64 {
	x := (&excerpt{z: z, gaps: gaps, which: which, rate: f.rate}).filled(nil)
	start, end := x.gap()
	e := x.initial()
	near := samples(e.Context, f.rate)
	if which > 0 && gaps[which-1][1] > start-near || which+1 < len(gaps) && gaps[which+1][0] < end+near {
		part := x.near(near)
		ar.Filling{Order: samples(e.Order, f.rate), Reach: len(part.z), Rounds: janssenRounds}.Fill(ctx, part.z, part.gaps)
	} else {
		x = x.prefilled()
	}
	return x.z[start:end]
}

// mixture returns the parts of the fills by the candidates that have a weight, and of an onset. If no model is usable, only the level is
// known.
func (f *Filler) mixture(x *excerpt, of []*Candidate, weights []float64) (parts []part) {
	if parts = f.weighted(x, of, weights, true); parts == nil {
		start, end := x.gap()
		return []part{levelOnly(meanSquare(x.filled(nil).z), end-start)}
	}
	if f.candidates.Onsets {
		parts = append(parts, x.onset(parts)...)
	}
	return parts
}

// weighted returns the parts of the candidates' fills that have a weight.
func (f *Filler) weighted(x *excerpt, of []*Candidate, weights []float64, all bool) (out []part) {
	for k, c := range of {
		if weights[k] == 0 {
			continue
		}
		for _, p := range f.parts(x, c, all) {
			p.weight *= weights[k]
			out = append(out, p)
		}
	}
	return out
}
