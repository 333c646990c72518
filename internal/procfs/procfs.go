// Package procfs reads files of "key: value" lines below /proc on Linux.
package procfs

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

// Value returns the first value for a key in a file, or "" if there is no such file or line.
func Value(path, key string) string {
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

// Bytes returns the result of Value, given in kB, in bytes, or 0 if it is not a number of kB.
func Bytes(path, key string) int64 {
	kib, err := strconv.ParseInt(strings.TrimSuffix(Value(path, key), " kB"), 10, 64)
	if err != nil {
		return 0
	}
	return kib << 10
}
