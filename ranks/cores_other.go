//go:build !linux

package ranks

import "runtime"

// MachineCores is how many cores this process may use: what more there are is
// not known here.
func MachineCores() int { return runtime.NumCPU() }
