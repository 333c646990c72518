package fit

import (
	"cmp"
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
	"github.com/vssgp/vssgp/variational"
)

// ModelFlags are the flags of a fit in the commands fit and impute.
type ModelFlags struct {
	o      vssgp.Options
	Method string  // "" if it is not given
	init   string  // an initialization or a model file
	Memory float64 // bytes; 0 for the free memory, +Inf for no limit
}

// AddPrior defines --prior.
func (m *ModelFlags) AddPrior(f *pflag.FlagSet) {
	f.Var(priors(&m.o.Priors), "prior",
		"log-normal `prior` NAME=MEDIAN,SD, NAME=none or none (vssgp help priors)")
}

// Add defines the other flags. window is the default of --window in the help text.
func (m *ModelFlags) Add(f *pflag.FlagSet, window string) {
	m.o = vssgp.Options{Inference: vssgp.Exact, Optimizer: "auto"}
	f.Var(cli.OneOf(&m.o.Inference, "exact", "factorized", "stochastic"), "inference",
		"`bound` to maximize: exact, factorized or stochastic")
	f.Var(cli.Count(&m.o.Components, cli.Unbounded), "components",
		"`number` of covariance components, per window (default: from the data)")
	f.Var(cli.Count(&m.o.Features, cli.Unbounded), "features",
		"`number` of features per component (default: from the data)")
	f.Var(windowLength(&m.o.Windows.Length), "window", "`length` of the windows, such as 10 or 32ms; none; or auto (default "+window+")")
	f.Var(cli.FileName(&m.init, cli.FileUse{}, string(vssgp.InitPaper), string(vssgp.InitSearch), string(vssgp.InitSpectrum)), "init",
		"paper, search, spectrum or a model `file` (see vssgp help choosing)")
	f.Var(lengths(&m.o.Paper.Lengthscales), "lengthscales",
		"initial length-scales of --init paper, such as 0.1,1000")
	f.Var(lengths(&m.o.Paper.Periods), "periods", "initial periods of --init paper, such as 5,0")
	f.Float64Var(&m.o.NoisePrecision, "noise-precision", 0, "initial noise `precision` in 1/y² (default: from the data)")
	f.Float64Var(&m.o.Paper.FrequencyVariance, "frequency-variance", 0,
		"initial frequency `variance` of --init paper (default 0.001)")
	f.BoolVar(&m.o.UniformPhases, "uniform-phases", false, "use uniform posteriors of the phases instead of fixed phases")
	f.BoolVar(&m.o.Raw, "raw", false, "do not standardize the data")
	f.Var(cli.Count(&m.o.Iterations, cli.Unbounded), "iterations",
		"maximum `number` of optimizer steps (default: depends on --inference)")
	f.Var(cli.OneOf(&m.o.Optimizer, "auto", "global", "windows"), "optimizer",
		"auto, global, or windows (each window first)")
	f.Var(cli.Count(&m.o.Windows.Segments, cli.Unbounded), "segments",
		"`number` of segments of windows to eliminate in parallel")
	f.Var(cli.Count(&m.o.Batch.Rows, cli.Unbounded), "batch", "`rows` per mini-batch in stochastic inference (default 512)")
	f.BoolVar(&m.o.Batch.Contiguous, "contiguous", false, "use neighboring rows instead of random rows in mini-batches")
	f.Var(cli.Count(&m.o.Restarts, cli.Unbounded), "restarts", "`number` of further initializations; the best bound is kept")
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

// usualEvaluations is about the number of evaluations of the bound in a fit without --iterations.
const usualEvaluations = 100

// Options returns the options of a fit from the flags. It opens the device.
func Options(env *cli.Env, m ModelFlags) (vssgp.Options, error) {
	o := m.o
	o.Method = vssgp.Method(m.Method)
	env.Device.Evaluations = max(1, cmp.Or(o.Iterations, usualEvaluations))
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
	case string(vssgp.InitPaper), string(vssgp.InitSearch), string(vssgp.InitSpectrum):
		o.Init = vssgp.Init(m.init)
	default:
		from, err := readModel(env, m.init, b)
		one, ok := from.(vssgpModel)
		if err == nil && !ok {
			err = cli.Mistake("read model: %s is a structural model; must be a model of --method vssgp, ssgp or rp", m.init)
		}
		if o.From = one.Model; err != nil {
			return o, fmt.Errorf("--init must be paper, search, spectrum or a model file: %w", err)
		}
	}
	return o, nil
}

