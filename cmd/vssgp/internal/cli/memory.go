package cli

import (
	"errors"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/vssgp/vssgp/internal/heap"
)

const meminfo = "/proc/meminfo"

// MemoryLimit returns the number of bytes that a fit may use, 0 for no limit. given is
// the value of --memory: 0 means the free memory and +Inf no limit. Unless GOMEMLIMIT
// is set, MemoryLimit also sets the limit of the garbage collector, so that garbage
// does not fill the memory that the fit needs.
func MemoryLimit(given float64) float64 {
	limit := given
	switch {
	case math.IsInf(given, 1):
		return 0
	case given == 0:
		limit = freeMemory(meminfo, "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current")
		if left := freeAddresses("/proc/self/limits", "/proc/self/status"); left > 0 && (limit == 0 || left < limit) {
			limit = left
		}
	}
	if limit > 0 && limit < math.MaxInt64-heap.Unused && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(int64(limit) + heap.Unused)
	}
	return limit
}

// freeMemory returns the number of bytes that are free without swapping, from /proc/meminfo
// and the control group's limit. It returns 0 if neither is known (on systems other than Linux).
func freeMemory(meminfo, groupMax, groupCurrent string) float64 {
	free := float64(procBytes(meminfo, "MemAvailable"))
	most, errMost := readNumber(groupMax) // "max", which does not parse, if there is no limit
	current, err := readNumber(groupCurrent)
	if left := most - current; errMost == nil && err == nil && left >= 0 && (free == 0 || left < free) {
		return left
	}
	return free
}

// freeAddresses returns the number of bytes that the process may still map under a limit of its address space
// (ulimit -v), 0 if there is no limit.
func freeAddresses(limits, status string) float64 {
	text, err := os.ReadFile(limits)
	if err != nil {
		return 0
	}
	_, line, _ := strings.Cut(string(text), "Max address space")
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return 0
	}
	most, err := strconv.ParseFloat(fields[0], 64)
	if err != nil { // unlimited
		return 0
	}
	return max(1, most-float64(procBytes(status, "VmSize")))
}

func readNumber(path string) (float64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
}

// sizeUnits are the units of a size, longer names first.
var sizeUnits = []struct {
	name  string
	bytes float64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1}}

// Size returns a value that accepts a number of bytes with a unit, or none, which sets +Inf.
func Size(to *float64) *Value {
	return &Value{Kind: "size", Words: []string{"none"}, Parse: func(s string) error {
		if s == "none" {
			*to = math.Inf(1)
			return nil
		}
		for _, u := range sizeUnits {
			if number, ok := strings.CutSuffix(s, u.name); ok {
				v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
				if *to = v * u.bytes; err == nil && *to >= 1 && !math.IsInf(*to, 0) {
					return nil
				}
				break
			}
		}
		return errors.New("must be a size such as 16GiB or 500MB, or none")
	}}
}
