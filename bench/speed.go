package main

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/bench/internal/machine"
)

var inferences = []string{"exact", "factorized", "predict"}

func (o *speedTask) flags(set *flag.FlagSet) {
	o.sizes.flags(set, 16000, 800, 1)
	set.IntVar(&o.Q, "inputs", 1, "number of inputs")
	set.IntVar(&o.D, "outputs", 1, "number of outputs")
	set.StringVar(&o.inference, "inference", "exact", "exact, factorized (bound and gradient) or predict (mean and covariance at the rows)")
	set.StringVar(&o.device, "device", "cpu", "cpu, cuda or cuda:n")
	set.IntVar(&o.repeats, "repeats", 5, "timed evaluations after one that is not counted")
	set.Float64Var(&o.peak, "peak", 0, "peak rate in TFLOP/s, for shares of it; 0: measure it on the CPU")
	set.BoolVar(&o.kernels, "kernels", false, "also time each GPU kernel, which adds a few microseconds per launch")
	set.BoolVar(&o.clocked, "clocked", true, "on the CPU, repeat the evaluations to time the parts of their passes")
	set.IntVar(&o.fit, "fit", 0, "iterations of a fit, of the synthetic model after the evaluations, or of -data before them; 0: no fit")
	set.BoolVar(&o.Fitted, "fitted", false, "features as in real fits: all extend over all rows, half have low frequencies")
	set.Float64Var(&o.Short, "short", 0, "share of the features that reach over only 1/20 of the rows, or of a window")
	set.BoolVar(&o.checked, "check", false, "compare bound and gradient with the CPU; fail if they differ by more than 1e-11 and 1e-9")
	set.BoolVar(&o.direct, "direct", false, "compute the sums by passes over the rows, even if tables are faster")
	set.StringVar(&o.image, "image", "", "file of PTX or a cubin with variants of kernels, which replace those of the same names")
	set.StringVar(&o.data, "data", "", "use the rows of this recording or table of two columns, and the model after -fit iterations")
	set.BoolVar(&o.json, "json", false, "print lines of JSON instead of text")
	set.StringVar(&o.out, "out", "", "append lines of JSON to this file")
	set.BoolVar(&o.show, "show", false, "print the table of files of lines, such as the results of device.sh; time nothing")
	set.StringVar(&o.dump, "dump", "", "write the problem, its bound and gradient to this folder, for peers; time nothing")
	set.StringVar(&o.name, "case", "", "name of the measurement (default: composed of the sizes)")
	set.StringVar(&o.peerList, "peers", "", "libraries to time in the same run: "+
		"numpy, jax, torch (exact, no windows), celerite4, celerite20; with two inputs also "+strings.Join(mapPeers, ", "))
	set.DurationVar(&o.peerTime, "peer-time", 5*time.Minute, "time limit of each peer, including compilation")
	set.StringVar(&o.python, "python", "python3", "Python interpreter with the peers' libraries")
	commitFlag(set, &o.commit)
}

func (o *speedTask) check(files []string) error {
	if o.files = files; o.show {
		return demand(len(files) > 0, "-show requires files of lines")
	}
	if o.name == "" {
		o.name = o.defaultName()
	}
	o.Map = o.Q == 2 && o.Window == 0
	var err error
	o.kind, o.ordinal, err = parseDevice(o.device)
	o.peers = list(o.peerList)
	exact, predict, dump := o.inference == "exact", o.inference == "predict", o.dump != ""
	return cmp.Or(
		demand(slices.Contains(inferences, o.inference), "-inference %q: must be exact, factorized or predict", o.inference),
		demand(o.repeats >= 1, "-repeats %d: must be at least 1", o.repeats),
		demand(o.peak >= 0 && !math.IsInf(o.peak, 0), "-peak %v: must be a positive rate in TFLOP/s, or 0 if unknown", o.peak),
		demand(o.fit >= 0, "-fit %d: must be a number of iterations, or 0 for no fit", o.fit),
		demand(o.fit == 0 || !predict && !dump, "-fit requires -inference exact or factorized and cannot be combined with -dump"),
		demand(o.data == "" || exact && o.fit > 0 && o.Features%2 == 0 &&
			o.Q == 1 && o.D == 1 && o.Window == 0 && !o.Uneven && !o.Fitted && o.Short == 0,
			"-data requires -fit and an even number of -features, and -inference exact without "+
				"-inputs, -outputs, -window, -uneven, -fitted and -short"),
		demand(!o.checked || !predict, "-check requires -inference exact or factorized"),
		demand(!dump || !predict, "-dump requires -inference exact or factorized"),
		demand(o.peerTime > 0, "-peer-time %v: must be positive", o.peerTime),
		demand(o.image == "" || o.kind == "cuda", "-image requires -device cuda"),
		demandFiles(files, 0, ""), o.sizes.check(), err,
		known("peers", o.peers, peerNames),
		demand(len(o.peers) == 0 || exact && o.Window == 0,
			"-peers requires -inference exact without -window"),
		demand(o.Q == 2 || !slices.ContainsFunc(o.peers, func(p string) bool { return slices.Contains(mapPeers, p) }),
			"-peers %s require -inputs 2", strings.Join(mapPeers, ", ")),
		demand(len(o.peers) == 0 || !dump, "-peers and -dump cannot be combined: -dump measures no time"),
		demand(o.data == "" || !slices.ContainsFunc(o.peers, func(p string) bool { return celerite[p] == nil }),
			"-data allows only -peers celerite4 and celerite20, because the other peers do not support fixed phases"))
}

func (o *speedTask) defaultName() string {
	s := fmt.Sprintf("%s N=%d M=%d", o.inference, o.N, o.Features)
	if o.data != "" {
		s = fmt.Sprintf("%s %s M=%d", o.inference, filepath.Base(o.data), o.Features)
	}
	if o.Q > 1 {
		s += fmt.Sprintf(" Q=%d", o.Q)
	}
	if o.Window > 0 {
		s += fmt.Sprintf(" window=%g", o.Window)
	}
	if o.Uneven {
		s += " uneven"
	}
	if o.Fitted {
		s += " fitted"
	}
	if o.Short > 0 {
		s += fmt.Sprintf(" short=%g", o.Short)
	}
	if o.direct {
		s += " direct"
	}
	if o.image != "" {
		s += " " + filepath.Base(o.image)
	}
	return s
}

func (o *speedTask) run() error {
	if o.show {
		for i, file := range o.files {
			r, err := readResult(file)
			if err != nil {
				return err
			}
			if i > 0 {
				fmt.Println()
			}
			r.print(os.Stdout)
		}
		return nil
	}
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

// report prints the lines and appends them to the file -out.
func (o *speedTask) report(w io.Writer, r *record, peers []peerLine) error {
	lines, rows := []any{r}, []row{head, r.row()}
	for _, p := range peers {
		lines, rows = append(lines, p), append(rows, p.row())
	}
	for _, l := range lines {
		if err := jsonl.Append(o.out, l); err != nil {
			return err
		}
		if o.json {
			if err := json.NewEncoder(w).Encode(l); err != nil {
				return err
			}
		}
	}
	if !o.json && o.dump == "" {
		printRows(w, rows...)
		r.details(w)
	}
	return nil
}
