package cli

import (
	"bytes"
	"testing"
)

// TestChunks: what is written in parts of any length is what is read, and none of it moves.
func TestChunks(t *testing.T) {
	for _, step := range []int{1, 4095, 4096, 4097, 1 << 20, 3<<20 + 1} {
		var c Chunks
		var want []byte
		for i := 0; len(want) < 5000 || i < 3; i++ {
			part := bytes.Repeat([]byte{byte(i)}, step)
			first := append(Chunks(nil), c...)
			if n, err := c.Write(part); n != step || err != nil {
				t.Fatalf("%d, %v", n, err)
			}
			for j := range first {
				if &first[j][0] != &c[j][0] {
					t.Fatalf("steps of %d: piece %d has moved", step, j)
				}
			}
			want = append(want, part...)
		}
		if !bytes.Equal(c.Whole(), want) || c.Size() != int64(len(want)) {
			t.Errorf("steps of %d: %d bytes, want %d", step, c.Size(), len(want))
		}
	}
	if c := Chunks(nil); c.Size() != 0 || len(c.Whole()) != 0 {
		t.Error("there is something in nothing")
	}
}
