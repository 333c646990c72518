package main

import (
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/impute"
	"github.com/vssgp/vssgp/internal/atomicfile"
	"github.com/vssgp/vssgp/internal/report"
	"github.com/vssgp/vssgp/internal/table"
)

// imputeResult is what `impute --json` prints.
type imputeResult struct {
	Device     string          `json:"device"`
	Elapsed    time.Duration   `json:"seconds"`
	Iterations int             `json:"iterations"` // of all excerpts
	Bound      float64         `json:"bound"`      // sum over the excerpts
	Rate       int             `json:"rate"`
	Channels   int             `json:"channels"`
	Samples    int             `json:"samples"` // per channel
	Missing    int             `json:"missing"` // of them, in gaps
	Gaps       [][2]int        `json:"gaps"`    // start, end
	Excerpts   []excerptResult `json:"excerpts"`
	Output     string          `json:"output"`
	Models     []string        `json:"models,omitempty"`
	ByMethod   map[string]any  `json:"scores,omitempty"`

	scores  []scored // in the order they are shown
	written []string // the files
}

type excerptResult struct {
	Start      int     `json:"start"`
	End        int     `json:"end"`
	Bound      float64 `json:"bound"`
	Iterations int     `json:"iterations"`
	Features   int     `json:"features"`
	NoiseSD    float64 `json:"noise_sd"` // of the first channel, in full scale
}

// scored are a method's errors.
type scored struct {
	name string
	audio.Scores
	Coverage *float64 `json:"coverage95,omitempty"` // vssgp only
}

func newImputeResult(r *impute.Result, rec *audio.File, gaps []impute.Gap, output string) imputeResult {
	out := imputeResult{
		Device: r.Device, Elapsed: r.Elapsed, Iterations: r.Iterations, Bound: r.Bound,
		Rate: rec.Rate(), Channels: rec.Channels(), Samples: rec.Len(), Missing: audio.Missing(gaps), Output: output,
	}
	for _, g := range gaps {
		out.Gaps = append(out.Gaps, [2]int{g.Start, g.End})
	}
	for _, e := range r.Excerpts {
		out.Excerpts = append(out.Excerpts, excerptResult{e.Start, e.End, e.Result.Bound, e.Result.Iterations, e.Features, e.NoiseSD})
	}
	return out
}

// score takes the scores in.
func (r *imputeResult) score(s impute.Scores) {
	r.ByMethod = map[string]any{}
	r.scores = []scored{{"vssgp", s.VSSGP, &s.Coverage95}, {"silence", s.Silence, nil}, {"linear", s.Linear, nil}, {"ar", s.AR, nil}}
	for _, m := range r.scores {
		r.ByMethod[m.name] = m
	}
}

// texts are a method's row in a table of scores.
func (s *scored) texts() []string {
	coverage := ""
	if s.Coverage != nil {
		coverage = short(*s.Coverage)
	}
	return []string{s.name, short(s.TestRMSE), short(s.TrainRMSE), short(s.TestSTFTRMSE), short(s.TrainSTFTRMSE), coverage}
}

// writeFill writes every output together or none.
func (a *app) writeFill(input string, o *imputeFlags, rec *audio.File, r *impute.Result, out *imputeResult, reference impute.Source) error {
	container, err := audio.ContainerOf(o.output)
	if err != nil {
		return err
	}
	var files []atomicfile.File
	for i, path := range append([]string{o.output}, numberedFiles(o.output, o.draws)...) {
		patch, clipped, err := rec.Patch(changes(r, i))
		if err != nil {
			return err
		}
		if clipped > 0 {
			a.note("%s: %d filled samples exceed full scale and were clipped", path, clipped)
		}
		files = append(files, atomicfile.File{Path: path, Write: func(w io.Writer) error { return patch.Write(w, container) }})
	}
	if o.models != "" {
		out.Models = modelFilesOf(o.models, len(r.Excerpts))
		for i, e := range r.Excerpts {
			files = append(files, atomicfile.File{Path: out.Models[i], Write: e.Model.Write})
		}
	}
	if o.sd != "" {
		files = append(files, atomicfile.File{Path: o.sd, Write: func(w io.Writer) error { return writeSD(w, o.sd, r) }})
	}
	if o.report != "" {
		p, err := a.fillReport(input, o, rec, r, out, reference)
		if err != nil {
			return err
		}
		files = append(files, reportFile(o.report, p))
	}
	for _, f := range files {
		out.written = append(out.written, f.Path)
	}
	return a.write(files...)
}

