//go:build cudaemu && cgo && racekernels

package emu

// #cgo CXXFLAGS: -fsanitize=thread -DVSSGP_RACE
// #include <stdint.h>
// typedef struct {
//   int64_t warp, shared;
//   struct { int64_t block, thread, write, copy, pc; } side[2];
// } finding;
// void race_launch();
// int race_findings(finding *to);
import "C"

import (
	"errors"
	"fmt"
	"sync"
)

// Races reports whether launches detect races between threads.
const Races = true

// alone serializes launches, because race.cpp tracks one block at a time.
var alone sync.Mutex

// watch runs the blocks of a launch one after another. The error begins with up to four races, one
// for each pair of lines.
func watch(name string, run func(workers int) error) error {
	alone.Lock()
	defer alone.Unlock()
	C.race_launch()
	err := run(1)
	var found [16]C.finding
	var races []error
	seen := map[[3]string]bool{}
	for _, f := range found[:C.race_findings(&found[0])] {
		what := [3]string{kind(f), line(uint64(f.side[0].pc)), line(uint64(f.side[1].pc))}
		if !seen[what] && len(seen) < 4 {
			seen[what] = true
			races = append(races, race(name, f, what))
		}
	}
	if len(races) == 0 {
		return err
	}
	return errors.Join(append(races, err)...)
}

// kind describes the threads of a race and the memory.
func kind(f C.finding) string {
	between, memory := "threads of a block", "device memory"
	switch {
	case f.side[0].block != f.side[1].block:
		between = "blocks"
	case f.warp != 0:
		between = "threads of a warp"
	}
	if f.shared != 0 {
		memory = "shared memory"
	}
	return between + " in " + memory
}

// race converts a finding to an error with its kind and its two lines.
func race(name string, f C.finding, what [3]string) error {
	var sides [2]string
	for i, s := range f.side {
		does := "reads"
		switch {
		case s.copy != 0:
			does = "starts a copy"
		case s.write != 0:
			does = "writes"
		}
		sides[i] = fmt.Sprintf("thread %d of block %d %s at %s", s.thread, s.block, does, what[1+i])
	}
	return fmt.Errorf("%s: a race between %s: %s, and then %s, without ordering",
		name, what[0], sides[0], sides[1])
}
