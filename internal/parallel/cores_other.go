//go:build !linux

package parallel

import "runtime"

// MachineCores is how many cores this process may use: others are not known here.
func MachineCores() int { return runtime.NumCPU() }
