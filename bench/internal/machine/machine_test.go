package machine

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// TestHeld: memory in use at the same time counts, but not freed memory, nor memory
// in use earlier.
func TestHeld(t *testing.T) {
	if runtime.GOOS != "linux" {
		if held, most := Held(func() {}); held != 0 || most != 0 {
			t.Errorf("%d and %d bytes where nobody counts them", held, most)
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
	held, most := Held(func() {})
	if held > size/2 || most < size {
		t.Errorf("no use of memory gives %d bytes; the process's peak is %d, want at least %d", held, most, size)
	}
	held, _ = Held(func() {
		for range 4 {
			runtime.KeepAlive(fill())
			runtime.GC()
		}
	})
	if held < size*9/10 || held > 3*size {
		t.Errorf("%d bytes in use, want %d to %d", held, size*9/10, 3*size)
	}
}

// TestSources: a commit that is given is taken, with its mark; otherwise git or the build says which it is.
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
		t.Skip("no git, or no clone; VSSGP_REQUIRE_TOOLS=1 makes this a failure")
	}
	if m := This(""); m.Commit != strings.TrimSpace(string(out)) {
		t.Errorf("commit %q, want %q", m.Commit, out)
	}
}
