package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/impute"
	"github.com/vssgp/vssgp/internal/report"
)

// imputeFlags are impute's own beside those of the model.
type imputeFlags struct {
	model     *modelFlags
	gaps      gapFlags
	context   contextFlag
	output    string
	reference string
	report    string
	sd        string
	models    string
	draws     int
	plan      bool
	keep      checkpointFlags
	set       func() []report.Setting // the flags as given, for the report
	densities *report.Densities       // of the excerpts, for the report
}

// maxFills bounds --draws: each is a file.
const maxFills = 100

func (a *app) imputeCommand() *cobra.Command {
	o := &imputeFlags{model: newModelFlags(), gaps: gapFlags{detect: choice{allowed: []string{"zeros"}}}}
	cmd := &cobra.Command{
		Use:   "impute IN.wav -o OUT.wav",
		Short: "Fill gaps in a recording",
		Long: `Fills the gaps of a WAV or SPHERE file. An excerpt around each gap (--context on
each side, joined where they meet) is fitted with a model of its own, and the
gap gets the predictive mean. What stands in a gap is never looked at; samples
outside the gaps come out bit for bit as they were, in the same sample format.

Gaps are given by --gap (START:END, the end exclusive, in samples from 0 or in
times such as 0.5s:520ms), by --gaps FILE.csv (columns start,end in samples) or
found by --detect zeros. A gap is missing in every channel; the channels are
outputs of one model.

Only the excerpts are held in memory, and the output is copied from the input a
tile at a time, so a recording may be longer than memory holds. --overwrite lets
-o be the input itself. --plan says what the fill would compute and hold, and
ends there.

--reference CLEAN.wav scores the fill beside silence, linear interpolation and
an autoregressive (Janssen) fill: RMSE over the gaps (test) and over the
observed samples of the excerpts (train), the same of the short-time Fourier
transform, and how many of the gaps' samples the 95 % intervals cover. Silence
predicts 0 everywhere; linear and autoregressive fills reproduce what is observed, so their training error is 0.

Excerpts take seconds, so an interrupted fill is run again. For one that takes
hours, a recording modelled as a whole and optimised (--context all
--iterations), --checkpoint keeps where the fit stands and --resume goes on from
there to the same output.`,
		Example: `  vssgp impute clicks.wav --detect zeros -o repaired.wav
  vssgp impute take.wav --gap 1200:1240 --gap 0.5s:0.52s -o out.wav --sd out-sd.csv
  vssgp impute cut.wav --gaps gaps.csv --reference clean.wav --report out.html -o out.wav`,
		Args: arguments("IN.wav"),
		RunE: a.do(func(ctx context.Context, args []string) error { return a.impute(ctx, args[0], o) }),
	}
	f := cmd.Flags()
	o.gaps.add(f)
	f.StringVarP(&o.output, "output", "o", "", "`file` to write the filled recording to (required)")
	f.Var(&o.context, "context", "how much on each side of a gap is modelled: a time such as 60ms, or all (default 60ms)")
	f.StringVar(&o.reference, "reference", "", "the undamaged recording, a `file` to score the fill against")
	f.StringVar(&o.report, "report", "", "write a page to look at and listen to, with scores, settings and each gap before and after, to this HTML `file`")
	f.StringVar(&o.sd, "sd", "", "write sample, channel (both from 0) and predictive standard deviation in full scale of every filled sample to this CSV or NPY `file`")
	f.IntVar(&o.draws, "draws", 0, "write this many further plausible `fills`, drawn from the joint posterior, to OUT-1.wav, …")
	f.StringVar(&o.models, "model", "", "write the fitted model to this `file`; one for each excerpt, MODEL-1 and so on, where there are several")
	f.BoolVar(&o.plan, "plan", false, planUsage)
	o.keep.add(f)
	o.model.add(f, "seconds (32ms and 0.5s are understood)", "32ms")
	o.set = func() []report.Setting { return given(cmd) }
	return cmd
}

