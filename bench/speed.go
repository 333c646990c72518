package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"time"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/cuda"
)

// speedFlags are what `bench speed` is asked.
type speedFlags struct {
	sizes
	inference         string
	device, precision string
	repeats           int
	peak              float64 // TFLOP/s
	json, kernels     bool
	out, dump, name   string
	driver, commit    string
}

var inferences = []string{"exact", "factorised", "predict"}

// parseSpeed reads the flags and says what is wrong with them.
func parseSpeed(args []string, stderr io.Writer) (*speedFlags, error) {
	o := &speedFlags{}
	set := flag.NewFlagSet("speed", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.IntVar(&o.N, "n", 16000, "rows")
	set.IntVar(&o.Features, "features", 800, "features: in all, or in each window")
	set.IntVar(&o.Q, "inputs", 1, "inputs")
	set.IntVar(&o.D, "outputs", 1, "outputs")
	set.Float64Var(&o.Window, "window", 0, "length of the windows in samples; 0: none")
	set.BoolVar(&o.Uneven, "uneven", false, "jitter the rows off the even grid")
	set.Uint64Var(&o.Seed, "seed", 1, "of the made problem")
	set.StringVar(&o.inference, "inference", "exact", "exact, factorised (bound and gradient) or predict (mean and covariance at the rows)")
	set.StringVar(&o.device, "device", "cpu", "cpu, cuda or cuda:n[,m…]")
	set.StringVar(&o.precision, "precision", "float64", "float64 or mixed")
	set.IntVar(&o.repeats, "repeats", 5, "timed evaluations after a first that is not counted")
	set.Float64Var(&o.peak, "peak", 0, "measured peak in TFLOP/s, for shares of it")
	set.BoolVar(&o.kernels, "kernels", false, "time each of a card's kernels too, at a few microseconds a launch")
	set.BoolVar(&o.json, "json", false, "print the line of JSON rather than text")
	set.StringVar(&o.out, "out", "", "append the line of JSON to this file")
	set.StringVar(&o.dump, "dump", "", "write the problem, its bound and gradient to this folder, for peers; nothing is timed")
	set.StringVar(&o.name, "case", "", "name of the measurement (default: made of the sizes)")
	set.StringVar(&o.driver, "driver", "", "version of the card's driver, for the record")
	set.StringVar(&o.commit, "commit", "", "commit, for the record, where this build does not know")
	if err := set.Parse(args); err != nil {
		return nil, err
	}
	if set.NArg() > 0 {
		return nil, fmt.Errorf("speed: unexpected argument %q", set.Arg(0))
	}
	if err := o.checkFlags(); err != nil {
		return nil, fmt.Errorf("speed: %w", err)
	}
	if o.name == "" {
		o.name = o.defaultName()
	}
	return o, nil
}

func (o *speedFlags) checkFlags() error {
	switch {
	case !slices.Contains(inferences, o.inference):
		return fmt.Errorf("-inference %q: want exact, factorised or predict", o.inference)
	case o.precision != "float64" && o.precision != "mixed":
		return fmt.Errorf("-precision %q: want float64 or mixed", o.precision)
	case o.repeats < 1:
		return fmt.Errorf("-repeats %d: want 1 or more", o.repeats)
	case !(o.peak >= 0) || math.IsInf(o.peak, 0):
		return fmt.Errorf("-peak %v: want TFLOP/s, or 0 where none is known", o.peak)
	case o.dump != "" && o.inference == "predict":
		return fmt.Errorf("-dump holds a bound and a gradient: want -inference exact or factorised")
	}
	if err := o.check(); err != nil {
		return err
	}
	_, _, err := parseDevice(o.device)
	return err
}

func (o *speedFlags) defaultName() string {
	s := fmt.Sprintf("%s N=%d M=%d", o.inference, o.N, o.Features)
	if o.Window > 0 {
		s += fmt.Sprintf(" window=%g", o.Window)
	}
	if o.Uneven {
		s += " uneven"
	}
	return s
}

func runSpeed(args []string) error {
	o, err := parseSpeed(args, os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return &usage{err}
	}
	r, err := measure(o)
	if err != nil {
		return err
	}
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if o.out != "" {
		if err := appendLine(o.out, line); err != nil {
			return err
		}
	}
	if o.json {
		fmt.Println(string(line))
	} else if o.dump == "" {
		printTable(os.Stdout, []row{r.row()})
	}
	if r.Status != statusOK {
		return fmt.Errorf("%s: %s", r.Case, r.Status)
	}
	return nil
}

// measure times the problem on its device. What runs out of memory there keeps
// its record, which says so; other errors end the command.
func measure(o *speedFlags) (r *record, err error) {
	b, err := openDevice(o.device, o.precision, o.kernels)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	p, err := o.build()
	if err != nil {
		return nil, err
	}
	r = newRecord(o, p, b.Name())
	watch := newStopwatch(b)
	p.model.Backend = watch
	switch err := p.time(o, watch, r); {
	case errors.Is(err, cuda.ErrOutOfMemory), errors.Is(err, cuda.ErrBudget):
		r.Status = "out of memory: " + err.Error()
	case err != nil:
		return nil, err
	}
	r.HostBytes = machine.HostPeak()
	r.DeviceBytes = deviceBytes(b)
	return r, nil
}

// time evaluates once uncounted and then as often as is asked, and fills the
// record with the medians.
func (p *problem) time(o *speedFlags, watch *stopwatch, r *record) error {
	evaluate := func() (float64, error) {
		if o.inference == "predict" {
			_, err := p.model.PredictRows(p.data.X, p.N)
			return 0, err
		}
		e, err := p.model.Evaluate(p.data, vssgp.Inference(o.inference), nil, true)
		if err != nil {
			return 0, err
		}
		if o.dump != "" {
			return e.Bound, p.write(o.dump, o.inference, e)
		}
		return e.Bound, nil
	}
	if o.inference == "predict" {
		if _, err := p.model.Condition(p.data); err != nil {
			return err
		}
	}
	bound, err := evaluate()
	if err != nil {
		return err
	}
	if o.inference != "predict" {
		r.Bound = &bound
	}
	if o.dump != "" {
		return nil
	}
	watch.kernelSeconds(1) // those of the first evaluation are not counted
	var all []parts
	var totals []float64
	for range o.repeats {
		watch.reset()
		if _, err := evaluate(); err != nil {
			return err
		}
		total, part := watch.evaluation(time.Now())
		all, totals = append(all, part), append(totals, total)
	}
	r.timed(totals, all, p.work(o.inference), o.peak)
	r.Kernels = watch.kernelSeconds(o.repeats)
	return nil
}
