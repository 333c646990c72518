package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/cuda"
	"github.com/vssgp/vssgp/gpu"
	"github.com/vssgp/vssgp/internal/procfs"
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

// A computer opens the backend that --device and --precision ask for, and holds it for the command.
type computer struct {
	device    deviceFlag
	precision precisionFlag
	note      func(format string, a ...any) // says what auto chose

	// what the machine has; tests put their own here
	list    func() ([]cuda.Device, error)
	open    func(gpu.Options) (backend.Backend, error)
	present func() bool // a card, whether or not this build can use one

	backend backend.Backend // once it is opened

	job   *job // nil without other ranks
	ranks bool // the command spreads its rows over the ranks
	local int  // index among the ranks on this machine, by which each takes its card
}

// spread makes get spread the rows over the job's ranks, if it has any.
func (c *computer) spread() {
	c.ranks = true
	c.local = ranks.LocalRank()
}

func newComputer(note func(string, ...any)) computer {
	return computer{
		device:    deviceFlag{text: "auto", kind: "auto"},
		precision: precisionFlag{text: "auto", auto: true},
		note:      note,
		list:      gpu.Devices,
		present:   func() bool { return cardPresent("/") },
		open: func(o gpu.Options) (backend.Backend, error) {
			b, err := gpu.Open(o)
			if err != nil {
				return nil, err // not b: an interface that holds a nil *gpu.Backend is not nil
			}
			return b, nil
		},
	}
}

// get returns the backend that the flags ask for, the same one each time. auto takes
// the first GPU that can be used, else the CPU; cuda without a GPU is a mistake. close
// closes the backend.
func (c *computer) get() (backend.Backend, error) {
	if c.backend != nil {
		return c.backend, nil
	}
	b, err := c.choose()
	if err != nil {
		return nil, err
	}
	if c.ranks && c.job != nil {
		many, err := ranks.New(c.job, b, c.spec())
		if err != nil {
			b.Close()
			return nil, c.failed(err)
		}
		b = many
	}
	c.backend = b
	return b, nil
}

// close closes the backend that get has opened.
func (c *computer) close() error {
	if c.backend == nil {
		return nil
	}
	b := c.backend
	c.backend = nil
	if err := b.Close(); err != nil {
		return c.failed(err)
	}
	return nil
}

// rankTimes says where the time of a command went, which took elapsed; nil without ranks.
func (c *computer) rankTimes(elapsed time.Duration) *rankTimes {
	b, ok := c.backend.(*ranks.Backend)
	if !ok {
		return nil
	}
	t := b.Times()
	return &rankTimes{
		Size: c.job.Size(), Open: t.Open, Cores: ranks.ShareCores(), Compute: t.Compute, Waiting: t.Waiting,
		Communication: t.Communication, Other: max(0, elapsed-t.Open-t.Compute-t.Waiting-t.Communication),
		Share: float64(t.Communication) / float64(max(elapsed, 1)), Bytes: t.Bytes,
	}
}

func (c *computer) failed(err error) error { return fmt.Errorf("--device %s: %w", c.device.text, err) }

// unusable is the mistake of asking for a card that the command cannot use.
func (c *computer) unusable(why string) error {
	return mistake("--device %s: %s; want --device cpu or auto", c.device.text, why)
}

// spec is what the other ranks need to know to open their backends, and take reads it.
func (c *computer) spec() string { return c.device.text + " " + c.precision.text }

func (c *computer) take(spec string) error {
	device, precision, _ := strings.Cut(spec, " ")
	if err := cmp.Or(c.device.set(device), c.precision.set(precision)); err != nil {
		return fmt.Errorf("--device and --precision %s: %w", spec, err)
	}
	return nil
}

func (c *computer) choose() (backend.Backend, error) {
	switch c.device.kind {
	case "cpu":
		return c.host("")
	case "cuda":
		return c.cuda()
	}
	return c.auto()
}

// host is the CPU, for which why is a reason or nothing. A rank holds many shards of
// rows, and uses one at a time.
func (c *computer) host(why string) (backend.Backend, error) {
	if c.precision.digits > 0 {
		return nil, c.precision.hostless(why)
	}
	if c.ranks {
		return cpu.New(cpu.Shared()), nil
	}
	return cpu.New(), nil
}

