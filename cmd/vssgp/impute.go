package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/impute"
)

func (a *app) imputeCommand() *cobra.Command {
	o := &imputeFlags{model: newModelFlags()}
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
	}, func(ctx context.Context, args []string) error { return a.impute(ctx, args[0], o) }, recordingOperand)
	f := cmd.Flags()
	o.gaps.add(f)
	f.VarP(fileName(&o.output, file{written: true, needed: "-o OUT.wav"}), "output", "o", "`file` to write the filled recording to (required)")
	f.Var(contextLength(&o.context, &o.all), "context", "how much of the recording to model on each side of a gap: a time such as 60ms, or all (default 60ms)")
	f.Var(fileName(&o.reference, file{extensions: recordingFiles}), "reference", "the undamaged recording, a `file` to score the fill against")
	f.Var(fileName(&o.report, file{written: true, extensions: plotFiles[:1], only: true}), "report", "write a page to look at and listen to, with scores, settings and each gap before and after, to this HTML `file`")
	f.Var(fileName(&o.sd, file{written: true, extensions: tableFiles}), "sd",
		"write the predictive standard deviation of every filled sample (columns: sample and channel from 0, sd in full scale) to this CSV or NPY `file`")
	f.Var(count(&o.draws, maxFills), "draws", "write this many more plausible `fills`, drawn from the joint posterior, to OUT-1.wav, …")
	f.Var(fileName(&o.models, file{written: true, extensions: modelFiles}), "model", "write the fitted model to this `file` (MODEL-1, … if there are several excerpts)")
	f.BoolVar(&o.plan, "plan", false, planUsage)
	o.keep.add(f)
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
	if err := a.checkImpute(o); err != nil {
		return err
	}
	options, err := a.options(o.model)
	if err != nil {
		return err
	}
	rec, err := openRecording(ctx, input)
	if err != nil {
		return err
	}
	defer rec.Close()
	if err := checkWritable(rec.File, o.output); err != nil {
		return err
	}
	gaps, err := o.gaps.in(rec.File, input)
	if err != nil {
		return err
	}
	if o.plan {
		return a.planImpute(ctx, rec.File, gaps, o.fillOptions(rec.Rate(), options, nil))
	}
	if err := a.checkModels(rec.File, gaps, o); err != nil {
		return err
	}
	var reference impute.Source
	if o.reference != "" {
		clean, err := openReference(ctx, o.reference, rec.File, input)
		if err != nil {
			return err
		}
		defer clean.Close()
		reference = clean
	}
	a.apply(&o.keep, &options)
	r, err := a.fill(ctx, rec.File, gaps, o, options)
	if err != nil {
		return fromFile(input, err)
	}
	a.warnFill(r, rec.File, o)
	out := newImputeResult(r, rec.File, gaps, o.output)
	if reference != nil {
		scores, err := r.Score(rec, reference)
		if err != nil {
			return fromFile(input+" against "+o.reference, err)
		}
		out.score(scores)
	}
	if err := a.writeFill(input, o, rec.File, r, &out, reference); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(out)
	}
	a.sayImpute(out)
	return nil
}

// checkImpute checks the command line before anything is read.
func (a *app) checkImpute(o *imputeFlags) error {
	if err := o.gaps.check(); err != nil {
		return err
	}
	if err := o.keep.check(); err != nil {
		return err
	}
	return a.checkOutputs(numberedFiles(o.output, o.draws)...)
}

// checkModels checks the names of several models, once the gaps are known.
func (a *app) checkModels(rec *audio.File, gaps []impute.Gap, o *imputeFlags) error {
	if o.models == "" {
		return nil
	}
	excerpts, err := impute.Excerpts(rec.Len(), rec.Rate(), gaps, impute.Options{Context: o.context, All: o.all})
	if err != nil || len(excerpts) == 1 {
		return err
	}
	return a.checkOutputs(append(numberedFiles(o.output, o.draws), modelFilesOf(o.models, len(excerpts))...)...)
}

// openReference opens the undamaged recording, which must have the rate, channels and
// samples of the input.
func openReference(ctx context.Context, path string, rec *audio.File, input string) (*recordingFile, error) {
	ref, err := openRecording(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("--reference: %w", err)
	}
	for _, c := range []struct {
		what     string
		is, want int
	}{{"samples a second", ref.Rate(), rec.Rate()}, {"channels", ref.Channels(), rec.Channels()}, {"samples", ref.Len(), rec.Len()}} {
		if c.is != c.want {
			ref.Close()
			return nil, mistake("--reference %s has %d %s but %s has %d; want the same recording without damage", path, c.is, c.what, input, c.want)
		}
	}
	return ref, nil
}

// fromFile adds the name of the file to errors in its contents, which show only
// while it is read.
func fromFile(path string, err error) error {
	if errors.Is(err, audio.ErrFormat) {
		return fmt.Errorf("%s: %w", path, err)
	}
	return err
}

func (a *app) fill(ctx context.Context, rec *audio.File, gaps []impute.Gap, o *imputeFlags, options vssgp.Options) (*impute.Result, error) {
	bar := a.newMeter()
	defer bar.clear()
	return impute.FillFrom(ctx, rec, rec.Len(), rec.Rate(), gaps, o.fillOptions(rec.Rate(), options, func(p impute.Progress) {
		done, of := p.Iteration, p.Iterations
		if of == 0 { // nothing is iterated: count excerpts
			done, of = p.Excerpt, p.Excerpts
		}
		bar.show(fmt.Sprintf("excerpt %d/%d", p.Excerpt, p.Excerpts), done, of, p.Bound, p.NoiseSD, p.Left)
	}))
}
