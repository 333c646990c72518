package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/bench/internal/machine"
)

// speedTask is `bench speed`.
type speedTask struct {
	settings
	peerList string
	json     bool
	out      string
}

var inferences = []string{"exact", "factorised", "predict"}

func (o *speedTask) flags(set *flag.FlagSet) {
	o.sizes.flags(set, 16000, 800, 1)
	set.IntVar(&o.Q, "inputs", 1, "inputs")
	set.IntVar(&o.D, "outputs", 1, "outputs")
	set.StringVar(&o.inference, "inference", "exact", "exact, factorised (bound and gradient) or predict (mean and covariance at the rows)")
	set.StringVar(&o.device, "device", "cpu", "cpu, cuda or cuda:n")
	set.IntVar(&o.repeats, "repeats", 5, "timed evaluations after a first that is not counted")
	set.Float64Var(&o.peak, "peak", 0, "measured peak in TFLOP/s, for shares of it; 0: measure the CPU's")
	set.BoolVar(&o.kernels, "kernels", false, "time each of a card's kernels too, at a few microseconds a launch")
	set.BoolVar(&o.clocked, "clocked", true, "evaluate as often again on the CPU to time the parts of its passes")
	set.IntVar(&o.fit, "fit", 0, "iterations of a fit from the made model, after the evaluations; 0: no fit")
	set.BoolVar(&o.json, "json", false, "print the line of JSON rather than text")
	set.StringVar(&o.out, "out", "", "append the line of JSON to this file")
	set.StringVar(&o.dump, "dump", "", "write the problem, its bound and gradient to this folder, for peers; nothing is timed")
	set.StringVar(&o.name, "case", "", "name of the measurement (default: made of the sizes)")
	set.StringVar(&o.peerList, "peers", "", "libraries to time in the same run, of numpy, jax and torch: exact inference without windows")
	set.StringVar(&o.python, "python", "python3", "the Python that has the peers")
	set.StringVar(&o.driver, "driver", "", "version of the card's driver, for the record")
	commitFlag(set, &o.commit)
}

func (o *speedTask) check(files []string) error {
	switch {
	case !slices.Contains(inferences, o.inference):
		return fmt.Errorf("-inference %q: want exact, factorised or predict", o.inference)
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
	if o.name == "" {
		o.name = o.defaultName()
	}
	var err error
	o.kind, o.ordinal, err = parseDevice(o.device)
	o.peers = list(o.peerList)
	return cmp.Or(want(files, 0, ""), o.sizes.check(), err, o.checkPeers())
}

func (o *speedTask) defaultName() string {
	s := fmt.Sprintf("%s N=%d M=%d", o.inference, o.N, o.Features)
	if o.Window > 0 {
		s += fmt.Sprintf(" window=%g", o.Window)
	}
	if o.Uneven {
		s += " uneven"
	}
	return s
}

func (o *speedTask) run() error {
	r, peers, err := o.measure()
	if err != nil {
		return err
	}
	if err := o.report(os.Stdout, r, peers); err != nil {
		return err
	}
	if r.Status != machine.OK {
		return fmt.Errorf("%s: %s", r.Case, r.Status)
	}
	return peersError(peers)
}

// report prints and keeps the lines.
func (o *speedTask) report(w io.Writer, r *record, peers []peerLine) error {
	lines, rows := []any{r}, []row{r.row()}
	for _, p := range peers {
		lines, rows = append(lines, p), append(rows, p.row())
	}
	for _, l := range lines {
		if o.out != "" {
			if err := jsonl.Append(o.out, l); err != nil {
				return err
			}
		}
		if o.json {
			if err := json.NewEncoder(w).Encode(l); err != nil {
				return err
			}
		}
	}
	if !o.json && o.dump == "" {
		printTable(w, rows)
		r.details(w)
	}
	return nil
}

// checkPeers reports libraries that there are not, and settings that they cannot compute.
func (o *speedTask) checkPeers() error {
	for _, p := range o.peers {
		if !slices.Contains(peerNames, p) {
			return fmt.Errorf("-peers: %q: want some of %s", p, strings.Join(peerNames, ","))
		}
	}
	switch {
	case len(o.peers) == 0:
	case o.inference != "exact" || o.Window > 0:
		return errors.New("-peers: they compute the exact bound without windows: want -inference exact and no -window")
	case o.dump != "":
		return errors.New("-peers: -dump times nothing: want one of the two")
	}
	return nil
}
