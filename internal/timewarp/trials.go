package timewarp

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/vssgp/vssgp/internal/ar"
	"gonum.org/v1/gonum/floats"
)

const (
	trialPower  = 8    // of the trials' mean squared errors, in the weights
	trialStop   = 0.6  // where the recipes' mean log errors are so far apart, no more trials are made
	trialBefore = 0.05 // seconds before a trial gap, at least

	trialRate    = 5_000 // hertz, at least, that trials are made at
	trialSamples = 40
	trialPart    = 0.9   // of the signal's power, at least, that is left at that rate
	trialFloor   = 1e-10 // of the signal's power: smaller errors are equal
	leastWeight  = 0.01  // of a recipe that takes part

	// A spectrum estimated from short contexts is broader than a tone's, so the variance of a fill may be far too large. It is multiplied
	// by exactSafety times the largest share of their variance that trials have as mean squared errors, if that is below 1, and by
	// leastExact at least: this leaves room for a fill that is harder than its trials.
	exactSafety, leastExact = 2, 0.003
)

// Fill fills gap number which of z, whose other gaps hold guesses; what z holds in the gap does not matter. gaps are [start, end),
// rising and apart, all that are in z. draws are joint, and depend on the seed and on nothing else. Errors are ctx's.
func (f *Filler) Fill(ctx context.Context, z []float64, gaps [][2]int, which, draws int, seed uint64) (*Filling, error) {
	p, backward := f.placed(z, gaps, which)
	n := len(f.menu.Recipes)
	out := &Filling{Weights: slices.Repeat([]float64{1 / float64(n)}, n), exact: 1}
	if n > 1 {
		if err := f.weigh(ctx, p, out); err != nil {
			return nil, err
		}
	}
	if err := f.combine(ctx, p, out, draws, seed); err != nil {
		return nil, err
	}
	if backward {
		slices.Reverse(out.Mean)
		slices.Reverse(out.Variance)
		for _, d := range out.Draws {
			slices.Reverse(d)
		}
	}
	return out, nil
}

// placed returns a gap to fill with zeros in it, backward in time if that has the side come first that has more.
func (f *Filler) placed(z []float64, gaps [][2]int, which int) (p *place, backward bool) {
	p = &place{slices.Clone(z), gaps, which, f.rate}
	start, end := p.gap()
	clear(p.z[start:end])
	if backward = start < len(z)-end; backward {
		p = p.reversed()
	}
	return p, backward
}

// Guess returns a first fill of a gap of z for fills of other gaps close by. Where gaps are so close that there is little between
// them, it is Janssen's, which solves for all of them together; what z holds in gaps does not matter then.
func (f *Filler) Guess(ctx context.Context, z []float64, gaps [][2]int, which int) []float64 {
	start, end := gaps[which][0], gaps[which][1]
	e := voice().Prefill
	reach := samples(e.Context, f.rate)
	y := slices.Clone(z)
	clear(y[start:end])
	if which > 0 && gaps[which-1][1] > start-reach || which+1 < len(gaps) && gaps[which+1][0] < end+reach {
		lo, hi := max(0, start-reach-reach/4), min(len(y), end+reach+reach/4)
		part := y[lo:hi]
		ar.Filling{Order: samples(e.Order, f.rate), Reach: len(part), Rounds: 3}.Fill(ctx, part, shifted(gaps, lo, hi))
		return y[start:end]
	}
	return (&place{y, gaps, which, f.rate}).prefilled(e).z[start:end]
}

// combine fills the place by the recipes that have weight, and draws.
func (f *Filler) combine(ctx context.Context, p *place, out *Filling, draws int, seed uint64) error {
	m := f.menu
	rngs, picks := make([][]*rand.Rand, len(m.Recipes)), make([][]int, len(m.Recipes))
	for i := range draws {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		k := pick(rng.Float64(), out.Weights)
		rngs[k], picks[k] = append(rngs[k], rng), append(picks[k], i)
	}
	out.Draws = make([][]float64, draws)
	var parts []part
	for k, item := range m.Recipes {
		if err := ctx.Err(); err != nil {
			return err
		}
		if out.Weights[k] == 0 {
			continue
		}
		q, ok := f.fill(p, item.final(), rngs[k])
		if !ok {
			out.Weights[k] = 0
			continue
		}
		parts = append(parts, part{out.Weights[k], q.Mean, q.Variance})
		for i, d := range picks[k] {
			out.Draws[d] = q.Draws[i]
		}
	}
	start, end := p.gap()
	if len(parts) == 0 { // no model is usable: only the level is known
		parts = []part{{1, make([]float64, end-start), slices.Repeat([]float64{meanSquare(p.z)}, end-start)}}
	}
	out.Mean, out.Variance = mix(parts, end-start)
	widen := m.Widen * out.exact
	for i := range out.Variance {
		out.Variance[i] *= widen
	}
	for d := range out.Draws {
		if out.Draws[d] == nil {
			out.Draws[d] = slices.Clone(out.Mean)
		}
		for i, v := range out.Draws[d] {
			out.Draws[d][i] = out.Mean[i] + math.Sqrt(widen)*(v-out.Mean[i])
		}
	}
	return nil
}

