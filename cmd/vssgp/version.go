package main

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vssgp/vssgp/internal/procfs"
	"github.com/vssgp/vssgp/ranks"
)

// versionInfo is the output of `vssgp version`.
type versionInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"` // built from a changed working tree
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Format   string `json:"model_format"`
	MPI      string `json:"mpi,omitempty"` // the library, in builds with -tags mpi
}

func (a *app) versionCommand() *cobra.Command {
	return a.command(&cobra.Command{
		Use:     "version",
		Short:   "Print the version of this build",
		Example: `  vssgp version`,
	}, func(context.Context, []string) error {
		v := readVersion()
		if a.json {
			return a.printJSON(v)
		}
		fmt.Fprintln(a.stdout, v)
		return nil
	})
}

// readVersion reads what the Go linker has written into the binary.
func readVersion() versionInfo {
	v := versionInfo{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Format: "vssgp/1"}
	v.MPI, _ = ranks.MPI()
	b, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v.Version = cmp.Or(b.Main.Version, v.Version)
	for _, s := range b.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

// String is the line that people read.
func (v versionInfo) String() string {
	s := "vssgp " + v.Version
	if v.Revision != "" {
		s += " " + v.Revision
		if v.Modified {
			s += " (modified)"
		}
	}
	s += " " + v.Go + " " + v.Platform
	if v.MPI != "" {
		return s + " with " + v.MPI
	}
	return s + " without MPI"
}

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
	Precision  string `json:"precision,omitempty"` // of a GPU: what --precision auto takes
	Why        string `json:"precision_reason,omitempty"`
	Reason     string `json:"reason,omitempty"` // why it is not available
}

func (a *app) devicesCommand() *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "devices",
		Short: "List the backends of this build and machine, and say why one is missing",
		Example: `  vssgp devices
  vssgp devices --json`,
	}, func(context.Context, []string) error {
		list := a.computer.devices()
		if a.json {
			return a.printJSON(object{"devices", list})
		}
		for _, d := range list {
			fmt.Fprintln(a.stdout, d)
		}
		return nil
	})
}

// devices lists the CPU and each GPU of this build and machine, or one line
// that says why there is no GPU.
func (c *computer) devices() []deviceInfo {
	host := deviceInfo{Name: "cpu", Available: true, Cores: runtime.GOMAXPROCS(0), Arch: runtime.GOARCH}
	host.Memory, host.Free = procfs.Bytes(meminfo, "MemTotal"), procfs.Bytes(meminfo, "MemAvailable")
	all := []deviceInfo{host}
	cards, err := c.list()
	if err != nil {
		return append(all, deviceInfo{Name: "cuda", Reason: reason(err)})
	}
	if len(cards) == 0 {
		return append(all, deviceInfo{Name: "cuda", Reason: noCard})
	}
	for _, d := range cards {
		digits, why := precisionFlag{auto: true}.on(d)
		all = append(all, deviceInfo{
			Precision: precisionOf(digits), Why: why,
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
	case d.Available && d.Precision != "":
		facts = append(facts, fmt.Sprintf("precision auto: %s (%s)", d.Precision, d.Why))
	case d.Available:
	case d.Card == "":
		facts = append(facts, "missing: "+d.Reason)
	default:
		facts = append(facts, "not usable: "+d.Reason)
	}
	return fmt.Sprintf("%-6s %s", d.Name, strings.Join(facts, ", "))
}

func gib(bytes int64) float64 { return float64(bytes) / (1 << 30) }
