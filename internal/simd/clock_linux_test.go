package simd

import (
	"time"

	"golang.org/x/sys/unix"
)

// clock is the processor time of this thread: others on the machine do not
// count.
func clock() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}
