package audio

import (
	"fmt"
	"io"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/restore"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/datafile"
	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/internal/report"
)

// modelFilesOf returns the paths of n models.
func modelFilesOf(path string, n int) []string {
	if n == 1 {
		return []string{path}
	}
	return cli.NumberedFiles(path, n)
}

// finishFill scores the fill, writes every output and says what was done.
func finishFill(env *cli.Env, f *report.Fill, rec *audio.File, container audio.Container, input string, o *imputeFlags) error {
	r := f.Result
	var scores cli.Object
	if f.Reference != nil {
		s, err := r.Score(rec, f.Reference)
		if err != nil {
			return datafile.FromFile(input+" against "+o.reference, err)
		}
		f.Scores = scoresTable(s, f.Method)
		scores = cli.Object{"ar", s.AR, "linear", s.Linear, "silence", s.Silence, "vssgp", struct {
			audio.Scores
			Coverage float64 `json:"coverage95"`
		}{s.VSSGP, s.Coverage95}}
	}
	var models []string
	if o.models != "" {
		models = modelFilesOf(o.models, len(r.Excerpts))
	}
	written, err := writeFill(env, f, rec, container, models, o)
	if err != nil {
		return err
	}
	if !env.JSON {
		sayFill(env, f, written)
		return nil
	}
	return env.PrintJSON(filled(f, o.output, models, scores))
}

// filled is what impute --json prints.
func filled(f *report.Fill, output string, models []string, scores cli.Object) cli.Object {
	r := f.Result
	doubts, excerpts := []cli.Object{}, []cli.Object{}
	for _, d := range r.Doubts {
		doubts = append(doubts, cli.Object{"start", d.Gap.Start, "end", d.Gap.End, "channel", d.Channel + 1, "reason", d.Reason})
	}
	var bound any // only a VSSGP has one; a sum over the excerpts
	if r.Method == restore.VSSGP {
		bound = r.Bound
	}
	for _, e := range r.Excerpts {
		o := cli.Object{"start", e.Start, "end", e.End}
		if e.Result != nil {
			o = append(o, "bound", e.Result.Bound, "iterations", e.Result.Iterations, "features", e.Features,
				"noise_sd", e.NoiseSD) // of the first channel, in full scale
		}
		excerpts = append(excerpts, o)
	}
	return cli.Object{
		"method", f.Method, "device", f.Device(), "seconds", r.Elapsed, "iterations", r.Iterations, "bound", bound,
		"rate", f.Rate, "channels", f.Channels, "samples", f.Samples, "missing", audio.Missing(f.Gaps), // samples per channel
		"gaps", spans(f.Gaps), "gap_channels,omitempty", owners(f.Gaps), "found,omitempty", foundObjects(f.Found), "doubts", doubts, "joint", r.Joint, "excerpts", excerpts, "output", output, "models,omitempty", models, "scores,omitempty", scores,
	}
}

// scoresTable returns the scores of the fill by a method and of those that it is compared with.
func scoresTable(s restore.Scores, method string) *report.Table {
	line := func(name string, s audio.Scores, coverage string) []string {
		return []string{name, cli.Short(s.TestRMSE), cli.Short(s.TrainRMSE), cli.Short(s.TestSTFTRMSE), cli.Short(s.TrainSTFTRMSE), coverage}
	}
	return &report.Table{
		Caption: "The fill beside silence, linear interpolation and the best simple fill (ar), against the reference",
		Head:    []string{"", "test RMSE", "train RMSE", "test STFT RMSE", "train STFT RMSE", "95 % coverage"},
		Rows: [][]string{line(method, s.VSSGP, cli.Short(s.Coverage95)), line("silence", s.Silence, ""), line("linear", s.Linear, ""),
			line("ar", s.AR, "")},
	}
}

