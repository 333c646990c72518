package audio

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/detect"
	"github.com/vssgp/vssgp/audio/restore"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/datafile"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/report"
	"github.com/vssgp/vssgp/internal/fileio"
)

// finish writes all outputs or, if one of them fails, none. It prints the detections and the fill. The fill is nil with --dry-run or if
// nothing was found.
func (r *repair) finish() (*result, error) {
	env, f := r.env, r.page
	var models []string
	if f.Result != nil && r.models != "" {
		models = []string{r.models}
		if n := len(f.Result.Excerpts); n > 1 {
			models = cli.NumberedFiles(r.models, n)
		}
	}
	var files []fileio.File
	if !r.gaps.dry {
		var err error
		if files, err = r.recordings(); err != nil {
			return nil, err
		}
	}
	for i, path := range models {
		files = append(files, fileio.File{Path: path, Write: f.Result.Excerpts[i].Model.Write})
	}
	if f.Result != nil && r.sd != "" {
		files = append(files, sdFile(r.sd, f, r.factor()))
	}
	if r.gaps.labels != "" {
		files = append(files, r.gaps.labelFile(f))
	}
	if r.report != "" {
		d, err := report.Impute(f)
		if err != nil {
			return nil, err
		}
		files = append(files, env.ReportFile(r.report, d))
	}
	if err := env.Write(files...); err != nil {
		return nil, err
	}
	if r.gaps.detect != nil || f.Result == nil {
		printFound(env, f)
	}
	if r.gaps.detect != nil {
		noteSearch(env, &r.gaps, f)
	}
	switch {
	case r.gaps.dry:
		printDetections(env, f)
	case f.Result != nil:
		printFill(env, f)
	}
	env.PrintWritten(files)
	done := resultOf(f, r.imputeFlags, models, r.scores)
	if r.gain != 0 || r.clipped > 0 {
		done.level = &level{r.gain, r.clipped}
	}
	return done, nil
}

