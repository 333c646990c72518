package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/internal/clicks"
)

// levels lists the bounds in decibels of the classes of levels in the table.
var levels = [...]float64{faintest, -5, 2, 8, loudest, 25}

// clearOf is the minimum distance in samples of a false positive from all clicks.
const clearOf = 40

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
	for _, c := range clicks.Choose(t.found, len(t.x), t.rate, sensitivity) {
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
		if !slices.ContainsFunc(t.added, near) {
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
