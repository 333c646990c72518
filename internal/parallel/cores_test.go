package parallel

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// TestMachineCores compares with what the C library counts.
func TestMachineCores(t *testing.T) {
	if got := MachineCores(); got < runtime.NumCPU() {
		t.Errorf("%d cores, fewer than the %d that this process may use", got, runtime.NumCPU())
	}
	if runtime.GOOS != "linux" {
		return // only Linux tells more
	}
	text, err := exec.Command("getconf", "_NPROCESSORS_ONLN").Output()
	if err != nil {
		if os.Getenv("VSSGP_REQUIRE_TOOLS") != "" {
			t.Fatal(err)
		}
		t.Skip("no getconf; VSSGP_REQUIRE_TOOLS=1 makes this a failure")
	}
	if want, err := strconv.Atoi(strings.TrimSpace(string(text))); err != nil || MachineCores() != want {
		t.Errorf("%d cores, getconf says %q", MachineCores(), text)
	}
}
