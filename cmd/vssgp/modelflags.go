package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp"
)

// modelFlags are the flags of a fit, which fit and impute share.
type modelFlags struct {
	o      vssgp.Options
	init   string  // a start or a model file
	memory float64 // bytes; 0: what is free, +Inf: any number
}

func newModelFlags() *modelFlags {
	return &modelFlags{o: vssgp.Options{Method: vssgp.VSSGP, Inference: vssgp.Exact, Optimiser: "auto"}}
}

// add defines the flags. x is what lengths are measured in, window what the
// windows are where the flag is not given.
func (m *modelFlags) add(f *pflag.FlagSet, x, window string) {
	f.Var(oneOf(&m.o.Method, "vssgp", "ssgp", "rp"), "method", "vssgp, ssgp (point frequencies, optimised) or rp (random frequencies, kept)")
	f.Var(oneOf(&m.o.Inference, "exact", "factorised", "stochastic"), "inference", "bound to fit by: exact, factorised, or stochastic (factorised on mini-batches)")
	f.Var(count(&m.o.Components, unbounded), "components", "covariance `components` (per window, if there are windows; default: from the data)")
	f.Var(count(&m.o.Features, unbounded), "features", "random `features` per component (default: chosen by the start)")
	f.Var(windowLength(&m.o.Window), "window", fmt.Sprintf("length of the windows in %s, none, or auto (default %s)", x, window))
	f.Var(fileName(&m.init, file{}, string(vssgp.InitPaper), string(vssgp.InitSpectrum)), "init",
		"`start`ing values: paper, spectrum, or a model file (default: spectrum for one input, else paper)")
	f.Var(lengths(&m.o.Lengthscales), "lengthscales", "starting length-scales of --init paper in "+x+", one for each component, such as 0.1,1000")
	f.Var(lengths(&m.o.Periods), "periods", "starting periods beside --lengthscales in "+x+", 0 for none, such as 5,0")
	f.Float64Var(&m.o.NoisePrecision, "noise-precision", 0, "starting noise `precision` τ, in 1/y² (default: chosen by the start)")
	f.Float64Var(&m.o.FrequencyVariance, "frequency-variance", 0,
		"starting `variance` of --init paper's frequencies in units of 1/length-scale²: a feature reaches over the length-scale divided by its square root (default 0.001)")
	f.BoolVar(&m.o.UniformPhases, "uniform-phases", false, "give the phases a uniform posterior instead of fixing them")
	f.BoolVar(&m.o.Raw, "raw", false, "do not scale x and y to the order of one; keep the data's own units")
	f.Var(count(&m.o.Iterations, unbounded), "iterations", "most optimiser `steps` for each start (default: chosen by the inference)")
	f.Var(oneOf(&m.o.Optimiser, "auto", "global", "windows"), "optimiser",
		"optimiser of exact and factorised inference: global, windows (each window first steps by itself), or auto (windows from 32 windows on)")
	f.Var(count(&m.o.Segments, unbounded), "segments",
		"`segments` of windows that exact inference eliminates in parallel, for more than two cores (default two, the least work); the number of segments decides the last bits of a fit, the number of cores does not")
	f.Var(count(&m.o.Batch, unbounded), "batch", "`rows` of a mini-batch of stochastic inference (default 512, or all)")
	f.BoolVar(&m.o.Contiguous, "contiguous", false, "mini-batches of neighbouring rows rather than random ones")
	f.Var(count(&m.o.Restarts, unbounded), "restarts", "number of further `starts`; the one with the best bound is kept")
	f.BoolVar(&m.o.Shared, "shared", false, "share one set of components among all windows")
	tie := tensorNames(&m.o.Tie, func(t vssgp.Tensor) bool { return t.Tieable })
	f.Var(tie, "tie", "`tensors` that move together over all components: "+strings.Join(tie.words, ", "))
	f.Var(size(&m.memory), "memory", "refuse a fit that needs more memory than this: a size such as 16GiB, or none (default: the machine's free memory)")
	f.Var(tensorNames(&m.o.Fix, nil), "fix", "`tensors` of the model file to keep at their starting values, such as noise.precision,kernel.frequency")
}

// options are the fit's options: the flags, and nothing else.
func (a *app) options(m *modelFlags) (vssgp.Options, error) {
	o := m.o
	b, err := a.computer.get()
	if err != nil {
		return o, err
	}
	o.Backend, o.Seed = b, a.seed
	o.MemoryLimit = memoryLimit(m.memory)
	if o.Optimiser == "auto" {
		o.Optimiser = ""
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
