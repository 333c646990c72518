//go:build !linux

package machine

import "time"

// CPUTime returns 0, as it is only implemented for Linux.
func CPUTime() time.Duration { return 0 }
