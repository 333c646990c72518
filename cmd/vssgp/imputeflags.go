package main

import (
	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio/restore"
	"github.com/vssgp/vssgp/internal/report"
)

// imputeFlags are the flags of impute.
type imputeFlags struct {
	gaps      gapFlags
	fill      restore.Options // Method, Context, All and Draws
	method    string          // as --method gives it
	model     modelFlags
	ofModel   *pflag.FlagSet // those that belong to VSSGP
	output    string
	outDir    string
	reference string
	report    string
	sd        string
	models    string
}

const (
	// anyMethod is the --method that leaves the choice to the other flags.
	anyMethod = "auto"
	// maxFills bounds --draws: each is a file.
	maxFills = 100
)

// add defines the flags.
func (o *imputeFlags) add(f *pflag.FlagSet) {
	o.gaps.add(f)
	f.VarP(fileName(&o.output, file{written: true, needed: "-o OUT.wav", stdout: true}), "output", "o", "`file` to write the filled recording to, or - for stdout (required)")
	f.Var(fileName(&o.outDir, file{written: true, folder: true}), "out-dir", "fill all recordings of the folder that is given, or the one file, into this `folder`; {} in the names of other files stands for each one's name")
	o.method = anyMethod
	f.Var(oneOf(&o.method, anyMethod, string(restore.Mixture), string(restore.AR), string(vssgp.VSSGP), string(vssgp.SSGP), string(vssgp.RP)), "method",
		"mixture, ar (the best simple fill), vssgp, or vssgp with ssgp's point frequencies (optimised) or rp's random ones (kept); auto is mixture, or vssgp where a flag of its own is given")
	f.Var(fileName(&o.reference, file{extensions: recordingFiles}), "reference", "the undamaged recording, a `file` to score the fill against")
	f.Var(fileName(&o.report, file{written: true, extensions: plotFiles[:1], only: true}), "report", "write a page to look at and listen to, with scores, settings and each gap before and after, to this HTML `file`")
	f.Var(fileName(&o.sd, file{written: true, extensions: tableOutputs}), "sd",
		"write the predictive standard deviation of every filled sample (columns: sample and channel from 0, sd in full scale) to this CSV or NPY `file`")
	f.Var(count(&o.fill.Draws, maxFills), "draws", "write this many more plausible `fills`, drawn from the joint posterior, to OUT-1.wav, …")
	o.model.addMemory(f)
	m := pflag.NewFlagSet("model", pflag.ContinueOnError)
	m.Var(contextLength(&o.fill.Context, &o.fill.All), "context", "how much of the recording to model on each side of a gap: a time such as 60ms, or all (default 60ms)")
	m.Var(fileName(&o.models, file{written: true, extensions: modelFiles}), "model", "write the fitted model to this `file` (MODEL-1, … if there are several excerpts)")
	o.model.addPrior(m)
	o.model.add(m, "seconds (32ms and 0.5s are understood)", "32ms")
	f.AddFlagSet(m)
	o.ofModel = m
}

// choose chooses the method: by --method, else by whether a flag is given that belongs to VSSGP.
func (o *imputeFlags) choose() error {
	given := firstGiven(o.ofModel)
	switch m := restore.Method(o.method); {
	case m != restore.Mixture && m != restore.AR && m != anyMethod:
		o.fill.Method, o.model.method = restore.VSSGP, o.method
	case m == anyMethod && given != "":
		o.fill.Method = restore.VSSGP
	case m == anyMethod:
		o.fill.Method = restore.Mixture
	case given != "":
		return mistake("--%s belongs to --method vssgp; want --method vssgp instead of %s, or leave --%s out", given, m, given)
	default:
		o.fill.Method = m
	}
	return nil
}

// fillOptions returns the options of restore.FillFrom.
func (a *app) fillOptions(o *imputeFlags) (fill restore.Options, err error) {
	if fill = o.fill; fill.Method == restore.VSSGP {
		fill.Forget = o.models == ""
		fill.Model, err = a.options(o.model)
		return fill, err
	}
	if d := a.computer.device; d.kind == "cuda" {
		a.note("--device %s: --method %s computes on the CPU", d.text, fill.Method)
	}
	fill.Model = vssgp.Options{Seed: a.seed, MemoryLimit: memoryLimit(o.model.memory)}
	return fill, nil
}

// follow shows the fill's progress on the meter, and collects the densities for a report in f.
func (o *imputeFlags) follow(fill *restore.Options, f *report.Fill, bar *meter) {
	fill.Progress = bar.filling
	if fill.Method != restore.VSSGP {
		return
	}
	fill.Progress = bar.fitting
	if o.report != "" {
		f.Density = report.NewDensities(f.Rate)
		fill.Fitted = f.Density.Add
	}
}
