package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/vssgp/vssgp/bench/internal/machine"
)

// The methods of `bench long`.
const (
	methodWindows  = "windows"
	methodDense    = "dense"
	methodTables   = "tables"         // without windows, a fixed number of features
	methodValue    = "celerite value" // log-likelihood without gradient
	methodGradient = "celerite gradient"
)

// A longLine is the measurement of one method at one length. Its status is ok, or the reason why there is no time: not
// run: …, missing: …, disagrees: …, out of memory: …, time limit: … or failed: ….
type longLine struct {
	machine.Machine
	Time  string `json:"time"`
	Bench string `json:"bench"` // long

	longKey
	M       int    `json:"M,omitempty"`
	V       int    `json:"V,omitempty"`
	Version string `json:"version,omitempty"` // version of celerite2
	timing
}

// longTask is `bench long`.
type longTask struct {
	from, to        float64 // rows
	per             int     // lengths per decade
	features        int     // features in each window
	tables          int     // features of methodTables
	window          float64 // samples
	dense, celerite bool
	termList        string
	terms           []int   // numbers of oscillators in celerite's covariance
	limit           float64 // maximum seconds per evaluation
	fit, repeats    int     // iterations of a fit, timed evaluations
	out, commit     string
	show            bool
	lines           []longLine // contents of the file out

	exe            string // path of this program
	python, script string // Python interpreter, path of celerite.py
	machine        machine.Machine
}

// longKey identifies a line.
type longKey struct {
	Method   string  `json:"method"`
	N        int     `json:"N"`
	Features int     `json:"features,omitempty"` // features in each window, which also determine M of dense; for tables, M
	Window   float64 `json:"window,omitempty"`   // length in samples, which also determines M of dense
	Terms    int     `json:"terms,omitempty"`    // oscillators of celerite's covariance, J = 2·Terms
}

// series returns the key without the length, which identifies a curve of the figure.
func (k longKey) series() longKey {
	k.N = 0
	return k
}

// label returns the name of the series in tables and figures.
func (k longKey) label() string {
	switch k.Method {
	case methodWindows:
		return fmt.Sprintf("windows of %g, %d features", k.Window, k.Features)
	case methodDense:
		return "dense, as many features"
	case methodTables:
		return fmt.Sprintf("exact, by tables, M = %d", k.Features)
	case methodValue:
		return fmt.Sprintf("celerite J = %d, value", 2*k.Terms)
	case methodGradient:
		return fmt.Sprintf("celerite J = %d, gradient too", 2*k.Terms)
	}
	return k.Method
}

// check returns an error for a line of another command.
func (l *longLine) check() error {
	return demand(l.Bench == "long" && l.N >= 1 && l.Status != "", "the line must have the fields bench, N and status of bench long")
}

// methods returns the keys of the selected methods, without the length.
func (o *longTask) methods() []longKey {
	all := []longKey{{Method: methodWindows, Features: o.features, Window: o.window}}
	if o.dense {
		all = append(all, longKey{Method: methodDense, Features: o.features, Window: o.window})
	}
	if o.tables > 0 {
		all = append(all, longKey{Method: methodTables, Features: o.tables})
	}
	if o.celerite {
		for _, t := range o.terms {
			all = append(all, longKey{Method: methodValue, Terms: t}, longKey{Method: methodGradient, Terms: t})
		}
	}
	return all
}

// one measures a method at a length, unless tooMuch returns a reason not to. It uses a separate process, so that its
// peak memory is known.
func (o *longTask) one(ctx context.Context, k longKey, n int, before *longLine) longLine {
	k.N = n
	l := longLine{Machine: o.machine, Time: machine.Now(), Bench: "long", longKey: k}
	if k.Features > 0 {
		w, _ := sizes{N: n, Window: k.Window}.windows()
		l.V, l.M = w.Count(), w.Count()*k.Features
	}
	switch l.Status = o.tooMuch(&l, before); {
	case l.Status != "":
	case k.Features > 0:
		o.ours(ctx, &l)
	default:
		o.peer(ctx, &l)
	}
	return l
}

// memoryShare is the maximum predicted memory of a method as a fraction of the machine's memory.
const memoryShare = 0.9

// tooMuch returns the reason not to run a method, or "". The reason is either the memory of the method's largest arrays
// or the time. The time is extrapolated from the previous size in proportion to N·M² or N. The method with windows,
// which is the subject of the experiment, always runs.
func (o *longTask) tooMuch(l, before *longLine) string {
	work := func(l *longLine) float64 { return float64(l.N) }
	n, m, j := float64(l.N), float64(l.M), float64(2*l.Terms)
	var bytes float64
	switch l.Method {
	case methodWindows:
		return ""
	case methodTables: // tables of the ones and of y, each with 3N/2 complex numbers, and N values
		bytes = 2 * (24 + 8) * n
	case methodDense: // the Gram matrix and its inverse
		bytes = 2 * 8 * m * m
		work = func(l *longLine) float64 { return float64(l.N) * float64(l.M) * float64(l.M) }
	case methodValue: // U, V, W
		bytes = 3 * 8 * n * j
	case methodGradient: // states stored for the backward pass, and U, V, W and their derivatives
		bytes = 8 * n * (j*j + 6*j)
	}
	const gib = 1 << 30
	if most := memoryShare * float64(o.machine.Memory); most > 0 && bytes > most {
		return fmt.Sprintf("not run: the arrays need %.0f GiB, the machine has %.0f", bytes/gib, float64(o.machine.Memory)/gib)
	}
	if before == nil {
		return ""
	}
	if seconds := before.Evaluation * work(l) / work(before); seconds > o.limit {
		return fmt.Sprintf("not run: an evaluation would take %.3g s and need %.1f GiB; the limit is %g s",
			seconds, bytes/gib, o.limit)
	}
	return ""
}

// ours runs `bench speed`.
func (o *longTask) ours(ctx context.Context, l *longLine) {
	features, windows := l.M, ""
	if l.Method == methodWindows {
		features, windows = l.Features, fmt.Sprintf(" -window %g -fit %d", l.Window, o.fit)
	}
	args := fmt.Sprintf("speed -json -n %d -repeats %d -clocked=false -features %d%s", l.N, o.repeats, features, windows)
	out, stderr, err := output(exec.CommandContext(ctx, o.exe, append(strings.Fields(args), "-commit", o.machine.Sources())...))
	var m record
	if json.Unmarshal(lastLine(out), &m) != nil || m.Status == "" {
		l.Status = fmt.Sprintf("failed: %v: %s", err, lastLine([]byte(stderr)))
		return
	}
	l.M, l.V, l.timing = m.M, m.V, m.timing
	if l.Method != methodWindows {
		l.V = 0
	}
}

// peer runs peers/celerite.py. Its time limit is -limit times the number of evaluations.
func (o *longTask) peer(ctx context.Context, l *longLine) {
	mode := "value"
	if l.Method == methodGradient {
		mode = "gradient"
	}
	limit := time.Duration(float64(time.Second) * o.limit * float64(1+o.repeats))
	p := runPeer(ctx, limit, nil, o.python, o.script, "--n", strconv.Itoa(l.N), "--terms", strconv.Itoa(l.Terms), "--mode", mode,
		"--repeats", strconv.Itoa(o.repeats))
	l.Version, l.Status = p.Version, p.Status
	if l.Status == machine.OK {
		l.Repeats, l.Evaluation, l.Range, l.HostBytes = o.repeats, p.Seconds, p.Range, p.Peak
	}
}
