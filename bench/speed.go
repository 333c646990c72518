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
	clocked           bool
	fit               int // iterations
	out, dump, name   string
	driver, commit    string
	peers, python     string
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
	set.Float64Var(&o.peak, "peak", 0, "measured peak in TFLOP/s, for shares of it; 0: measure the CPU's")
	set.BoolVar(&o.kernels, "kernels", false, "time each of a card's kernels too, at a few microseconds a launch")
	set.BoolVar(&o.clocked, "clocked", true, "evaluate as often again on the CPU to time the parts of its passes")
	set.IntVar(&o.fit, "fit", 0, "iterations of a fit from the made model, after the evaluations; 0: no fit")
	set.BoolVar(&o.json, "json", false, "print the line of JSON rather than text")
	set.StringVar(&o.out, "out", "", "append the line of JSON to this file")
	set.StringVar(&o.dump, "dump", "", "write the problem, its bound and gradient to this folder, for peers; nothing is timed")
	set.StringVar(&o.name, "case", "", "name of the measurement (default: made of the sizes)")
	set.StringVar(&o.peers, "peers", "", "libraries to time in the same run, of numpy, jax and torch: exact inference without windows")
	set.StringVar(&o.python, "python", "python3", "the Python that has the peers")
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
	case o.fit < 0:
		return fmt.Errorf("-fit %d: want iterations, or 0 for no fit", o.fit)
	case o.fit > 0 && (o.inference == "predict" || o.dump != ""):
		return fmt.Errorf("-fit: want -inference exact or factorised, and no -dump")
	case o.dump != "" && o.inference == "predict":
		return fmt.Errorf("-dump holds a bound and a gradient: want -inference exact or factorised")
	}
	if err := o.check(); err != nil {
		return err
	}
	if err := o.checkPeers(); err != nil {
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
	r, peers, err := measure(o)
	if err != nil {
		return err
	}
	if err := o.report(os.Stdout, r, peers); err != nil {
		return err
	}
	if r.Status != statusOK {
		return fmt.Errorf("%s: %s", r.Case, r.Status)
	}
	return peersError(peers)
}

// report prints and keeps the lines.
func (o *speedFlags) report(w io.Writer, r *record, peers []peerLine) error {
	lines, rows := []any{r}, []row{r.row()}
	for _, p := range peers {
		lines, rows = append(lines, p), append(rows, p.row())
	}
	for _, l := range lines {
		line, err := json.Marshal(l)
		if err != nil {
			return err
		}
		if o.out != "" {
			if err := appendLine(o.out, line); err != nil {
				return err
			}
		}
		if o.json {
			fmt.Fprintln(w, string(line))
		}
	}
	if !o.json && o.dump == "" {
		printTable(w, rows)
		r.details(w)
	}
	return nil
}

// measure times the problem on its device. What runs out of memory there keeps
// its record, which says so; other errors end the command.
func measure(o *speedFlags) (r *record, peers []peerLine, err error) {
	b, err := openDevice(o.device, o.precision, o.kernels)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	p, err := o.build()
	if err != nil {
		return nil, nil, err
	}
	s := newSession(o, p, b)
	peers, err = s.run()
	switch {
	case errors.Is(err, cuda.ErrOutOfMemory), errors.Is(err, cuda.ErrBudget):
		s.record.Status = "out of memory: " + err.Error()
	case err != nil:
		return nil, nil, err
	}
	s.record.DeviceBytes = deviceBytes(b)
	return s.record, peers, nil
}