func (a *app) impute(ctx context.Context, input string, o *imputeFlags) error {
	err := a.imputeFile(ctx, input, o)
	if err != nil && ctx.Err() != nil {
		return &interruption{": the output is not written; to go on, " + o.keep.goOn("", nil)}
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
	if o.output != "" {
		if err := checkWritable(rec.File, o.output); err != nil {
			return err
		}
	}
	gaps, err := o.gaps.in(rec.File, input)
	if err != nil {
		return err
	}
	if o.plan {
		return a.planImpute(ctx, rec.File, gaps, a.fillOptions(o, options, nil))
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
	if o.report != "" {
		o.densities = report.NewDensities(rec.File.Rate())
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

// checkImpute looks at what the command line alone can tell.
func (a *app) checkImpute(o *imputeFlags) error {
	if o.output != "" || !o.plan {
		if err := a.wantOutput(o.output, "OUT.wav"); err != nil {
			return err
		}
	}
	for _, path := range []string{o.output, o.report, o.sd, o.models} {
		if path == toStdout {
			return mistake("-: impute writes several kinds of files and none to stdout; want a file name")
		}
	}
	if err := o.gaps.check(); err != nil {
		return err
	}
	if err := checkFormat("--report", o.report, report.HTML); err != nil {
		return err
	}
	if err := o.keep.check(); err != nil {
		return err
	}
	if o.draws < 0 || o.draws > maxFills {
		return mistake("--draws %d; want 0 to %d", o.draws, maxFills)
	}
	return a.checkOutputs(o.outputs(o.models)...)
}

// checkModels looks at the names that --model gets once the gaps are known.
func (a *app) checkModels(rec *audio.File, gaps []impute.Gap, o *imputeFlags) error {
	if o.models == "" {
		return nil
	}
	excerpts, err := impute.Excerpts(rec.Len(), rec.Rate(), gaps, impute.Options{Context: o.context.after, All: o.context.all})
	if err != nil {
		return err
	}
	return a.checkOutputs(o.outputs(modelFilesOf(o.models, len(excerpts))...)...)
}

// outputs are all files to write, with those of the models.
func (o *imputeFlags) outputs(models ...string) []string {
	files := append([]string{o.output, o.report, o.sd, o.keep.file}, models...)
	return append(files, numberedFiles(o.output, o.draws)...)
}

// modelFilesOf are the files that n models take.
func modelFilesOf(path string, n int) []string {
	if n == 1 {
		return []string{path}
	}
	return numberedFiles(path, n)
}

// openReference opens the undamaged recording, which must be the input's like.
func openReference(ctx context.Context, path string, rec *audio.File, input string) (*recordingFile, error) {
	ref, err := openRecording(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("--reference: %w", err)
	}
	unlike := func(what string, is, want int) error {
		ref.Close()
		return mistake("--reference %s: %d %s, %s has %d; want the same recording undamaged", path, is, what, input, want)
	}
	switch {
	case ref.Rate() != rec.Rate():
		return nil, unlike("samples a second", ref.Rate(), rec.Rate())
	case ref.Channels() != rec.Channels():
		return nil, unlike("channels", ref.Channels(), rec.Channels())
	case ref.Len() != rec.Len():
		return nil, unlike("samples", ref.Len(), rec.Len())
	}
	return ref, nil
}

// fromFile names the file in errors about its contents, which can come up only
// as they are read.
func fromFile(path string, err error) error {
	if errors.Is(err, audio.ErrFormat) {
		return fmt.Errorf("%s: %w", path, err)
	}
	return err
}

// fillOptions are those of impute.Fill; show may be nil.
func (a *app) fillOptions(o *imputeFlags, options vssgp.Options, show func(impute.Progress)) impute.Options {
	fill := impute.Options{
		Model: options, Context: o.context.after, All: o.context.all, Draws: o.draws, Forget: o.models == "", Progress: show,
	}
	if o.densities != nil {
		fill.Fitted = o.densities.Add
	}
	return fill
}

func (a *app) fill(ctx context.Context, rec *audio.File, gaps []impute.Gap, o *imputeFlags, options vssgp.Options) (*impute.Result, error) {
	bar := a.newMeter()
	defer bar.clear()
	return impute.FillFrom(ctx, rec, rec.Len(), rec.Rate(), gaps, a.fillOptions(o, options, func(p impute.Progress) {
		done, of := p.Iteration, p.Iterations
		if of == 0 { // nothing is iterated: excerpts are what is done
			done, of = p.Excerpt, p.Excerpts
		}
		bar.show(fmt.Sprintf("excerpt %d/%d", p.Excerpt, p.Excerpts), done, of, p.Bound, p.NoiseSD, p.Left)
	}))
}
