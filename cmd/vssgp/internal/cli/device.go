package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/cuda"
	"github.com/vssgp/vssgp/gpu"
	"github.com/vssgp/vssgp/ranks"
)

// A Device opens the backend selected by --device, once per command.
type Device struct {
	device string                        // the flag's value
	card   int                           // n of cuda:n; anyCard: the first usable GPU
	given  bool                          // --device is on the command line
	note   func(format string, a ...any) // prints the choice of auto

	// The hardware of the machine. Tests replace these.
	list    func() ([]cuda.Device, error)
	open    func(gpu.Options) (backend.Backend, error)
	present func() bool // reports whether there is a GPU, even if this build cannot use it

	opened backend.Backend // nil until Backend is called

	Evaluations int // of a bound, about, for auto; 0 means 1

	Job   *Job // nil without other ranks
	ranks bool // the command distributes its rows over the ranks
	local int  // index among the ranks on this machine, which selects the rank's GPU
}

const anyCard = -1

// NewDevice returns the default device, --device auto. note prints which device auto selects.
func NewDevice(note func(string, ...any)) Device {
	return Device{
		device: "auto", card: anyCard,
		note:    note,
		list:    gpu.Devices,
		present: func() bool { return cardPresent("/") },
		open: func(o gpu.Options) (backend.Backend, error) {
			b, err := gpu.Open(o)
			if err != nil {
				return nil, err // not b: an interface that contains a nil *gpu.Backend is not nil
			}
			return b, nil
		},
	}
}

// AddFlags defines --device, and --precision, a former flag that is hidden.
func (c *Device) AddFlags(f *pflag.FlagSet) {
	f.Var(&Value{Kind: "device", Text: "auto", Words: []string{"auto", "cpu", "cuda"}, Parse: c.setDevice}, "device",
		"`device` to compute on: auto, cpu, cuda or cuda:N")
	f.Var(&Value{Kind: "type", Text: "auto", Parse: precision}, "precision", "no longer used")
	f.Lookup("precision").Hidden = true
}

// precision accepts the precisions that need no choice since the GPU computes only in float64.
func precision(s string) error {
	if s != "auto" && s != "float64" {
		return errors.New("all computations are in float64; omit the flag")
	}
	return nil
}

// setDevice takes auto, cpu, cuda or cuda:n.
func (c *Device) setDevice(s string) error {
	card, err := anyCard, error(nil)
	if number, numbered := strings.CutPrefix(s, "cuda:"); numbered {
		if card, err = gpu.ParseOrdinal(number); err != nil {
			return errors.New(reason(err))
		}
	} else if s != "auto" && s != "cpu" && s != "cuda" {
		return errors.New("must be auto, cpu, cuda or cuda:N for GPU number N")
	}
	c.device, c.card, c.given = s, card, true
	return nil
}

// HostOnly returns an error if the flags request a GPU. what names a computation that only the CPU supports.
func (c *Device) HostOnly(what string) error {
	if c.Card() != "" {
		return Mistake("--device %s: %s runs on the CPU only; must be auto or cpu", c.Card(), what)
	}
	return nil
}

// Card returns the value of --device if it is cuda or cuda:n, else "".
func (c *Device) Card() string {
	if c.device == "auto" || c.device == "cpu" {
		return ""
	}
	return c.device
}

// Spread makes Backend distribute the rows over the job's ranks, if there are any.
func (c *Device) Spread() {
	c.ranks = true
	c.local = ranks.LocalRank()
}

// Backend returns the backend selected by the flags. It opens the backend at the first call,
// and Close closes it. auto selects the first usable GPU for long computations, else the CPU. cuda
// without a usable GPU is a usage error.
func (c *Device) Backend() (backend.Backend, error) {
	if c.opened != nil {
		return c.opened, nil
	}
	b, err := c.choose()
	if err != nil {
		return nil, err
	}
	if c.ranks && c.Job != nil {
		many, err := ranks.New(c.Job, b, c.device)
		if err != nil {
			b.Close()
			return nil, c.failed(err)
		}
		b = many
	}
	c.opened = b
	return b, nil
}

// Close closes the backend that Backend has opened.
func (c *Device) Close() error {
	if c.opened == nil {
		return nil
	}
	b := c.opened
	c.opened = nil
	if err := b.Close(); err != nil {
		return c.failed(err)
	}
	return nil
}

