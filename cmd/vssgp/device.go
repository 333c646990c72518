package main

import (
	"errors"
	"fmt"
	"strconv"
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
	cards []int  // cuda's; none: the first that can be used
	given bool   // on the command line
}

// String is the flag as it is written.
func (d *deviceFlag) String() string {
	if len(d.cards) == 0 {
		return d.kind
	}
	text := make([]string, len(d.cards))
	for i, n := range d.cards {
		text[i] = strconv.Itoa(n)
	}
	return d.kind + ":" + strings.Join(text, ",")
}

// Type is what help calls the flag's argument.
func (d *deviceFlag) Type() string { return "device" }

// Set takes auto, cpu, cuda, cuda:n or cuda:n,m and so on.
func (d *deviceFlag) Set(s string) error {
	kind, list, numbered := strings.Cut(s, ":")
	wrong := fmt.Errorf("want auto, cpu, cuda, cuda:n, or cuda:n,m for several different GPUs")
	if kind != "auto" && kind != "cpu" && kind != "cuda" || numbered && kind != "cuda" {
		return wrong
	}
	var cards []int
	if numbered {
		var err error
		if cards, err = gpu.ParseOrdinals(list); err != nil {
			return wrong
		}
	}
	d.kind, d.cards, d.given = kind, cards, true
	return nil
}

// A computer decides what computes, by --device and --precision, and holds it
// for the command. It is the one place that does.
type computer struct {
	device    deviceFlag
	precision choice                        // float64 or mixed
	note      func(format string, a ...any) // says what auto took

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
	c.local, _ = ranks.Local()
}

func newComputer(note func(string, ...any)) computer {
	return computer{
		device:    deviceFlag{kind: "auto"},
		precision: choice{allowed: []string{"float64", "mixed"}, value: "float64"},
		note:      note,
		list:      gpu.Devices,
		present:   func() bool { return cardPresent("/") },
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
		many, err := ranks.New(c.job, b, c.spec())
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
		if c.precision.value != "float64" {
			return nil, mistake("--device cpu --precision %s: the CPU computes in float64 alone; want --precision float64 or --device cuda", c.precision.value)
		}
		return c.host(), nil
	case "cuda":
		return c.cuda()
	}
	return c.auto()
}

// hostOnly reports flags that a command which computes on the CPU alone cannot
// meet.
func (c *computer) hostOnly(command string) error {
	if c.device.kind == "cuda" {
		return mistake("--device %s: %s computes on the CPU alone; want --device cpu or auto", &c.device, command)
	}
	if c.precision.value != "float64" {
		return mistake("--precision %s: %s computes on the CPU, in float64 alone; want --precision float64", c.precision.value, command)
	}
	return nil
}

// cuda opens the cards that were asked for.
func (c *computer) cuda() (spectral.Backend, error) {
	missing := func(why string) error {
		return mistake("--device %s: %s; want --device cpu or auto", &c.device, why)
	}
	cards := c.device.cards
	if len(cards) == 0 {
		first, why, _ := c.first(func(cuda.Device) bool { return true })
		if first == nil {
			return nil, missing(why)
		}
		cards = []int{first.Ordinal}
	}
	b, err := c.openCards(cards)
	if errors.Is(err, cuda.ErrNoDevice) {
		return nil, missing(reason(err))
	}
	if err != nil {
		return nil, fmt.Errorf("--device %s: %w", &c.device, err)
	}
	return b, nil
}

// auto never fails: a card that cannot be opened is a reason to use the CPU. It speaks where it leaves a card unused that is there, where
// it cannot do what a flag asks for, and where auto was asked for by name.
func (c *computer) auto() (spectral.Backend, error) {
	first, why, there := c.first(func(d cuda.Device) bool { return !emulated(d) })
	if first != nil {
		b, err := c.openCards([]int{first.Ordinal})
		switch {
		case err == nil && !c.device.given:
			return b, nil
		case err == nil:
			return c.announced(b, fmt.Sprintf("computing on %s, the first GPU that can be used", b.Name())), nil
		}
		why = fmt.Sprintf("cuda:%d: %s", first.Ordinal, reason(err))
	}
	text := "computing on the CPU: " + why
	if c.precision.value != "float64" {
		text += "; in float64, not --precision " + c.precision.value
	} else if !there && !c.device.given {
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

func (c *computer) openCards(cards []int) (spectral.Backend, error) {
	o := gpu.Options{Ordinals: cards}
	if c.precision.value == "mixed" {
		o.Precision = gpu.Mixed
	}
	return c.open(o)
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
	return &announcer{Backend: b, say: sync.OnceFunc(func() { c.note("%s", text) })}
}

type announcer struct {
	spectral.Backend
	say func()
}

// Open opens rows whose first pass speaks.
func (a *announcer) Open(d spectral.Data) (spectral.Rows, error) {
	r, err := a.Backend.Open(d)
	if err != nil {
		return nil, err
	}
	if solver, ok := r.(spectral.Solver); ok {
		return &announcedSolver{announcedRows{r, a.say}, solver}, nil
	}
	return &announcedRows{r, a.say}, nil
}

type announcedRows struct {
	spectral.Rows
	say func()
}

func (r *announcedRows) Moments(dst *spectral.Moments, f *spectral.Features) error {
	r.say()
	return r.Rows.Moments(dst, f)
}

func (r *announcedRows) Factorised(dst *spectral.FactorisedSums, f *spectral.Features, w *spectral.Weights, rows []int) error {
	r.say()
	return r.Rows.Factorised(dst, f, w, rows)
}

func (r *announcedRows) Predict(dst *spectral.Prediction, f *spectral.Features, p *spectral.Posterior) error {
	r.say()
	return r.Rows.Predict(dst, f, p)
}

// announcedSolver are announced rows that can do the algebra.
type announcedSolver struct {
	announcedRows
	solver spectral.Solver
}

func (r *announcedSolver) Solves(f *spectral.Features) bool { return r.solver.Solves(f) }

func (r *announcedSolver) Solve(dst *spectral.Solution, f *spectral.Features, lambda float64) error {
	r.say()
	return r.solver.Solve(dst, f, lambda)
}

func (r *announcedSolver) PullbackSolved(dst, f *spectral.Features, bar spectral.SolvedAdjoint) error {
	return r.solver.PullbackSolved(dst, f, bar)
}
