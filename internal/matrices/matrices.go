// Package matrices holds operations on matrices that several packages share.
package matrices

import (
	"reflect"

	"gonum.org/v1/gonum/mat"
)

// Dims returns the rows and columns of m. ok is false if m is nil, or a nil pointer of any type: its own Dims would panic.
func Dims(m mat.Matrix) (rows, cols int, ok bool) {
	if v := reflect.ValueOf(m); m == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		return 0, 0, false
	}
	rows, cols = m.Dims()
	return rows, cols, true
}
