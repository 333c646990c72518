package gpu

import "testing"

// TestMirror: both triangles, at sizes about those of the squares.
func TestMirror(t *testing.T) {
	for _, m := range []int{0, 1, 2, 31, 32, 33, 64, 65, 700} {
		a, b := make([]float64, m*m), make([]float64, m*m)
		for i := range a {
			a[i] = float64(i + 1)
		}
		mirror(b, a, m)
		for i := range m {
			for j := range m {
				want := a[max(i, j)*m+min(i, j)]
				if i == j {
					want = 0
				}
				if b[i*m+j] != want {
					t.Fatalf("%d: entry (%d, %d) is %v, want %v", m, i, j, b[i*m+j], want)
				}
			}
		}
	}
}
