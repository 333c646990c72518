package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/cuda"
	"github.com/vssgp/vssgp/gpu"
	"github.com/vssgp/vssgp/ranks"
	"github.com/vssgp/vssgp/spectral"
)

// deviceFlag is --device.
type deviceFlag struct {
	kind  string // auto, cpu or cuda
	card  *int   // cuda's; nil: the first that can be used
	given bool   // on the command line
}

// String is the flag as it is written.
func (d *deviceFlag) String() string {
	if d.card == nil {
		return d.kind
	}
	return fmt.Sprintf("%s:%d", d.kind, *d.card)
}

// Type is what help calls the flag's argument.
func (d *deviceFlag) Type() string { return "device" }

// Set takes auto, cpu, cuda or cuda:n.
func (d *deviceFlag) Set(s string) error {
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
	d.kind, d.card, d.given = kind, card, true
	return nil
}

// precisionFlag is --precision, which took mixed besides float64 once.
type precisionFlag struct{}

// String is all that there is.
func (precisionFlag) String() string { return "float64" }

// Type is what help would call the flag's argument.
func (precisionFlag) Type() string { return "word" }

// Set takes float64.
func (precisionFlag) Set(s string) error {
	switch s {
	case "float64":
		return nil
	case "mixed":
		return errors.New("mixed precision was removed: every device computes in float64; leave the flag out")
	}
	return errors.New("want float64, or leave the flag out")
}

// A computer decides what computes, by --device, and holds it for the command.
// It is the one place that does.
type computer struct {
	device deviceFlag
	note   func(format string, a ...any) // says what auto took

	// what the machine has; tests put their own here
	list    func() ([]cuda.Device, error)
	open    func(gpu.Options) (spectral.Backend, error)
	present func() bool // a card, whether or not this build can use one

	backend spectral.Backend // once it is opened

	job   *job // the ranks that there are, nil without
	ranks bool // the command spreads its rows over them
	local int  // place among the machine's ranks, by which each takes its card
}

// spread has get spread the rows over the job's ranks, if it has any.
func (c *computer) spread() {
	c.ranks = true
	c.local = ranks.LocalRank()
}

func newComputer(note func(string, ...any)) computer {
	return computer{
		device:  deviceFlag{kind: "auto"},
		note:    note,
		list:    gpu.Devices,
		present: func() bool { return cardPresent("/") },
		open: func(o gpu.Options) (spectral.Backend, error) {
			b, err := gpu.Open(o)
			if err != nil {
				return nil, err // not b: a nil *gpu.Backend is no nil interface
			}
			return b, nil
		},
	}
}

// get is the backend that the flags ask for, the same one each time: auto takes
// the first GPU that can be used, else the CPU; cuda where there is none is a
// mistake. close gives it back.
func (c *computer) get() (spectral.Backend, error) {
	if c.backend != nil {
		return c.backend, nil
	}
	b, err := c.choose()
	if err != nil {
		return nil, err
	}
	if c.ranks && c.job != nil {
		many, err := ranks.New(c.job, b, c.device.String())
		if err != nil {
			b.Close()
			return nil, fmt.Errorf("--device %s: %w", &c.device, err)
		}
		b = many
	}
	c.backend = b
	return b, nil
}

// host is the CPU. Ranks hold many shares of rows, and use one at a time.
func (c *computer) host() spectral.Backend {
	if c.ranks {
		return cpu.New(cpu.Shared())
	}
	return cpu.New()
}

// close gives back what get has opened.
func (c *computer) close() error {
	if c.backend == nil {
		return nil
	}
	b := c.backend
	c.backend = nil
	if err := b.Close(); err != nil {
		return fmt.Errorf("--device %s: %w", &c.device, err)
	}
	return nil
}

func (c *computer) choose() (spectral.Backend, error) {
	switch c.device.kind {
	case "cpu":
		return c.host(), nil
	case "cuda":
		return c.cuda()
	}
	return c.auto()
}

// hostOnly reports a device that a command which computes on the CPU alone cannot
// use.
func (c *computer) hostOnly(command string) error {
	if c.device.kind == "cuda" {
		return mistake("--device %s: %s computes on the CPU alone; want --device cpu or auto", &c.device, command)
	}
	return nil
}

// cuda opens the card that was asked for.
func (c *computer) cuda() (spectral.Backend, error) {
	missing := func(why string) error {
		return mistake("--device %s: %s; want --device cpu or auto", &c.device, why)
	}
	card := c.device.card
	if card == nil {
		first, why, _ := c.first(func(cuda.Device) bool { return true })
		if first == nil {
			return nil, missing(why)
		}
		card = &first.Ordinal
	}
	b, err := c.open(gpu.Options{Ordinal: *card})
	if errors.Is(err, cuda.ErrNoDevice) {
		return nil, missing(reason(err))
	}
	if err != nil {
		return nil, fmt.Errorf("--device %s: %w", &c.device, err)
	}
	return b, nil
}

// auto never fails: a card that cannot be opened is a reason to use the CPU. It speaks where it leaves a card unused that is there, and
// where auto was asked for by name.
func (c *computer) auto() (spectral.Backend, error) {
	first, why, there := c.first(func(d cuda.Device) bool { return !emulated(d) })
	if first != nil {
		b, err := c.open(gpu.Options{Ordinal: first.Ordinal})
		switch {
		case err == nil && !c.device.given:
			return b, nil
		case err == nil:
			return c.announced(b, fmt.Sprintf("computing on %s, the first GPU that can be used", b.Name())), nil
		}
		why = fmt.Sprintf("cuda:%d: %s", first.Ordinal, reason(err))
	}
	text := "computing on the CPU: " + why
	if !there && !c.device.given {
		return c.host(), nil
	}
	return c.announced(c.host(), text), nil
}

// noCard is why there is none where the driver lists none.
const noCard = "there is no GPU"

// first is the first card that can be used and that want takes, of several ranks
// of a machine each one's own as far as they go; or why there is none, and whether
// there is a card all the same.
func (c *computer) first(want func(cuda.Device) bool) (card *cuda.Device, why string, there bool) {
	list, err := c.list()
	if err != nil {
		return nil, reason(err), c.present()
	}
	why = noCard
	var usable []cuda.Device
	for _, d := range list {
		switch {
		case !want(d):
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

// emulated cards are for tests: auto leaves them alone.
func emulated(d cuda.Device) bool { return strings.HasPrefix(d.Name, "emulated ") }

// reason is an error in the words of a line that already says what it is about:
// without the packages it came through and the end that only says there is no
// device.
func reason(err error) string {
	text := strings.TrimSuffix(err.Error(), ": "+cuda.ErrNoDevice.Error())
	for _, prefix := range []string{"gpu: ", "devices: ", "cuda: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return text
}

// announced is a backend that says what it is when the first pass over the rows
// begins: not before, because a command that finds a mistake prints one line.
func (c *computer) announced(b spectral.Backend, text string) spectral.Backend {
	say := sync.OnceFunc(func() { c.note("%s", text) })
	return spectral.Observed(b, func(method string) func() {
		if method != "Open" && method != "Close" {
			say()
		}
		return nil
	})
}

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
