package parallel

import (
	"bytes"
	"os"
	"runtime"
)

// MachineCores returns the number of online cores of the machine, including cores that this process
// may not use. On systems other than Linux it is the number that this process may use.
func MachineCores() int {
	stat, _ := os.ReadFile("/proc/stat") // a line "cpu", then one for each core: "cpu0", "cpu1", …
	return max(runtime.NumCPU(), bytes.Count(stat, []byte("\ncpu")))
}
