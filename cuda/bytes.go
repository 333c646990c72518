package cuda

import "unsafe"

// Bytes returns a view of numbers, or of structs of numbers, as bytes, without a copy.
func Bytes[T any](v []T) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), len(v)*int(unsafe.Sizeof(v[0])))
}
