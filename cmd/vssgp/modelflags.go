package main

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp"
)

// modelFlags are the flags of a fit, which fit and impute share.
type modelFlags struct {
	method, inference choice
	optimiser         choice
	window            windowFlag
	init              string
	fix               []string
	memory            memoryFlag
	// starting values of the components
	lengthscales, periods lengthsFlag
	o                     vssgp.Options // the fields that a flag sets directly
}

func newModelFlags() *modelFlags {
	return &modelFlags{
		method:    choice{allowed: []string{"vssgp", "ssgp", "rp"}, value: "vssgp"},
		inference: choice{allowed: []string{"exact", "factorised", "stochastic"}, value: "exact"},
		optimiser: choice{allowed: []string{"auto", "global", "windows"}, value: "auto"},
	}
}

// add defines the flags. x is what lengths are measured in, window what the
// windows are where the flag is not given.
func (m *modelFlags) add(f *pflag.FlagSet, x, window string) {
	f.Var(&m.method, "method", "vssgp, ssgp (point frequencies, optimised) or rp (random frequencies, kept)")
	f.Var(&m.inference, "inference", "bound to fit by: exact, factorised, or stochastic (factorised on mini-batches)")
	f.IntVar(&m.o.Components, "components", 0, "covariance `components`, per window where there are windows (default: from the data)")
	f.IntVar(&m.o.Features, "features", 0, "random `features` per component (default: chosen by the start)")
	f.Var(&m.window, "window", fmt.Sprintf("length of the windows in %s, none, or auto (default %s)", x, window))
	f.StringVar(&m.init, "init", "", "`start`ing values: paper, spectrum, or a model file (default: spectrum for one input, else paper)")
	f.Var(&m.lengthscales, "lengthscales", "starting length-scales of --init paper in "+x+", one a component, such as 0.1,1000")
	f.Var(&m.periods, "periods", "starting periods beside --lengthscales in "+x+", 0 for none, such as 5,0")
	f.Float64Var(&m.o.NoisePrecision, "noise-precision", 0, "starting noise `precision` in 1/y² (default: chosen by the start)")
	f.Float64Var(&m.o.FrequencyVariance, "frequency-variance", 0, "starting `variance` of --init paper's frequencies in units of 1/length-scale²: a feature reaches over a length-scale divided by its root (default 0.001)")
	f.BoolVar(&m.o.UniformPhases, "uniform-phases", false, "give the phases a uniform posterior instead of fixing them")
	f.BoolVar(&m.o.Raw, "raw", false, "keep the model in the data's own units instead of scaling x and y to the order of one")
	f.IntVar(&m.o.Iterations, "iterations", 0, "optimiser `steps` of each start at most (default: chosen by the inference)")
	f.Var(&m.optimiser, "optimiser", "of exact and factorised inference: global, windows (each window steps by itself first), or auto (windows where there are 32 or more)")
	f.IntVar(&m.o.Segments, "segments", 0, "`runs` of windows whose blocks of the matrix exact inference eliminates side by side, for more than two cores (default: two, which is least work); their number decides the last bits of a fit, that of the cores does not")
	f.IntVar(&m.o.Batch, "batch", 0, "`rows` of a mini-batch of stochastic inference (default 512, or all)")
	f.BoolVar(&m.o.Contiguous, "contiguous", false, "mini-batches of neighbouring rows rather than random ones")
	f.IntVar(&m.o.Restarts, "restarts", 0, "further `starts`; the best bound is kept")
	f.BoolVar(&m.o.Shared, "shared", false, "the windows' components are one set: each window's move with the others'")
	f.StringSliceVar(&m.o.Tie, "tie", nil, "`tensors` that move as one over all components: kernel.variance, kernel.lengthscale, kernel.frequency")
	f.Var(&m.memory, "memory", "refuse a model whose fit needs more: a size such as 16GiB, or none (default: what the machine has free)")
	f.StringSliceVar(&m.fix, "fix", nil, "`tensors` of the model file that stay as they start, such as noise.precision,kernel.frequency")
}

