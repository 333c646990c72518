//go:build !linux

package cputime

import "time"

var began = time.Now()

// Now returns the time since the process began.
func Now() time.Duration { return time.Since(began) }