// A checkpoint contains the options of a fit's checkpoint file.
type checkpoint struct{ *vssgp.CheckpointOptions }

func (c checkpoint) add(f *pflag.FlagSet) {
	f.Var(cli.FileName(&c.Path, cli.FileUse{Written: true, AtOnce: true}), "checkpoint",
		"save the state of the fit to this `file` periodically, for --resume")
	f.DurationVar(&c.Every, "every", 30*time.Second,
		"minimum `time` between checkpoints")
	f.BoolVar(&c.Resume, "resume", false,
		"continue from the checkpoint if there is one")
}

// check returns an error if the flags are inconsistent. It sets the function that prints warnings.
func (c checkpoint) check(env *cli.Env) error {
	switch {
	case c.Resume && c.Path == "":
		return cli.Mistake("--resume requires --checkpoint FILE, the file to resume from")
	case env.Flags.Changed("every") && c.Path == "":
		return cli.Mistake("--every requires --checkpoint FILE, the file to write")
	case c.Every <= 0:
		return cli.Mistake("--every %v: must be a positive time such as 30s", c.Every)
	}
	c.Warn = func(err error) { env.Note("%w", err) }
	return nil
}

// exists reports whether there is a checkpoint.
func (c checkpoint) exists() bool {
	_, err := os.Lstat(c.Path)
	return c.Path != "" && err == nil
}

// howToContinue tells the user how to continue after an interruption. unsaved is the error of the last checkpoint,
// if it could not be written. Without a checkpoint, the fit can be initialized from the file model, if there is one.
func (c checkpoint) howToContinue(model string, unsaved error) string {
	switch {
	case c.exists() && unsaved == nil:
		return "run the same command with --resume, which resumes from " + c.Path
	case c.exists():
		return fmt.Sprintf("run the same command with --resume, which resumes from an earlier state in %s (%v)", c.Path, unsaved)
	case model != "":
		return "run the same command with --overwrite --init " + model
	}
	return "run the same command again"
}

// hint adds a remark about --resume to a failure, if there is a checkpoint. It returns
// errors of the caller unchanged.
func (c checkpoint) hint(err error) error {
	if !c.exists() || cli.ExitCode(err) != cli.ExitFailure {
		return err
	}
	return fmt.Errorf("%w; to resume, %s", err, c.howToContinue("", nil))
}

// prior returns a value that accepts the priors of both kinds of models.
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

// tensorNames returns a value that accepts a comma-separated list of the model file's tensors.
// keep selects the tensors for shell completion.
func tensorNames(to *[]string, keep func(t vssgp.Tensor) bool) *cli.Value {
	return &cli.Value{Kind: "names", List: true, Words: variational.Names(keep), Parse: func(s string) error {
		*to = append(*to, strings.Split(s, ",")...)
		return nil
	}}
}

// windowLength returns a value that accepts auto, none, or a length along x, which may be a time.
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

// lengths returns a value that accepts a comma-separated list of numbers in units of x or
// times. The library checks their values.
func lengths(to *[]float64) *cli.Value {
	v := &cli.Value{Kind: "numbers", List: true}
	v.Parse = func(s string) error {
		for one := range strings.SplitSeq(s, ",") {
			n, timed, err := cli.ParseTimed(strings.TrimSpace(one))
			if err != nil {
				return fmt.Errorf("%.40q; must be numbers or times such as 32ms or 0.5s, separated by commas", one)
			}
			*to, v.Timed = append(*to, n), v.Timed || timed
		}
		return nil
	}
	return v
}

// priors returns a value that accepts none, or a parameter with none or with its median and the standard deviation of its logarithm.
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
