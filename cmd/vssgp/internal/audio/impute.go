// Package audio implements the command repair.
package audio

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/restore"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/datafile"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/fit"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/report"
)

// imputeFlags are the flags of impute.
type imputeFlags struct {
	gaps      gapFlags
	fill      restore.Options // Method, Context, All and Draws
	method    string          // the value of --method
	model     fit.ModelFlags
	ofModel   *pflag.FlagSet // flags that apply only to VSSGP
	level     levelFlags
	output    string
	removed   string
	outDir    string
	resume    bool
	reference string
	report    string
	sd        string
	models    string
}

const (
	// anyMethod is the value of --method for which the other flags determine the method.
	anyMethod = "auto"
	// maxFills is the maximum of --draws. Each draw is a file.
	maxFills = 100
)

// New returns the command repair, whose first name was impute.
func New(env *cli.Env) *cobra.Command {
	o := &imputeFlags{}
	cmd := env.Command(&cobra.Command{
		Use:        "repair IN.wav -o OUT.wav",
		Aliases:    []string{"impute"},
		SuggestFor: []string{"restore", "declick", "declip", "decrackle", "inpaint"},
		Short:      "Find and fill damage in a recording (alias: impute)",
		Long: `Finds damage in a recording, or reads a list of gaps, and fills the damaged samples. Other
samples are copied bit for bit, but if restored peaks exceed full scale, the output is lowered
(--gain, --format). Input formats are WAV, FLAC, AIFF, RF64, W64 and SPHERE. The extension of
-o selects the output format. "-" is stdin, or stdout for -o.

Kinds of damage for --detect:
  clicks     short clicks and crackle
  dropouts   interruptions: zeros, zeros with dither, a repeated sample
  zeros      interruptions of exact zeros only
  clipped    peaks clipped at the largest values or at a lower level

To review the damage first, write it with --dry-run --labels found.txt, edit the labels
in Audacity, and fill them with --gaps found.txt. Gaps whose fill is not reliable are
printed with the reason.

--method natural keeps the level of the sound in gaps of music, at a larger squared error.
--method vssgp fits a variational sparse spectrum GP to the audio around each gap. It
accepts the model flags of "vssgp fit". Details: "vssgp help repairing" and
"vssgp help fills".`,
		Example: `  vssgp repair record.flac --detect clicks -o repaired.flac --report repaired.html
  vssgp repair take.wav --gap 1200:1240 --gap 0.5s:0.52s -o out.wav --sd out-sd.csv
  vssgp repair marked.wav --cues -o out.flac
  vssgp repair take.wav --detect dropouts,clipped --dry-run --labels found.txt
  vssgp repair takes --detect dropouts --out-dir repaired --labels 'repaired/{}.txt'
  vssgp repair cut.wav --gaps gaps.csv --reference clean.wav --report out.html -o out.wav`,
	}, func(ctx context.Context, args []string) error { return runImpute(ctx, env, args[0], o) },
		cli.InputFile("IN.wav", cli.RecordingFiles))
	cmd.Annotations = cli.FlagGroups("Most used: detect gaps gap output report labels dry-run sensitivity out-dir",
		"Input: cues vinyl mono confidence from to strict",
		"Output: output report labels gain format removed sd draws out-dir resume overwrite",
		"Model: method context model memory reference")
	o.add(cmd.Flags())
	return cmd
}

