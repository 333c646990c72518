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
	methodValue    = "celerite value" // the log-likelihood
	methodGradient = "celerite gradient"
)

// A longLine is one method at one length. Its status is ok, or why there is no time: not run: …, missing: …, disagrees: …, out of memory:
// …, time limit: … or failed: ….
type longLine struct {
	machine.Machine
	Time  string `json:"time"`
	Bench string `json:"bench"` // long

	longKey
	M       int    `json:"M,omitempty"`
	V       int    `json:"V,omitempty"`
	Version string `json:"version,omitempty"` // of celerite2
	timing
}

// longTask is `bench long`.
type longTask struct {
	from, to        float64 // rows
	per             int     // sizes in a decade
	features        int     // of a window
	tables          int     // features of methodTables
	window          float64 // samples
	dense, celerite bool
	termList        string
	terms           []int   // of celerite's covariance
	limit           float64 // seconds of an evaluation
	fit, repeats    int     // iterations, evaluations
	out, commit     string
	draw            bool
	lines           []longLine // of the file

	exe            string // this program
	python, script string // and peers/celerite.py
	machine        machine.Machine
}

// longKey tells one line from the others.
type longKey struct {
	Method   string  `json:"method"`
	N        int     `json:"N"`
	Features int     `json:"features,omitempty"` // in each window; of dense, those that set its M; of tables, in all
	Window   float64 `json:"window,omitempty"`   // length in samples, as well
	Terms    int     `json:"terms,omitempty"`    // of celerite: oscillators, J = 2·terms
}

// series returns the key without the length, which identifies a curve of the figure.
func (k longKey) series() longKey {
	k.N = 0
	return k
}

// label names the series for people.
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

// check reports a line of another command.
func (l *longLine) check() error {
	return demand(l.Bench == "long" && l.N >= 1 && l.Status != "", "the line must have the fields bench, N and status of bench long")
}

// methods returns the chosen methods, each as the key of its lines without the length.
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

// one measures a method at a length, unless the previous size shows that it takes too long. It runs in a separate process, so that its
// peak of memory is its own.
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

// memoryShare is the maximum predicted memory of a method, relative to the machine's memory.
const memoryShare = 0.9

// tooMuch returns the reason why a method is not run, or "": the memory of its largest arrays, or its time, predicted from the previous size
// in proportion to N·M² or N. Windows always run: they are the subject.
func (o *longTask) tooMuch(l, before *longLine) string {
	work := func(l *longLine) float64 { return float64(l.N) }
	n, m, j := float64(l.N), float64(l.M), float64(2*l.Terms)
	var bytes float64
	switch l.Method {
	case methodWindows:
		return ""
	case methodTables: // of the ones and of y, with 3N/2 complex numbers each, and N values
		bytes = 2 * (24 + 8) * n
	case methodDense: // the Gram matrix and its inverse
		bytes = 2 * 8 * m * m
		work = func(l *longLine) float64 { return float64(l.N) * float64(l.M) * float64(l.M) }
	case methodValue: // U, V, W
		bytes = 3 * 8 * n * j
	case methodGradient: // stored for the backward pass, with U, V, W and their derivatives
		bytes = 8 * n * (j*j + 6*j)
	}
	const gib = 1 << 30
	if most := memoryShare * float64(o.machine.Memory); most > 0 && bytes > most {
		return fmt.Sprintf("not run: its arrays take %.0f GiB, there are %.0f", bytes/gib, float64(o.machine.Memory)/gib)
	}
	if before == nil {
		return ""
	}
	if seconds := before.Evaluation * work(l) / work(before); seconds > o.limit {
		return fmt.Sprintf("not run: an evaluation would take %.3g s of the %g allowed, and its arrays %.1f GiB",
			seconds, o.limit, bytes/gib)
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
	out, said, err := output(exec.CommandContext(ctx, o.exe, append(strings.Fields(args), "-commit", o.machine.Sources())...))
	var m record
	if json.Unmarshal(lastLine(out), &m) != nil || m.Status == "" {
		l.Status = fmt.Sprintf("failed: %v: %s", err, lastLine([]byte(said)))
		return
	}
	l.M, l.V, l.timing = m.M, m.V, m.timing
	if l.Method != methodWindows {
		l.V = 0
	}
}

// peer runs peers/celerite.py. Each of its evaluations may take as long as the limit.
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
