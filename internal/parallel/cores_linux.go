package parallel

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

// MachineCores is how many cores of the machine are online, including those that
// this process may not use.
func MachineCores() int {
	text, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		return runtime.NumCPU()
	}
	if n := countList(strings.TrimSpace(string(text))); n > 0 {
		return n
	}
	return runtime.NumCPU()
}

// countList counts the numbers of a list such as 0-3,8,10-11; 0 if it is malformed.
func countList(s string) int {
	n := 0
	for _, item := range strings.Split(s, ",") {
		from, to, isRange := strings.Cut(item, "-")
		a, err := strconv.Atoi(from)
		if err != nil {
			return 0
		}
		b := a
		if isRange {
			if b, err = strconv.Atoi(to); err != nil || b < a {
				return 0
			}
		}
		n += b - a + 1
	}
	return n
}
