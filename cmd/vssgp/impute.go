package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/impute"
	"github.com/vssgp/vssgp/internal/report"
)

func (a *app) imputeCommand() *cobra.Command {
	o := &imputeFlags{}
	cmd := a.command(&cobra.Command{
		Use:   "impute IN.wav -o OUT.wav",
		Short: "Fill gaps in a recording",
		Long: `Fills the gaps of a WAV or SPHERE file. An excerpt around each gap (--context on
each side, joined where they meet) is fitted with a model of its own, and the
gap gets the predictive mean. The samples inside a gap are never read; samples
outside the gaps are copied bit for bit, in the same sample format.

Gaps are given by --gap (START:END, the end exclusive, in samples from 0 or in
times such as 0.5s:520ms), by --gaps FILE.csv (columns start,end in samples) or
found by --detect zeros. A gap is missing in every channel; the channels are
outputs of one model.

Only the excerpts are held in memory, and the output is copied from the input a
tile at a time, so a recording may be longer than memory holds. --overwrite lets
-o be the input itself. --plan prints the work and memory that the fill would
take, and stops.

--reference CLEAN.wav scores the fill beside silence, linear interpolation and
an autoregressive (Janssen) fill: RMSE over the gaps (test) and over the
observed samples of the excerpts (train), the same of the short-time Fourier
transform, and how many of the gaps' samples the 95 % intervals cover. Silence
predicts 0 everywhere; linear and autoregressive fills reproduce what is observed,
so their training error is 0.

A fill takes seconds, so run it again if it is interrupted. A recording that is
modelled as a whole and optimised (--context all --iterations) may take hours:
there --checkpoint saves the state of the fit, and --resume continues to the same
output.`,
		Example: `  vssgp impute clicks.wav --detect zeros -o repaired.wav
  vssgp impute take.wav --gap 1200:1240 --gap 0.5s:0.52s -o out.wav --sd out-sd.csv
  vssgp impute cut.wav --gaps gaps.csv --reference clean.wav --report out.html -o out.wav`,
	}, func(ctx context.Context, args []string) error { return a.impute(ctx, args[0], o) }, input("IN.wav", recordingFiles))
	f := cmd.Flags()
	o.gaps.add(f)
	f.VarP(fileName(&o.output, file{written: true, needed: "-o OUT.wav"}), "output", "o", "`file` to write the filled recording to (required)")
	f.Var(contextLength(&o.fill.Context, &o.fill.All), "context", "how much of the recording to model on each side of a gap: a time such as 60ms, or all (default 60ms)")
	f.Var(fileName(&o.reference, file{extensions: recordingFiles}), "reference", "the undamaged recording, a `file` to score the fill against")
	f.Var(fileName(&o.report, file{written: true, extensions: plotFiles[:1], only: true}), "report", "write a page to look at and listen to, with scores, settings and each gap before and after, to this HTML `file`")
	f.Var(fileName(&o.sd, file{written: true, extensions: tableOutputs}), "sd",
		"write the predictive standard deviation of every filled sample (columns: sample and channel from 0, sd in full scale) to this CSV or NPY `file`")
	f.Var(count(&o.fill.Draws, maxFills), "draws", "write this many more plausible `fills`, drawn from the joint posterior, to OUT-1.wav, …")
	f.Var(fileName(&o.models, file{written: true, extensions: modelFiles}), "model", "write the fitted model to this `file` (MODEL-1, … if there are several excerpts)")
	f.BoolVar(&o.plan, "plan", false, planUsage)
	o.keep.add(f)
	o.model.addMethod(f)
	o.model.addPrior(f)
	o.model.add(f, "seconds (32ms and 0.5s are understood)", "32ms")
	return cmd
}

func (a *app) impute(ctx context.Context, input string, o *imputeFlags) error {
	err := a.imputeFile(ctx, input, o)
	if err != nil && ctx.Err() != nil {
		return &interruption{": the output is not written; to continue, " + o.keep.goOn("", nil)}
	}
	return err
}

