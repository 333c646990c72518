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

// Races says whether launches look for races between threads.
const Races = true

// alone is held by a launch: what race.cpp keeps is of one block at a time.
var alone sync.Mutex

// watch runs a launch's blocks one after another. If threads raced, the error says so
// first, of each pair of lines once.
func (k kernel) watch(run func(workers int) error) error {
	alone.Lock()
	defer alone.Unlock()
	C.race_launch()
	err := run(1)
	var found [16]C.finding
	var races []error
	for _, f := range found[:C.race_findings(&found[0])] {
		races = append(races, k.race(f))
	}
	if len(races) == 0 {
		return err
	}
	return errors.Join(append(races, err)...)
}

// race is the error that a finding is.
func (k kernel) race(f C.finding) error {
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
	var sides [2]string
	for i, s := range f.side {
		does := "reads"
		switch {
		case s.copy != 0:
			does = "copies into"
		case s.write != 0:
			does = "writes"
		}
		sides[i] = fmt.Sprintf("thread %d of block %d %s at %s", s.thread, s.block, does, line(uint64(s.pc)))
	}
	return fmt.Errorf("emulated %s for sm_%d: a race between %s in %s: %s, and then %s, with nothing to order them",
		k.name, k.arch, between, memory, sides[0], sides[1])
}
