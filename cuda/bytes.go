package cuda

import "unsafe"

// Bytes views numbers as bytes, without a copy.
func Bytes[T float64 | float32 | int32 | int64 | uint64 | int8 | complex128](v []T) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), len(v)*int(unsafe.Sizeof(v[0])))
}
