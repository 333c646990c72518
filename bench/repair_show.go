package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/vssgp/vssgp/audio/detect"
	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/bench/internal/machine"
)

// A repairLine is the result for one kind of damage in one recording.
type repairLine struct {
	Machine  machine.Machine `json:"machine"`
	Time     string          `json:"time"`
	Bench    string          `json:"bench"`
	File     string          `json:"file"`
	Rate     int             `json:"rate"`
	Length   float64         `json:"length"` // duration of the recording in seconds
	Kind     detect.Kind     `json:"kind"`   // kind of damage that was searched for
	Made     string          `json:"made"`   // the damage to the recording; "nothing": undamaged
	Level    float64         `json:"level"`  // decibels; for "one channel" the gap length in milliseconds
	Places   int             `json:"places"` // number of damaged segments
	Hit      int             `json:"hit"`    // segments with at least half of the damage's energy inside detections
	Found    int             `json:"found"`
	Right    int             `json:"right"`           // detections that overlap a damaged segment
	Before   float64         `json:"before"`          // SNR in dB of the damaged recording; for "one channel": fills without other channels
	After    float64         `json:"after"`           // SNR in dB of the repaired recording; for "one channel": fills with other channels
	Finding  float64         `json:"finding"`         // seconds of detection
	Filling  float64         `json:"filling"`         // seconds of filling
	Joint    int             `json:"joint,omitempty"` // gaps filled with other channels
	Coverage float64         `json:"coverage95,omitempty"`
}

// showRepairs prints the results for synthetic damage over all recordings and the number of detections in undamaged recordings.
func showRepairs(w io.Writer, lines []repairLine) error {
	var out bytes.Buffer
	printed := map[string]bool{}
	row := func(head, format string, cells ...any) {
		if !printed[head] {
			fmt.Fprint(&out, head)
		}
		printed[head] = true
		fmt.Fprintf(&out, format, cells...)
	}
	order := func(l repairLine) int { return slices.Index([]string{"one channel", "nothing"}, l.Made) } // order of the tables
	type key struct {
		kind  detect.Kind
		made  string
		level float64
	}
	sorted := slices.SortedStableFunc(slices.Values(lines), func(a, b repairLine) int { return order(a) - order(b) })
	for _, of := range jsonl.Groups(sorted, func(l repairLine) key { return key{l.Kind, l.Made, l.Level} }) {
		s, least, most, n := repairLine{}, math.Inf(1), 0.0, float64(len(of))
		for _, l := range of {
			s.Places, s.Hit, s.Found, s.Right, s.Joint = s.Places+l.Places, s.Hit+l.Hit, s.Found+l.Found, s.Right+l.Right, s.Joint+l.Joint
			s.Length, s.Finding, s.Filling = s.Length+l.Length, s.Finding+l.Finding, s.Filling+l.Filling
			s.Before, s.After, s.Coverage = s.Before+l.Before, s.After+l.After, s.Coverage+l.Coverage
			least, most = min(least, l.After-l.Before), max(most, float64(l.Found)/l.Length)
		}
		switch l := of[0]; l.Made {
		case "one channel":
			row("\n| gaps in one channel | gaps | SNR alone | with the others | least gain | joint | coverage of 95 % |\n"+rule(7),
				"| %g ms | %d | %.1f | %.1f | %.1f | %d | %.3f |\n", l.Level, s.Places, s.Before/n, s.After/n, least, s.Joint, s.Coverage/n)
		case "nothing":
			row("\n| looked for in undamaged sound | seconds | detections | per second | at most in a recording |\n"+rule(5),
				"| %s | %.0f | %d | %.3f | %.2f |\n", l.Kind, s.Length, s.Found, float64(s.Found)/s.Length, most)
		default:
			row("| made | dB | places | recall | precision | SNR before | after | least gain | finding, filling by real time |\n"+rule(9),
				"| %s | %.3g | %d | %s | %s | %.1f | %.1f | %.1f | %.3f, %.1f |\n", l.Made, l.Level, s.Places,
				share(s.Hit, s.Places), share(s.Right, s.Found), s.Before/n, s.After/n, least, s.Finding/s.Length, s.Filling/s.Length)
		}
	}
	_, err := out.WriteTo(w)
	return err
}

// rule returns the line below the header of a Markdown table.
func rule(columns int) string { return strings.Repeat("|---", columns) + "|\n" }

// share formats a/b, or a dash if b is 0.
func share(a, b int) string {
	if b == 0 {
		return "–"
	}
	return fmt.Sprintf("%.3f", float64(a)/float64(b))
}
