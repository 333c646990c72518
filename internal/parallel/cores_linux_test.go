package parallel

import "testing"

func TestCountList(t *testing.T) {
	for s, want := range map[string]int{"0": 1, "0-3": 4, "0-3,8,10-11": 7, "": 0, "a": 0, "3-1": 0, "1-": 0, "2-b": 0} {
		if got := countList(s); got != want {
			t.Errorf("%q: %d, want %d", s, got, want)
		}
	}
}
