package audio

import (
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/detect"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/datafile"
	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/internal/report"
)

// gapFlags define the missing samples in one of four ways.
type gapFlags struct {
	list       []string
	file       string
	cues       bool
	detect     []string
	find       detect.Options
	confidence float64 // minimum confidence of detections, in percent
	labels     string
	dry        bool
}

func (g *gapFlags) add(f *pflag.FlagSet) {
	f.StringArrayVar(&g.list, "gap", nil,
		"fill `START:END` in samples or times (0.5s:520ms); @2 selects channel 2")
	f.Var(cli.FileName(&g.file, cli.FileUse{Extensions: []string{"csv", "txt"}}), "gaps",
		"`file` of gaps: CSV with the columns start,end, or Audacity labels")
	f.BoolVar(&g.cues, "cues", false, "fill the regions marked by cue points in the WAV file")
	f.StringSliceVar(&g.detect, "detect", nil, "`kinds` of damage to find: all, or "+kinds)
	f.Float64Var(&g.find.Sensitivity, "sensitivity", detect.DefaultSensitivity, "up to 10; higher finds more, and more false positives")
	f.Float64Var(&g.confidence, "confidence", 0, "fill only detections with at least this confidence in `percent`")
	f.Var(cli.OutputFile(&g.labels, "txt", "csv"), "labels",
		"write detections or gaps to this `file`: Audacity labels (.txt) or .csv")
	f.BoolVar(&g.dry, "dry-run", false, "list the damage found by --detect without filling it")
}

// kinds is a list of the kinds of damage for messages.
var kinds = strings.ReplaceAll(strings.Trim(fmt.Sprint(detect.Kinds), "[]"), " ", ", ")

// check returns an error unless exactly one way is given, with valid parameters. It sets the kinds of damage to find.
func (g *gapFlags) check(f *pflag.FlagSet) error {
	given := []bool{g.list != nil, g.file != "", g.cues, g.detect != nil}
	ways := len(slices.DeleteFunc(given, func(g bool) bool { return !g }))
	switch {
	case ways == 0:
		return cli.Mistake("no gaps given; give --gap START:END, --gaps FILE.csv, --cues or --detect KIND (%s)", kinds)
	case ways > 1:
		return cli.Mistake("gaps are given in %d ways; give only one of --gap, --gaps, --cues and --detect", ways)
	case g.detect == nil && (g.dry || f.Changed("sensitivity")):
		return cli.Mistake("--dry-run and --sensitivity require --detect KIND (%s)", kinds)
	case f.Changed("confidence") && (g.detect == nil && g.file == "" || !(g.confidence >= 0 && g.confidence <= 100)):
		return cli.Mistake("--confidence %v; must be 0 to 100 percent, with --detect or with labels in --gaps", g.confidence)
	case g.dry && (f.Changed("output") || f.Changed("out-dir")):
		return cli.Mistake("--dry-run cannot be combined with -o or --out-dir, because it writes no recording")
	case !(g.find.Sensitivity > 0 && g.find.Sensitivity <= 10):
		return cli.Mistake("--sensitivity %v; must be greater than 0 and at most 10", g.find.Sensitivity)
	}
	for _, name := range g.detect {
		switch k := detect.Kind(name); {
		case name == "all" && len(g.detect) == 1:
			g.find.Kinds = detect.Kinds
		case !slices.Contains(detect.Kinds, k):
			return cli.Mistake("--detect %s: unknown kind of damage; must be all or %s", name, kinds)
		case !slices.Contains(g.find.Kinds, k):
			g.find.Kinds = append(g.find.Kinds, k)
		}
	}
	return nil
}

