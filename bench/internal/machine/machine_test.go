package machine

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// TestMemoryGrowth checks that only memory in use at the same time counts, without freed
// memory and memory allocated earlier.
func TestMemoryGrowth(t *testing.T) {
	if runtime.GOOS != "linux" {
		if grown, peak := MemoryGrowth(func() {}); grown != 0 || peak != 0 {
			t.Errorf("%d and %d bytes, want zeros except on Linux", grown, peak)
		}
		return
	}
	const size = 64 << 20
	fill := func() []byte {
		b := make([]byte, size)
		for i := 0; i < size; i += 512 {
			b[i] = 1
		}
		return b
	}
	runtime.KeepAlive(fill())
	grown, peak := MemoryGrowth(func() {})
	if grown > size/2 || peak < size {
		t.Errorf("growth %d bytes without an allocation; peak %d, want at least %d", grown, peak, size)
	}
	grown, _ = MemoryGrowth(func() {
		for range 4 {
			runtime.KeepAlive(fill())
			runtime.GC()
		}
	})
	if grown < size*9/10 || grown > 3*size {
		t.Errorf("%d bytes in use, want %d to %d", grown, size*9/10, 3*size)
	}
}

// TestSources checks that This takes a given commit with its mark, and otherwise determines it from the build or git.
func TestSources(t *testing.T) {
	for _, given := range []string{"abc", "abc+"} {
		if m := This(given); m.Commit != "abc" || m.Dirty != (given == "abc+") || m.Sources() != given {
			t.Errorf("%q: commit %q, dirty %v", given, m.Commit, m.Dirty)
		}
	}
	out, err := exec.Command("git", "rev-parse", "HEAD").Output()
	if err != nil {
		if os.Getenv("VSSGP_REQUIRE_TOOLS") != "" {
			t.Fatal(err)
		}
		t.Skip("git is missing or this is not a clone; VSSGP_REQUIRE_TOOLS=1 makes this a failure")
	}
	if m := This(""); m.Commit != strings.TrimSpace(string(out)) {
		t.Errorf("commit %q, want %q", m.Commit, out)
	}
}
