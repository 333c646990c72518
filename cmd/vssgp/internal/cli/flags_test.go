package cli

import (
	"math"
	"testing"
)

// TestCount: a count takes whole numbers up to its bound, and says which.
func TestCount(t *testing.T) {
	n := 7
	v := Count(&n, 10)
	if v.String() != "7" {
		t.Errorf("the default is %q, want 7", v)
	}
	for text, want := range map[string]int{"0": 0, "10": 10, "11": -1, "-1": -1, "1.5": -1, "": -1, "9999999999999999999": -1} {
		n = -1
		if err := v.Set(text); n != want || (err == nil) != (want >= 0) {
			t.Errorf("%q: %d, %v; want %d", text, n, err, want)
		}
	}
}

func TestParseLength(t *testing.T) {
	for _, c := range []struct {
		text  string
		want  float64 // 0: refused
		timed bool
	}{
		{"32ms", 0.032, true}, {"0.5s", 0.5, true}, {"12", 12, false}, {"1e-3", 0.001, false},
		{"", 0, false}, {"s", 0, false}, {"ms", 0, false}, {"-1s", 0, false}, {"0", 0, false}, {"NaN", 0, false}, {"Inf", 0, false},
		{"1 m", 0, false},
	} {
		v, timed, err := ParseLength(c.text)
		if (err != nil) != (c.want == 0) || math.Abs(v-c.want) > 1e-15 || timed != c.timed {
			t.Errorf("parseLength(%q) = %v, %v, %v; want %v, %v", c.text, v, timed, err, c.want, c.timed)
		}
	}
}

func FuzzParseLength(f *testing.F) {
	for _, s := range []string{"32ms", "0.5s", "12", "1e308s", "0x1p-3", "nan", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if v, _, err := ParseLength(s); err == nil && (!(v >= 0) || math.IsInf(v, 0)) {
			t.Errorf("parseLength(%q) = %v, want a number", s, v)
		}
	})
}
