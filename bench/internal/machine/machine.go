// Package machine describes the machine and the sources of a measurement.
package machine

import (
	"cmp"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/vssgp/vssgp/internal/procfs"
)

// Machine is the computer, the build and the commit of a measurement.
type Machine struct {
	Commit string `json:"commit"`
	Dirty  bool   `json:"dirty"` // files differed from the commit
	Go     string `json:"go"`
	OS     string `json:"os"`
	Arch   string `json:"arch"`
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`  // GOMAXPROCS
	Memory int64  `json:"memory"` // bytes
	GPU    string `json:"gpu,omitempty"`
	PTX    string `json:"ptx,omitempty"` // SHA-256 of the card's program
}

// OK is the status of a measurement that was taken.
const OK = "ok"

// Now is the time of a line: UTC, RFC 3339.
func Now() string { return time.Now().UTC().Format(time.RFC3339) }

// Sources is the commit as This reads it.
func (m Machine) Sources() string {
	if m.Commit != "" && m.Dirty {
		return m.Commit + "+"
	}
	return m.Commit
}

// This describes this machine without its cards. commit is the commit of the sources, if it is known already, with a + if files differ
// from it; "" asks the build and git.
func This(commit string) Machine {
	m := Machine{Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, Cores: runtime.GOMAXPROCS(0)}
	m.CPU = procfs.Value("/proc/cpuinfo", "model name")
	m.Memory = procfs.Bytes("/proc/meminfo", "MemTotal")
	m.Commit, m.Dirty = strings.CutSuffix(cmp.Or(commit, stamped(), described()), "+")
	return m
}

// HostPeak is the most memory this process has had, as Linux counts it.
func HostPeak() int64 { return procfs.Bytes("/proc/self/status", "VmHWM") }

// Held calls f and returns by how many bytes the process grew meanwhile, and its peak; zeros if this is
// not Linux. The garbage collector runs all the time, so that only memory in use at the same time counts.
func Held(f func()) (held, most int64) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	debug.FreeOSMemory()
	earlier, before := HostPeak(), hostNow()
	// The peak counts from now on; a system without this keeps the earlier one.
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
	f()
	peak := HostPeak()
	return max(0, peak-before), max(earlier, peak)
}

// hostNow is the memory that this process has, as Linux counts it.
func hostNow() int64 { return procfs.Bytes("/proc/self/status", "VmRSS") }

// stamped is the commit that the linker knows; "" if it knows none.
func stamped() (commit string) {
	b, _ := debug.ReadBuildInfo()
	if b == nil {
		return ""
	}
	for _, s := range b.Settings { // the revision comes before modified
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true" && commit != "":
			commit += "+"
		}
	}
	return commit
}

// described is the commit that git knows here.
func described() string {
	out, _ := exec.Command("git", "describe", "--always", "--exclude=*", "--abbrev=40", "--dirty=+").Output() // none without git
	return strings.TrimSpace(string(out))
}
