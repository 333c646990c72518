package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/bench/internal/gapfill"
	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/impute"
)

// recordingTask is `bench recording`.
type recordingTask struct {
	recording                          *audio.Recording
	file                               string
	minutes, window                    float64
	gap, every, components, iterations int
	out, commit                        string
}

func (o *recordingTask) flags(set *flag.FlagSet) {
	set.Float64Var(&o.minutes, "minutes", 10, "length of the recording, made by repeating the file")
	set.Float64Var(&o.window, "window", 0.032, "length of the windows in seconds")
	set.IntVar(&o.gap, "gap", 80, "samples of a gap")
	set.IntVar(&o.every, "every", 6400, "samples from one gap to the next")
	set.IntVar(&o.components, "components", 20, "components of a window, of two features each")
	set.IntVar(&o.iterations, "iterations", 0, "of the optimiser; 0: the starting values as they are")
	set.StringVar(&o.out, "out", "", "append a line of JSON to this file")
	commitFlag(set, &o.commit)
}

// mostMinutes is a day: more than any memory holds.
const mostMinutes = 24 * 60

func (o *recordingTask) check(files []string) (err error) {
	err = cmp.Or(
		want(files, 1, "one WAV or SPHERE file"),
		demand(o.minutes > 0 && o.minutes <= mostMinutes, "-minutes %g: want a number up to %d", o.minutes, mostMinutes),
		demand(o.gap >= 1 && o.every > o.gap, "-gap %d -every %d: want 1 ≤ gap < every", o.gap, o.every),
		demand(o.window > 0 && o.components >= 1 && o.iterations >= 0, "-window %g -components %d -iterations %d: want positive numbers",
			o.window, o.components, o.iterations))
	if err != nil {
		return err
	}
	o.file = files[0]
	o.recording, err = audio.Open(o.file)
	return err
}

// A recordingLine is one measurement of `bench recording`.
type recordingLine struct {
	Machine  machine.Machine `json:"machine"`
	Time     string          `json:"time"`
	Bench    string          `json:"bench"`
	File     string          `json:"file"`
	Rate     int             `json:"rate"`
	N        int             `json:"N"` // observed rows
	Gaps     int             `json:"gaps"`
	GapRows  int             `json:"gap_rows"`
	Window   float64         `json:"window"` // seconds
	V        int             `json:"V"`
	M        int             `json:"M"`
	Bound    float64         `json:"bound"`
	Trace    []tracePoint    `json:"trace,omitempty"`
	Seconds  float64         `json:"seconds"` // of start, fit and fill
	Peak     int64           `json:"host_bytes"`
	RMSE     float64         `json:"rmse"` // in the gaps
	Silence  float64         `json:"rmse_silence"`
	AR       float64         `json:"rmse_ar"`
	STFT     float64         `json:"stft_by_silence"`
	Coverage float64         `json:"coverage95"`
}

// tracePoint is the bound after some iterations and seconds.
type tracePoint struct {
	Iteration int     `json:"iteration"`
	Seconds   float64 `json:"seconds"`
	Bound     float64 `json:"bound"`
}

func (o *recordingTask) run() error {
	ctx, stop := interruptible()
	defer stop()
	line, err := o.measure(ctx)
	if err != nil {
		return fmt.Errorf("recording: %w", err)
	}
	line.print(os.Stdout)
	return jsonl.Append(o.out, line)
}

// signal is the file again and again, with a gap in the middle of each -every samples.
func (o *recordingTask) signal() (*gapfill.Signal, error) {
	n := int(60 * o.minutes * float64(o.recording.Rate))
	s := &gapfill.Signal{Name: o.file, Rate: o.recording.Rate, Y: make([]float64, n), Gaps: gapfill.Even(n, o.every, o.gap)}
	for at := 0; at < n; {
		at += copy(s.Y[at:], o.recording.Samples[0])
	}
	if len(s.Gaps) == 0 {
		return nil, fmt.Errorf("%d samples have no place for a gap every %d", n, o.every)
	}
	return s, nil
}

// measure fills the recording's gaps and scores the fill.
func (o *recordingTask) measure(ctx context.Context) (*recordingLine, error) {
	s, err := o.signal()
	if err != nil {
		return nil, err
	}
	l := &recordingLine{
		Machine: machine.This(o.commit), Time: machine.Now(), Bench: "recording", File: o.file, Rate: s.Rate,
		Gaps: len(s.Gaps), GapRows: audio.Missing(s.Gaps), Window: o.window,
	}
	options := impute.Options{All: true, Model: vssgp.Options{Window: o.window, Components: o.components, Iterations: o.iterations}}
	if o.iterations == 0 {
		options.Model.Iterations = vssgp.NoIterations
	}
	options.Progress = func(p impute.Progress) {
		if p.Iteration > 0 && (len(l.Trace) == 0 || p.Iteration > l.Trace[len(l.Trace)-1].Iteration) {
			l.Trace = append(l.Trace, tracePoint{p.Iteration, p.Elapsed.Seconds(), p.Bound})
			fmt.Fprintf(os.Stderr, "iteration %d, %.0f s: bound %.6g\n", p.Iteration, p.Elapsed.Seconds(), p.Bound)
		}
	}
	began := time.Now()
	f, err := gapfill.VSSGP(options)(ctx, s)
	if err != nil {
		return nil, err
	}
	l.Seconds, l.Peak = time.Since(began).Seconds(), machine.HostPeak()
	l.N, l.V, l.M, l.Bound = f.Rows, f.V, f.M, f.Bound
	ar, err := gapfill.AR(audio.DefaultAR)(ctx, s)
	if err != nil {
		return nil, err
	}
	l.RMSE, l.Silence = s.RMSE(f)
	l.AR, _ = s.RMSE(ar)
	l.Coverage, _, _ = s.Intervals(f)
	l.STFT = audio.STFTRMSE(s.Y, f.Mean, s.Mask(), s.Rate) / audio.STFTRMSE(s.Y, make([]float64, len(s.Y)), s.Mask(), s.Rate)
	return l, nil
}

// tracePrinted is how many points of a trace are printed at most.
const tracePrinted = 10

func (l *recordingLine) print(w io.Writer) {
	fmt.Fprintf(w, "%d rows, %d windows of %g s, M = %d; %d gaps of %d samples in all\n", l.N, l.V, l.Window, l.M, l.Gaps, l.GapRows)
	fmt.Fprintf(w, "start, fit and fill %.1f s, peak %.2f GiB, bound %.7g\n", l.Seconds, float64(l.Peak)/(1<<30), l.Bound)
	fmt.Fprintf(w, "RMSE in the gaps %.4f (autoregressive %.4f, silence %.4f), STFT error by silence's %.3f, coverage %.1f %%\n",
		l.RMSE, l.AR, l.Silence, l.STFT, 100*l.Coverage)
	every := max(1, int(math.Ceil(float64(len(l.Trace))/tracePrinted)))
	for i, t := range l.Trace {
		if (i+1)%every == 0 || i == len(l.Trace)-1 {
			fmt.Fprintf(w, "  iteration %4d  %7.1f s  bound %.7g\n", t.Iteration, t.Seconds, t.Bound)
		}
	}
}
