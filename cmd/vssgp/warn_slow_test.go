//go:build slow

package main

import (
	"path/filepath"
	"testing"
)

// What the advice gives: without --components the bound is higher, and the noise
// lower, than that of the fit that was warned of.
func TestWarningsAreTrue(t *testing.T) {
	type fitted struct {
		Bound float64   `json:"bound"`
		Noise []float64 `json:"noise_sd"`
	}
	fit := func(args ...string) fitted {
		args = append(args, "--json", "-o", filepath.Join(t.TempDir(), "m"))
		return decode[fitted](t, succeed(t, append([]string{"fit"}, args...)...).stdout)
	}
	for name, c := range map[string][2][]string{
		"co2":      {{co2, "--components", "2"}, {co2, "--method", "vssgp"}},
		"sunspots": {{sunspots, "--components", "4"}, {sunspots, "--method", "vssgp"}},
	} {
		warned, advised := fit(c[0]...), fit(c[1]...)
		if advised.Bound <= warned.Bound || advised.Noise[0] >= warned.Noise[0] {
			t.Errorf("%s: bound %v and noise %v as advised, %v and %v as warned of", name, advised.Bound, advised.Noise, warned.Bound, warned.Noise)
		}
	}
}
