package simd

import "golang.org/x/sys/cpu"

// best returns the widest set that the processor and the operating system support.
func best() Set {
	x := &cpu.X86
	switch {
	case !x.HasAVX2 || !x.HasFMA:
		return Plain
	case x.HasAVX512F && x.HasAVX512DQ:
		return AVX512
	}
	return AVX2
}
