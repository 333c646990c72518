package cli

import (
	"context"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

// deviceInfo is one line of `vssgp devices`.
type deviceInfo struct {
	Name       string `json:"name"` // the value of --device that selects it
	Available  bool   `json:"available"`
	Cores      int    `json:"cores,omitempty"`
	Arch       string `json:"arch,omitempty"`
	Card       string `json:"card,omitempty"`         // the GPU's model name
	Memory     int64  `json:"memory_bytes,omitempty"` // of the machine or the GPU; 0: unknown
	Free       int64  `json:"memory_available_bytes,omitempty"`
	Capability string `json:"compute_capability,omitempty"`
	Processors int    `json:"multiprocessors,omitempty"`
	Reason     string `json:"reason,omitempty"` // why the device is not available
}

// NewDevices returns the command devices.
func NewDevices(env *Env) *cobra.Command {
	return env.Command(&cobra.Command{
		Use:   "devices",
		Short: "List the compute devices of this machine",
		Example: `  vssgp devices
  vssgp devices --json`,
		Annotations: map[string]string{onlyCommon: "json help"},
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

// devices returns the CPU and each GPU of this machine, or one entry with the
// reason if there is no GPU.
func (c *Device) devices() []deviceInfo {
	host := deviceInfo{Name: "cpu", Available: true, Cores: runtime.GOMAXPROCS(0), Arch: runtime.GOARCH}
	host.Memory, host.Free = procBytes(meminfo, "MemTotal"), procBytes(meminfo, "MemAvailable")
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

// String returns the line that is printed without --json.
func (d deviceInfo) String() string {
	const gib = 1 << 30
	line := fmt.Sprintf("%-6s ", d.Name)
	switch {
	case d.Cores > 0:
		line += fmt.Sprintf("%d cores, %s", d.Cores, d.Arch)
	case d.Card == "":
		return line + "missing: " + d.Reason
	default:
		line += fmt.Sprintf("%s, compute capability %s, %d multiprocessors", d.Card, d.Capability, d.Processors)
	}
	if d.Memory > 0 {
		line += fmt.Sprintf(", %.1f GiB memory", float64(d.Memory)/gib)
	}
	if d.Free > 0 {
		line += fmt.Sprintf(" (%.1f GiB available)", float64(d.Free)/gib)
	}
	if !d.Available {
		line += ", not usable: " + d.Reason
	}
	return line
}
