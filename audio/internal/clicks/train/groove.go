package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/internal/ar"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/initialize/autoregression"
)

// Constants of the separation of groove noise into ticks and a bed, which does not use the detector.
const (
	tickOrder   = 30   // order of the model of the noise
	tickHop     = 0.1  // seconds of noise with one model
	tickSigma   = 6.0  // minimum prediction error of a tick in robust standard deviations
	unclearFrom = 4.0  // smaller errors may be ticks or noise, and are not examples
	edgeSigma   = 2.5  // prediction errors above it extend a tick
	longestTick = 1e-3 // seconds; longer ticks are pops, which are not examples, and neither is the bed there
	normal      = 0.6745
)

// A groove is noise of a record's groove: a bed of surface noise with ticks.
type groove struct {
	name    string
	rate    int
	x, bed  []float64   // with and without the ticks
	ticks   []audio.Gap // in increasing order
	unclear []audio.Gap // pops, and errors that may be ticks or noise
}

// openGroove reads the first channel of a recording of groove noise.
func openGroove(path string) (*groove, error) {
	r, err := audio.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	g := &groove{name: filepath.Base(path), rate: r.Rate, x: r.Samples[0]}
	g.bed = slices.Clone(g.x)
	for range 2 { // the second time with models of the bed
		g.separate()
	}
	return g, nil
}

// separate finds the ticks by the prediction errors of models of the bed, and fills them.
func (g *groove) separate() {
	hop, order := int(tickHop*float64(g.rate)), tickOrder
	ticks, unclear := make([]bool, len(g.x)), make([]bool, len(g.x))
	for lo := 0; lo < len(g.x); lo += hop {
		from, to := max(0, lo-hop/2), min(len(g.x), lo+hop+hop/2)
		a := model(g.bed[from:to], order)
		e := append(make([]float64, order), ar.Errors(a.A, g.x[from:to])...)
		abs := make([]float64, len(e))
		for i, v := range e {
			abs[i] = math.Abs(v)
		}
		sigma := quantile(slices.Clone(abs[order:]), 0.5) / normal
		for i := lo; i < min(lo+hop, len(g.x)); i++ {
			switch v := abs[i-from] / sigma; {
			case v > tickSigma:
				mark(ticks, abs, from, i, edgeSigma*sigma)
			case v > unclearFrom:
				mark(unclear, abs, from, i, edgeSigma*sigma)
			}
		}
	}

	for i, t := range ticks {
		unclear[i] = unclear[i] && !t
	}
	g.ticks, g.unclear = nil, runs(unclear)
	for _, t := range runs(ticks) {
		if t.Len() > int(longestTick*float64(g.rate)) {
			g.unclear = append(g.unclear, t)
			continue
		}
		g.ticks = append(g.ticks, t)
	}
	g.fill()
}

// model returns the Yule–Walker model of samples whose largest values are limited.
func model(x []float64, order int) ar.Model {
	x = slices.Clone(x)
	low, high := quantile(slices.Clone(x), 0.005), quantile(slices.Clone(x), 0.995)
	for i, v := range x {
		x[i] = max(low, min(v, high))
	}
	return ar.YuleWalker(autoregression.Autocorrelation(x, order))
}

// mark marks the samples around i whose errors, which begin at sample from, exceed edge, with gaps of three samples.
func mark(marks []bool, errors []float64, from, i int, edge float64) {
	const gap, pad = 4, 3
	exceeds := func(lo, hi int) bool {
		return slices.ContainsFunc(errors[max(0, lo-from):max(0, min(len(errors), hi-from))], func(v float64) bool { return v > edge })
	}
	lo, hi := i, i+1
	for lo > from && exceeds(lo-gap, lo) {
		lo--
	}
	for hi < from+len(errors) && exceeds(hi, hi+gap) {
		hi++
	}
	for k := max(0, lo-pad); k < min(len(marks), hi+1); k++ {
		marks[k] = true
	}
}

// runs returns the runs of marked samples.
func runs(marks []bool) (all []audio.Gap) {
	for i, m := range marks {
		switch {
		case m && (i == 0 || !marks[i-1]):
			all = append(all, audio.Gap{Start: i, End: i + 1})
		case m:
			all[len(all)-1].End = i + 1
		}
	}
	return all
}