// RankTimes returns how the elapsed time of a command is divided among its activities; nil without ranks.
func (c *Device) RankTimes(elapsed time.Duration) *RankTimes {
	b, ok := c.opened.(*ranks.Backend)
	if !ok {
		return nil
	}
	t := b.Times()
	return &RankTimes{
		Size: c.Job.Size(), Open: t.Open, Cores: ranks.ShareCores(), Compute: t.Compute, Waiting: t.Waiting,
		Communication: t.Communication, Other: max(0, elapsed-t.Open-t.Compute-t.Waiting-t.Communication),
		Share: float64(t.Communication) / float64(max(elapsed, 1)), Bytes: t.Bytes,
	}
}

func (c *Device) failed(err error) error { return fmt.Errorf("--device %s: %w", c.device, err) }

// choose opens the backend. With auto, it prints why a GPU that exists is not used.
func (c *Device) choose() (backend.Backend, error) {
	if c.device == "cpu" {
		return c.host(), nil
	}
	card, why, there := c.pick()
	if card != nil {
		if many := c.ranks && c.Job != nil; c.device == "auto" && !many { // ranks always use it, to choose alike
			return c.auto(card.Ordinal), nil
		}
		b, err := c.open(gpu.Options{Ordinal: card.Ordinal})
		switch {
		case err == nil:
			return b, nil
		case c.device == "auto":
			why = fmt.Sprintf("cuda:%d: %s", card.Ordinal, reason(err))
		case errors.Is(err, cuda.ErrNoDevice):
			why = reason(err)
		default:
			return nil, c.failed(err)
		}
	}
	if c.device != "auto" {
		return nil, Mistake("--device %s: %s; use --device cpu or auto", c.device, why)
	}
	if there || c.given {
		c.note("computing on the CPU: %s", why)
	}
	return c.host(), nil
}

// auto returns the backend of --device auto if there is a usable GPU.
func (c *Device) auto(ordinal int) *auto {
	return &auto{
		host: c.host(), cardName: fmt.Sprintf("cuda:%d", ordinal), repeats: max(c.Evaluations, 1), note: c.note,
		openCard: func() (backend.Backend, error) { return c.open(gpu.Options{Ordinal: ordinal}) },
	}
}

// host returns the CPU backend. With ranks, the backend shares its buffers, because a rank has many shards of rows and uses one at a
// time.
func (c *Device) host() backend.Backend {
	if c.ranks {
		return cpu.New(cpu.Shared())
	}
	return cpu.New()
}

// noCard is the reason if the driver lists no GPU.
const noCard = "there is no GPU"

// pick returns the GPU of --device cuda:n, which may not exist, or else the first usable GPU. auto ignores emulated GPUs, which are for
// tests. Ranks on the same machine take different GPUs, in turn if there are fewer GPUs than ranks. If no GPU is usable, pick returns
// the reason, and there reports whether a GPU exists.
func (c *Device) pick() (card *cuda.Device, why string, there bool) {
	list, err := c.list()
	if c.card != anyCard {
		if i := slices.IndexFunc(list, func(d cuda.Device) bool { return d.Ordinal == c.card }); i >= 0 {
			return &list[i], "", true
		}
		return &cuda.Device{Ordinal: c.card}, "", true
	}
	if err != nil {
		return nil, reason(err), c.present()
	}
	why = noCard
	var usable []cuda.Device
	for _, d := range list {
		switch {
		case c.device == "auto" && strings.HasPrefix(d.Name, "emulated "):
		case d.Reason == "":
			usable = append(usable, d)
		case why == noCard:
			why = fmt.Sprintf("cuda:%d %s: %s", d.Ordinal, d.Name, d.Reason)
		}
	}
	if n := len(usable); n > 0 {
		return &usable[c.local%n], "", true
	}
	return nil, why, why != noCard
}

// reason returns the text of an error without package prefixes and without the text of
// ErrNoDevice, for a message that already names the device.
func reason(err error) string {
	text := strings.TrimSuffix(err.Error(), ": "+cuda.ErrNoDevice.Error())
	for _, prefix := range []string{"gpu: ", "devices: ", "cuda: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return text
}

// cardPresent reports whether Linux has an NVIDIA GPU. Either the driver lists it below root or,
// as in a container, there is only a device file.
func cardPresent(root string) bool {
	for _, pattern := range []string{"proc/driver/nvidia/gpus/*", "dev/nvidia[0-9]*"} {
		if found, _ := filepath.Glob(filepath.Join(root, pattern)); found != nil {
			return true
		}
	}
	return false
}
