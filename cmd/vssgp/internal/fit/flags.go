package fit

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	seriescmd "github.com/vssgp/vssgp/cmd/vssgp/internal/series"
	"github.com/vssgp/vssgp/series"
	"github.com/vssgp/vssgp/variational"
)

// ModelFlags are the flags of a fit, which the commands fit and impute share.
type ModelFlags struct {
	o      vssgp.Options
	Method string  // "": not given
	init   string  // a start or a model file
	Memory float64 // bytes; 0: the free memory, +Inf: any number
}

// AddPrior defines --prior.
func (m *ModelFlags) AddPrior(f *pflag.FlagSet) {
	f.Var(priors(&m.o.Priors), "prior",
		"log-normal `prior` NAME=MEDIAN,SD, NAME=none or none (docs/priors.md)")
}

// Add defines the other flags. window is the default of --window.
func (m *ModelFlags) Add(f *pflag.FlagSet, window string) {
	m.o = vssgp.Options{Inference: vssgp.Exact, Optimizer: "auto"}
	f.Var(cli.OneOf(&m.o.Inference, "exact", "factorised", "stochastic"), "inference",
		"`bound` to maximize: exact, factorised or stochastic")
	f.Var(cli.Count(&m.o.Components, cli.Unbounded), "components",
		"`number` of covariance components, per window (default: from the data)")
	f.Var(cli.Count(&m.o.Features, cli.Unbounded), "features",
		"`number` of features per component (default: from the data)")
	f.Var(windowLength(&m.o.Windows.Length), "window", "`length` of the windows, such as 10 or 32ms; or none, auto (default "+window+")")
	f.Var(cli.FileName(&m.init, cli.FileUse{}, string(vssgp.InitPaper), string(vssgp.InitSpectrum)), "init",
		"initial `values`: paper, spectrum or a model file (default: by the data)")
	f.Var(lengths(&m.o.Paper.Lengthscales), "lengthscales",
		"initial length-scales of --init paper, by component: 0.1,1000")
	f.Var(lengths(&m.o.Paper.Periods), "periods", "initial periods of --init paper, by component: 5,0")
	f.Float64Var(&m.o.NoisePrecision, "noise-precision", 0, "initial noise `precision` in 1/y² (default: from the data)")
	f.Float64Var(&m.o.Paper.FrequencyVariance, "frequency-variance", 0,
		"initial frequency `variance` of --init paper (default 0.001)")
	f.BoolVar(&m.o.UniformPhases, "uniform-phases", false, "give the phases a uniform posterior instead of fixing them")
	f.BoolVar(&m.o.Raw, "raw", false, "do not scale the data to the order of one")
	f.Var(cli.Count(&m.o.Iterations, cli.Unbounded), "iterations",
		"maximum `number` of optimizer steps (default: by the inference)")
	f.Var(cli.OneOf(&m.o.Optimizer, "auto", "global", "windows"), "optimiser",
		"auto, global, or windows (each window first)")
	f.Var(cli.Count(&m.o.Windows.Segments, cli.Unbounded), "segments",
		"`number` of segments of windows to eliminate in parallel")
	f.Var(cli.Count(&m.o.Batch.Rows, cli.Unbounded), "batch", "`rows` of a mini-batch of stochastic inference (default 512)")
	f.BoolVar(&m.o.Batch.Contiguous, "contiguous", false, "make mini-batches of neighboring rows instead of random ones")
	f.Var(cli.Count(&m.o.Restarts, cli.Unbounded), "restarts", "`number` of further initializations; the best bound wins")
	f.BoolVar(&m.o.Windows.Shared, "shared", false, "share one set of components among all windows")
	tie := tensorNames(&m.o.Tie, func(t vssgp.Tensor) bool { return t.Tieable })
	f.Var(tie, "tie", "`tensors` that all components share, such as kernel.lengthscale")
	f.Var(tensorNames(&m.o.Fix, nil), "fix",
		"`tensors` not to optimize, such as noise.precision")
}

// AddMemory defines --memory.
func (m *ModelFlags) AddMemory(f *pflag.FlagSet) {
	f.Var(cli.Size(&m.Memory), "memory",
		"maximum memory: a `size` such as 16GiB, or none (default: all)")
}

// Options returns the fit's options, which depend on the flags alone.
func Options(env *cli.Env, m ModelFlags) (vssgp.Options, error) {
	o := m.o
	o.Method = vssgp.Method(m.Method)
	b, err := env.Device.Backend()
	if err != nil {
		return o, err
	}
	o.Backend, o.Seed = b, env.Seed
	o.MemoryLimit = cli.MemoryLimit(m.Memory)
	if o.Optimizer == "auto" {
		o.Optimizer = ""
	}
	switch m.init {
	case "":
	case string(vssgp.InitPaper), string(vssgp.InitSpectrum):
		o.Init = vssgp.Init(m.init)
	default:
		from, err := loadAny(env, m.init)
		if err == nil && from.series != nil {
			err = cli.Mistake("read model: %s: its format is %s; must be a model of --method vssgp, ssgp or rp", m.init, series.FileFormat)
		}
		if o.From = from.model; err != nil {
			return o, fmt.Errorf("--init is neither paper nor spectrum, so it is read as a model file: %w", err)
		}
	}
	return o, nil
}

// A checkpoint is the state of a fit in a file, as the flags choose it.
type checkpoint struct{ *vssgp.CheckpointOptions }

