//go:build !linux

package ranks

import "runtime"

// machineCores is how many cores this process may use: what more there are is
// not known here.
func machineCores() int { return runtime.NumCPU() }
