package main

import (
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/vssgp/vssgp/internal/procfs"
)

const meminfo = "/proc/meminfo"

// memoryLimit is the most bytes that a fit may take, 0 for any number. given is
// --memory: 0 stands for the free memory, +Inf for no limit. It is also set as the
// collector's limit, so that garbage does not fill the memory that the fit needs,
// unless the user sets GOMEMLIMIT.
func memoryLimit(given float64) float64 {
	limit := given
	switch {
	case math.IsInf(given, 1):
		return 0
	case given == 0:
		limit = freeMemory(meminfo, "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current")
	}
	if limit > 0 && limit < math.MaxInt64 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(int64(limit))
	}
	return limit
}

// freeMemory is how many bytes are free without swapping, from the kernel's count and
// the control group's limit; 0 where neither is known (on other systems than Linux).
func freeMemory(meminfo, groupMax, groupCurrent string) float64 {
	free := float64(procfs.Bytes(meminfo, "MemAvailable"))
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
