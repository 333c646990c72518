package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/impute"
	"github.com/vssgp/vssgp/internal/atomicfile"
	"github.com/vssgp/vssgp/internal/report"
	"github.com/vssgp/vssgp/internal/table"
)

// imputeResult is what `impute --json` prints.
type imputeResult struct {
	Device     string            `json:"device"`
	Seconds    number            `json:"seconds"`
	Iterations int               `json:"iterations"` // of all excerpts
	Bound      number            `json:"bound"`      // sum over the excerpts
	Rate       int               `json:"rate"`
	Channels   int               `json:"channels"`
	Samples    int               `json:"samples"` // per channel
	Missing    int               `json:"missing"` // of them, in gaps
	Gaps       [][2]int          `json:"gaps"`    // start, end
	Excerpts   []excerptResult   `json:"excerpts"`
	Output     string            `json:"output"`
	Models     []string          `json:"models,omitempty"`
	ByMethod   map[string]scored `json:"scores,omitempty"`
	Scores     []namedScore      `json:"-"` // the same in the order they are shown

	written []string // the files
}

type excerptResult struct {
	Start      int    `json:"start"`
	End        int    `json:"end"`
	Bound      number `json:"bound"`
	Iterations int    `json:"iterations"`
	Features   int    `json:"features"`
	NoiseSD    number `json:"noise_sd"` // of the first channel, in full scale
}

// scored are a method's errors.
type scored struct {
	TrainRMSE number  `json:"train_rmse"`
	TestRMSE  number  `json:"test_rmse"`
	TrainSTFT number  `json:"train_stft_rmse"`
	TestSTFT  number  `json:"test_stft_rmse"`
	Coverage  *number `json:"coverage95,omitempty"` // vssgp only
}

type namedScore struct {
	Name string
	scored
}

func newImputeResult(r *impute.Result, rec *audio.File, gaps []impute.Gap, output string) imputeResult {
	out := imputeResult{
		Device: r.Device, Seconds: number(r.Elapsed.Seconds()), Iterations: r.Iterations, Bound: number(r.Bound),
		Rate: rec.Rate(), Channels: rec.Channels(), Samples: rec.Len(), Output: output,
	}
	for _, g := range gaps {
		out.Gaps = append(out.Gaps, [2]int{g.Start, g.End})
		out.Missing += g.End - g.Start
	}
	for _, e := range r.Excerpts {
		out.Excerpts = append(out.Excerpts, excerptResult{
			Start: e.Start, End: e.End, Bound: number(e.Result.Bound), Iterations: e.Result.Iterations,
			Features: e.Features, NoiseSD: number(e.NoiseSD),
		})
	}
	return out
}

// score takes the scores in.
func (r *imputeResult) score(s impute.Scores) {
	r.ByMethod = map[string]scored{}
	for _, m := range []struct {
		name string
		audio.Scores
	}{{"vssgp", s.VSSGP}, {"silence", s.Silence}, {"linear", s.Linear}, {"ar", s.AR}} {
		v := scored{number(m.TrainRMSE), number(m.TestRMSE), number(m.TrainSTFTRMSE), number(m.TestSTFTRMSE), nil}
		if m.name == "vssgp" {
			c := number(s.Coverage95)
			v.Coverage = &c
		}
		r.ByMethod[m.name] = v
		r.Scores = append(r.Scores, namedScore{m.name, v})
	}
}

// writeFill writes every output together or none.
func (a *app) writeFill(input string, o *imputeFlags, rec *audio.File, r *impute.Result, out *imputeResult, reference impute.Source) error {
	container, err := audio.ContainerOf(o.output)
	if err != nil {
		return err
	}
	var files []atomicfile.File
	for i := range 1 + o.draws {
		path := o.output
		if i > 0 {
			path = numbered(o.output, i)
		}
		patch, clipped, err := rec.Patch(changes(r, i))
		if err != nil {
			return err
		}
		if clipped > 0 {
			a.note("%s: %d filled samples are past full scale and were clipped", path, clipped)
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
		p, err := fillReport(input, o, rec, r, *out, reference)
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
	return writeTable(w, path, &table.Table{Names: []string{"sample", "channel", "sd"}, Rows: len(data) / 3, Cols: 3, Data: data})
}

// numbered puts -n before a path's extension.
func numbered(path string, n int) string {
	ext := filepath.Ext(path)
	return fmt.Sprintf("%s-%d%s", strings.TrimSuffix(path, ext), n, ext)
}

// numberedFiles are -1 to -n of them.
func numberedFiles(path string, n int) []string {
	files := make([]string, n)
	for i := range files {
		files[i] = numbered(path, i+1)
	}
	return files
}

func (a *app) sayImpute(r imputeResult) {
	a.say("filled %s (%d of %d samples, %d Hz) in %.1f s on %s, bound %.6g after %s over %s",
		report.Counted(len(r.Gaps), "gap"), r.Missing, r.Samples, r.Rate, float64(r.Seconds), r.Device, float64(r.Bound), report.Counted(r.Iterations, "iteration"), report.Counted(len(r.Excerpts), "excerpt"))
	if r.Scores != nil {
		a.say("%-8s %12s %12s %12s %12s %12s", "", "test RMSE", "train RMSE", "test STFT", "train STFT", "coverage95")
		for _, s := range r.Scores {
			coverage := ""
			if s.Coverage != nil {
				coverage = short(*s.Coverage)
			}
			a.say("%-8s %12s %12s %12s %12s %12s", s.Name, short(s.TestRMSE), short(s.TrainRMSE), short(s.TestSTFT), short(s.TrainSTFT), coverage)
		}
	}
	a.say("wrote %s", strings.Join(r.written, ", "))
}

func audioGaps(gaps [][2]int) []audio.Gap {
	out := make([]audio.Gap, len(gaps))
	for i, g := range gaps {
		out[i] = audio.Gap{Start: g[0], End: g[1]}
	}
	return out
}