func (a *app) imputeFile(ctx context.Context, input string, o *imputeFlags) error {
	if err := cmp.Or(o.gaps.check(), o.keep.check(a.flags)); err != nil {
		return err
	}
	if err := a.checkOutputs(numberedFiles(o.output, o.fill.Draws)...); err != nil {
		return err
	}
	options, err := a.options(o.model)
	if err != nil {
		return err
	}
	rec, file, err := openRecording(ctx, input)
	if err != nil {
		return err
	}
	defer file.Close()
	container, err := containerFor(rec, o.output)
	if err != nil {
		return err
	}
	gaps, err := o.gaps.in(rec, input)
	if err != nil {
		return err
	}
	f := &report.Fill{
		Name: filepath.Base(input), Output: filepath.Base(o.output), Samples: rec.Len(), Rate: rec.Rate(), Channels: rec.Channels(),
		Gaps: gaps, Input: rec, Settings: a.settings(),
	}
	bar := a.newMeter()
	fill := o.fillOptions(options, f, bar)
	if o.plan {
		p, err := impute.NewPlanFrom(ctx, rec, rec.Len(), rec.Rate(), gaps, fill)
		if err != nil {
			return err
		}
		return a.printPlan(p, options.Backend.Name())
	}
	if err := a.checkModels(f, fill, o); err != nil {
		return err
	}
	if o.reference != "" {
		clean, file, err := openReference(ctx, o.reference, rec, input)
		if err != nil {
			return err
		}
		defer file.Close()
		f.Reference = clean
	}
	a.apply(&o.keep, &fill.Model)
	f.Result, err = impute.FillFrom(ctx, rec, rec.Len(), rec.Rate(), gaps, fill)
	bar.clear()
	if err != nil {
		return fromFile(input, err)
	}
	a.warnFill(f.Result, float64(rec.Rate()), o)
	return a.finishFill(f, rec, container, input, o)
}

// containerFor checks, before long work, that a recording can be written to the path: its
// extension, and the sample formats of the container. With --plan there may be no path.
func containerFor(r *audio.File, path string) (c audio.Container, err error) {
	if path == "" {
		return c, nil
	}
	if c, err = audio.ContainerOf(path); err != nil {
		return c, err
	}
	return c, fromFile(path, r.CheckWrite(c))
}

// fillOptions returns the options of impute.FillFrom. The densities for a report go to f.
func (o *imputeFlags) fillOptions(model vssgp.Options, f *report.Fill, bar *meter) impute.Options {
	fill := o.fill
	fill.Model, fill.Forget = model, o.models == ""
	fill.Progress = func(p impute.Progress) {
		done, of := p.Iteration, p.Iterations
		if of == 0 { // nothing is iterated: count excerpts
			done, of = p.Excerpt, p.Excerpts
		}
		bar.progress(vssgp.Progress{
			Stage: fmt.Sprintf("excerpt %d/%d", p.Excerpt, p.Excerpts), Iteration: done, Iterations: of, Bound: p.Bound, NoiseSD: p.NoiseSD, Left: p.Left,
		})
	}
	if o.report != "" {
		f.Density = report.NewDensities(f.Rate)
		fill.Fitted = f.Density.Add
	}
	return fill
}

// checkModels checks the names of several models, once the gaps are known.
func (a *app) checkModels(f *report.Fill, fill impute.Options, o *imputeFlags) error {
	if o.models == "" {
		return nil
	}
	excerpts, err := impute.Excerpts(f.Samples, f.Rate, f.Gaps, fill)
	if err != nil || len(excerpts) == 1 {
		return err
	}
	return a.checkOutputs(modelFilesOf(o.models, len(excerpts))...)
}

// openReference opens the undamaged recording, which must have the rate, channels and
// samples of the input.
func openReference(ctx context.Context, path string, rec *audio.File, input string) (*audio.File, io.Closer, error) {
	ref, file, err := openRecording(ctx, path)
	if err != nil {
		return nil, nil, fmt.Errorf("--reference: %w", err)
	}
	for _, c := range []struct {
		what     string
		is, want int
	}{{"samples a second", ref.Rate(), rec.Rate()}, {"channels", ref.Channels(), rec.Channels()}, {"samples", ref.Len(), rec.Len()}} {
		if c.is != c.want {
			file.Close()
			return nil, nil, mistake("--reference %s has %d %s but %s has %d; want the same recording without damage",
				path, c.is, c.what, input, c.want)
		}
	}
	return ref, file, nil
}
