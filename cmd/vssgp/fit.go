package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/atomicfile"
	"github.com/vssgp/vssgp/internal/report"
)

// fitFlags are fit's own beside those of the model.
type fitFlags struct {
	model      *modelFlags
	columns    columns
	output     string
	checkpoint checkpointFlags
	plan       bool
	report     string
	set        func() []report.Setting // the flags as given, for the report
}

// fitResult is what `fit --json` prints.
type fitResult struct {
	Bound       number     `json:"bound"`
	Terms       terms      `json:"terms"`
	Iterations  int        `json:"iterations"`
	Starts      []fitStart `json:"starts"`
	Kept        int        `json:"kept"` // index in starts
	Seconds     number     `json:"seconds"`
	Device      string     `json:"device"`
	Rows        int        `json:"rows"`
	Components  int        `json:"components"`
	Features    int        `json:"features"` // M
	NoiseSD     []number   `json:"noise_sd"` // of each output, in its units
	Jitter      number     `json:"jitter"`
	NoiseFloor  number     `json:"noise_floor"` // as a standard deviation, where the noise ended there; else 0
	Model       string     `json:"model"`
	Ranks       *rankTimes `json:"ranks,omitempty"` // under mpirun
	Interrupted bool       `json:"interrupted,omitempty"`
	Resumed     *int       `json:"resumed,omitempty"` // iterations of the start in which the checkpoint gone on from stood
}

type fitStart struct {
	Seed  uint64 `json:"seed"`
	Bound number `json:"bound"`
	Ended string `json:"ended"`
}

func (a *app) fitCommand() *cobra.Command {
	o := &fitFlags{model: newModelFlags()}
	cmd := &cobra.Command{
		Use:   "fit DATA -o MODEL.safetensors",
		Short: "Fit a model to a CSV, NPY, WAV or SPHERE file",
		Long: `Fits a model to a table (CSV with a line of names, or NPY; --x and --y choose the
columns) or to a recording (WAV or SPHERE; x is the time in seconds, each
channel an output in full scale 1) and writes it as a safetensors file.

Interrupting (SIGINT, SIGTERM) writes the best model so far to -o and says how
to go on. --checkpoint keeps in a second file all that the rest of the fit
depends on, written whole every 30 seconds and when interrupted; the same
command with --resume goes on from there and ends with the same file, bit for
bit, as if nothing had happened. It wants the same data, options, device,
processor's instruction set and build, and says what differs; the first time,
when there is no checkpoint yet, it starts the fit. A checkpoint can be read as a model too (info, evaluate,
--init).`,
		Example: `  vssgp fit co2.csv -o co2.safetensors
  vssgp fit co2.csv -o co2.safetensors --report co2.html
  vssgp fit table.csv --x age,water --y strength --components 2 --restarts 3 -o strength.safetensors
  vssgp fit solar.csv --init paper --lengthscales 10,1000 --periods 11,0 --features 50 --window none -o solar.safetensors
  vssgp fit long.wav --window 32ms --checkpoint long.part --every 5m --resume -o long.safetensors`,
		Args: arguments("DATA"),
		RunE: a.do(func(ctx context.Context, args []string) error { return a.fit(ctx, args[0], o) }),
	}
	f := cmd.Flags()
	addColumnFlags(f, &o.columns)
	o.model.add(f, "units of x (for recordings seconds; 32ms and 0.5s are understood)", "auto")
	f.StringVarP(&o.output, "output", "o", "", "model `file` to write (required)")
	o.checkpoint.add(f)
	f.BoolVar(&o.plan, "plan", false, planUsage)
	f.StringVar(&o.report, "report", "", "draw the fit, its residuals, spectrum and convergence to this `file`: .html, .png or .svg")
	o.set = func() []report.Setting { return given(cmd) }
	return cmd
}

