package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// deviceInfo is one line of `vssgp devices`.
type deviceInfo struct {
	Name       string `json:"name"` // as --device takes it
	Available  bool   `json:"available"`
	Cores      int    `json:"cores,omitempty"`
	Arch       string `json:"arch,omitempty"`
	Card       string `json:"card,omitempty"`         // the GPU's own name
	Memory     int64  `json:"memory_bytes,omitempty"` // of the machine or the card; 0: not known
	Free       int64  `json:"memory_available_bytes,omitempty"`
	Capability string `json:"compute_capability,omitempty"`
	Processors int    `json:"multiprocessors,omitempty"`
	Reason     string `json:"reason,omitempty"` // why it is not available
}

func (a *app) devicesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "devices",
		Short: "List the backends of this build and machine, and why one is missing",
		Example: `  vssgp devices
  vssgp devices --json`,
		Args: arguments(),
		RunE: a.do(func(context.Context, []string) error {
			list := a.computer.devices()
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

// devices are this build's and machine's: the CPU and each GPU, or one line
// that says why there is none.
func (c *computer) devices() []deviceInfo {
	host := deviceInfo{Name: "cpu", Available: true, Cores: runtime.GOMAXPROCS(0), Arch: runtime.GOARCH}
	if f, err := os.Open("/proc/meminfo"); err == nil {
		host.Memory, host.Free = memory(f)
		f.Close()
	}
	all := []deviceInfo{host}
	cards, err := c.list()
	switch {
	case err != nil:
		return append(all, deviceInfo{Name: "cuda", Reason: reason(err)})
	case len(cards) == 0:
		return append(all, deviceInfo{Name: "cuda", Reason: noCard})
	}
	for _, d := range cards {
		all = append(all, deviceInfo{
			Name: fmt.Sprintf("cuda:%d", d.Ordinal), Available: d.Reason == "", Reason: d.Reason, Card: d.Name, Memory: d.Memory,
			Capability: fmt.Sprintf("%d.%d", d.Major, d.Minor), Processors: d.SMs,
		})
	}
	return all
}

// String is the line that people read.
func (d deviceInfo) String() string {
	var facts []string
	if d.Cores > 0 {
		facts = append(facts, fmt.Sprintf("%d cores, %s", d.Cores, d.Arch))
	}
	if d.Card != "" {
		facts = append(facts, fmt.Sprintf("%s, compute capability %s, %d multiprocessors", d.Card, d.Capability, d.Processors))
	}
	if d.Memory > 0 {
		text := fmt.Sprintf("%.1f GiB memory", gib(d.Memory))
		if d.Free > 0 {
			text += fmt.Sprintf(" (%.1f GiB available)", gib(d.Free))
		}
		facts = append(facts, text)
	}
	switch {
	case d.Available:
	case d.Card == "":
		facts = append(facts, "missing: "+d.Reason)
	default:
		facts = append(facts, "not usable: "+d.Reason)
	}
	return fmt.Sprintf("%-6s %s", d.Name, strings.Join(facts, ", "))
}

func gib(bytes int64) float64 { return float64(bytes) / (1 << 30) }

// cardPresent reports whether Linux knows of an NVIDIA card, from what the driver leaves below root: a card of its own, or its device
// file alone, as in a container.
func cardPresent(root string) bool {
	for _, pattern := range []string{"proc/driver/nvidia/gpus/*", "dev/nvidia[0-9]*"} {
		if found, _ := filepath.Glob(filepath.Join(root, pattern)); found != nil {
			return true
		}
	}
	return false
}

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
