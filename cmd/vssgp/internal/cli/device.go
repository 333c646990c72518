package cli

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/cuda"
	"github.com/vssgp/vssgp/gpu"
	"github.com/vssgp/vssgp/ranks"
)

// deviceFlag is --device.
type deviceFlag struct {
	text  string // as the user wrote it
	kind  string // auto, cpu or cuda
	card  *int   // of cuda; nil: the first that can be used
	given bool   // on the command line
}

// set takes auto, cpu, cuda or cuda:n.
func (d *deviceFlag) set(s string) error {
	kind, number, numbered := strings.Cut(s, ":")
	if kind != "auto" && kind != "cpu" && kind != "cuda" || numbered && kind != "cuda" {
		return fmt.Errorf("want auto, cpu, cuda, or cuda:n for the n-th GPU")
	}
	var card *int
	if numbered {
		n, err := gpu.ParseOrdinal(number)
		if err != nil {
			return errors.New(reason(err))
		}
		card = &n
	}
	*d = deviceFlag{s, kind, card, true}
	return nil
}

// A Device opens the backend that --device and --precision ask for, once for the command.
type Device struct {
	device    deviceFlag
	precision precisionFlag
	note      func(format string, a ...any) // prints what auto chose

	// what the machine has; tests put their own here
	list    func() ([]cuda.Device, error)
	open    func(gpu.Options) (backend.Backend, error)
	present func() bool // a card, whether or not this build can use one

	opened backend.Backend // once it is opened

	Job   *Job // nil without other ranks
	ranks bool // the command spreads its rows over the ranks
	local int  // index among the ranks on this machine, by which each takes its card
}

// AddFlags defines --device and --precision.
func (c *Device) AddFlags(f *pflag.FlagSet) {
	f.Var(&Value{Kind: "device", Text: "auto", Words: []string{"auto", "cpu", "cuda"}, Parse: c.device.set}, "device",
		"`device` to compute on: auto, cpu, cuda or cuda:N")
	precisions := []string{"auto", "float64", "digits", "digits=3", "digits=7"}
	f.Var(&Value{Kind: "word", Text: "auto", Words: precisions, Parse: c.precision.set}, "precision",
		"`type` of GPU arithmetic: auto, float64, digits or digits=3")
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
	if c.device.kind != "cuda" {
		return ""
	}
	return c.device.text
}

// Spread makes Backend spread the rows over the job's ranks, if it has any.
func (c *Device) Spread() {
	c.ranks = true
	c.local = ranks.LocalRank()
}