// changes are the gaps' samples of the fill (0) or of a draw (from 1 on).
func changes(r *impute.Result, draw int) []audio.Change {
	var all []audio.Change
	for _, e := range r.Excerpts {
		samples := e.Filled
		if draw > 0 {
			samples = e.Draws[draw-1]
		}
		for _, g := range e.Gaps {
			c := audio.Change{Start: g.Start}
			for _, s := range samples {
				c.Values = append(c.Values, s[g.Start-e.Start:g.End-e.Start])
			}
			all = append(all, c)
		}
	}
	return all
}

// writeSD lists the filled samples in order, channel by channel within one, as
// NPY or CSV by the path's extension.
func writeSD(w io.Writer, path string, r *impute.Result) error {
	var data []float64
	for _, e := range r.Excerpts {
		for _, g := range e.Gaps {
			for i := g.Start; i < g.End; i++ {
				for c := range e.SD {
					data = append(data, float64(i), float64(c), e.SD[c][i-e.Start])
				}
			}
		}
	}
	if formatOf(path) == "npy" {
		return table.WriteNPY(w, []int{len(data) / 3, 3}, data)
	}
	return table.WriteCSV(w, []string{"sample", "channel", "sd"}, data)
}

func (a *app) sayImpute(r imputeResult) {
	a.say("filled %s (%d of %d samples, %d Hz) in %.1f s on %s, bound %.6g after %s over %s",
		counted(len(r.Gaps), "gap"), r.Missing, r.Samples, r.Rate, r.Elapsed.Seconds(), r.Device, r.Bound,
		counted(r.Iterations, "iteration"), counted(len(r.Excerpts), "excerpt"))
	rows := [][]string{{"", "test RMSE", "train RMSE", "test STFT", "train STFT", "coverage95"}}
	for _, s := range r.scores {
		rows = append(rows, s.texts())
	}
	for _, t := range rows {
		if r.scores != nil {
			a.say("%-8s %12s %12s %12s %12s %12s", t[0], t[1], t[2], t[3], t[4], t[5])
		}
	}
	a.say("wrote %s", strings.Join(r.written, ", "))
}

// fillReport is the page of impute's --report.
func (a *app) fillReport(input string, o *imputeFlags, rec *audio.File, r *impute.Result, out *imputeResult, reference impute.Source) (*report.Document, error) {
	f := &report.Fill{
		Name: filepath.Base(input), Output: filepath.Base(o.output), Samples: out.Samples, Rate: out.Rate, Channels: out.Channels,
		Result: r, Input: rec, Reference: reference, Density: o.densities, Settings: a.settings(),
	}
	for _, g := range out.Gaps {
		f.Gaps = append(f.Gaps, audio.Gap{Start: g[0], End: g[1]})
	}
	if out.scores != nil {
		f.Scores = scoresTable(out.scores)
	}
	return report.Impute(f)
}

// scoresTable is what a fill and those it is compared with have scored.
func scoresTable(scores []scored) *report.Table {
	t := &report.Table{
		Caption: "The fill beside silence, linear interpolation and an autoregressive fill, against the reference",
		Head:    []string{"", "test RMSE", "train RMSE", "test STFT RMSE", "train STFT RMSE", "95 % coverage"},
	}
	for _, s := range scores {
		t.Rows = append(t.Rows, s.texts())
	}
	return t
}
