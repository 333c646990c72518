package cuda

import (
	"encoding/binary"
	"math"
	"testing"
)

// TestBytesShareMemory checks that the view shares the memory of the numbers.
func TestBytesShareMemory(t *testing.T) {
	v := []float64{1, -2.5}
	b := Bytes(v)
	if len(b) != 16 || math.Float64frombits(binary.NativeEndian.Uint64(b[8:])) != -2.5 {
		t.Errorf("Bytes(%v) is %v", v, b)
	}
	binary.NativeEndian.PutUint64(b, math.Float64bits(7))
	if v[0] != 7 {
		t.Errorf("a write to the view left %v", v[0])
	}
	if len(Bytes([]int8{1, 2, 3})) != 3 || Bytes([]int32(nil)) != nil {
		t.Error("Bytes of int8 or of an empty slice has the wrong length")
	}
}