func (a *app) fit(ctx context.Context, dataPath string, o *fitFlags) error {
	if err := a.checkFit(o); err != nil {
		return err
	}
	a.computer.spread()
	options, err := a.options(o.model)
	if err != nil {
		return err
	}
	data, rate, err := readToFit(ctx, dataPath, o.columns)
	if err != nil {
		return err
	}
	if rate == 0 {
		if err := o.model.inTable(); err != nil {
			return err
		}
	}
	if options.Batch > data.N {
		return mistake("--batch %d: the data have %d rows; want at most that", options.Batch, data.N)
	}
	if o.plan {
		return a.planFit(ctx, data, options)
	}
	bar := a.newMeter()
	trace := &report.Trace{}
	options.Progress = func(p vssgp.Progress) {
		trace.Add(p)
		bar.show(stageName(p), p.Iteration, p.Iterations, p.Bound, p.NoiseSD, p.Left)
	}
	a.apply(&o.checkpoint, &options)
	m, r, err := vssgp.Fit(ctx, data, options)
	bar.clear()
	if errors.Is(err, context.Canceled) && m == nil {
		return &interruption{" before there was a model; to go on, " + o.checkpoint.goOn("", nil)}
	}
	interrupted := err != nil && errors.Is(err, context.Canceled) && m != nil
	if err != nil && !interrupted {
		return o.checkpoint.hint(err)
	}
	if err := a.write(atomicfile.File{Path: o.output, Write: m.Write}); err != nil {
		return err
	}
	if err := a.writeFitReport(dataPath, m, r, data, trace, o); err != nil {
		return err
	}
	if err := a.reportFit(m, r, data, o, interrupted); err != nil {
		return err
	}
	if interrupted {
		return &interruption{fmt.Sprintf(" at iteration %d: the best model so far is in %s; to go on, %s", r.Iterations, o.output, o.checkpoint.goOn(o.output, r.Unsaved))}
	}
	a.warnHeldOut(r.HeldOut, options)
	return a.warnFit(m, r, data, o.model.init)
}

// checkFit looks at what the command line alone can tell.
func (a *app) checkFit(o *fitFlags) error {
	if o.output != "" || !o.plan {
		if err := a.wantOutput(o.output, "MODEL.safetensors"); err != nil {
			return err
		}
	}
	if o.output == toStdout {
		return mistake("-: a model is no text; want a file name")
	}
	if err := o.checkpoint.check(); err != nil {
		return err
	}
	if err := checkPlot("--report", o.report); err != nil {
		return err
	}
	return a.checkOutputs(o.output, o.checkpoint.file, o.report)
}

func (a *app) reportFit(m *vssgp.Model, r *vssgp.Result, data *vssgp.Data, o *fitFlags, interrupted bool) error {
	i := infoOf(m, 0)
	out := fitResult{
		Bound: number(r.Bound), Terms: r.Terms, Iterations: r.Iterations, Kept: r.Kept, Seconds: number(r.Elapsed.Seconds()),
		Device: r.Device, Rows: data.N, Components: m.Params.L, Features: m.Params.M(), NoiseSD: i.NoiseSD,
		Jitter: number(r.Jitter), NoiseFloor: number(r.NoiseFloor), Model: o.output, Interrupted: interrupted,
		Ranks: a.rankTimes(r.Elapsed),
	}
	if r.Resumed >= 0 {
		out.Resumed = &r.Resumed
	}
	for _, s := range r.Starts {
		out.Starts = append(out.Starts, fitStart{s.Seed, number(s.Bound), s.Ended})
		if strings.HasPrefix(s.Ended, "collapsed") {
			a.note("the start with seed %d %s", s.Seed, s.Ended)
		}
	}
	if t := out.Ranks; t != nil && (a.json || a.quiet) && a.progress.value == "always" {
		fmt.Fprintln(a.stderr, prefix+t.String())
	}
	if a.json {
		return a.printJSON(out)
	}
	a.say("bound %.9g after %s, %s, %.1f s on %s", r.Bound, report.Counted(r.Iterations, "iteration"), report.Counted(len(r.Starts), "start"), r.Elapsed.Seconds(), r.Device)
	if r.Resumed >= 0 {
		a.say("  gone on from a checkpoint at iteration %d of its start", r.Resumed)
	}
	for _, t := range r.Terms {
		a.say("  %-16s %.9g", t.Name, t.Value)
	}
	a.say("%s, %s, %s, noise sd %s", report.Counted(data.N, "row"), report.Counted(m.Params.L, "component"), report.Counted(m.Params.M(), "feature"), row(i.NoiseSD))
	if out.Ranks != nil {
		a.say("%s", out.Ranks)
	}
	written := o.output
	if o.report != "" {
		written += ", " + o.report
	}
	a.say("wrote %s", written)
	return nil
}

// stageName is the progress line's beginning.
func stageName(p vssgp.Progress) string {
	if p.Starts > 1 {
		return fmt.Sprintf("start %d/%d, %s", p.Start, p.Starts, p.Stage)
	}
	return p.Stage
}