// add defines the flags.
func (o *imputeFlags) add(f *pflag.FlagSet) {
	o.gaps.add(f)
	output := cli.FileUse{Written: true, Needed: "-o OUT.wav (or --out-dir FOLDER, or --dry-run)", Stdout: true}
	f.VarP(cli.FileName(&o.output, output), "output", "o",
		"`file` to write the repaired recording to; - is stdout")
	f.Var(cli.FileName(&o.removed, cli.FileUse{Written: true, Extensions: cli.RecordingFiles}), "removed",
		"`file` to write the removed sound to: the input minus the output")
	f.Var(o.level.gainValue(), "gain", "output gain in `dB`, at most 0; auto: what restored peaks need")
	o.level.format = inputFormat
	f.Var(cli.OneOf(&o.level.format, inputFormat, floatFormat), "format",
		"sample `format` of the output: input, or float for 32 bits")
	f.BoolVar(&o.resume, "resume", false, "with --out-dir, skip recordings that an earlier run repaired")
	f.Bool("strict", false, "refuse a recording that is cut short or has a wrong header")
	f.Var(cli.FileName(&o.outDir, cli.FileUse{Written: true, Folder: true}), "out-dir",
		"`folder` for all recordings of the folder IN; {} in paths is the name")
	o.method = anyMethod
	methods := []string{anyMethod, string(restore.Mixture), string(restore.Natural), string(restore.AR), string(vssgp.VSSGP),
		string(vssgp.SSGP), string(vssgp.RP)}
	f.Var(cli.OneOf(&o.method, methods...), "method",
		"fill `method`: auto, mixture, natural, ar, vssgp, ssgp or rp")
	f.Var(cli.FileName(&o.reference, cli.FileUse{Extensions: cli.RecordingFiles}), "reference",
		"`file` with the undamaged recording, to score the fill")
	f.Var(cli.OutputFile(&o.report, cli.PlotFiles[:1]...), "report", "write an HTML `file` with plots and audio of the gaps")
	f.Var(cli.FileName(&o.sd, cli.FileUse{Written: true, Extensions: cli.TableOutputs}), "sd",
		"write the standard deviations of the fill to this `file` (.csv, .npy)")
	f.Var(cli.Count(&o.fill.Draws, maxFills), "draws", "`number` of fills to draw from the posterior, written to OUT-1.wav, …")
	o.model.AddMemory(f)
	m := pflag.NewFlagSet("model", pflag.ContinueOnError)
	m.Var(contextLength(&o.fill.Context, &o.fill.All), "context",
		"`time` to model on each side of a gap, such as 60ms, or all (default 60ms)")
	m.Var(cli.FileName(&o.models, cli.FileUse{Written: true, Extensions: cli.ModelFiles}), "model",
		"write the fitted model to this `file`, or to MODEL-1, … for several excerpts")
	o.model.AddPrior(m)
	o.model.Add(m, "32ms")
	m.VisitAll(func(f *pflag.Flag) { f.Hidden = f.Name != "context" && f.Name != "model" })
	f.AddFlagSet(m)
	o.ofModel = m
}

// contextLength returns a value that accepts a time such as 60ms, or all.
func contextLength(after *time.Duration, all *bool) *cli.Value {
	return &cli.Value{Kind: "time", Words: []string{"all"}, Parse: func(s string) error {
		if *after, *all = 0, s == "all"; *all {
			return nil
		}
		v, timed, err := cli.ParseLength(s)
		const most = 1e6 // seconds, longer than any recording and within the range of a Duration
		if err != nil || !timed || v > most {
			return fmt.Errorf("must be a time such as 60ms or 0.1s, or all")
		}
		*after = time.Duration(v * float64(time.Second))
		return nil
	}}
}

// choose sets the method from --method. With auto, the method is VSSGP if one of its flags is given, else the mixture.
func (o *imputeFlags) choose() error {
	given := cli.FirstGiven(o.ofModel)
	switch m := restore.Method(o.method); {
	case m == restore.VSSGP || m == restore.Method(vssgp.SSGP) || m == restore.Method(vssgp.RP):
		o.fill.Method, o.model.Method = restore.VSSGP, o.method
	case m == anyMethod && given != "":
		o.fill.Method = restore.VSSGP
	case m == anyMethod:
		o.fill.Method = restore.Mixture
	case given != "":
		return cli.Mistake("--%s applies to --method vssgp, not to %s; omit one of them", given, m)
	default:
		o.fill.Method = m
	}
	return nil
}

func runImpute(ctx context.Context, env *cli.Env, input string, o *imputeFlags) error {
	if err := cmp.Or(o.choose(), o.gaps.check(env.Flags)); err != nil {
		return err
	}
	if o.resume && o.outDir == "" {
		return cli.Mistake("--resume skips recordings of a folder; it requires --out-dir")
	}
	if info, err := os.Stat(input); o.outDir != "" || o.gaps.dry && env.Served == nil && err == nil && info.IsDir() {
		return imputeFolder(ctx, env, input, o)
	}
	result, err := imputeFile(ctx, env, input, o)
	if result != nil && env.JSON {
		err = cmp.Or(env.PrintJSON(result), err)
	}
	return err
}

// A repair is the state of the repair of one recording.
type repair struct {
	*imputeFlags
	env       *cli.Env
	input     string
	rec       *audio.File
	container audio.Container // of the output
	removedIn audio.Container // of --removed
	gain      float64         // of the output, in dB
	clipped   int             // filled samples that the output cannot store
	options   restore.Options
	page      *report.Fill // detections and fills so far
	searched  bool         // the search for damage is complete
	scores    *scores
	files     []io.Closer // open until the report is written
}

