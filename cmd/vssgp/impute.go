package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/restore"
	"github.com/vssgp/vssgp/internal/report"
)

// imputeOne fills a recording.
func (a *app) imputeOne(ctx context.Context, input string, o *imputeFlags) error {
	a.aside = o.output == toStdout
	err := a.imputeFile(ctx, input, o)
	if err != nil && ctx.Err() != nil {
		return cutShort(": the output is not written")
	}
	return err
}

func (a *app) imputeFile(ctx context.Context, input string, o *imputeFlags) error {
	if err := cmp.Or(o.choose(), o.gaps.check(a.flags)); err != nil {
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
	if f.Gaps, f.Found, err = o.gaps.in(ctx, a, rec, input, bar); err != nil {
		return err
	}
	if o.gaps.dry {
		return a.finishDry(f, o)
	}
	if len(f.Gaps) == 0 {
		return a.finishIntact(f, rec, container, o)
	}
	o.follow(&fill, f, bar)
	if err := a.checkModels(f, fill, o); err != nil {
		return err
	}
	if o.reference != "" {
		clean, file, err := a.openReference(ctx, o.reference, rec, input)
		if err != nil {
			return err
		}
		defer file.Close()
		f.Reference = clean
	}
	f.Result, err = restore.FillFrom(ctx, rec, rec.Len(), rec.Rate(), f.Gaps, fill)
	bar.clear()
	if err != nil {
		return fromFile(input, err)
	}
	if fill.Method == restore.VSSGP && !a.quiet {
		for i := range f.Result.Excerpts {
			a.warnGaps(&f.Result.Excerpts[i], float64(rec.Rate()), o)
		}
	}
	return a.finishFill(f, rec, container, input, o)
}

// containerFor checks, before long work, that a recording can be written to the path: its
// extension, and the sample formats of the container. With --dry-run there may be no path.
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

// checkModels checks the names of several models, once the gaps are known.
func (a *app) checkModels(f *report.Fill, fill restore.Options, o *imputeFlags) error {
	if o.models == "" {
		return nil
	}
	excerpts, err := restore.Excerpts(f.Channels, f.Samples, f.Rate, f.Gaps, fill)
	if err != nil || len(excerpts) == 1 {
		return err
	}
	return a.checkOutputs(modelFilesOf(o.models, len(excerpts))...)
}

// openReference opens the undamaged recording, which must have the rate, channels and
// samples of the input.
func (a *app) openReference(ctx context.Context, path string, rec *audio.File, input string) (*audio.File, io.Closer, error) {
	ref, file, err := a.openRecording(ctx, path)
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
