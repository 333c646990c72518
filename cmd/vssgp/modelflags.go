package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp"
)

// modelFlags are the flags of a fit, which the commands fit and impute share.
type modelFlags struct {
	o      vssgp.Options
	method string  // "": not given
	init   string  // a start or a model file
	memory float64 // bytes; 0: what is free, +Inf: any number
}

// addPrior defines --prior.
func (m *modelFlags) addPrior(f *pflag.FlagSet) {
	f.Var(priors(&m.o.Priors), "prior",
		"log-normal `prior` such as lengthscale=10,1.5: median in the data's units and standard deviation of the logarithm of an amplitude, a lengthscale or the noise (as a standard deviation); lengthscale=none, or none for all (default: weak ones from the data)")
}

// add defines the other flags. x is the unit of lengths, window the default of --window.
func (m *modelFlags) add(f *pflag.FlagSet, x, window string) {
	m.o = vssgp.Options{Inference: vssgp.Exact, Optimizer: "auto"}
	f.Var(oneOf(&m.o.Inference, "exact", "factorised", "stochastic"), "inference", "bound to fit by: exact, factorised, or stochastic (factorised on mini-batches)")
	f.Var(count(&m.o.Components, unbounded), "components", "covariance `components` (per window, if there are windows; default: from the data)")
	f.Var(count(&m.o.Features, unbounded), "features", "random `features` per component (default: chosen by the start; of a table by the bound)")
	f.Var(windowLength(&m.o.Windows.Length), "window", fmt.Sprintf("length of the windows in %s, none, or auto (default %s)", x, window))
	f.Var(fileName(&m.init, file{}, string(vssgp.InitPaper), string(vssgp.InitSpectrum)), "init",
		"`start`ing values: paper, spectrum, or a model file (default: spectrum for one input, else paper)")
	f.Var(lengths(&m.o.Paper.Lengthscales), "lengthscales", "starting length-scales of --init paper in "+x+", one for each component, such as 0.1,1000")
	f.Var(lengths(&m.o.Paper.Periods), "periods", "starting periods beside --lengthscales in "+x+", 0 for none, such as 5,0")
	f.Float64Var(&m.o.NoisePrecision, "noise-precision", 0, "starting noise `precision` τ, in 1/y² (default: chosen by the start)")
	f.Float64Var(&m.o.Paper.FrequencyVariance, "frequency-variance", 0,
		"starting `variance` of --init paper's frequencies in units of 1/length-scale²: a feature reaches over the length-scale divided by its square root (default 0.001)")
	f.BoolVar(&m.o.UniformPhases, "uniform-phases", false, "give the phases a uniform posterior instead of fixing them")
	f.BoolVar(&m.o.Raw, "raw", false, "do not scale x and y to the order of one; keep the data's own units")
	f.Var(count(&m.o.Iterations, unbounded), "iterations", "most optimiser `steps` for each start (default: chosen by the inference)")
	f.Var(oneOf(&m.o.Optimizer, "auto", "global", "windows"), "optimiser",
		"optimiser of exact and factorised inference: global, windows (each window first steps by itself), or auto (windows from 32 windows on)")
	f.Var(count(&m.o.Windows.Segments, unbounded), "segments",
		"`segments` of windows that exact inference eliminates in parallel, for more than two cores (default two, the least work); the number of segments decides the last bits of a fit, the number of cores does not")
	f.Var(count(&m.o.Batch.Rows, unbounded), "batch", "`rows` of a mini-batch of stochastic inference (default 512, or all)")
	f.BoolVar(&m.o.Batch.Contiguous, "contiguous", false, "mini-batches of neighbouring rows rather than random ones")
	f.Var(count(&m.o.Restarts, unbounded), "restarts", "number of further `starts`; the one with the best bound is kept")
	f.BoolVar(&m.o.Windows.Shared, "shared", false, "share one set of components among all windows")
	tie := tensorNames(&m.o.Tie, func(t vssgp.Tensor) bool { return t.Tieable })
	f.Var(tie, "tie", "`tensors` that move together over all components: "+strings.Join(tie.words, ", "))
	f.Var(tensorNames(&m.o.Fix, nil), "fix", "`tensors` of the model file to keep at their starting values, such as noise.precision,kernel.frequency")
}