// imputeFile repairs a recording and returns its output for --json. If the comparison with the reference was interrupted, it returns both
// a result and an error.
func imputeFile(ctx context.Context, env *cli.Env, input string, o *imputeFlags) (done *result, err error) {
	r := &repair{imputeFlags: o, env: env, input: input, page: &report.Fill{}}
	defer func() {
		for _, file := range r.files {
			file.Close()
		}
	}()
	if err = r.open(ctx); err == nil {
		err = r.run(ctx)
	}
	if err == nil {
		done, err = r.finish()
	}
	if err != nil && ctx.Err() != nil {
		return r.interrupted(ctx)
	}
	return done, err
}

// open checks the outputs and opens the recording.
func (r *repair) open(ctx context.Context) (err error) {
	env, o := r.env, r.imputeFlags
	env.Aside = o.output == cli.ToStdout
	if env.Aside && o.fill.Draws > 0 {
		return cli.Mistake("--draws writes several files; -o must be a file, not stdout")
	}
	if err := env.CheckOutputs(cli.NumberedFiles(o.output, o.fill.Draws)...); err != nil {
		return err
	}
	if r.options, err = fillOptions(env, o); err != nil {
		return err
	}
	if err := r.read(ctx); err != nil {
		return err
	}
	*r.page = report.Fill{
		Name: filepath.Base(r.input), Output: filepath.Base(o.output), Samples: r.rec.Len(), Rate: r.rec.Rate(), Channels: r.rec.Channels(),
		Input: r.rec, Settings: env.Settings(), Method: cmp.Or(o.model.Method, string(r.options.Method)),
	}
	as, err := r.rec.Scaled(1, o.level.encoding(r.rec))
	if err != nil {
		return err
	}
	if r.container, err = containerFor(as, o.output); err != nil {
		return err
	}
	r.removedIn, err = containerFor(as, o.removed)
	return err
}

// read opens the recording. Reads fail after ctx is canceled.
func (r *repair) read(ctx context.Context) error {
	rec, file, err := datafile.OpenInput(ctx, r.env, r.input)
	if err != nil {
		return err
	}
	r.rec, r.page.Input, r.files = rec, rec, append(r.files, file)
	return nil
}

// run finds the gaps, fills them and scores the fill against the reference.
func (r *repair) run(ctx context.Context) (err error) {
	env, f, rec := r.env, r.page, r.rec
	if f.Gaps, f.Found, err = r.gaps.in(ctx, env, rec, r.input, &f.Search); err != nil || r.gaps.dry || len(f.Gaps) == 0 {
		return err
	}
	r.searched = true
	if r.options.Method != restore.VSSGP {
		warnLong(env, f)
	}
	if r.models != "" { // the number of models is only known now
		excerpts, err := restore.Excerpts(f.Channels, f.Samples, f.Rate, f.Gaps, r.options)
		if err == nil && len(excerpts) > 1 {
			err = env.CheckOutputs(cli.NumberedFiles(r.models, len(excerpts))...)
		}
		if err != nil {
			return err
		}
	}
	if r.reference != "" {
		clean, err := r.openReference(ctx)
		if err != nil {
			return err
		}
		f.Reference = clean
	}
	filled, err := restore.FillFrom(ctx, rec, rec.Len(), rec.Rate(), f.Gaps, r.options)
	if err != nil {
		return datafile.FromFile(r.input, err)
	}
	f.Result = filled
	if r.options.Method == restore.VSSGP && !env.Quiet {
		for i := range filled.Excerpts {
			warnGaps(env, &filled.Excerpts[i], float64(rec.Rate()), r.imputeFlags)
		}
	}
	if f.Reference == nil {
		return nil
	}
	s, err := filled.Score(ctx, rec, f.Reference, func(p restore.Progress) { showGaps(env, "scoring, gap", p) })
	if err != nil {
		return datafile.FromFile(r.input+" against "+r.reference, err)
	}
	f.Scores = scoresTable(s, f.Method)
	r.scores = &scores{s.AR, s.Linear, s.Silence, filledScores{s.Fill, s.Coverage95}}
	return nil
}

