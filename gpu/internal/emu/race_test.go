//go:build cudaemu && cgo && racekernels

package emu

import (
	"regexp"
	"strings"
	"testing"
)

// TestRacesAreFound has one kernel for each kind of race, and each without the race.
func TestRacesAreFound(t *testing.T) {
	a, b := room(64), room(256)
	out, two := [][]float64{a}, [][]float64{b, a}
	cases := []struct {
		name                    string
		blocks, threads, shared int
		keep                    [][]float64
		words                   []uint64
		want                    string // regular expression for the error; "": no race
	}{
		{"race_warps", 1, 64, 512, out, []uint64{0}, `race_warps for sm_0: a race between threads of a block in shared memory: thread 0 of block 0 writes at LINE, and then thread 32 of block 0 reads at LINE`},
		{"race_warps", 1, 64, 512, out, []uint64{1}, ""},
		{"race_overwrites", 1, 64, 512, out, []uint64{0}, `threads of a block in shared memory: thread 0 of block 0 reads at LINE, and then thread 32 of block 0 writes at LINE`},
		{"race_overwrites", 1, 64, 512, out, []uint64{1}, ""},
		{"race_twice", 1, 64, 512, nil, []uint64{0}, `threads of a block in shared memory: thread 0 of block 0 writes at LINE, and then thread 32 of block 0 writes at LINE`},
		{"race_twice", 1, 64, 512, nil, []uint64{1}, ""},
		{"race_lanes", 1, 32, 256, out, []uint64{0}, `threads of a warp in shared memory: thread \d+ of block 0 reads at LINE, and then thread \d+ of block 0 writes|threads of a warp in shared memory: thread \d+ of block 0 writes at LINE, and then thread \d+ of block 0 reads at LINE`},
		{"race_lanes", 1, 32, 256, out, []uint64{1}, `threads of a warp in shared memory: thread 1 of block 0 writes at LINE, and then thread 0 of block 0 reads at LINE`},
		{"race_lanes", 1, 32, 256, out, []uint64{2}, `threads of a warp in shared memory`},
		{"race_lanes", 1, 32, 256, out, []uint64{3}, ""},
		{"race_other_warp", 1, 64, 512, out, nil, `threads of a block in shared memory: thread 32 of block 0 writes|threads of a block in shared memory: thread 0 of block 0 reads`},
		{"race_blocks", 3, 32, 0, out, []uint64{0}, `a race between blocks in device memory: thread 0 of block 0 writes at LINE, and then thread 0 of block 1 writes at LINE`},
		{"race_blocks", 3, 32, 0, out, []uint64{1}, ""},
		{"race_reads_blocks", 2, 32, 0, two, []uint64{2}, ""},
		{"race_reads_blocks", 3, 32, 0, two, []uint64{2}, `a race between blocks in device memory: thread \d+ of block [01] reads at LINE, and then thread 0 of block 2 writes at LINE`},
		{"race_reads_blocks", 3, 32, 0, two, []uint64{0}, `a race between blocks in device memory: thread 0 of block 0 writes at LINE, and then thread 0 of block 1 reads at LINE`},
		{"race_bytes", 1, 64, 64, out, []uint64{0}, ""},
		{"race_bytes", 1, 64, 64, out, []uint64{1}, `threads of a warp in shared memory`},
		{"race_bytes", 1, 64, 64, out, []uint64{32}, `threads of a block in shared memory`},
		{"race_copies", 1, 64, 512, two, []uint64{0}, ""},
		{"race_copies", 1, 64, 512, two, []uint64{1}, `thread 0 of block 0 starts a copy at LINE, and then thread 0 of block 0 reads at LINE`},
		{"race_copies", 1, 64, 512, two, []uint64{2}, `threads of a block in shared memory: thread 32 of block 0 starts a copy at LINE, and then thread 0 of block 0 reads at LINE`},
		{"race_copies", 1, 64, 512, two, []uint64{3}, `threads of a block in shared memory: thread 0 of block 0 writes at LINE, and then thread 32 of block 0 reads at LINE`},
		{"race_copies", 1, 64, 512, two, []uint64{4}, `thread 0 of block 0 starts a copy at LINE, and then thread 0 of block 0 starts a copy at LINE`},
	}
	for _, c := range cases {
		for _, backwards := range []bool{false, true} {
			Backwards(backwards)
			err := try(c.name, c.blocks, c.threads, c.shared, c.keep, c.words...)
			Backwards(false)
			switch {
			case c.want == "" && err != nil:
				t.Errorf("%s %v: %v", c.name, c.words, err)
			case c.want != "" && err == nil:
				t.Errorf("%s %v: no race was found", c.name, c.words)
			case c.want != "" && !backwards && !regexp.MustCompile(strings.ReplaceAll(c.want, "LINE", `(selftest.cu:\d+|0x\w+ \(.*\))`)).MatchString(err.Error()):
				t.Errorf("%s %v: %v: does not match %s", c.name, c.words, err, c.want)
			}
		}
	}
}

// TestLeftOutBarrierIsRace checks that removing a barrier causes a race.
func TestLeftOutBarrierIsRace(t *testing.T) {
	defer LeaveOut("", 0)
	run := func() error { return try("race_warps", 1, 64, 512, [][]float64{room(64)}, 1) }
	for line := 1; LeftOut() == 0; line++ {
		if line > 300 {
			t.Fatal("no line has a barrier")
		}
		LeaveOut("selftest.cu", line)
		if err := run(); (err != nil) != (LeftOut() == 64) {
			t.Errorf("without the barrier at line %d, which %d threads pass: %v", line, LeftOut(), err)
		}
	}
	LeaveOut("", 0)
	if err := run(); err != nil {
		t.Error(err)
	}
}