// in returns the gaps of a recording in increasing order, and the damage found by --detect or listed as labels in --gaps.
func (g *gapFlags) in(
	ctx context.Context, env *cli.Env, rec *audio.File, input string,
) (gaps []audio.Gap, found []detect.Found, err error) {
	switch {
	case g.file != "":
		gaps, found, err = readGaps(env, g.file, rec)
	case g.cues:
		gaps, err = cues(rec, input)
	case g.detect != nil:
		found, err = g.detected(ctx, env, rec, input)
	default:
		for _, s := range g.list {
			gap, err := audio.ParseGap(s, rec.Rate())
			if err != nil {
				return nil, nil, err
			}
			gaps = append(gaps, gap)
		}
	}
	if found != nil {
		found = slices.DeleteFunc(found, func(f detect.Found) bool { return f.LogOdds != 0 && math.Round(100*f.Confidence()) < g.confidence })
		gaps = nil
		for _, f := range found {
			gaps = append(gaps, f.Gap)
		}
	}
	if err != nil || found != nil && gaps == nil {
		return nil, found, err
	}
	if gaps, err = audio.CheckGaps(gaps, rec.Len(), rec.Channels()); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", input, err)
	}
	return gaps, found, nil
}

// detected searches for damage. The result is not nil, even if there is no damage.
func (g *gapFlags) detected(ctx context.Context, env *cli.Env, rec *audio.File, input string) ([]detect.Found, error) {
	o := g.find
	o.Step = rec.Encoding().Step()
	o.Progress = func(done float64) {
		env.ShowProgress(done, "searching %.0f s of audio", float64(rec.Len())/float64(rec.Rate()))
	}
	found, err := detect.Find(ctx, rec, rec.Len(), rec.Rate(), o)
	return append([]detect.Found{}, found...), datafile.FromFile(input, err)
}

// labelFile returns the file of --labels, with the damage found by --detect or else the gaps.
func (g *gapFlags) labelFile(f *report.Fill) fileio.File {
	var labels []audio.Label
	for _, d := range f.Found {
		labels = append(labels, d.Label())
	}
	if f.Found == nil {
		for _, gap := range f.Gaps {
			labels = append(labels, audio.Label{Gap: gap, Text: "gap"})
		}
	}
	return fileio.File{Path: g.labels, Write: func(w io.Writer) error {
		if strings.EqualFold(filepath.Ext(g.labels), ".csv") {
			return audio.WriteLabelsCSV(w, labels)
		}
		return audio.WriteLabels(w, f.Rate, labels)
	}}
}

// cues returns the regions marked by cue points in a recording.
func cues(rec *audio.File, input string) ([]audio.Gap, error) {
	gaps, err := rec.Cues()
	if err == nil && len(gaps) == 0 {
		err = cli.Mistake("--cues: %s (%d samples) has no regions; regions are cue points with a length in a WAV, RF64 or BW64 file",
			cli.InputName(input), rec.Len())
	}
	return gaps, datafile.FromFile(input, err)
}

// readGaps reads --gaps. If the gaps have labels, it also returns them as detections. Errors contain the file and the line.
func readGaps(env *cli.Env, path string, rec *audio.File) (gaps []audio.Gap, found []detect.Found, err error) {
	f, _, err := env.Served.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	labels, err := audio.ReadLabels(f, rec.Rate())
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, l := range labels {
		gaps, found = append(gaps, l.Gap), append(found, detect.FromLabel(l))
	}
	check := func(last int) error { // checks the gaps up to the index last
		_, err := audio.CheckGaps(gaps[:last+1], rec.Len(), rec.Channels())
		return err
	}
	if bad := sort.Search(len(gaps), func(i int) bool { return check(i) != nil }); bad < len(gaps) {
		g, rate := gaps[bad], float64(rec.Rate()) // the file may contain times, but the error contains samples
		return nil, nil, fmt.Errorf("%s: line %d: %w (the line is %.6g s to %.6g s)", path, labels[bad].Line, check(bad),
			float64(g.Start)/rate, float64(g.End)/rate)
	}
	if !slices.ContainsFunc(labels, func(l audio.Label) bool { return l.Text != "" }) {
		found = nil
	}
	return gaps, found, nil
}
