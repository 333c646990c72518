package cli

import (
	"cmp"
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

// A Device opens the backend that --device and --precision ask for, once for the command.
type Device struct {
	device, precision string                        // as the user wrote them
	card              int                           // of cuda:n; anyCard: the first that can be used
	digits            int                           // of int8 in a GPU's products; 0: float64; autoDigits: as suits the GPU
	given             bool                          // --device is on the command line
	note              func(format string, a ...any) // prints what auto chose

	// what the machine has; tests put their own here
	list    func() ([]cuda.Device, error)
	open    func(gpu.Options) (backend.Backend, error)
	present func() bool // a card, whether or not this build can use one

	opened backend.Backend // once it is opened

	Job   *Job // nil without other ranks
	ranks bool // the command spreads its rows over the ranks
	local int  // index among the ranks on this machine, by which each takes its card
}

const anyCard, autoDigits = -1, -1

// NewDevice returns the device of --device auto; note prints what auto chose.
func NewDevice(note func(string, ...any)) Device {
	return Device{
		device: "auto", card: anyCard, precision: "auto", digits: autoDigits,
		note:    note,
		list:    gpu.Devices,
		present: func() bool { return cardPresent("/") },
		open: func(o gpu.Options) (backend.Backend, error) {
			b, err := gpu.Open(o)
			if err != nil {
				return nil, err // not b: an interface with a nil *gpu.Backend is not nil
			}
			return b, nil
		},
	}
}

// AddFlags defines --device and --precision.
func (c *Device) AddFlags(f *pflag.FlagSet) {
	f.Var(&Value{Kind: "device", Text: "auto", Words: []string{"auto", "cpu", "cuda"}, Parse: c.setDevice}, "device",
		"`device` to compute on: auto, cpu, cuda or cuda:N")
	precisions := []string{"auto", "float64", "digits", "digits=3", "digits=7"}
	f.Var(&Value{Kind: "word", Text: "auto", Words: precisions, Parse: c.setPrecision}, "precision",
		"`type` of GPU arithmetic: auto, float64, digits or digits=3")
}

// setDevice takes auto, cpu, cuda or cuda:n.
func (c *Device) setDevice(s string) error {
	card, err := anyCard, error(nil)
	if number, numbered := strings.CutPrefix(s, "cuda:"); numbered {
		if card, err = gpu.ParseOrdinal(number); err != nil {
			return errors.New(reason(err))
		}
	} else if s != "auto" && s != "cpu" && s != "cuda" {
		return errors.New("must be auto, cpu, cuda, or cuda:n for the n-th GPU")
	}
	c.device, c.card, c.given = s, card, true
	return nil
}

// setPrecision takes auto, float64, digits, digits=3 or digits=7.
func (c *Device) setPrecision(s string) error {
	digits, err := autoDigits, error(nil)
	if s == "mixed" {
		return errors.New("mixed precision was removed; must be digits, which are as exact as float64, or digits=3, which is close to mixed")
	}
	if s != "auto" {
		if digits, err = gpu.ParseDigits(s); err != nil {
			return fmt.Errorf("must be auto, or %s", strings.TrimPrefix(err.Error(), "gpu: must be "))
		}
	}
	c.precision, c.digits = s, digits
	return nil
}

// HostOnly reports flags that ask for a GPU, for what is computed on the CPU.
func (c *Device) HostOnly(what string) error {
	if c.Card() != "" {
		return Mistake("--device %s: %s is computed on the CPU; must be auto or cpu", c.Card(), what)
	}
	_, err := c.host("")
	return err
}

// Card returns --device if it asks for a GPU, else "".
func (c *Device) Card() string {
	if c.device == "auto" || c.device == "cpu" {
		return ""
	}
	return c.device
}

// Spread makes Backend spread the rows over the job's ranks, if it has any.
func (c *Device) Spread() {
	c.ranks = true
	c.local = ranks.LocalRank()
}

// Backend returns the backend that the flags ask for, the same one each time. auto takes
// the first GPU that can be used, else the CPU; cuda without a GPU is a mistake. Close
// closes the backend.
func (c *Device) Backend() (backend.Backend, error) {
	if c.opened != nil {
		return c.opened, nil
	}
	b, err := c.choose()
	if err != nil {
		return nil, err
	}
	if c.ranks && c.Job != nil {
		many, err := ranks.New(c.Job, b, c.spec())
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

// RankTimes splits the elapsed time of a command by what it was spent on; nil without ranks.
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

// spec is what the other ranks need to know to open their backends, and take reads it.
func (c *Device) spec() string { return c.device + " " + c.precision }

func (c *Device) take(spec string) error {
	device, precision, _ := strings.Cut(spec, " ")
	if err := cmp.Or(c.setDevice(device), c.setPrecision(precision)); err != nil {
		return fmt.Errorf("--device and --precision %s: %w", spec, err)
	}
	return nil
}

// choose opens the backend. auto uses the CPU if no card can be opened, and fails only if digits are asked for. It notes what it chose
// if it leaves a card unused, or if the user asked for auto by name.
func (c *Device) choose() (backend.Backend, error) {
	if c.device == "cpu" {
		return c.host("")
	}
	card, why, there := c.pick()
	if card != nil {
		digits, suited := c.digits, ""
		if digits == autoDigits {
			digits, suited = digitsOf(*card)
		}
		b, err := c.open(gpu.Options{Ordinal: card.Ordinal, Digits: digits})
		switch {
		case err == nil:
			if c.device == "auto" && c.given {
				if suited != "" {
					suited = fmt.Sprintf(", in %s (%s)", precisionOf(digits), suited)
				}
				c.note("computing on %s, the first GPU that can be used%s", b.Name(), suited)
			}
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
	b, err := c.host(", and " + why)
	if err == nil && (there || c.given) {
		c.note("computing on the CPU: %s", why)
	}
	return b, err
}

// host returns the CPU backend; why is the reason for the CPU, or "". A rank has many shards of
// rows, and uses one at a time.
func (c *Device) host(why string) (backend.Backend, error) {
	switch {
	case c.digits > 0:
		return nil, Mistake("--precision %s: the CPU computes in float64%s; use --precision auto, or a GPU", c.precision, why)
	case c.ranks:
		return cpu.New(cpu.Shared()), nil
	}
	return cpu.New(), nil
}

// noCard is the reason if the driver lists no card.
const noCard = "there is no GPU"

// pick returns the card of --device cuda:n, which may not exist, or the first usable one. Emulated cards, which are for tests, do not
// count for auto. If several ranks share the machine, each gets its own as far as the cards go. If there is no such card, pick returns
// why, and whether there is a card all the same.
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

// reason shortens an error for a line that already names what failed: without the
// packages' prefixes and without ErrNoDevice's own words.
func reason(err error) string {
	text := strings.TrimSuffix(err.Error(), ": "+cuda.ErrNoDevice.Error())
	for _, prefix := range []string{"gpu: ", "devices: ", "cuda: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return text
}

// cardPresent reports whether Linux lists an NVIDIA card: the driver lists it below
// root, or, as in a container, there is a device file alone.
func cardPresent(root string) bool {
	for _, pattern := range []string{"proc/driver/nvidia/gpus/*", "dev/nvidia[0-9]*"} {
		if found, _ := filepath.Glob(filepath.Join(root, pattern)); found != nil {
			return true
		}
	}
	return false
}

// digitsOf returns the digits that --precision auto takes on a card, 0 for float64, and why.
func digitsOf(card cuda.Device) (digits int, why string) {
	if gpu.FastFloat64(card.Major, card.Minor) {
		return 0, "its float64 units are fast"
	}
	return gpu.MostDigits, "int8, as exact as its float64 units, which are slow"
}

// precisionOf is what --precision would be for so many digits.
func precisionOf(digits int) string {
	if digits == 0 {
		return "float64"
	}
	return fmt.Sprintf("digits=%d", digits)
}
