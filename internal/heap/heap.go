// Package heap defines the garbage collector's setting on which the memory estimates are based.
package heap

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

const (
	// GC is the garbage, in percent of live memory, at which the commands collect. Nearly all live memory is a few large arrays of numbers,
	// which take no time to scan. The environment's GOGC replaces it.
	GC = 25
	// Factor is the size of the heap before a collection, relative to live memory.
	Factor = 1 + GC/100.
	// Unused is the number of bytes of the heap that Collect reserves. They count as live, so a small heap is not collected
	// more often than every Unused·GC/100 bytes, but they are never written, so they occupy no memory.
	Unused = 32 << 20
)

var reserve []byte

// Collect sets the garbage collector to GC.
func Collect() {
	reserve = make([]byte, Unused)
	runtime.KeepAlive(reserve) // while it is a global variable; a variable that is only assigned is an error of staticcheck
	debug.SetGCPercent(GC)
}

// Size formats a number of bytes with three digits, in MiB or GiB.
func Size(bytes float64) string {
	if bytes < 1<<30 {
		return fmt.Sprintf("%.3g MiB", bytes/(1<<20))
	}
	return fmt.Sprintf("%.3g GiB", bytes/(1<<30))
}
