package main

import (
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// memoryFlag is --memory.
type memoryFlag struct {
	text  string
	none  bool
	bytes float64 // 0: what is free
}

// String is the flag as it was written.
func (m *memoryFlag) String() string { return m.text }

// Type is what help calls the flag's argument.
func (m *memoryFlag) Type() string { return "size" }

// memoryUnits are what a size may be given in, longer names first.
var memoryUnits = []struct {
	name  string
	bytes float64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1}}

// Set takes none or a number with a unit.
func (m *memoryFlag) Set(s string) error {
	*m = memoryFlag{text: s, none: s == "none"}
	if m.none {
		return nil
	}
	for _, u := range memoryUnits {
		if number, ok := strings.CutSuffix(s, u.name); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
			if m.bytes = v * u.bytes; err == nil && m.bytes >= 1 && !math.IsInf(m.bytes, 0) {
				return nil
			}
			break
		}
	}
	return fmt.Errorf("want a size such as 16GiB or 500MB, or none")
}

// limit is the most that a fit may take, 0 for any number. The collector is
// told, so that garbage does not fill what a fit was promised; GOMEMLIMIT, the
// user's own word to it, stands.
func (m *memoryFlag) limit() float64 {
	if m.none {
		return 0
	}
	limit := m.bytes
	if limit == 0 {
		limit = freeMemory("/proc/meminfo", "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current")
	}
	if limit > 0 && limit < math.MaxInt64 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(int64(limit))
	}
	return limit
}

// freeMemory is how many bytes can be had without swapping, by the kernel's
// account and by the control group's limit; 0 where neither is told (other
// systems than Linux).
func freeMemory(meminfo, groupMax, groupCurrent string) float64 {
	free := 0.0
	if text, err := os.ReadFile(meminfo); err == nil {
		for line := range strings.Lines(string(text)) {
			var kib float64
			if n, _ := fmt.Sscanf(line, "MemAvailable: %g kB", &kib); n == 1 {
				free = kib * 1024
			}
		}
	}
	most, err := readNumber(groupMax) // "max" where there is no limit
	if err != nil {
		return free
	}
	current, err := readNumber(groupCurrent)
	if err != nil || current > most {
		return free
	}
	if free == 0 {
		return most - current
	}
	return min(free, most-current)
}

func readNumber(path string) (float64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
}
