// Package cputime measures CPU time, for tests and benchmarks that must not depend on the load
// of the machine.
package cputime

import (
	"time"

	"golang.org/x/sys/unix"
)

// Now returns the CPU time used by all threads of this process. On systems other than Linux it
// returns the time since the process began.
func Now() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}