// writeFill writes every output together or none, and returns their paths.
func writeFill(env *cli.Env, f *report.Fill, rec *audio.File, to audio.Container, models []string, o *imputeFlags) (written []string, err error) {
	var files []fileio.File
	for i, path := range append([]string{o.output}, cli.NumberedFiles(o.output, o.fill.Draws)...) {
		new, err := changes(f, i)
		if err != nil {
			return nil, err
		}
		patch, clipped, err := rec.Patch(new)
		if err != nil {
			return nil, err
		}
		if clipped > 0 {
			env.Note("%s: %d filled samples exceed full scale and were clipped", path, clipped)
		}
		files = append(files, fileio.File{Path: path, Write: func(w io.Writer) error { return patch.Write(w, to) }})
	}
	for i, path := range models {
		files = append(files, fileio.File{Path: path, Write: f.Result.Excerpts[i].Model.Write})
	}
	if o.sd != "" {
		files = append(files, sdFile(o.sd, f))
	}
	told, err := toldFiles(env, f, o)
	if err != nil {
		return nil, err
	}
	files = append(files, told...)
	if o.output == cli.ToStdout {
		files = append(files[1:], files[0])
	}
	for _, f := range files {
		written = append(written, f.Path)
	}
	return written, env.Write(files...)
}

// changes returns the gaps' samples of the fill (0) or of a draw (from 1 on).
func changes(f *report.Fill, draw int) ([]audio.Change, error) {
	all := make([]audio.Change, len(f.Gaps))
	for i, g := range f.Gaps {
		all[i] = audio.Change{Start: g.Start, Values: make([][]float64, f.Channels)}
		for c := range f.Channels {
			if !g.In(c) {
				continue
			}
			fill, err := f.Result.Filling(i, c)
			if err != nil {
				return nil, err
			}
			all[i].Values[c] = fill.Mean
			if draw > 0 {
				all[i].Values[c] = fill.Draws[draw-1]
			}
		}
	}
	return all, nil
}

// sdFile lists the standard deviations of the filled samples in order, channel by channel within one.
func sdFile(path string, f *report.Fill) fileio.File {
	rows := 0
	for _, g := range f.Gaps {
		if rows += g.Len(); g.Channel == 0 {
			rows += g.Len() * (f.Channels - 1)
		}
	}
	return datafile.TableFile(path, []int{rows, 3}, []string{"sample", "channel", "sd"}, nil, func(write func([]float64) error) error {
		for i, g := range f.Gaps {
			sd := make([][]float64, f.Channels) // nil: the gap is not the channel's
			for c := range sd {
				if g.In(c) {
					fill, err := f.Result.Filling(i, c)
					if err != nil {
						return err
					}
					sd[c] = fill.SD
				}
			}
			for n := g.Start; n < g.End; n++ {
				for c := range sd {
					if sd[c] == nil {
						continue
					}
					if err := write([]float64{float64(n), float64(c), sd[c][n-g.Start]}); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
}

func sayFill(env *cli.Env, f *report.Fill, written []string) {
	r := f.Result
	sayFound(env, f)
	how := f.Method
	if r.Method == restore.VSSGP {
		how += fmt.Sprintf(" on %s, bound %.6g after %s over %s", r.Device, r.Bound, cli.Counted(r.Iterations, "iteration"), cli.Counted(len(r.Excerpts), "excerpt"))
	}
	if r.Joint > 0 {
		how += fmt.Sprintf(", %d with what other channels hold", r.Joint)
	}
	env.Say("filled %s (%d of %d samples, %d Hz) in %.1f s by %s", cli.Counted(len(f.Gaps), "gap"), audio.Missing(f.Gaps), f.Samples, f.Rate, r.Elapsed.Seconds(), how)
	if f.Scores != nil {
		for _, t := range append([][]string{{"", "test RMSE", "train RMSE", "test STFT", "train STFT", "coverage95"}}, f.Scores.Rows...) {
			env.Say("%-8s %12s %12s %12s %12s %12s", t[0], t[1], t[2], t[3], t[4], t[5])
		}
	}
	for i, d := range r.Doubts {
		if i == mostDoubts {
			env.Say("do not trust: %d more; --json and --report name them", len(r.Doubts)-i)
			break
		}
		in := ""
		if f.Channels > 1 && d.Gap.Channel == 0 {
			in = fmt.Sprintf(" in channel %d", d.Channel+1)
		}
		env.Say("do not trust: gap %v%s: %s", d.Gap, in, d.Reason)
	}
	sayPaths(env, written)
}

// mostDoubts bounds the doubts that the text names.
const mostDoubts = 10
