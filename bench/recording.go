package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/impute"
)

// recordingFlags are what `bench recording` is asked.
type recordingFlags struct {
	file                               string
	minutes, window                    float64
	gap, every, components, iterations int
	out, commit                        string
}

func parseRecording(args []string, stderr io.Writer) (*recordingFlags, error) {
	o := &recordingFlags{}
	set := flag.NewFlagSet("recording", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.Float64Var(&o.minutes, "minutes", 10, "length of the recording, made by repeating the file")
	set.Float64Var(&o.window, "window", 0.032, "length of the windows in seconds")
	set.IntVar(&o.gap, "gap", 80, "samples of a gap")
	set.IntVar(&o.every, "every", 6400, "samples from one gap to the next")
	set.IntVar(&o.components, "components", 20, "components of a window, of two features each")
	set.IntVar(&o.iterations, "iterations", 0, "of the optimiser; 0: the starting values as they are")
	set.StringVar(&o.out, "out", "", "append a line of JSON to this file")
	set.StringVar(&o.commit, "commit", "", "commit, for the record, where this build does not know")
	if err := set.Parse(args); err != nil {
		return nil, err
	}
	if set.NArg() != 1 {
		return nil, fmt.Errorf("recording: %d files, want one WAV or SPHERE file", set.NArg())
	}
	o.file = set.Arg(0)
	switch {
	case !(o.minutes > 0 && o.minutes <= mostMinutes):
		return nil, fmt.Errorf("recording: -minutes %g: want a number up to %d", o.minutes, mostMinutes)
	case o.gap < 1 || o.every <= o.gap:
		return nil, fmt.Errorf("recording: -gap %d -every %d: want 1 ≤ gap < every", o.gap, o.every)
	case !(o.window > 0) || o.components < 1 || o.iterations < 0:
		return nil, fmt.Errorf("recording: -window %g -components %d -iterations %d: want positive numbers", o.window, o.components, o.iterations)
	}
	return o, nil
}

// mostMinutes is a day: more than any memory holds.
const mostMinutes = 24 * 60

// recordingLine is what `bench recording` measures.
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

func runRecording(args []string) error {
	o, err := parseRecording(args, os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return &usage{err}
	}
	rec, err := audio.Open(o.file)
	if err != nil {
		return &usage{err}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	line, err := o.measure(ctx, rec)
	if err != nil {
		return fmt.Errorf("recording: %w", err)
	}
	line.print(os.Stdout)
	if o.out == "" {
		return nil
	}
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	return appendLine(o.out, text)
}

// measure makes the recording, fills its gaps and scores the fill.
func (o *recordingFlags) measure(ctx context.Context, rec *audio.Recording) (*recordingLine, error) {
	clean := make([]float64, int(60*o.minutes*float64(rec.Rate)))
	for at := 0; at < len(clean); {
		at += copy(clean[at:], rec.Samples[0])
	}
	var gaps []audio.Gap
	for at := o.every / 2; at+o.gap <= len(clean); at += o.every {
		gaps = append(gaps, audio.Gap{Start: at, End: at + o.gap})
	}
	if len(gaps) == 0 {
		return nil, fmt.Errorf("%d samples have no room for a gap every %d", len(clean), o.every)
	}
	l := &recordingLine{
		Machine: machine.This(o.commit), Time: time.Now().UTC().Format(time.RFC3339), Bench: "recording", File: o.file, Rate: rec.Rate,
		Gaps: len(gaps), GapRows: audio.Missing(gaps), Window: o.window,
	}
	l.N = len(clean) - l.GapRows
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
	cut := audio.FillSilence(clean, gaps)
	began := time.Now()
	r, err := impute.Fill(ctx, [][]float64{cut}, rec.Rate, gaps, options)
	if err != nil {
		return nil, err
	}
	l.Seconds, l.Peak, l.Bound = time.Since(began).Seconds(), machine.HostPeak(), r.Bound
	p := r.Excerpts[0].Model.Params
	l.V, l.M = p.Windows.Count(), p.M()
	s := impute.Score([][]float64{clean}, r.Filled, r.Fit, r.SD, rec.Rate, gaps)
	l.RMSE, l.Silence, l.AR, l.Coverage = s.VSSGP.TestRMSE, s.Silence.TestRMSE, s.AR.TestRMSE, s.Coverage95
	l.STFT = s.VSSGP.TestSTFTRMSE / s.Silence.TestSTFTRMSE
	return l, nil
}

// tracePrinted is how many points of a trace are printed at most.
const tracePrinted = 10

func (l *recordingLine) print(w io.Writer) {
	fmt.Fprintf(w, "%d rows, %d windows of %g s, M = %d; %d gaps of %d samples in all\n", l.N, l.V, l.Window, l.M, l.Gaps, l.GapRows)
	fmt.Fprintf(w, "start, fit and fill %.1f s, peak %.2f GiB, bound %.7g\n", l.Seconds, float64(l.Peak)/(1<<30), l.Bound)
	fmt.Fprintf(w, "RMSE in the gaps %.4f (autoregressive %.4f, silence %.4f), STFT error by silence's %.3f, coverage %.1f %%\n", l.RMSE, l.AR, l.Silence, l.STFT, 100*l.Coverage)
	every := max(1, int(math.Ceil(float64(len(l.Trace))/tracePrinted)))
	for i := range l.Trace {
		if t := l.Trace[i]; (i+1)%every == 0 || i == len(l.Trace)-1 {
			fmt.Fprintf(w, "  iteration %4d  %7.1f s  bound %.7g\n", t.Iteration, t.Seconds, t.Bound)
		}
	}
}
