package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/impute"
	"github.com/vssgp/vssgp/internal/report"
)

func (a *app) imputeCommand() *cobra.Command {
	o := &imputeFlags{}
	cmd := a.command(&cobra.Command{
		Use:   "impute IN.wav -o OUT.wav",
		Short: "Fill gaps in a recording",
		Long: `Fills the gaps of a WAV or SPHERE file. The samples inside a gap are never read;
samples outside the gaps are copied bit for bit, in the same sample format.

The default, --method mixture, evens the pitch and the level of the sound around a
gap, and fills the gap with what a stationary process of that spectrum expects there,
gap by gap and channel by channel. How pitch and level move is uncertain, so the fill
is a mixture over several guesses, and its error bars hold their spread. Recipes for
voices and for steady sounds are weighed by how they fill made gaps of the same length
beside the real one.

The other methods: ar is the best simple fill, an autoregressive model whose length
such trials choose; mixture is compared with it. vssgp fits an excerpt around each
gap (--context on each side, joined where they meet) with a model of its own, whose
predictive mean fills the gap; the channels are its outputs. ssgp and rp are the same
with point frequencies. The flags that set this model (--context, --components,
--window, --model, …) choose vssgp if there is no --method.

Gaps are given by --gap (START:END, the end exclusive, in samples from 0 or in
times such as 0.5s:520ms), by --gaps FILE.csv (columns start,end in samples) or
found by --detect zeros. A gap is missing in every channel. Gaps whose fill should not
be trusted are named, with the reason.

Only the samples around the gaps are held in memory, and the output is copied from
the input a tile at a time, so a recording may be longer than memory holds.
--overwrite lets -o be the input itself. --plan prints the work and memory that the
fill would take, and stops.

--reference CLEAN.wav scores the fill beside silence, linear interpolation and
ar: RMSE over the gaps (test) and over the observed samples around them (train), the
same of the short-time Fourier transform, and how many of the gaps' samples the 95 %
intervals cover. Silence predicts 0 everywhere, and vssgp its mean; the other fills
reproduce what is observed, so their training error is 0.

Interrupting a fill of many gaps loses nothing with --checkpoint: it saves the gaps
that are filled, every 30 seconds and when it is interrupted, and the same command
with --resume goes on to the same output. With vssgp that works for a recording that
is modelled as a whole and optimised (--context all --iterations).`,
		Example: `  vssgp impute clicks.wav --detect zeros -o repaired.wav
  vssgp impute take.wav --gap 1200:1240 --gap 0.5s:0.52s -o out.wav --sd out-sd.csv
  vssgp impute hours.wav --gaps gaps.csv --checkpoint hours.part --resume -o out.wav
  vssgp impute cut.wav --gaps gaps.csv --reference clean.wav --report out.html -o out.wav`,
	}, func(ctx context.Context, args []string) error { return a.impute(ctx, args[0], o) }, input("IN.wav", recordingFiles))
	o.add(cmd.Flags())
	return cmd
}

func (a *app) impute(ctx context.Context, input string, o *imputeFlags) error {
	if o.outDir != "" {
		return a.imputeFolder(ctx, input, o)
	}
	return a.imputeOne(ctx, input, o)
}

// imputeOne fills a recording, and says how to go on if it is interrupted.
func (a *app) imputeOne(ctx context.Context, input string, o *imputeFlags) error {
	a.aside = o.output == toStdout
	err := a.imputeFile(ctx, input, o)
	if err != nil && ctx.Err() != nil {
		return &interruption{": the output is not written; to continue, " + o.keep.goOn("", nil)}
	}
	return err
}

func (a *app) imputeFile(ctx context.Context, input string, o *imputeFlags) error {
	if err := cmp.Or(o.choose(), o.gaps.check(a.flags), o.keep.check(a.flags)); err != nil {
		return err
	}
	if o.output == toStdout && o.fill.Draws > 0 {
		return mistake("--draws makes further files and -o is stdout; want -o OUT.wav")
	}
	if err := a.checkOutputs(numberedFiles(o.output, o.fill.Draws)...); err != nil {
		return err
	}
	fill, err := a.fillOptions(o)
	if err != nil {
		return err
	}
	rec, file, err := a.openInput(ctx, input)
	if err != nil {
		return err
	}
	defer file.Close()
	container, err := containerFor(rec, o.output)
	if err != nil {
		return err
	}
	bar := a.newMeter()
	f := &report.Fill{
		Name: filepath.Base(input), Output: filepath.Base(o.output), Samples: rec.Len(), Rate: rec.Rate(), Channels: rec.Channels(),
		Input: rec, Settings: a.settings(), Method: cmp.Or(o.model.method, string(fill.Method)),
	}
	if f.Gaps, f.Found, err = o.gaps.in(ctx, rec, input, bar); err != nil {
		return err
	}
	if o.gaps.dry {
		return a.finishDry(f, o)
	}
	if len(f.Gaps) == 0 {
		return a.finishIntact(f, rec, container, o)
	}
	o.follow(&fill, f, bar)
	if done, err := a.planFill(ctx, f, rec, fill, o); done || err != nil {
		return err
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
	f.Result, err = impute.FillFrom(ctx, rec, rec.Len(), rec.Rate(), f.Gaps, fill)
	bar.clear()
	if err != nil {
		return fromFile(input, err)
	}
	defer f.Result.Close()
	if fill.Method == impute.VSSGP {
		a.warnFill(f.Result, float64(rec.Rate()), o)
	}
	return a.finishFill(f, rec, container, input, o)
}

// containerFor checks, before long work, that a recording can be written to the path: its
// extension, and the sample formats of the container. With --plan there may be no path.
func containerFor(r *audio.File, path string) (c audio.Container, err error) {
	switch path {
	case "":
		return c, nil
	case toStdout:
		return r.Container(), nil
	}
	if c, err = audio.ContainerOf(path); err != nil {
		return c, err
	}
	return c, fromFile(path, r.CheckWrite(c))
}

// planFill prints the plan if that is all that is asked for. It refuses a fill gap by gap that needs more memory than there is; vssgp.Fit
// sees to the others.
func (a *app) planFill(ctx context.Context, f *report.Fill, rec *audio.File, fill impute.Options, o *imputeFlags) (done bool, err error) {
	limit := fill.Model.MemoryLimit
	if !o.plan && (fill.Method == impute.VSSGP || limit == 0) {
		return false, nil
	}
	fill.Model.Checkpoint = o.keep.file
	p, err := impute.NewPlanFrom(ctx, rec, rec.Len(), rec.Rate(), f.Gaps, fill)
	switch {
	case err != nil:
		return false, err
	case !o.plan && p.PeakBytes > limit:
		return false, mistake("filling %s takes about %v, of which %v are to be had; want a larger --memory, or to fill a part of the gaps at a time",
			counted(len(f.Gaps), "gap"), byteCount(p.PeakBytes), byteCount(limit))
	case !o.plan:
		return false, nil
	}
	device := "cpu"
	if fill.Method == impute.VSSGP {
		device = fill.Model.Backend.Name()
	}
	p.Outputs = f.Channels
	return true, a.printFillPlan(p, f, device)
}

// checkModels checks the names of several models, once the gaps are known.
func (a *app) checkModels(f *report.Fill, fill impute.Options, o *imputeFlags) error {
	if o.models == "" {
		return nil
	}
	excerpts, err := impute.Excerpts(f.Channels, f.Samples, f.Rate, f.Gaps, fill)
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
