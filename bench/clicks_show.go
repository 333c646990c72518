package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/detect"
	"github.com/vssgp/vssgp/internal/clicks"
)

// A clicksScore counts the clicks and the detected clicks of each level, and the false positives.
type clicksScore struct {
	hit, all [len(levels) - 1]int
	false    int
	seconds  float64
}

// score compares the detections at a sensitivity with the added clicks.
func (t *clicksTrial) score(sensitivity float64) (s clicksScore) {
	s.seconds = t.seconds
	var found []detect.Found
	for _, c := range clicks.Choose(t.found, len(t.x), t.rate, sensitivity) {
		found = append(found, detect.Found{Gap: audio.Gap{Start: max(0, c.Lo-1), End: min(len(t.x), c.Hi+1)}})
	}
	for i, hit := range hits(t.x, t.y, t.added, found) {
		k := 0
		for t.levels[i] > levels[k+1] {
			k++
		}
		s.all[k]++
		if hit {
			s.hit[k]++
		}
	}
	for _, f := range found {
		if !slices.ContainsFunc(t.added, func(m audio.Gap) bool { return m.Start-clearOf < f.End && f.Start < m.End+clearOf }) {
			s.false++
		}
	}
	return s
}

func (s *clicksScore) add(o clicksScore) {
	for k := range s.all {
		s.all[k], s.hit[k] = s.all[k]+o.all[k], s.hit[k]+o.hit[k]
	}
	s.false, s.seconds = s.false+o.false, s.seconds+o.seconds
}

func (s clicksScore) recall() string {
	var out []string
	for k, n := range s.all {
		if n == 0 {
			continue
		}
		out = append(out, strings.TrimPrefix(share(s.hit[k], n), "0"))
	}
	return strings.Join(out, " ")
}

// showClicks prints recall by level and false positives per second: by sensitivity, and at the default sensitivity by recording.
func showClicks(w io.Writer, all []*clicksTrial) {
	fmt.Fprint(w, "| sensitivity | false: mean, worst, damaged |")
	for _, c := range crackles[1:] {
		fmt.Fprintf(w, " %s |", c.name)
	}
	fmt.Fprint(w, "\n"+rule(2+len(crackles)-1))
	for sensitivity := range 11 {
		sums := make([]clicksScore, len(crackles))
		mean, worst, sounds, damaged := 0.0, 0.0, 0.0, clicksScore{}
		for _, t := range all {
			s := t.score(float64(sensitivity))
			sums[t.crackle].add(s)
			if t.crackle == 0 {
				rate := float64(s.false) / s.seconds
				mean, worst, sounds = mean+rate, max(worst, rate), sounds+1
			} else {
				damaged.add(s)
			}
		}
		fmt.Fprintf(w, "| %d | %.2f, %.2f, %.2f |", sensitivity, mean/sounds, worst, float64(damaged.false)/damaged.seconds)
		for _, s := range sums[1:] {
			fmt.Fprintf(w, " %s |", s.recall())
		}
		fmt.Fprintln(w)
	}
	fmt.Fprint(w, "\n| recording | false |")
	for _, c := range crackles[1:] {
		fmt.Fprintf(w, " %s | false |", c.name)
	}
	fmt.Fprint(w, "\n"+rule(2*len(crackles)))
	for _, t := range all {
		s := t.score(detect.DefaultSensitivity)
		if t.crackle == 0 {
			fmt.Fprintf(w, "| %s |", strings.TrimSuffix(t.file, ".wav"))
		} else {
			fmt.Fprintf(w, " %s |", s.recall())
		}
		fmt.Fprintf(w, " %.2f |", float64(s.false)/s.seconds)
		if t.crackle == len(crackles)-1 {
			fmt.Fprintln(w)
		}
	}
}