// recordings returns the files of the filled recording, its draws and --removed. The fill is a copy if nothing was
// found.
func (r *repair) recordings() (files []fileio.File, err error) {
	r.setLevel()
	out, err := r.outputFile()
	if err != nil {
		return nil, err
	}
	paths, changes := []string{r.output}, make([][]audio.Change, 1)
	if fill := r.page.Result; fill != nil {
		paths = append(paths, cli.NumberedFiles(r.output, r.options.Draws)...)
		changes[0] = r.scaled(fill.Changes(-1)) // the mean
		for draw := range r.options.Draws {
			changes = append(changes, r.scaled(fill.Changes(draw)))
		}
	}
	for i, path := range paths {
		patch, clipped, err := out.Patch(changes[i])
		if err != nil {
			return nil, err
		}
		r.noteClipped(path, clipped, "filled sample")
		r.clipped += clipped
		files = append(files, fileio.File{Path: path, Write: func(w io.Writer) error { return patch.Write(w, r.container) }})
	}
	if r.removed != "" {
		file, err := r.removedFile(out, changes[0])
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// scaled multiplies changes by the gain of the output.
func (r *repair) scaled(changes []audio.Change) []audio.Change {
	if r.gain == 0 {
		return changes
	}
	for _, c := range changes {
		for channel, v := range c.Values {
			if v != nil {
				c.Values[channel] = slices.Clone(v)
				floats.Scale(r.factor(), c.Values[channel])
			}
		}
	}
	return changes
}

// sdFile returns the file of --sd: the standard deviations of the filled samples, ordered by sample and then by
// channel. by is the gain of the output as a factor.
func sdFile(path string, f *report.Fill, by float64) fileio.File {
	rows := 0
	for fill := range f.Result.All() {
		rows += len(fill.SD)
	}
	return datafile.TableFile(path, []int{rows, 3}, []string{"sample", "channel", "sd"}, nil, func(write func([]float64) error) error {
		for i, g := range f.Gaps {
			for n := range g.Len() {
				for _, fill := range f.Result.Fills[i] {
					if err := write([]float64{float64(g.Start + n), float64(fill.Channel), by * fill.SD[n]}); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
}

// scoresTable returns a table with the scores of the fill and of the fills that it is compared with.
func scoresTable(s restore.Scores, method string) *report.Table {
	line := func(name string, s audio.Scores, coverage string) []string {
		return []string{name, cli.Short(s.TestRMSE), cli.Short(s.TrainRMSE), cli.Short(s.TestSTFTRMSE), cli.Short(s.TrainSTFTRMSE),
			coverage}
	}
	return &report.Table{
		Caption: "Errors of the fill, silence, linear interpolation and autoregressive interpolation (ar) compared with the reference",
		Head:    []string{"", "test RMSE", "train RMSE", "test STFT RMSE", "train STFT RMSE", "95 % coverage"},
		Rows: [][]string{line(method, s.Fill, cli.Short(s.Coverage95)), line("silence", s.Silence, ""), line("linear", s.Linear, ""),
			line("ar", s.AR, "")},
	}
}

// printFound prints the number of detections of each kind of damage.
func printFound(env *cli.Env, f *report.Fill) {
	count, kinds := map[detect.Kind]int{}, []detect.Kind{}
	for _, d := range f.Found {
		if count[d.Kind]++; count[d.Kind] == 1 {
			kinds = append(kinds, d.Kind)
		}
	}
	var counts []string
	for _, k := range kinds {
		one := strings.TrimSuffix(string(k), "s")
		if k == detect.Clipped {
			one = "clipped peak"
		}
		counts = append(counts, cli.Counted(count[k], one))
	}
	found := cmp.Or(strings.Join(counts, ", "), "nothing to repair")
	env.Print("found %s in %.1f s of audio", found, float64(f.Samples)/float64(f.Rate))
}

const (
	// manyNear and manyQuiet are the minimum numbers per second of near misses and of ticks in quiet parts that are
	// mentioned.
	manyNear, manyQuiet = 0.5, 4
	// fewSure is the mean confidence of at least someClicks clicks below which they are doubtful. Music and speech with
	// clicks have .9 or more.
	fewSure, someClicks = 0.75, 4
)

// noteSearch prints whether clicks were searched as on a record, whether they are doubtful, and how many were nearly
// found.
func noteSearch(env *cli.Env, g *gapFlags, f *report.Fill) {
	switch v := f.Search.Vinyl; {
	case v.Used && g.vinyl == autoSwitch:
		env.Note("%.0f ticks a second in quiet parts, as on a record: vinyl mode; --vinyl off disables it", v.Quiet)
	case g.vinyl == autoSwitch && v.Quiet > manyQuiet:
		env.Note("%.0f ticks a second in quiet parts, but %s: no vinyl mode; --vinyl on enables it", v.Quiet, v.Doubt)
	}
	if m := f.Search.Mono; m.Used && g.mono == autoSwitch {
		env.Note("the channels are a mono disc's, with the same sound %.0f dB above their difference, which is searched, too; "+
			"--mono off disables it", m.Reduction)
	}
	sum, n := 0.0, 0
	for _, d := range f.Found {
		if d.Kind == detect.Clicks {
			sum, n = sum+d.Confidence(), n+1
		}
	}
	if n >= someClicks && sum < fewSure*float64(n) && !f.Search.Vinyl.Used {
		env.Warn("doubtful", "the mean confidence of the clicks is %.0f %%, so the sound itself may be impulsive; check them "+
			"with --report, or use --confidence 80", 100*sum/float64(n))
	}
	if n := len(f.Search.Near); float64(n)*float64(f.Rate) > manyNear*float64(f.Samples) {
		sum := 0.0
		for _, d := range f.Search.Near {
			sum += d.Confidence()
		}
		env.Note("%s nearly found, with a mean confidence of %.0f %%; --sensitivity %.3g finds them, --report lists the most probable",
			cli.Counted(n, "more click"), 100*sum/float64(n), min(detect.MaxSensitivity, g.find.Sensitivity+detect.NearMiss))
	}
}

// maxFound and maxWarnings are the maximum numbers of detections and of warnings in printed text.
const maxFound, maxWarnings = 40, 10

// printDetections prints the detections.
func printDetections(env *cli.Env, f *report.Fill) {
	for i, d := range f.Found {
		if i == maxFound {
			env.Print("%d more; use --labels, --json or --report to list all", len(f.Found)-i)
			break
		}
		env.Print("%s at %.4f s: samples %v, confidence %.0f %%", d.Kind, float64(d.Start)/float64(f.Rate), d.Gap, 100*d.Confidence())
	}
}

// printFill prints a summary of a fill, its scores and its warnings.
func printFill(env *cli.Env, f *report.Fill) {
	r := f.Result
	how := f.Method
	if r.Method == restore.VSSGP {
		how += fmt.Sprintf(" on %s, bound %.6g after %s over %s", r.Device, r.Bound, cli.Counted(r.Iterations, "iteration"),
			cli.Counted(len(r.Excerpts), "excerpt"))
	}
	if joint := r.Joint(); joint > 0 {
		how += fmt.Sprintf(", %d from other channels", joint)
	}
	if len(f.Gaps) < len(f.Found) {
		how += "; adjacent detections are one gap"
	}
	env.Print("filled %s (%d of %d samples, %d Hz) in %.1f s by %s", cli.Counted(len(f.Gaps), "gap"), audio.Missing(f.Gaps), f.Samples,
		f.Rate, r.Elapsed.Seconds(), how)
	if f.Scores != nil {
		for _, t := range append([][]string{{"", "test RMSE", "train RMSE", "test STFT", "train STFT", "coverage95"}}, f.Scores.Rows...) {
			env.Print("%-8s %12s %12s %12s %12s %12s", t[0], t[1], t[2], t[3], t[4], t[5])
		}
	}
	warnings := r.Warnings()
	for i, d := range warnings {
		if i == maxWarnings {
			env.Print("unreliable: %d more; use --json or --report to list all", len(warnings)-i)
			break
		}
		in := ""
		if f.Channels > 1 && d.Gap.Channel == 0 {
			in = fmt.Sprintf(" in channel %d", d.Channel+1)
		}
		env.Print("unreliable: gap %v%s: %s", d.Gap, in, d.Warning)
	}
}