// options are the fit's options: the flags, and nothing else.
func (a *app) options(m *modelFlags) (vssgp.Options, error) {
	o := m.o
	b, err := a.computer.get()
	if err != nil {
		return o, err
	}
	o.Backend, o.Seed, o.Fix = b, a.seed, m.fix
	o.Method, o.Inference = vssgp.Method(m.method.value), vssgp.Inference(m.inference.value)
	if m.optimiser.value != "auto" {
		o.Optimiser = vssgp.Optimiser(m.optimiser.value)
	}
	o.MemoryLimit = m.memory.limit()
	o.Lengthscales, o.Periods = m.lengthscales.values, m.periods.values
	o.Window = m.window.length
	for _, n := range []struct {
		flag  string
		value int
	}{{"components", o.Components}, {"features", o.Features}, {"iterations", o.Iterations}, {"segments", o.Segments}, {"batch", o.Batch}, {"restarts", o.Restarts}} {
		if n.value < 0 {
			return o, mistake("--%s %d; want a positive number, or 0 for the default", n.flag, n.value)
		}
	}
	switch m.init {
	case "":
	case string(vssgp.InitPaper), string(vssgp.InitSpectrum):
		o.Init = vssgp.Init(m.init)
	default:
		if o.From, err = a.load(m.init); err != nil {
			return o, fmt.Errorf("--init, which is neither paper nor spectrum: %w", err)
		}
	}
	return o, nil
}

// inTable refuses times as lengths along a table's inputs.
func (m *modelFlags) inTable() error {
	return cmp.Or(timeless("window", m.window.timed, &m.window), m.lengthscales.inTable("lengthscales"), m.periods.inTable("periods"))
}

// windowFlag is --window.
type windowFlag struct {
	text   string
	length float64 // in units of x, vssgp.WindowAuto or vssgp.WindowNone
	timed  bool    // given with a unit of time
}

// String is the flag as it was written.
func (w *windowFlag) String() string { return w.text }

// Type is what help calls the flag's argument.
func (w *windowFlag) Type() string { return "length" }

// Set takes none, auto, a number in units of x, or a time such as 32ms.
func (w *windowFlag) Set(s string) error {
	*w = windowFlag{text: s}
	switch s {
	case "none":
		w.length = vssgp.WindowNone
		return nil
	case "auto":
		w.length = vssgp.WindowAuto
		return nil
	}
	var err error
	w.length, w.timed, err = parseLength(s)
	return err
}

// parseLength reads a positive number, which may be a time with the unit s or
// ms; a time comes back in seconds.
func parseLength(s string) (v float64, timed bool, err error) {
	v, timed, err = parseTimed(s)
	if err != nil || !(v > 0) || math.IsInf(v, 0) {
		return 0, false, fmt.Errorf("want a positive number, or a time such as 32ms or 0.5s")
	}
	return v, timed, nil
}

// parseTimed reads a number, which may be a time as for parseLength.
func parseTimed(s string) (v float64, timed bool, err error) {
	text, unit := s, 1.0
	if t, ok := strings.CutSuffix(s, "ms"); ok {
		text, unit, timed = t, 1e-3, true
	} else if t, ok := strings.CutSuffix(s, "s"); ok {
		text, timed = t, true
	}
	v, err = strconv.ParseFloat(text, 64)
	return v * unit, timed, err
}

// lengthsFlag is --lengthscales or --periods: numbers in units of x or times,
// with commas between. Which are allowed the model says.
type lengthsFlag struct {
	text   []string
	values []float64
	timed  bool // one was given with a unit of time
}

// String is the flag as it was written.
func (l *lengthsFlag) String() string { return strings.Join(l.text, ",") }

// Type is what help calls the flag's argument.
func (l *lengthsFlag) Type() string { return "numbers" }

// Set adds the numbers of a list.
func (l *lengthsFlag) Set(s string) error {
	for _, one := range strings.Split(s, ",") {
		v, timed, err := parseTimed(strings.TrimSpace(one))
		if err != nil {
			return fmt.Errorf("%.40q; want numbers, or times such as 32ms or 0.5s, with commas between", one)
		}
		l.values, l.timed = append(l.values, v), l.timed || timed
	}
	l.text = append(l.text, s)
	return nil
}

// inTable refuses a time, as a table's inputs have no unit.
func (l *lengthsFlag) inTable(flag string) error { return timeless(flag, l.timed, l) }

func timeless(flag string, timed bool, given fmt.Stringer) error {
	if !timed {
		return nil
	}
	return mistake("--%s %v: a table has no unit of time; want plain numbers in units of x", flag, given)
}

// contextFlag is impute's --context.
type contextFlag struct {
	text  string
	all   bool
	after time.Duration
}

// String is the flag as it was written.
func (c *contextFlag) String() string { return c.text }

// Type is what help calls the flag's argument.
func (c *contextFlag) Type() string { return "time" }

// Set takes all or a time such as 60ms.
func (c *contextFlag) Set(s string) error {
	*c = contextFlag{text: s, all: s == "all"}
	if c.all {
		return nil
	}
	v, timed, err := parseLength(s)
	const most = 1e6 // seconds: more than any recording, less than a Duration holds
	if err != nil || !timed || v > most {
		return fmt.Errorf("want a time such as 60ms or 0.1s, or all")
	}
	c.after = time.Duration(v * float64(time.Second))
	return nil
}
