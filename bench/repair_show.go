package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/vssgp/vssgp/audio/detect"
	"github.com/vssgp/vssgp/bench/internal/machine"
)

// A repairLine is what became of one kind of damage in one recording.
type repairLine struct {
	Machine  machine.Machine `json:"machine"`
	Time     string          `json:"time"`
	Bench    string          `json:"bench"`
	File     string          `json:"file"`
	Rate     int             `json:"rate"`
	Length   float64         `json:"length"` // seconds of sound
	Kind     detect.Kind     `json:"kind"`   // that was looked for
	Made     string          `json:"made"`   // what was done to the recording; "nothing": as it is
	Level    float64         `json:"level"`  // decibels
	Places   int             `json:"places"` // that were damaged
	Hit      int             `json:"hit"`    // of them, at least half of the damage's energy found
	Found    int             `json:"found"`
	Right    int             `json:"right"`   // of what was found, where something was damaged
	Before   float64         `json:"before"`  // signal over error in decibels, of the recording
	After    float64         `json:"after"`   // as repaired
	Finding  float64         `json:"finding"` // seconds that it took
	Filling  float64         `json:"filling"`
	Joint    int             `json:"joint,omitempty"` // gaps that other channels helped to fill; Before is then without them, over the gaps
	Coverage float64         `json:"coverage95,omitempty"`
}

// A repairSum adds up the lines of one kind of damage.
type repairSum struct {
	kind                      detect.Kind
	made                      string
	level                     float64
	places, hit, found, right int
	lines                     int
	length                    float64
	before, after             float64 // sums
	least                     float64 // of what a recording gained
	finding, filling          float64
	joint                     int
	coverage                  float64 // sum
}

// showRepairs prints what became of made damage, over all recordings, and what is found where nothing is.
func showRepairs(w io.Writer, lines []repairLine) error {
	var sums, clean, beside []*repairSum
	for i := range lines {
		l := &lines[i]
		to := &sums
		switch l.Made {
		case "nothing":
			to = &clean
		case "one channel":
			to = &beside
		}
		at := slices.IndexFunc(*to, func(s *repairSum) bool { return s.kind == l.Kind && s.made == l.Made && s.level == l.Level })
		if at < 0 {
			at = len(*to)
			*to = append(*to, &repairSum{kind: l.Kind, made: l.Made, level: l.Level, least: l.After - l.Before})
		}
		(*to)[at].add(l)
	}
	if len(sums) > 0 {
		fmt.Fprintln(w, "| made | dB | places | recall | precision | SNR before | after | least gain | finding, filling by real time |\n|---|---|---|---|---|---|---|---|---|")
	}
	for _, s := range sums {
		n := float64(s.lines)
		fmt.Fprintf(w, "| %s | %.3g | %d | %s | %s | %.1f | %.1f | %.1f | %.3f, %.1f |\n", s.made, s.level, s.places, share(s.hit, s.places), share(s.right, s.found),
			s.before/n, s.after/n, s.least, s.finding/s.length, s.filling/s.length)
	}
	if len(beside) > 0 {
		fmt.Fprintln(w, "\n| gaps in one channel | gaps | SNR alone | with the others | least gain | joint | coverage of 95 % |\n|---|---|---|---|---|---|---|")
	}
	for _, s := range beside {
		n := float64(s.lines)
		fmt.Fprintf(w, "| %g ms | %d | %.1f | %.1f | %.1f | %d | %.3f |\n", s.level, s.places, s.before/n, s.after/n, s.least, s.joint, s.coverage/n)
	}
	if len(clean) == 0 {
		return nil
	}
	fmt.Fprintln(w, "\n| looked for in undamaged sound | seconds | finds | a second | at most in a recording |\n|---|---|---|---|---|")
	for _, s := range clean {
		most := 0.0
		for _, l := range lines {
			if l.Made == "nothing" && l.Kind == s.kind {
				most = max(most, float64(l.Found)/l.Length)
			}
		}
		if _, err := fmt.Fprintf(w, "| %s | %.0f | %d | %.3f | %.2f |\n", s.kind, s.length, s.found, float64(s.found)/s.length, most); err != nil {
			return err
		}
	}
	return nil
}

func (s *repairSum) add(l *repairLine) {
	s.lines++
	s.places, s.hit, s.found, s.right = s.places+l.Places, s.hit+l.Hit, s.found+l.Found, s.right+l.Right
	s.length, s.before, s.after = s.length+l.Length, s.before+l.Before, s.after+l.After
	s.least = min(s.least, l.After-l.Before)
	s.joint, s.coverage = s.joint+l.Joint, s.coverage+l.Coverage
	s.finding, s.filling = s.finding+l.Finding, s.filling+l.Filling
}

// share prints a of b, which may be none.
func share(a, b int) string {
	if b == 0 {
		return "–"
	}
	return fmt.Sprintf("%.3f", float64(a)/float64(b))
}
