package cli

import (
	"context"
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vssgp/vssgp/internal/procfs"
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
	Precision  string `json:"precision,omitempty"` // of a GPU: what --precision auto takes
	Why        string `json:"precision_reason,omitempty"`
	Reason     string `json:"reason,omitempty"` // why it is not available
}

// NewDevices returns the command devices.
func NewDevices(env *Env) *cobra.Command {
	return env.Command(&cobra.Command{
		Use:   "devices",
		Short: "List the devices to compute on",
		Example: `  vssgp devices
  vssgp devices --json`,
	}, func(context.Context, []string) error {
		list := env.Device.devices()
		if env.JSON {
			return env.PrintJSON(struct {
				Devices []deviceInfo `json:"devices"`
			}{list})
		}
		for _, d := range list {
			fmt.Fprintln(env.Stdout, d)
		}
		return nil
	})
}

// devices lists the CPU and each GPU of this build and machine, or one line
// with the reason why there is no GPU.
func (c *Device) devices() []deviceInfo {
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
		digits, why := digitsOf(d)
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
