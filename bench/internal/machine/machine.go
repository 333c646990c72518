// Package machine describes the machine and the sources of a measurement.
package machine

import (
	"bufio"
	"cmp"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// Machine describes the machine, the build and the commit of a measurement.
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
	PTX    string `json:"ptx,omitempty"` // SHA-256 of the GPU kernels' image
}

// OK is the status of a successful measurement.
const OK = "ok"

// Now returns the current UTC time in RFC 3339 format.
func Now() string { return time.Now().UTC().Format(time.RFC3339) }

// Sources returns the commit in the format that This accepts: with a + if files differ from it.
func (m Machine) Sources() string {
	if m.Commit != "" && m.Dirty {
		return m.Commit + "+"
	}
	return m.Commit
}

// This describes the current machine without its GPUs. commit is the commit of the sources, with a + if files differ
// from it. If it is empty, it is read from the build information or from git.
func This(commit string) Machine {
	m := Machine{Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, Cores: runtime.GOMAXPROCS(0)}
	m.CPU = procValue("/proc/cpuinfo", "model name")
	m.Memory = procBytes("/proc/meminfo", "MemTotal")
	m.Commit, m.Dirty = strings.CutSuffix(cmp.Or(commit, stamped(), described()), "+")
	return m
}

// HostPeak returns the peak resident memory of this process in bytes (Linux only).
func HostPeak() int64 { return procBytes("/proc/self/status", "VmHWM") }

// MemoryGrowth calls f and returns the increase of the process's memory during the call and its peak, in bytes. Both
// are zero except on Linux. The garbage collector runs continually, so that only memory in use at the same time counts.
func MemoryGrowth(f func()) (grown, peak int64) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	debug.FreeOSMemory()
	earlier, before := HostPeak(), hostNow()
	// This resets the peak. A system that does not support it keeps the earlier peak.
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
	f()
	after := HostPeak()
	return max(0, after-before), max(earlier, after)
}

// hostNow returns the resident memory of this process in bytes (Linux only).
func hostNow() int64 { return procBytes("/proc/self/status", "VmRSS") }

// stamped returns the commit in the build information, or "".
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

// described returns the commit of the current folder according to git, or "".
func described() string {
	out, _ := exec.Command("git", "describe", "--always", "--exclude=*", "--abbrev=40", "--dirty=+").Output() // none without git
	return strings.TrimSpace(string(out))
}

// procValue returns the first value for a key in a file of "key: value" lines, or "" if there is no such file or line.
func procValue(path, key string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if k, v, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// procBytes returns the result of procValue, given in kB, in bytes, or 0 if it is not a number of kB.
func procBytes(path, key string) int64 {
	kib, err := strconv.ParseInt(strings.TrimSuffix(procValue(path, key), " kB"), 10, 64)
	if err != nil {
		return 0
	}
	return kib << 10
}
