package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/vssgp/vssgp/cuda"
	"github.com/vssgp/vssgp/kernels"
	"github.com/vssgp/vssgp/spectral"
)

// valueOf is the first value that a file of "key : value" lines has for a key,
// "" where there is no such file or line.
func valueOf(path, key string) string {
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

// kibOf is valueOf for a number of kB, in bytes.
func kibOf(path, key string) int64 {
	v, err := strconv.ParseInt(strings.TrimSuffix(valueOf(path, key), " kB"), 10, 64)
	if err != nil {
		return 0
	}
	return v << 10
}

// hostPeak is the most memory this process has had, as Linux counts it.
func hostPeak() int64 { return kibOf("/proc/self/status", "VmHWM") }

// deviceBytes is the most device memory that the backend has held, 0 where it
// does not say.
func deviceBytes(b spectral.Backend) int64 {
	if m, ok := b.(interface{ Memory() int64 }); ok {
		return m.Memory()
	}
	return 0
}

// sources says which commit this is and whether files differ from it: as
// given, as the linker knows, or as git does.
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

// card is the name of the first card that a device flag names, and the hash of
// the PTX that it runs.
func card(device string) (name, ptx string) {
	_, ordinals, err := parseDevice(device)
	if err != nil {
		return "", ""
	}
	first := 0
	if len(ordinals) > 0 {
		first = ordinals[0]
	}
	list, err := cuda.Devices()
	if err != nil {
		return "", ""
	}
	for _, d := range list {
		if d.Ordinal != first {
			continue
		}
		image, err := kernels.Image(d.Major, d.Minor)
		if err != nil {
			return d.Name, ""
		}
		sum := sha256.Sum256(image)
		return d.Name, hex.EncodeToString(sum[:])
	}
	return "", ""
}
