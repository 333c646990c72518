// Package cputime measures processor time, for tests and benchmarks that must
// not depend on what else the machine does.
package cputime

import (
	"time"

	"golang.org/x/sys/unix"
)

// Now returns the processor time that this process has used, of all its threads.
// Elsewhere than on Linux it returns the time since the process began.
func Now() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}