// NewDevice returns the device of --device auto; note prints what auto chose.
func NewDevice(note func(string, ...any)) Device {
	return Device{
		device:    deviceFlag{text: "auto", kind: "auto"},
		precision: precisionFlag{text: "auto", auto: true},
		note:      note,
		list:      gpu.Devices,
		present:   func() bool { return cardPresent("/") },
		open: func(o gpu.Options) (backend.Backend, error) {
			b, err := gpu.Open(o)
			if err != nil {
				return nil, err // not b: an interface with a nil *gpu.Backend is not nil
			}
			return b, nil
		},
	}
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

func (c *Device) failed(err error) error { return fmt.Errorf("--device %s: %w", c.device.text, err) }

// unusable is the mistake of asking for a card that the command cannot use.
func (c *Device) unusable(why string) error {
	return Mistake("--device %s: %s; want --device cpu or auto", c.device.text, why)
}

// spec is what the other ranks need to know to open their backends, and take reads it.
func (c *Device) spec() string { return c.device.text + " " + c.precision.text }

func (c *Device) take(spec string) error {
	device, precision, _ := strings.Cut(spec, " ")
	if err := cmp.Or(c.device.set(device), c.precision.set(precision)); err != nil {
		return fmt.Errorf("--device and --precision %s: %w", spec, err)
	}
	return nil
}

func (c *Device) choose() (backend.Backend, error) {
	switch c.device.kind {
	case "cpu":
		return c.host("")
	case "cuda":
		return c.cuda()
	}
	return c.auto()
}

// host returns the CPU backend; why is the reason for the CPU, or "". A rank has many shards of
// rows, and uses one at a time.
func (c *Device) host(why string) (backend.Backend, error) {
	if c.precision.digits > 0 {
		return nil, c.precision.hostless(why)
	}
	if c.ranks {
		return cpu.New(cpu.Shared()), nil
	}
	return cpu.New(), nil
}

// cuda opens the card that was asked for.
func (c *Device) cuda() (backend.Backend, error) {
	card := cuda.Device{}
	if c.device.card != nil {
		card = c.numbered(*c.device.card)
	} else {
		first, why, _ := c.first(true)
		if first == nil {
			return nil, c.unusable(why)
		}
		card = *first
	}
	b, err := c.openCard(card)
	if errors.Is(err, cuda.ErrNoDevice) {
		return nil, c.unusable(reason(err))
	}
	if err != nil {
		return nil, c.failed(err)
	}
	return b, nil
}

// openCard opens a card in the precision asked for.
func (c *Device) openCard(card cuda.Device) (backend.Backend, error) {
	digits, _ := c.precision.on(card)
	return c.open(gpu.Options{Ordinal: card.Ordinal, Digits: digits})
}

// numbered is the card of that number. If there is none, opening it fails.
func (c *Device) numbered(ordinal int) cuda.Device {
	list, _ := c.list()
	for _, d := range list {
		if d.Ordinal == ordinal {
			return d
		}
	}
	return cuda.Device{Ordinal: ordinal}
}

// auto fails only where digits are asked for: if a card cannot be opened, it uses the CPU.
// It notes what it chose if it leaves a card unused, or if the user asked for auto by name.
func (c *Device) auto() (backend.Backend, error) {
	card, why, there := c.first(false)
	if card != nil {
		b, err := c.openCard(*card)
		switch {
		case err == nil && c.device.given:
			text := fmt.Sprintf("computing on %s, the first GPU that can be used", b.Name())
			if digits, why := c.precision.on(*card); why != "" {
				text += fmt.Sprintf(", in %s (%s)", precisionOf(digits), why)
			}
			c.note("%s", text)
			return b, nil
		case err == nil:
			return b, nil
		}
		why = fmt.Sprintf("cuda:%d: %s", card.Ordinal, reason(err))
	}
	b, err := c.host(", and " + why)
	if err != nil || !there && !c.device.given {
		return b, err
	}
	c.note("computing on the CPU: %s", why)
	return b, nil
}

// noCard is the reason if the driver lists no card.
const noCard = "there is no GPU"

// first returns the first usable card; emulated cards, which are for tests, count if
// emulated is set. If several ranks share the machine, each gets its own as far as the
// cards go. If there is no such card, first returns why, and whether there is a card all
// the same.
func (c *Device) first(emulated bool) (card *cuda.Device, why string, there bool) {
	list, err := c.list()
	if err != nil {
		return nil, reason(err), c.present()
	}
	why = noCard
	var usable []cuda.Device
	for _, d := range list {
		switch {
		case !emulated && strings.HasPrefix(d.Name, "emulated "):
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

// precisionFlag is --precision: what a GPU multiplies features in. The CPU computes in
// float64.
type precisionFlag struct {
	text   string // as the user wrote it
	auto   bool
	digits int // of int8; 0: float64
}

// set takes auto, float64, digits, digits=3 or digits=7.
func (p *precisionFlag) set(s string) error {
	if s == "mixed" {
		return errors.New("mixed precision was removed; want digits, which are as exact as float64, or digits=3, which is near to what mixed was")
	}
	made := precisionFlag{text: s, auto: s == "auto"}
	if !made.auto {
		var err error
		if made.digits, err = gpu.ParseDigits(s); err != nil {
			return fmt.Errorf("want auto, or %s", strings.TrimPrefix(err.Error(), "gpu: want "))
		}
	}
	*p = made
	return nil
}

// on is how many digits a card takes, 0 for float64, and why auto chose them.
func (p precisionFlag) on(card cuda.Device) (digits int, why string) {
	switch {
	case !p.auto:
		return p.digits, ""
	case gpu.FastFloat64(card.Major, card.Minor):
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

// hostless is the mistake of asking for digits where the CPU computes.
func (p precisionFlag) hostless(why string) error {
	return Mistake("--precision %s: the CPU computes in float64%s; want --precision auto, or a GPU", p.text, why)
}
