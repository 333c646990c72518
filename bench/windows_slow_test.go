//go:build slow

package main

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

// TestLoseTable: on a steady tone the windows' error falls with their length,
// and none has the least.
func TestLoseTable(t *testing.T) {
	defer func(s []sound, g []int) { sounds, soundGapLengths = s, g }(sounds, soundGapLengths)
	sounds, soundGapLengths = sounds[:1], []int{160}
	var out strings.Builder
	if err := loseTable(&out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	fields := strings.Fields(lines[len(lines)-1])
	last := math.Inf(1)
	for _, f := range fields[len(fields)-5 : len(fields)-1] {
		v, err := strconv.ParseFloat(f, 64)
		if err != nil || !(v > 0 && v < last) {
			t.Errorf("%q after %v in %q: want errors that fall", f, last, lines)
		}
		last = v
	}
}
