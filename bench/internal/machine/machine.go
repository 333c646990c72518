// Package machine says on what and from which sources a measurement ran.
package machine

import (
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
	Driver string `json:"driver,omitempty"`
	PTX    string `json:"ptx,omitempty"` // SHA-256 of what the card ran
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

// This is this machine without its cards. commit is what is known of the
// sources already, with a + where files differ; "" asks the build and git.
func This(commit string) Machine {
	m := Machine{Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, Cores: runtime.GOMAXPROCS(0)}
	m.CPU = procfs.Value("/proc/cpuinfo", "model name")
	m.Memory = procfs.Bytes("/proc/meminfo", "MemTotal")
	m.Commit, m.Dirty = sources(commit)
	return m
}

// HostPeak is the most memory this process has had, as Linux counts it.
func HostPeak() int64 { return procfs.Bytes("/proc/self/status", "VmHWM") }

// Held calls f and says how many bytes more than before the process had meanwhile, and the most that it has ever had; zeros where this is
// no Linux. The garbage collector works all along: the memory that f holds at once counts, not what it has thrown away.
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

// sources says which commit this is and whether files differ from it: as given, as the linker knows, or as git does.
func sources(given string) (commit string, dirty bool) {
	if given != "" {
		commit, dirty = strings.CutSuffix(given, "+")
		return commit, dirty
	}
	if b, ok := debug.ReadBuildInfo(); ok {
		for _, s := range b.Settings {
			switch s.Key {
			case "vcs.revision":
				commit = s.Value
			case "vcs.modified":
				dirty = s.Value == "true"
			}
		}
	}
	if commit != "" {
		return commit, dirty
	}
	head, err := exec.Command("git", "rev-parse", "HEAD").Output()
	if err != nil {
		return "", false
	}
	changed, err := exec.Command("git", "status", "--porcelain", "--untracked-files=no").Output()
	return strings.TrimSpace(string(head)), err != nil || len(changed) > 0
}