// containerFor returns the container of the output. It returns an error if the extension is
// unknown or the container does not support the sample format. With --dry-run the path may be empty.
func containerFor(r *audio.File, path string) (c audio.Container, err error) {
	switch path {
	case "":
		return c, nil
	case cli.ToStdout:
		return r.Container(), nil
	}
	if c, err = audio.ContainerOf(path); err != nil {
		return c, err
	}
	return c, datafile.FromFile(path, r.CheckWrite(c))
}

// openReference opens the undamaged recording, which must have the sample rate, channels and length of the input.
func (r *repair) openReference(ctx context.Context) (*audio.File, error) {
	ref, file, err := datafile.OpenRecording(ctx, r.env, r.reference)
	if err != nil {
		return nil, fmt.Errorf("--reference: %w", err)
	}
	r.files = append(r.files, file)
	for _, c := range []struct {
		what     string
		is, want int
	}{
		{"samples per second", ref.Rate(), r.rec.Rate()}, {"channels", ref.Channels(), r.rec.Channels()}, {"samples", ref.Len(), r.rec.Len()},
	} {
		if c.is != c.want {
			return nil, cli.Mistake("--reference %s has %d %s but %s has %d; must be the same recording without damage",
				r.reference, c.is, c.what, r.input, c.want)
		}
	}
	return ref, nil
}

// fillOptions returns the options of restore.FillFrom.
func fillOptions(env *cli.Env, o *imputeFlags) (fill restore.Options, err error) {
	if fill = o.fill; fill.Method != restore.VSSGP {
		if card := env.Device.Card(); card != "" {
			env.Note("--device %s: --method %s runs on the CPU", card, fill.Method)
		}
		fill.Model = vssgp.Options{Seed: env.Seed, MemoryLimit: cli.MemoryLimit(o.model.Memory)}
		fill.Progress = func(p restore.Progress) { showGaps(env, "gap", p) }
		return fill, nil
	}
	fill.Forget = o.models == ""
	fill.Progress = func(p restore.Progress) {
		if p.Iterations == 0 {
			showGaps(env, "excerpt", p)
			return
		}
		env.ShowFit(fmt.Sprintf("excerpt %d/%d", p.Excerpt, p.Excerpts),
			vssgp.Progress{Iteration: p.Iteration, Iterations: p.Iterations, Bound: p.Bound, NoiseSD: p.NoiseSD})
	}
	fill.Model, err = fit.Options(env, o.model)
	return fill, err
}

// showGaps shows the number of completed gaps.
func showGaps(env *cli.Env, what string, p restore.Progress) {
	env.ShowProgress(float64(p.Excerpt)/float64(p.Excerpts), "%s %d of %d", what, p.Excerpt, p.Excerpts)
}

// warnLong warns of gaps that are too long for a reliable fill.
func warnLong(env *cli.Env, f *report.Fill) {
	most := audio.SamplesIn(restore.LongGap.Seconds(), f.Rate)
	long := slices.DeleteFunc(slices.Clone(f.Gaps), func(g audio.Gap) bool { return g.Clipped || g.Len() <= most })
	if len(long) > 0 {
		longest := slices.MaxFunc(long, func(a, b audio.Gap) int { return a.Len() - b.Len() })
		env.Warn("long", "%s longer than %v, the longest %v (%.3g s); only the ends of such a fill resemble the original sound",
			cli.Counted(len(long), "gap"), restore.LongGap, longest, float64(longest.Len())/float64(f.Rate))
	}
}

// warnGaps warns of gaps longer than the context around them, or than a window.
func warnGaps(env *cli.Env, e *restore.Excerpt, rate float64, o *imputeFlags) {
	for _, g := range e.Gaps {
		length := float64(g.Len()) / rate
		around := cmp.Or(o.fill.Context, restore.DefaultContext).Seconds()
		if !o.fill.All && length > around {
			env.Warn("context",
				"gap %v is %.3g ms long, but the context on each side is only %.3g ms, so the middle of the fill is a guess; try --context %.0fms",
				g, 1e3*length, 1e3*around, math.Ceil(2e3*length))
		}
		if e.Window > 0 && length > e.Window {
			env.Warn("window",
				"gap %v is %.3g ms long, but windows are only %.3g ms long, so the middle of the fill is silent; try "+
					"--window %.0fms with --context %.0fms",
				g, 1e3*length, 1e3*e.Window, math.Ceil(1.5e3*length), math.Ceil(3e3*length))
		}
	}
}