// fill replaces the ticks in the bed by their conditional mean.
func (g *groove) fill() {
	const around = 2000
	g.bed = slices.Clone(g.x)
	for _, t := range g.ticks {
		lo, hi := max(0, t.Start-around), min(len(g.x), t.End+around)
		z := slices.Clone(g.bed[lo:hi])
		for _, u := range g.ticks {
			for i := max(lo, u.Start); i < min(hi, u.End); i++ {
				z[i-lo] = 0
			}
		}
		m := model(z, tickOrder)
		copy(z, g.bed[lo:hi])
		if c, ok := m.Conditional(z, [][2]int{{t.Start - lo, t.End - lo}}, nil); ok {
			copy(g.bed[t.Start:t.End], c.Mean)
		}
	}
}

// Ranges of the random properties of the trials with groove noise.
const (
	softestBed, loudestBed   = -45.0, -8.0 // decibels relative to the sound
	softestTick, loudestTick = -3.0, 6.0   // gain of the ticks in decibels
	lowPassed                = 0.35        // share of trials whose sound has the bandwidth of an old record
	lowestCut, highestCut    = 3500, 7000  // cutoff in Hz
	lowPassReach             = 50          // samples on each side of the filter
	alone                    = 0.12        // share of trials without a sound
	aloneLevel               = 0.02        // of the bed of such a trial
)

// with returns a trial of a sound with the bed, and with the ticks as clicks.
func (g *groove) with(x []float64, step float64, seed uint64) *trial {
	rng := rand.New(rand.NewPCG(seed, 0x900e))
	uniform := func(low, high float64) float64 { return low + (high-low)*rng.Float64() }
	offset, sign := rng.IntN(len(g.x)), float64(1-2*rng.IntN(2))
	x = slices.Clone(x)
	if rng.Float64() < lowPassed {
		x = filtered(x, windowedSinc(lowPassReach, 2*uniform(lowestCut, highestCut)/float64(g.rate), 0))
	}
	level := math.Pow(10, uniform(softestBed, loudestBed)/20) * bayes.RMS(x)
	gain := math.Pow(10, uniform(softestTick, loudestTick)/20)
	if rng.Float64() < alone {
		clear(x)
		level = aloneLevel
	}
	level *= sign / bayes.RMS(g.bed)

	t := &trial{crackle: len(crackles) - 1, rate: g.rate, step: step, x: x, y: slices.Clone(x)}
	t.seconds = float64(len(x)) / float64(g.rate)
	for i := range x {
		k := (i + offset) % len(g.x)
		t.x[i] += level * g.bed[k]
		t.y[i] = t.x[i] + level*gain*(g.x[k]-g.bed[k])
	}
	scale := min(1, 0.98/floats.Norm(t.y, math.Inf(1))) / step
	for i := range x {
		t.x[i], t.y[i] = step*math.Round(scale*t.x[i]), step*math.Round(scale*t.y[i])
	}

	const seam = 60
	t.unclear = g.shifted(g.unclear, offset, len(x))
	for at := len(g.x) - offset; at < len(x); at += len(g.x) {
		t.unclear = append(t.unclear, audio.Gap{Start: at - seam, End: at + seam})
	}
	for _, e := range g.shifted(g.ticks, offset, len(x)) {
		if e.Start < seam || e.End > len(x)-seam || t.energy(e.Start, e.End) < 4*step*step {
			t.unclear = append(t.unclear, e)
			continue
		}
		near := t.x[max(0, e.Start-g.rate/100):min(len(x), e.End+g.rate/100)]
		power := t.energy(e.Start, e.End) / float64(e.Len())
		t.added = append(t.added, e)
		t.levels = append(t.levels, 10*math.Log10(power/(math.Pow(bayes.RMS(near), 2)+step*step)))
	}
	return t
}

// shifted returns the gaps of the noise, repeated from sample offset on, in n samples.
func (g *groove) shifted(gaps []audio.Gap, offset, n int) (all []audio.Gap) {
	for first := -offset; first < n; first += len(g.x) {
		for _, e := range gaps {
			if lo, hi := max(0, e.Start+first), min(n, e.End+first); lo < hi {
				all = append(all, audio.Gap{Start: lo, End: hi})
			}
		}
	}
	return all
}

// quantile returns a quantile of x, which it sorts.
func quantile(x []float64, share float64) float64 {
	slices.Sort(x)
	return x[int(share*float64(len(x)))]
}
