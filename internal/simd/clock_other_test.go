//go:build !linux

package simd

import "time"

var began = time.Now()

func clock() time.Duration { return time.Since(began) }
