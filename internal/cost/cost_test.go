package cost

import "testing"

// TestCounts: by hand, of blocks of 2, 3 and 1 features.
func TestCounts(t *testing.T) {
	offset := []int{0, 2, 5, 6}
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"moments", Moments(10, 3, 2), 10*9 + 2*10*3*2},
		{"pullback", Pullback(10, 3), 180},
		{"factorised", Factorised(10, 3, 2, 1), 30 * (6 + 16 + 22)},
		{"predict", Predict(10, 3, 2), 180 + 120},
		{"matrix", MatrixBytes(offset), 8 * (4 + 6 + 9 + 3 + 1)},
		{"factor", Factor(offset), (8+27+1)/3. + (4*3 + 2*9) + (9*1 + 3*1)},
		{"inverse", Inverse(offset), 2*(8+27+1)/3. + 2*(2*9+4*3) + 2*(3*1+9*1)},
		{"one block", Factor([]int{0, 3}), 9},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
}
