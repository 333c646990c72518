// Package matrices holds operations on matrices that several packages share.
package matrices

import (
	"reflect"

	"gonum.org/v1/gonum/mat"
)

// Dims are the rows and columns of m, or ok is false where it is nil, or a nil
// pointer of whatever type, which panics when it is asked.
func Dims(m mat.Matrix) (rows, cols int, ok bool) {
	if v := reflect.ValueOf(m); m == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		return 0, 0, false
	}
	rows, cols = m.Dims()
	return rows, cols, true
}
