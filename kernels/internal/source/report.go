package source

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"text/tabwriter"
)

var usage = regexp.MustCompile(`Compiling entry function '(\w+)' for '(\w+)'` +
	`(?s:.*?)(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads` +
	`(?s:.*?)Used (\d+) registers(?:.*?(\d+) bytes smem)?`)

// Report is a table of how ptxas assembles PTX: the registers, static shared
// memory, stack and spills of each kernel on each architecture.
func (c *Compiler) Report(s *Sources, ptx map[int][]byte) (string, error) {
	tool := filepath.Join(filepath.Dir(c.Path), "ptxas")
	if filepath.Dir(c.Path) == "." {
		tool = "ptxas"
	}
	found := map[string][]string{}
	for _, arch := range Architectures {
		f, err := os.CreateTemp("", "*.ptx")
		if err != nil {
			return "", err
		}
		defer os.Remove(f.Name())
		if err := os.WriteFile(f.Name(), ptx[arch], 0o666); err != nil {
			return "", err
		}
		f.Close()
		out, err := exec.Command(tool, "-v", "-O3", fmt.Sprintf("-arch=sm_%d", arch), "-o", os.DevNull, f.Name()).CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("%s for sm_%d: %w\n%s", tool, arch, err, out)
		}
		for _, m := range usage.FindAllStringSubmatch(string(out), -1) {
			found[m[1]+" "+m[2]] = m
		}
	}
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "kernel\tthreads\tsm\tregisters\tstatic shared\tstack\tspill stores\tspill loads")
	for _, k := range s.Kernels {
		for _, arch := range Architectures {
			m := found[fmt.Sprintf("%s sm_%d", k.Name, arch)]
			if m == nil {
				return "", fmt.Errorf("%s does not report on kernel %s for sm_%d", tool, k.Name, arch)
			}
			if m[7] == "" {
				m[7] = "0"
			}
			fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%s\t%s\t%s\t%s\n", k.Name, k.Threads, arch, m[6], m[7], m[3], m[4], m[5])
		}
	}
	err := w.Flush()
	return b.String(), err
}
