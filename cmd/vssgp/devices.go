package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// deviceInfo is one line of `vssgp devices`.
type deviceInfo struct {
	Name      string `json:"name"` // as --device takes it
	Available bool   `json:"available"`
	Cores     int    `json:"cores,omitempty"`
	Arch      string `json:"arch,omitempty"`
	Memory    int64  `json:"memory_bytes,omitempty"` // of the machine; 0: not known
	Free      int64  `json:"memory_available_bytes,omitempty"`
	Reason    string `json:"reason,omitempty"` // why it is not available
}

func (a *app) devicesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "devices",
		Short: "List the backends of this build and machine, and why one is missing",
		Example: `  vssgp devices
  vssgp devices --json`,
		Args: arguments(),
		RunE: a.do(func(context.Context, []string) error {
			list := listDevices()
			if a.json {
				return a.printJSON(map[string]any{"devices": list})
			}
			for _, d := range list {
				fmt.Fprintln(a.stdout, d)
			}
			return nil
		}),
	}
}

// listDevices looks at this build and machine.
func listDevices() []deviceInfo {
	c := deviceInfo{Name: "cpu", Available: true, Cores: runtime.GOMAXPROCS(0), Arch: runtime.GOARCH}
	if f, err := os.Open("/proc/meminfo"); err == nil {
		c.Memory, c.Free = memory(f)
		f.Close()
	}
	return []deviceInfo{c, {Name: "cuda", Reason: cudaMissing}}
}

// String is the line that people read.
func (d deviceInfo) String() string {
	if !d.Available {
		return fmt.Sprintf("%-6s missing: %s", d.Name, d.Reason)
	}
	s := fmt.Sprintf("%-6s %d cores, %s", d.Name, d.Cores, d.Arch)
	if d.Memory > 0 {
		s += fmt.Sprintf(", %.1f GiB memory (%.1f GiB available)", gib(d.Memory), gib(d.Free))
	}
	return s
}

func gib(bytes int64) float64 { return float64(bytes) / (1 << 30) }

// memory reads the machine's memory and what is available of it, in bytes,
// from the text of Linux's /proc/meminfo; 0 where a line is missing.
func memory(meminfo io.Reader) (total, available int64) {
	lines := bufio.NewScanner(meminfo)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 2 {
			continue
		}
		kib, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil {
			continue
		}
		switch fields[0] {
		case "MemTotal:":
			total = kib << 10
		case "MemAvailable:":
			available = kib << 10
		}
	}
	return total, available
}