func (c checkpoint) add(f *pflag.FlagSet) {
	f.Var(cli.FileName(&c.Path, cli.FileUse{Written: true, AtOnce: true}), "checkpoint",
		"save the state of the fit in this `file` now and then, for --resume")
	f.DurationVar(&c.Every, "every", 30*time.Second,
		"minimum `time` between checkpoints")
	f.BoolVar(&c.Resume, "resume", false,
		"continue from the checkpoint if there is one")
}

// check checks the flags against each other. It notes if there is no checkpoint to resume from.
func (c checkpoint) check(env *cli.Env) error {
	switch {
	case c.Resume && c.Path == "":
		return cli.Mistake("--resume needs --checkpoint FILE, the file to resume from")
	case env.Flags.Changed("every") && c.Path == "":
		return cli.Mistake("--every needs --checkpoint FILE, the file to write")
	case c.Every <= 0:
		return cli.Mistake("--every %v; must be a positive time such as 30s", c.Every)
	}
	c.Warn = func(err error) { env.Note("%w", err) }
	return nil
}

// exists reports whether there is a checkpoint.
func (c checkpoint) exists() bool {
	_, err := os.Lstat(c.Path)
	return c.Path != "" && err == nil
}

// howToContinue describes how to continue after an interruption. unsaved is why the last checkpoint could
// not be written. Without a checkpoint, the fit can start from the file model, if there is one.
func (c checkpoint) howToContinue(model string, unsaved error) string {
	switch {
	case c.exists() && unsaved == nil:
		return "run the same command with --resume, which resumes from " + c.Path
	case c.exists():
		return fmt.Sprintf("run the same command with --resume, which resumes from %s as it was earlier (%v)", c.Path, unsaved)
	case model != "":
		return "run the same command with --overwrite --init " + model
	}
	return "run the same command again"
}

// hint adds how to resume, if there is a checkpoint, to a failure that is not the
// caller's mistake.
func (c checkpoint) hint(err error) error {
	if !c.exists() || cli.ExitCode(err) != cli.ExitFailure {
		return err
	}
	return fmt.Errorf("%w; to resume, %s", err, c.howToContinue("", nil))
}

// prior takes the priors of either model; some names belong to one.
func (o *fitFlags) prior() *cli.Value {
	model := priors(&o.model.o.Priors)
	return &cli.Value{Kind: "prior", List: true, Words: slices.Concat(model.Words, seriescmd.PriorNames), Parse: func(s string) error {
		name, text, _ := strings.Cut(s, "=")
		if o.priors = append(o.priors, name); slices.Contains(seriescmd.PriorNames, name) && text != "none" {
			if err := o.Series.AddPrior(s); err != nil || name != "noise" {
				return err
			}
		}
		return model.Parse(s)
	}}
}

// tensorNames takes names of the model file's tensors, with commas between. keep chooses
// those that a shell offers.
func tensorNames(to *[]string, keep func(t vssgp.Tensor) bool) *cli.Value {
	return &cli.Value{Kind: "names", List: true, Words: variational.Names(keep), Parse: func(s string) error {
		*to = append(*to, strings.Split(s, ",")...)
		return nil
	}}
}

// windowLength takes auto, none, or a length along x, which may be a time.
func windowLength(to *float64) *cli.Value {
	v := &cli.Value{Kind: "length", Words: []string{"auto", "none"}}
	v.Parse = func(s string) (err error) {
		v.Timed = false
		switch s {
		case "none":
			*to = vssgp.WindowNone
		case "auto":
			*to = vssgp.WindowAuto
		default:
			*to, v.Timed, err = cli.ParseLength(s)
		}
		return err
	}
	return v
}

// lengths takes numbers in units of x or times, with commas between. The library checks
// their values.
func lengths(to *[]float64) *cli.Value {
	v := &cli.Value{Kind: "numbers", List: true}
	v.Parse = func(s string) error {
		for one := range strings.SplitSeq(s, ",") {
			n, timed, err := cli.ParseTimed(strings.TrimSpace(one))
			if err != nil {
				return fmt.Errorf("%.40q; must be numbers, or times such as 32ms or 0.5s, with commas between", one)
			}
			*to, v.Timed = append(*to, n), v.Timed || timed
		}
		return nil
	}
	return v
}

// priors takes none, or a parameter with its median and the standard deviation of its logarithm, or none.
func priors(to *vssgp.Priors) *cli.Value {
	none := vssgp.NoPriors()
	kinds := map[string]*vssgp.Prior{"amplitude": &to.Amplitude, "lengthscale": &to.Lengthscale, "noise": &to.Noise}
	return &cli.Value{Kind: "prior", List: true, Words: []string{"none", "amplitude=", "lengthscale=", "noise="},
		Parse: func(s string) error {
			name, text, _ := strings.Cut(s, "=")
			prior, numbers := kinds[name], strings.Split(text, ",")
			switch {
			case s == "none":
				*to = none
				return nil
			case prior != nil && text == "none":
				*prior = none.Noise
				return nil
			case prior == nil || len(numbers) != 2:
				return fmt.Errorf("must be none, NAME=none or NAME=MEDIAN,SD such as lengthscale=10,1.5; NAME is amplitude, lengthscale or noise")
			}
			for i, to := range []*float64{&prior.Median, &prior.SD} {
				v, err := strconv.ParseFloat(strings.TrimSpace(numbers[i]), 64)
				if err != nil || !(v > 0) || math.IsInf(v, 0) {
					return fmt.Errorf("%.40q; must be a positive number", numbers[i])
				}
				*to = v
			}
			return nil
		}}
}
