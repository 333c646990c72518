// Package timewarp fills gaps in audio. Around a gap, pitch and level may change. A Candidate therefore models the signal as a
// mixture of processes that are stationary after a time warp and a level correction (Warp). Candidates are weighted by their errors
// on artificial gaps nearby.
package timewarp

import (
	"context"
	"math"
	"slices"

	"github.com/vssgp/vssgp/audio/internal/ar"
	"github.com/vssgp/vssgp/internal/initialize/autoregression"
)

// A Filling is the fill of a gap.
type Filling struct {
	Mean, Variance []float64   // per sample
	Draws          [][]float64 // [draw][sample] from the joint posterior
	Weights        []float64   // of the candidates
	Trials         int         // number of artificial gaps; 0 if there was no space, −1 if there is only one candidate

	narrow float64 // factor of the variances, below 1 if trials were nearly exact
}

// A Filler fills gaps in recordings with a fixed sample rate. It must not be used concurrently.
type Filler struct {
	candidates Candidates
	rate       float64
	means      map[int]*ar.Mean // by size
}

// NewFiller returns a Filler for candidates and a sample rate in Hz.
func NewFiller(c Candidates, rate float64) *Filler { return &Filler{c, rate, map[int]*ar.Mean{}} }

// Reach returns the number of samples on each side of a gap of n samples that Fill uses.
func Reach(n int, rate float64) int { return n + samples(furthest, rate) }

// Fill fills the gap of z with index which. gaps contains all gaps [start, end) in z, sorted and disjoint. The other gaps contain
// initial fills; the values of z in the gap are ignored. Fill returns the given number of joint draws, which are deterministic for a
// seed. The error is the error of ctx.
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

// excerpt returns the excerpt of a gap with an initial fill. It is time-reversed if the side after the gap is longer.
func (f *Filler) excerpt(z []float64, gaps [][2]int, which int) *excerpt {
	x := (&excerpt{z: z, gaps: gaps, which: which, rate: f.rate}).filled(nil)
	if start, end := x.gap(); start < len(z)-end {
		x = x.reversed()
	}
	return x.prefilled()
}

// InitialFill returns an initial fill of a gap of z, to be used in fills of nearby gaps. If other gaps are close, it uses Janssen's
// method, which fills all of them jointly and ignores the values of z in gaps.
func (f *Filler) InitialFill(ctx context.Context, z []float64, gaps [][2]int, which int) []float64 {
	x := (&excerpt{z: z, gaps: gaps, which: which, rate: f.rate}).filled(nil)
	start, end := x.gap()
	e := x.initial()
	near := samples(e.Context, f.rate)
	if which > 0 && gaps[which-1][1] > start-near || which+1 < len(gaps) && gaps[which+1][0] < end+near {
		part := x.near(near)
		autoregression.Filling{Order: samples(e.Order, f.rate), Reach: len(part.z), Rounds: janssenRounds}.Fill(ctx, part.z, part.gaps)
	} else {
		x = x.prefilled()
	}
	return x.z[start:end]
}

// mixture returns the mixture components of the weighted candidates and of an onset. If all models fail, it returns one component
// that models only the level.
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

// weighted returns the mixture components of the candidates with nonzero weight.
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