// weigh gives the recipes their weights by trial gaps on both sides.
func (f *Filler) weigh(ctx context.Context, p *place, out *Filling) error {
	m := f.menu
	least := max(trialFloor*meanSquare(p.z), math.SmallestNonzeroFloat64)
	low := slowest(p.prefilled(m.Recipes[0].Trial.Prefill))[0]
	start, end := low.gap()
	sums, shares := make([]float64, len(m.Recipes)), make([]float64, len(m.Recipes))
	for _, d := range m.Distances {
		for _, side := range low.sides() {
			if err := ctx.Err(); err != nil {
				return err
			}
			errors, ok := f.trial(side, samples(d, low.rate), end-start)
			if !ok {
				continue
			}
			out.Trials++
			for k, e := range errors {
				sums[k] += math.Log(e.square + least)
				shares[k] = max(shares[k], e.share())
			}
		}
		if out.Trials > 0 && (slices.Max(sums)-slices.Min(sums))/float64(out.Trials) > trialStop {
			break
		}
	}
	if out.Trials == 0 {
		return nil
	}
	least, total := slices.Min(sums), 0.0
	for k, s := range sums {
		out.Weights[k] = math.Exp(-trialPower * (s - least) / float64(out.Trials))
		total += out.Weights[k]
	}
	for k := range out.Weights {
		if out.Weights[k] /= total; out.Weights[k] < leastWeight {
			out.Weights[k] = 0
		}
	}
	f.tighten(p, out, shares)
	return nil
}

// tighten sets exact if the trials of every recipe that takes part are exact, and so is a fill of the gap with margins on both sides, which
// are known: in the gap itself nothing changes then.
func (f *Filler) tighten(p *place, out *Filling, shares []float64) {
	start, end := p.gap()
	margin := max(leastMargin, (end-start)/4)
	lo, hi := start-margin, end+margin
	if out.Trials < 2 || lo < samples(trialBefore, p.rate) || len(p.z)-hi < samples(trialBefore, p.rate) ||
		p.which > 0 && p.gaps[p.which-1][1] > lo || p.which+1 < len(p.gaps) && p.gaps[p.which+1][0] < hi {
		return
	}
	largest := 0.0
	for k, s := range shares {
		if out.Weights[k] > 0 {
			largest = max(largest, s)
		}
	}
	if exactSafety*largest >= 1 {
		return
	}
	wide := &place{slices.Clone(p.z), slices.Clone(p.gaps), p.which, p.rate}
	wide.gaps[p.which] = [2]int{lo, hi}
	clear(wide.z[lo:hi])
	for k, item := range f.menu.Recipes {
		if out.Weights[k] == 0 {
			continue
		}
		q, ok := f.fill(wide, item.final(), nil)
		if !ok {
			return
		}
		e := trialError{}
		e.add(q, p.z[lo:start], 0)
		e.add(q, p.z[end:hi], end-lo)
		largest = max(largest, e.share())
	}
	out.exact = min(1, max(leastExact, exactSafety*largest))
}

// leastMargin is in samples.
const leastMargin = 8

// A trialError is a fill's mean squared error and its mean variance.
type trialError struct{ square, variance float64 }

// share returns the error as a share of the variance, and 1 where there is none.
func (e trialError) share() float64 {
	if !(e.variance > 0) {
		return 1
	}
	return e.square / e.variance
}

// add adds the errors of a fill's samples from an index on.
func (e *trialError) add(q *Filling, truth []float64, from int) {
	n := float64(len(truth))
	for i, v := range truth {
		d := q.Mean[from+i] - v
		e.square, e.variance = e.square+d*d/n, e.variance+q.Variance[from+i]/n
	}
}

// slowest returns places with the same gap at the lowest rate, trialRate and trialSamples in the gap at least, that keeps most of the
// sound of each. Short gaps need a higher one: what they leave to guess is above their own frequency.
func slowest(places ...*place) []*place {
	start, end := places[0].gap()
	low := make([]*place, len(places))
	for by := min(int(places[0].rate/trialRate), (end-start)/trialSamples); by > 1; by-- {
		keeps := true
		for i, p := range places {
			low[i] = p.slower(by)
			keeps = keeps && meanSquare(low[i].z) >= trialPart*meanSquare(p.z)
		}
		if keeps {
			return low
		}
	}
	return places
}

// sides returns the samples on either side of the gap, which come last; those behind it backward.
func (p *place) sides() [2]*place {
	start, end := p.gap()
	behind := &place{p.z[end:], shifted(p.gaps, end, len(p.z)), 0, p.rate}
	return [2]*place{{p.z[:start], p.gaps[:p.which], 0, p.rate}, behind.reversed()}
}

func meanSquare(z []float64) float64 { return floats.Dot(z, z) / float64(len(z)) }

// shifted returns the gaps, or parts of them, that lie in [lo, hi), counted from there.
func shifted(gaps [][2]int, lo, hi int) (out [][2]int) {
	for _, g := range gaps {
		if start, end := max(g[0], lo), min(g[1], hi); start < end {
			out = append(out, [2]int{start - lo, end - lo})
		}
	}
	return out
}

// trial returns each recipe's error on a gap of n samples that ends a distance before the side's end.
func (f *Filler) trial(side *place, distance, n int) (errors []trialError, ok bool) {
	start := len(side.z) - distance - n
	for i := len(side.gaps) - 1; i >= 0; i-- { // clear of other gaps
		if g := side.gaps[i]; g[0] < start+n && g[1] > start {
			start = g[0] - n
		}
	}
	if start < samples(trialBefore, side.rate) {
		return nil, false
	}
	i, _ := slices.BinarySearchFunc(side.gaps, start, func(g [2]int, start int) int { return g[0] - start })
	p := &place{slices.Clone(side.z), slices.Insert(slices.Clone(side.gaps), i, [2]int{start, start + n}), i, side.rate}
	truth := side.z[start : start+n]
	clear(p.z[start : start+n])
	for _, item := range f.menu.Recipes {
		q, ok := f.fill(p, item.Trial, nil)
		if !ok {
			return nil, false
		}
		var e trialError
		e.add(q, truth, 0)
		errors = append(errors, e)
	}
	return errors, true
}
