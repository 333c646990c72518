//go:build !amd64

package simd

func best() Set { return Plain }
