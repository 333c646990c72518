package parallel

import (
	"bytes"
	"os"
	"runtime"
)

// MachineCores is the number of the machine's cores that are online, including
// those that this process may not use. Only Linux tells; on other systems it is
// the number that this process may use.
func MachineCores() int {
	stat, _ := os.ReadFile("/proc/stat") // a line "cpu", then one for each core: "cpu0", "cpu1", …
	return max(runtime.NumCPU(), bytes.Count(stat, []byte("\ncpu")))
}
