package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

func TestProcBytesOfMeminfo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "meminfo")
	testkit.OK(t, os.WriteFile(path, []byte("MemTotal:       1000 kB\nMemFree: 3 kB\nMemAvailable:    400 kB\nBroken\nMemAvailable: 5 kB\nWord: many kB\n"), 0o666))
	for key, want := range map[string]int64{"MemTotal": 1000 << 10, "MemAvailable": 400 << 10, "Broken": 0, "Word": 0, "Swap": 0} {
		if got := procBytes(path, key); got != want {
			t.Errorf("%s: %d bytes, want %d", key, got, want)
		}
	}
	if got := procBytes(path+"-none", "MemTotal"); got != 0 {
		t.Errorf("%d bytes in a missing file", got)
	}
}
