package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/atomicfile"
	"github.com/vssgp/vssgp/internal/report"
)

// fitResult is what `fit --json` prints.
type fitResult struct {
	Bound       float64             `json:"bound"`
	Terms       []vssgp.Term        `json:"terms"`
	Iterations  int                 `json:"iterations"`
	Starts      []vssgp.StartResult `json:"starts"`
	Kept        int                 `json:"kept"` // index in starts
	Elapsed     time.Duration       `json:"seconds"`
	Device      string              `json:"device"`
	Rows        int                 `json:"rows"`
	Components  int                 `json:"components"`
	Features    int                 `json:"features"` // M
	NoiseSD     []float64           `json:"noise_sd"` // of each output, in its units
	Jitter      float64             `json:"jitter"`
	NoiseFloor  float64             `json:"noise_floor"` // as a standard deviation, where the noise ended there; else 0
	Model       string              `json:"model"`
	Ranks       *rankTimes          `json:"ranks,omitempty"` // under mpirun
	Interrupted bool                `json:"interrupted,omitempty"`
	Resumed     *int                `json:"resumed,omitempty"` // iterations that the start had taken at the checkpoint
}

func (a *app) fitCommand() *cobra.Command {
	o := &fitFlags{model: newModelFlags()}
	cmd := a.command(&cobra.Command{
		Use:   "fit DATA -o MODEL.safetensors",
		Short: "Fit a model to a CSV, NPY, WAV or SPHERE file",
		Long: `Fits a model to a table (CSV with a line of names, or NPY; --x and --y choose the
columns) or to a recording (WAV or SPHERE; x is the time in seconds, each
channel an output in full scale 1) and writes it as a safetensors file.

Interrupting (SIGINT, SIGTERM) writes the best model so far to -o and says how
to continue. --checkpoint saves the state of the fit in a second file, every 30
seconds and when it is interrupted. The same command with --resume continues from
there and ends with the same file, bit for bit; the first time, when there is no
checkpoint yet, it starts the fit. Data, options, device, instruction set and
build must be the same; if not, it says what differs. A checkpoint can be read as
a model too (info, evaluate, --init).`,
		Example: `  vssgp fit co2.csv -o co2.safetensors
  vssgp fit co2.csv -o co2.safetensors --report co2.html
  vssgp fit table.csv --x age,water --y strength --components 2 --restarts 3 -o strength.safetensors
  vssgp fit solar.csv --init paper --lengthscales 10,1000 --periods 11,0 --features 50 --window none -o solar.safetensors
  vssgp fit long.wav --window 32ms --checkpoint long.part --every 5m --resume -o long.safetensors`,
	}, func(ctx context.Context, args []string) error { return a.fit(ctx, args[0], o) }, dataOperand)
	f := cmd.Flags()
	o.columns.add(f)
	o.model.add(f, "units of x (for recordings seconds; 32ms and 0.5s are understood)", "auto")
	f.VarP(fileName(&o.output, file{written: true, needed: "-o MODEL.safetensors"}), "output", "o", "model `file` to write (required)")
	o.checkpoint.add(f)
	f.BoolVar(&o.plan, "plan", false, planUsage)
	f.Var(fileName(&o.report, file{written: true, extensions: plotFiles, only: true}), "report", "draw the fit, its residuals, spectrum and convergence to this `file`: .html, .png or .svg")
	return cmd
}

func (a *app) fit(ctx context.Context, dataPath string, o *fitFlags) error {
	if err := o.checkpoint.check(); err != nil {
		return err
	}
	a.computer.spread()
	options, err := a.options(o.model)
	if err != nil {
		return err
	}
	data, err := a.readToFit(ctx, dataPath, o.columns)
	if err != nil {
		return err
	}
	if options.Batch > data.N {
		return mistake("--batch %d: the data have only %d rows; want at most as many", options.Batch, data.N)
	}
	if o.plan {
		return a.planFit(ctx, data, options)
	}
	bar := a.newMeter()
	trace := &report.Trace{}
	options.Progress = func(p vssgp.Progress) {
		trace.Add(p)
		bar.progress(p)
	}
	a.apply(&o.checkpoint, &options)
	m, r, err := vssgp.Fit(ctx, data, options)
	bar.clear()
	if errors.Is(err, context.Canceled) && m == nil {
		return &interruption{" before there was a model; to continue, " + o.checkpoint.goOn("", nil)}
	}
	interrupted := errors.Is(err, context.Canceled)
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
		return &interruption{fmt.Sprintf(" at iteration %d: the best model so far is in %s; to continue, %s",
			r.Iterations, o.output, o.checkpoint.goOn(o.output, r.Unsaved))}
	}
	a.warnHeldOut(r.HeldOut, options)
	return a.warnFit(m, r, data, o.model.init)
}

func (a *app) reportFit(m *vssgp.Model, r *vssgp.Result, data *vssgp.Data, o *fitFlags, interrupted bool) error {
	out := fitResult{
		Bound: r.Bound, Terms: r.Terms, Iterations: r.Iterations, Starts: r.Starts, Kept: r.Kept, Elapsed: r.Elapsed,
		Device: r.Device, Rows: data.N, Components: m.Params.L, Features: m.Params.M(), NoiseSD: m.NoiseSD(),
		Jitter: r.Jitter, NoiseFloor: r.NoiseFloor, Model: o.output, Interrupted: interrupted, Ranks: a.rankTimes(r.Elapsed),
	}
	if r.Resumed >= 0 {
		out.Resumed = &r.Resumed
	}
	for _, s := range r.Starts {
		if strings.HasPrefix(s.Ended, "collapsed") {
			a.note("the start with seed %d %s", s.Seed, s.Ended)
		}
	}
	if t := out.Ranks; t != nil && (a.json || a.quiet) && a.progress == "always" {
		fmt.Fprintln(a.stderr, prefix+t.String())
	}
	if a.json {
		return a.printJSON(out)
	}
	a.say("bound %.9g after %s, %s, %.1f s on %s",
		r.Bound, counted(r.Iterations, "iteration"), counted(len(r.Starts), "start"), r.Elapsed.Seconds(), r.Device)
	if r.Resumed >= 0 {
		a.say("  resumed from a checkpoint at iteration %d", r.Resumed)
	}
	for _, t := range r.Terms {
		a.say("  %-16s %.9g", t.Name, t.Value)
	}
	a.say("%s, %s, %s, noise sd %s",
		counted(data.N, "row"), counted(m.Params.L, "component"), counted(m.Params.M(), "feature"), row(out.NoiseSD))
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