// cuda opens the card that was asked for.
func (c *computer) cuda() (backend.Backend, error) {
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
func (c *computer) openCard(card cuda.Device) (backend.Backend, error) {
	digits, _ := c.precision.on(card)
	return c.open(gpu.Options{Ordinal: card.Ordinal, Digits: digits})
}

// numbered is the card of that number. If there is none, opening it says so.
func (c *computer) numbered(ordinal int) cuda.Device {
	list, _ := c.list()
	for _, d := range list {
		if d.Ordinal == ordinal {
			return d
		}
	}
	return cuda.Device{Ordinal: ordinal}
}

// auto fails only where digits are asked for: if a card cannot be opened, it uses the CPU.
// It says what it chose if it leaves a card unused, or if the user asked for auto by name.
func (c *computer) auto() (backend.Backend, error) {
	card, why, there := c.first(false)
	if card != nil {
		b, err := c.openCard(*card)
		switch {
		case err == nil && c.device.given:
			text := fmt.Sprintf("computing on %s, the first GPU that can be used", b.Name())
			if digits, why := c.precision.on(*card); why != "" {
				text += fmt.Sprintf(", in %s (%s)", precisionOf(digits), why)
			}
			return c.announced(b, text), nil
		case err == nil:
			return b, nil
		}
		why = fmt.Sprintf("cuda:%d: %s", card.Ordinal, reason(err))
	}
	b, err := c.host(", and " + why)
	if err != nil || !there && !c.device.given {
		return b, err
	}
	return c.announced(b, "computing on the CPU: "+why), nil
}

// noCard says why there is no card if the driver lists none.
const noCard = "there is no GPU"

// first returns the first usable card; emulated cards, which are for tests, count if
// emulated is set. If several ranks share the machine, each gets its own as far as the
// cards go. If there is no such card, first returns why, and whether there is a card all
// the same.
func (c *computer) first(emulated bool) (card *cuda.Device, why string, there bool) {
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

// reason shortens an error for a line that already says what failed: without the
// packages' prefixes and without ErrNoDevice's own words.
func reason(err error) string {
	text := strings.TrimSuffix(err.Error(), ": "+cuda.ErrNoDevice.Error())
	for _, prefix := range []string{"gpu: ", "devices: ", "cuda: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return text
}

// announced returns a backend that notes text before its first pass over the rows: not
// before that, because a command that finds a mistake prints one line.
func (c *computer) announced(b backend.Backend, text string) backend.Backend {
	say := sync.OnceFunc(func() { c.note("%s", text) })
	return backend.Observed(b, func(method string) func() {
		if method != "Open" && method != "Close" {
			say()
		}
		return nil
	})
}

// cardPresent reports whether Linux knows of an NVIDIA card: the driver lists it below
// root, or, as in a container, there is a device file alone.
func cardPresent(root string) bool {
	for _, pattern := range []string{"proc/driver/nvidia/gpus/*", "dev/nvidia[0-9]*"} {
		if found, _ := filepath.Glob(filepath.Join(root, pattern)); found != nil {
			return true
		}
	}
	return false
}

const meminfo = "/proc/meminfo"

// memoryLimit returns the most bytes that a fit may take, 0 for no limit. given is
// --memory: 0 stands for the free memory, +Inf for no limit. It also becomes the
// collector's limit, so that garbage does not fill the memory that the fit needs,
// unless the user sets GOMEMLIMIT.
func memoryLimit(given float64) float64 {
	limit := given
	switch {
	case math.IsInf(given, 1):
		return 0
	case given == 0:
		limit = freeMemory(meminfo, "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current")
	}
	if limit > 0 && limit < math.MaxInt64 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(int64(limit))
	}
	return limit
}

// freeMemory returns how many bytes are free without swapping, by the kernel's count and
// the control group's limit; 0 if neither is known (on systems other than Linux).
func freeMemory(meminfo, groupMax, groupCurrent string) float64 {
	free := float64(procfs.Bytes(meminfo, "MemAvailable"))
	most, errMost := readNumber(groupMax) // "max", which is no number, if there is no limit
	current, err := readNumber(groupCurrent)
	switch {
	case errMost != nil || err != nil || current > most:
		return free
	case free == 0:
		return most - current
	}
	return min(free, most-current)
}

func readNumber(path string) (float64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
}
