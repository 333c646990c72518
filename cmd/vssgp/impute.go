package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/impute"
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
	set       func() []setting // the flags as given, for the report
}

// noWindow is a window length in seconds that no recording reaches: a model
// without windows (zero asks impute.Fill for its default).
const noWindow = 1e6

// maxFills bounds --draws: each is a recording in memory.
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

--reference CLEAN.wav scores the fill beside silence, linear interpolation and
an autoregressive (Janssen) fill: RMSE over the gaps (test) and over the
observed samples of the excerpts (train), the same of the short-time Fourier
transform, and how many of the gaps' samples the 95 % intervals cover. Silence
predicts 0 everywhere; linear and autoregressive fills reproduce what is
observed, so their training error is 0.`,
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
	f.StringVar(&o.report, "report", "", "write a page with scores, settings and a plot of each gap to this HTML `file`")
	f.StringVar(&o.sd, "sd", "", "write sample, channel (both from 0) and predictive standard deviation in full scale of every filled sample to this CSV `file`")
	f.IntVar(&o.draws, "draws", 0, "write this many further plausible `fills`, drawn from the joint posterior, to OUT-1.wav, …")
	f.StringVar(&o.models, "model", "", "write the fitted model to this `file`; one for each excerpt, MODEL-1 and so on, where there are several")
	o.model.add(f, "seconds (32ms and 0.5s are understood)", "32ms")
	o.set = func() []setting {
		var s []setting
		cmd.Flags().Visit(func(f *pflag.Flag) { s = append(s, setting{"--" + f.Name, f.Value.String()}) })
		return s
	}
	return cmd
}

func (a *app) impute(ctx context.Context, input string, o *imputeFlags) error {
	if err := a.checkImpute(o); err != nil {
		return err
	}
	options, err := a.options(o.model, noWindow)
	if err != nil {
		return err
	}
	rec, err := readRecording(input)
	if err != nil {
		return err
	}
	if err := checkWritable(rec, o.output); err != nil {
		return err
	}
	gaps, err := o.gaps.in(rec, input)
	if err != nil {
		return err
	}
	var reference [][]float64
	if o.reference != "" {
		if reference, err = readReference(o.reference, rec, input); err != nil {
			return err
		}
	}
	observed := silenced(rec.Samples, gaps)
	r, err := a.fill(ctx, observed, rec.Rate, gaps, o, options)
	if err != nil {
		return err
	}
	out := newImputeResult(r, rec, gaps, o.output)
	if reference != nil {
		out.score(impute.Score(reference, r.Filled, r.Fit, r.SD, rec.Rate, gaps))
	}
	if err := a.writeFill(input, o, rec, r, &out, observed, reference); err != nil {
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
	if err := a.wantOutput(o.output, "OUT.wav"); err != nil {
		return err
	}
	for _, path := range []string{o.output, o.report, o.sd, o.models} {
		if path == toStdout {
			return mistake("-: impute writes several kinds of files and none to stdout; want a file name")
		}
	}
	if err := o.gaps.check(); err != nil {
		return err
	}
	if o.draws < 0 || o.draws > maxFills {
		return mistake("--draws %d; want 0 to %d", o.draws, maxFills)
	}
	paths := []string{o.output, o.report, o.sd, o.models}
	for i := range o.draws {
		paths = append(paths, numbered(o.output, i+1))
	}
	return checkOutputs(paths...)
}

// readReference reads the undamaged recording, which must be the input's like.
func readReference(path string, rec *audio.Recording, input string) ([][]float64, error) {
	ref, err := readRecording(path)
	if err != nil {
		return nil, fmt.Errorf("--reference: %w", err)
	}
	switch {
	case ref.Rate != rec.Rate:
		return nil, mistake("--reference %s: %d samples a second, %s has %d; want the same recording undamaged", path, ref.Rate, input, rec.Rate)
	case ref.Channels() != rec.Channels():
		return nil, mistake("--reference %s: %d channels, %s has %d; want the same recording undamaged", path, ref.Channels(), input, rec.Channels())
	case ref.Len() != rec.Len():
		return nil, mistake("--reference %s: %d samples, %s has %d; want the same recording undamaged", path, ref.Len(), input, rec.Len())
	}
	return ref.Samples, nil
}

// silenced is a copy of the samples with zeros in the gaps, so that nothing
// that follows can depend on what stood there.
func silenced(samples [][]float64, gaps []impute.Gap) [][]float64 {
	out := make([][]float64, len(samples))
	for c, s := range samples {
		out[c] = append([]float64(nil), s...)
		for _, g := range gaps {
			clear(out[c][g.Start:g.End])
		}
	}
	return out
}

func (a *app) fill(ctx context.Context, observed [][]float64, rate int, gaps []impute.Gap, o *imputeFlags, options vssgp.Options) (*impute.Result, error) {
	bar := a.newMeter()
	r, err := impute.Fill(ctx, observed, rate, gaps, impute.Options{
		Model: options, Context: o.context.after, All: o.context.all, Draws: o.draws,
		Progress: func(p impute.Progress) {
			done, of := p.Iteration, p.Iterations
			if of == 0 { // nothing is iterated: excerpts are what is done
				done, of = p.Excerpt, p.Excerpts
			}
			bar.show(fmt.Sprintf("excerpt %d/%d", p.Excerpt, p.Excerpts), done, of, p.Bound, p.NoiseSD, p.Left)
		},
	})
	bar.clear()
	if ctx.Err() != nil {
		return nil, &interruption{": nothing was written; run the same command again"}
	}
	return r, err
}
