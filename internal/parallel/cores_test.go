package parallel

import (
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
	text, err := exec.Command("getconf", "_NPROCESSORS_ONLN").Output()
	if err != nil || runtime.GOOS != "linux" {
		t.Skip("no getconf to compare with")
	}
	if want, err := strconv.Atoi(strings.TrimSpace(string(text))); err != nil || MachineCores() != want {
		t.Errorf("%d cores, getconf says %q", MachineCores(), text)
	}
}