// addMemory defines --memory.
func (m *modelFlags) addMemory(f *pflag.FlagSet) {
	f.Var(size(&m.memory), "memory", "refuse work that needs more memory than this: a size such as 16GiB, or none (default: the machine's free memory)")
}

// options returns the fit's options, which depend on the flags alone.
func (a *app) options(m modelFlags) (vssgp.Options, error) {
	o := m.o
	o.Method = vssgp.Method(m.method)
	b, err := a.computer.get()
	if err != nil {
		return o, err
	}
	o.Backend, o.Seed = b, a.seed
	o.MemoryLimit = memoryLimit(m.memory)
	if o.Optimizer == "auto" {
		o.Optimizer = ""
	}
	switch m.init {
	case "":
	case string(vssgp.InitPaper), string(vssgp.InitSpectrum):
		o.Init = vssgp.Init(m.init)
	default:
		if o.From, err = a.load(m.init); err != nil {
			return o, fmt.Errorf("--init is neither paper nor spectrum, so it is read as a model file: %w", err)
		}
	}
	return o, nil
}

// checkpointFlags are the flags of work that can be resumed.
type checkpointFlags struct {
	file   string
	every  time.Duration
	resume bool
}

func (c *checkpointFlags) add(f *pflag.FlagSet) {
	f.Var(fileName(&c.file, file{written: true, atOnce: true}), "checkpoint",
		"save what is done in this `file`, so that --resume can continue whatever stopped it; the file stays afterwards")
	f.DurationVar(&c.every, "every", 30*time.Second, "least `time` between two checkpoints; longer if writing would take more than a twentieth of the time")
	f.BoolVar(&c.resume, "resume", false, "continue from the checkpoint, to the same bits as without an interruption; start from the beginning if there is none yet")
}

// check checks the flags against each other.
func (c *checkpointFlags) check(flags *pflag.FlagSet) error {
	switch {
	case c.resume && c.file == "":
		return mistake("--resume needs --checkpoint FILE, the file to resume from")
	case flags.Changed("every") && c.file == "":
		return mistake("--every needs --checkpoint FILE, the file to write")
	case c.every <= 0:
		return mistake("--every %v; want a positive time such as 30s", c.every)
	}
	return nil
}

// exists reports whether there is a checkpoint.
func (c *checkpointFlags) exists() bool {
	_, err := os.Lstat(c.file)
	return c.file != "" && err == nil
}

// apply gives a fit its checkpoint, and says if there is none yet.
func (a *app) apply(c *checkpointFlags, o *vssgp.Options) {
	o.Checkpoint.Path, o.Checkpoint.Every, o.Checkpoint.Resume = c.file, c.every, c.resume
	o.Checkpoint.Warn = func(err error) { a.note("%w", err) }
	if _, err := os.Lstat(c.file); c.resume && errors.Is(err, fs.ErrNotExist) {
		a.note("no checkpoint %s yet: starting from the beginning", c.file)
	}
}

// goOn says how to continue after an interruption. unsaved is why the last checkpoint could
// not be written. Without a checkpoint, the fit can start from the file model, if there is one.
func (c *checkpointFlags) goOn(model string, unsaved error) string {
	switch {
	case c.exists() && unsaved == nil:
		return "run the same command with --resume, which resumes from " + c.file
	case c.exists():
		return fmt.Sprintf("run the same command with --resume, which resumes from %s as it was earlier (%v)", c.file, unsaved)
	case model != "":
		return "run the same command with --overwrite --init " + model
	}
	return "run the same command again"
}

// hint adds how to resume, if there is a checkpoint, to a failure that is not the
// caller's mistake.
func (c *checkpointFlags) hint(err error) error {
	if !c.exists() || exitCode(err) != exitFailure {
		return err
	}
	return fmt.Errorf("%w; to resume, %s", err, c.goOn("", nil))
}
