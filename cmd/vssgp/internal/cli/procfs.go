package cli

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

// procBytes returns the first number of kB after a key in a file of "key: value" lines below /proc on Linux, in bytes. It returns 0 if there
// is no such file, line or number.
func procBytes(path, key string) int64 {
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		k, v, ok := strings.Cut(lines.Text(), ":")
		if !ok || strings.TrimSpace(k) != key {
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(v), " kB"), 10, 64)
		if err != nil {
			return 0
		}
		return kib << 10
	}
	return 0
}
