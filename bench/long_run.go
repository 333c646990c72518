package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/vssgp/vssgp/bench/internal/machine"
)

// celeritePy is peers/celerite.py, so that a program without its sources has it too.
//
//go:embed peers/celerite.py
var celeritePy []byte

// celeriteFile is the script as a file, and what removes it.
func celeriteFile() (path string, remove func(), err error) {
	dir, err := os.MkdirTemp("", "vssgp-celerite-")
	if err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) } // a folder of the system's temporary ones
	path = filepath.Join(dir, "celerite.py")
	if err := os.WriteFile(path, celeritePy, 0o666); err != nil {
		remove()
		return "", nil, err
	}
	return path, remove, nil
}

// A longRun runs methods in processes of their own, so that the memory of each
// is its own.
type longRun struct {
	*longFlags
	exe, script string
	machine     machine.Machine
}

// methods are what is asked for, each as the key of its lines without the length.
func (r *longRun) methods() []longKey {
	all := []longKey{{Method: methodWindows, Features: r.features, Window: r.window}}
	if r.dense {
		all = append(all, longKey{Method: methodDense, Features: r.features, Window: r.window})
	}
	if r.celerite {
		for _, t := range r.terms {
			all = append(all, longKey{Method: methodValue, Terms: t}, longKey{Method: methodGradient, Terms: t})
		}
	}
	return all
}

// one measures a method at a length, if the size before lets hope that it fits.
func (r *longRun) one(ctx context.Context, k longKey, n int, before *longLine) longLine {
	k.N = n
	l := longLine{Machine: r.machine, Time: time.Now().UTC().Format(time.RFC3339), Bench: "long", longKey: k}
	if k.Features > 0 {
		w, _ := sizes{N: n, Window: k.Window}.windows()
		l.V, l.M = w.Count(), w.Count()*k.Features
	}
	if l.Status = r.tooMuch(&l, before); l.Status != "" {
		return l
	}
	if k.Features > 0 {
		r.ours(ctx, &l)
	} else {
		r.peer(ctx, &l)
	}
	return l
}

// memoryShare is how much of the machine's memory a method may be predicted to take.
const memoryShare = 0.9

// tooMuch says why a method is not run, "" if it is: the memory that its
// largest arrays take, and the time by that of the size before, as N·M² grows
// or as N does. Windows are run whatever they take: they are what is measured.
func (r *longRun) tooMuch(l, before *longLine) string {
	bytes, work := 0.0, func(l *longLine) float64 { return float64(l.N) }
	j := float64(2 * l.Terms)
	switch l.Method {
	case methodWindows:
		return ""
	case methodDense: // the Gram matrix and its inverse
		bytes = 2 * 8 * float64(l.M) * float64(l.M)
		work = func(l *longLine) float64 { return float64(l.N) * float64(l.M) * float64(l.M) }
	case methodValue: // U, V, W
		bytes = 3 * 8 * float64(l.N) * j
	case methodGradient: // what is kept for the way back, beside U, V, W and their derivatives
		bytes = 8 * float64(l.N) * (j*j + 6*j)
	}
	const gib = 1 << 30
	if most := memoryShare * float64(r.machine.Memory); most > 0 && bytes > most {
		return fmt.Sprintf("not run: its arrays take %.0f GiB, there are %.0f", bytes/gib, float64(r.machine.Memory)/gib)
	}
	if before == nil {
		return ""
	}
	if seconds := before.Evaluation * work(l) / work(before); seconds > r.limit {
		return fmt.Sprintf("not run: an evaluation would take %.3g s of the %g allowed, and its arrays %.1f GiB", seconds, r.limit, bytes/gib)
	}
	return ""
}

// ours runs `bench speed`.
func (r *longRun) ours(ctx context.Context, l *longLine) {
	args := []string{"speed", "-json", "-n", strconv.Itoa(l.N), "-repeats", strconv.Itoa(r.repeats), "-clocked=false", "-commit", r.sources()}
	if l.Method == methodDense {
		args = append(args, "-features", strconv.Itoa(l.M))
	} else {
		args = append(args, "-features", strconv.Itoa(l.Features), "-window", strconv.FormatFloat(l.Window, 'g', -1, 64), "-fit", strconv.Itoa(r.fit))
	}
	out, said, err := run(exec.CommandContext(ctx, r.exe, args...))
	var m record
	if json.Unmarshal(lastBytes(out), &m) != nil || m.Status == "" {
		l.Status = fmt.Sprintf("failed: %v: %s", err, lastLine(said))
		return
	}
	l.M, l.V, l.Repeats, l.Evaluation, l.Range, l.Seconds = m.M, m.V, m.Repeats, m.Evaluation, m.Range, m.Seconds
	l.HostBytes, l.Bound, l.Fit, l.Status = m.HostBytes, m.Bound, m.Fit, m.Status
	if l.Method == methodDense {
		l.V = 0
	}
}

// sources are those of this process, for a record; "" where they are not known.
func (r *longRun) sources() string {
	if r.machine.Commit != "" && r.machine.Dirty {
		return r.machine.Commit + "+"
	}
	return r.machine.Commit
}

// peer runs peers/celerite.py. Whatever becomes of it is the line's status.
func (r *longRun) peer(ctx context.Context, l *longLine) {
	mode := "value"
	if l.Method == methodGradient {
		mode = "gradient"
	}
	// All evaluations, each as long as it may be, and the interpreter's start.
	most := time.Duration(float64(time.Second)*r.limit*float64(1+r.repeats)) + time.Minute
	within, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	out, said, err := run(exec.CommandContext(within, r.python, r.script, "--n", strconv.Itoa(l.N),
		"--terms", strconv.Itoa(l.Terms), "--mode", mode, "--repeats", strconv.Itoa(r.repeats)))
	p, ok := readPeer(out)
	switch {
	case ok:
		l.Status = p.Status
	case within.Err() != nil:
		l.Status = fmt.Sprintf("time limit: %v", most)
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
		l.Status = fmt.Sprintf("missing: %v", err)
	default:
		l.Status = fmt.Sprintf("failed: %v: %s", err, lastLine(said))
	}
	l.Version = p.Version
	if l.Status == statusOK {
		l.Repeats, l.Evaluation, l.Range, l.HostBytes = r.repeats, p.Seconds, p.Range, p.Peak
	}
}

// run runs a command and returns what it printed.
func run(cmd *exec.Cmd) (out []byte, said string, err error) {
	cmd.WaitDelay = time.Second
	var printed, complaints limited
	cmd.Stdout, cmd.Stderr = &printed, &complaints
	err = cmd.Run()
	return printed.Bytes(), complaints.String(), err
}

// lastBytes is the last line.
func lastBytes(out []byte) []byte {
	out = bytes.TrimSpace(out)
	return out[bytes.LastIndexByte(out, '\n')+1:]
}
