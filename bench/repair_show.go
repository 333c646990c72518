package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
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

// showRepairs prints a row for each kind of damage over all recordings. The least gain is the smallest of a recording.
func showRepairs(w io.Writer, lines []repairLine) {
	type key struct {
		kind  detect.Kind
		made  string
		level float64
	}
	fmt.Fprint(w, "| searched | damage | dB or ms | places | found | recall | precision | SNR before | after | ",
		"least gain |\n", rule(10))
	for _, of := range jsonl.Groups(lines, func(l repairLine) key { return key{l.Kind, l.Made, l.Level} }) {
		s, least, n := repairLine{}, math.Inf(1), float64(len(of))
		for _, l := range of {
			s.Places, s.Hit, s.Found, s.Right = s.Places+l.Places, s.Hit+l.Hit, s.Found+l.Found, s.Right+l.Right
			s.Before, s.After = s.Before+l.Before/n, s.After+l.After/n
			least = min(least, l.After-l.Before)
		}
		fmt.Fprintf(w, "| %s | %s | %.3g | %d | %d | %s | %s | %.1f | %.1f | %.1f |\n",
			cmp.Or(of[0].Kind, "–"), of[0].Made, of[0].Level, s.Places, s.Found,
			share(s.Hit, s.Places), share(s.Right, s.Found), s.Before, s.After, least)
	}
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
