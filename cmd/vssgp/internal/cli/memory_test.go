//go:build linux && !race

package cli

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

func TestMemoryFlag(t *testing.T) {
	for _, c := range []struct {
		text  string
		bytes float64
		bad   bool
	}{
		{"16GiB", 16 << 30, false}, {"500MB", 5e8, false}, {"1.5 TiB", 1.5 * (1 << 40), false}, {"64kB", 64e3, false}, {"7B", 7, false},
		{"none", math.Inf(1), false}, {"", 0, true}, {"16", 0, true}, {"-3GB", 0, true}, {"0B", 0, true}, {"InfGB", 0, true}, {"NaNGB", 0, true},
		{"GiB", 0, true}, {"16gb", 0, true},
	} {
		var bytes float64
		err := Size(&bytes).Set(c.text)
		if (err != nil) != c.bad || err == nil && bytes != c.bytes {
			t.Errorf("%q: %v bytes, %v", c.text, bytes, err)
		}
	}
}

func TestFreeMemory(t *testing.T) {
	dir := t.TempDir()
	info := testkit.Put(t, dir, "meminfo", "MemTotal:       200 kB\nMemAvailable:   100 kB\nSwapFree: 0 kB\n")
	unlimited, tight := testkit.Put(t, dir, "max", "max\n"), testkit.Put(t, dir, "tight", "51200\n")
	current, over := testkit.Put(t, dir, "current", "1200\n"), testkit.Put(t, dir, "over", "60000\n")
	none := filepath.Join(dir, "none")
	for _, c := range []struct {
		meminfo, most, current string
		want                   float64
	}{
		{info, none, none, 102400}, {info, unlimited, current, 102400}, {info, tight, current, 50000},
		{none, tight, current, 50000}, {info, tight, over, 102400}, {none, none, none, 0}, {tight, unlimited, none, 0},
	} {
		if got := freeMemory(c.meminfo, c.most, c.current); got != c.want {
			t.Errorf("%+v: %v, want %v", c, got, c.want)
		}
	}
}
