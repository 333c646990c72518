package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/simd"
)

// levels lists the bounds in decibels of the classes of levels in the table.
var levels = [...]float64{math.Inf(-1), faintest, -5, 2, 8, loudest, math.Inf(1)}

// clearOf is the minimum distance in samples of a false positive from all clicks.
const (
	clearOf        = 40
	clearOfUnclear = 12 // the same for damage that may be a click or not
)

// A score counts the clicks and the detected clicks of each level, and the false positives.
type score struct {
	hit, all [len(levels) - 1]int
	false    int
	seconds  float64
}

// add adds the score of a trial at a sensitivity. A click is detected if detections contain at least half of its
// energy.
func (s *score) add(t *trial, sensitivity float64) {
	var found []audio.Gap
	for _, c := range t.search.Choose(t.found, len(t.x), sensitivity) {
		found = append(found, audio.Gap{Start: max(0, c.Lo-1), End: min(len(t.x), c.Hi+1)})
	}

	for i, m := range t.added {
		within := 0.0
		for _, f := range found {
			within += t.energy(max(m.Start, f.Start), min(m.End, f.End))
		}
		k := 0
		for t.levels[i] > levels[k+1] {
			k++
		}
		s.all[k]++
		if all := t.energy(m.Start, m.End); all > 0 && 2*within >= all {
			s.hit[k]++
		}
	}

	for _, f := range found {
		near := func(m audio.Gap) bool { return m.Start-clearOf < f.End && f.Start < m.End+clearOf }
		overlaps := func(m audio.Gap) bool { return m.Start-clearOfUnclear < f.End && f.Start < m.End+clearOfUnclear }
		if !slices.ContainsFunc(t.added, near) && !slices.ContainsFunc(t.unclear, overlaps) {
			s.false++
		}
	}
	s.seconds += t.seconds
}

// energy returns the energy of the clicks in [lo, hi).
func (t *trial) energy(lo, hi int) (sum float64) {
	for n := lo; n < hi; n++ {
		sum += (t.y[n] - t.x[n]) * (t.y[n] - t.x[n])
	}
	return sum
}

// classes lists the bounds in percent of the classes of confidence in the table.
var classes = [...]float64{0, 20, 40, 60, 80, 95, 100}

// calibration prints a row for each kind of crackle: the share of clicks among the candidates of each class of
// confidence, and their number.
func calibration(w io.Writer, all []*trial) {
	fmt.Fprint(w, "\n| confidence |")
	for k, low := range classes[:len(classes)-1] {
		fmt.Fprintf(w, " %g to %g %% |", low, classes[k+1])
	}
	fmt.Fprintf(w, "\n%s|\n", strings.Repeat("|---", len(classes)))
	for i, c := range crackles {
		if !slices.ContainsFunc(all, func(t *trial) bool { return t.crackle == i }) {
			continue
		}
		var clicks, of [len(classes) - 1]int
		for _, t := range all {
			if t.crackle == i {
				t.calibrate(&clicks, &of)
			}
		}
		fmt.Fprintf(w, "| %s |", c.name)
		for k, n := range of {
			fmt.Fprintf(w, " %.2f of %d |", float64(clicks[k])/float64(max(n, 1)), n)
		}
		fmt.Fprintln(w)
	}
}

// calibrate counts the candidates of each class of confidence, and the clicks among them.
func (t *trial) calibrate(clicks, of *[len(classes) - 1]int) {
	for _, e := range t.examples(1) {
		odds, k := simd.Dot(t.search.Weights.Context[:], e.context[:]), 0
		for p := 100 / (1 + math.Exp(-odds)); p > classes[k+1]; {
			k++
		}
		of[k]++
		if e.click {
			clicks[k]++
		}
	}
}

// show prints a row for each kind of crackle: the false positives per second and the recall by level.
func show(w io.Writer, all []*trial, sensitivity float64) {
	fmt.Fprint(w, "| clicks | false per second |")
	for i, low := range levels[:len(levels)-1] {
		fmt.Fprintf(w, " %g to %g dB |", low, levels[i+1])
	}
	fmt.Fprintf(w, "\n%s|\n", strings.Repeat("|---", 1+len(levels)))
	for i, c := range crackles {
		var s score
		for _, t := range all {
			if t.crackle == i {
				s.add(t, sensitivity)
			}
		}
		if s.seconds == 0 {
			continue
		}
		fmt.Fprintf(w, "| %s | %.2f |", c.name, float64(s.false)/s.seconds)
		for k, n := range s.all {
			if n == 0 {
				fmt.Fprint(w, " – |")
				continue
			}
			fmt.Fprintf(w, " %.3f |", float64(s.hit[k])/float64(n))
		}
		fmt.Fprintln(w)
	}
}
