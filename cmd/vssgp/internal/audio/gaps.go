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
	"github.com/vssgp/vssgp/cmd/vssgp/internal/report"
	"github.com/vssgp/vssgp/internal/fileio"
)

// gapFlags define the missing samples in one of four ways.
type gapFlags struct {
	list       []string
	file       string
	cues       bool
	detect     []string
	find       detect.Options
	vinyl      string  // value of --vinyl
	mono       string  // value of --mono
	from, to   string  // part to search, in the notation of --gap; "": the ends of the recording
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
	words := append([]string{"all"}, strings.Split(kinds, ", ")...)
	f.Var(&cli.Value{Kind: "kinds", List: true, Words: words, Parse: g.addKinds}, "detect",
		"`kinds` of damage to find: all, or "+kinds)
	f.Float64Var(&g.find.Sensitivity, "sensitivity", detect.DefaultSensitivity,
		"0 to 10; higher finds more, and more false positives")
	g.vinyl, g.mono = autoSwitch, autoSwitch
	f.Var(switchValue(&g.vinyl), "vinyl", "find clicks as on a record: auto, on or off")
	f.Var(switchValue(&g.mono), "mono", "find clicks as on a mono disc: auto, on or off")
	f.StringVar(&g.from, "from", "", "search only from this `position` on, in samples or a time such as 1:02.5")
	f.StringVar(&g.to, "to", "", "search only up to this `position`")
	f.Float64Var(&g.confidence, "confidence", 0, "fill only detections with at least this confidence in `percent`")
	f.Var(cli.OutputFile(&g.labels, "txt", "csv"), "labels",
		"write detections or gaps to this `file`: Audacity labels (.txt) or .csv")
	f.BoolVar(&g.dry, "dry-run", false, "list the damage found by --detect without filling it")
}

// addKinds parses --detect. Check reports unknown kinds.
func (g *gapFlags) addKinds(list string) error {
	g.detect = append(g.detect, strings.Split(list, ",")...)
	return nil
}

// autoSwitch is the value of --vinyl and --mono for which the recording determines the mode.
const autoSwitch = "auto"

// switchValue returns the value of --vinyl or --mono.
func switchValue(to *string) *cli.Value {
	v := cli.OneOf(to, autoSwitch, string(detect.On), string(detect.Off))
	v.Kind = "when"
	return v
}

// switchOf converts the value of --vinyl or --mono.
func switchOf(v string) detect.Switch {
	if v == autoSwitch {
		return detect.Auto
	}
	return detect.Switch(v)
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
	case g.detect == nil && (g.dry || f.Changed("sensitivity") || f.Changed("from") || f.Changed("to")):
		return cli.Mistake("--dry-run, --sensitivity, --from and --to require --detect KIND (%s)", kinds)
	case f.Changed("mono") && !slices.Contains(g.detect, string(detect.Clicks)) && !slices.Contains(g.detect, "all"):
		return cli.Mistake("--mono requires --detect clicks")
	case f.Changed("confidence") && (g.detect == nil && g.file == "" || !(g.confidence >= 0 && g.confidence <= 100)):
		return cli.Mistake("--confidence %v: must be 0 to 100 percent, with --detect or with labels in --gaps", g.confidence)
	case g.confidence > 0 && g.confidence < 1:
		return cli.Mistake("--confidence %v: must be in percent, such as %.0f", g.confidence, 100*g.confidence)
	case g.dry && (f.Changed("output") || f.Changed("out-dir") || f.Changed("removed")):
		return cli.Mistake("--dry-run cannot be combined with -o, --removed or --out-dir, because it writes no recording")
	case !(g.find.Sensitivity >= 0 && g.find.Sensitivity <= 10):
		return cli.Mistake("--sensitivity %v: must be 0 to 10", g.find.Sensitivity)
	}
	if g.find.Sensitivity == 0 { // which selects the default in detect.Options
		g.find.Sensitivity = math.SmallestNonzeroFloat64
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
	ctx context.Context, env *cli.Env, rec *audio.File, input string, how *detect.Report,
) (gaps []audio.Gap, found []detect.Found, err error) {
	switch {
	case g.file != "":
		gaps, found, err = readGaps(env, g.file, rec)
	case g.cues:
		gaps, err = cues(rec, input)
	case g.detect != nil:
		found, err = g.detected(ctx, env, rec, input, how)
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
		unsure := func(f detect.Found) bool { return f.LogOdds != 0 && math.Round(100*f.Confidence()) < g.confidence }
		found, how.Near = slices.DeleteFunc(found, unsure), slices.DeleteFunc(how.Near, unsure)
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

// detected searches for damage, and sets how. The result is not nil, even if there is no damage.
func (g *gapFlags) detected(
	ctx context.Context, env *cli.Env, rec *audio.File, input string, how *detect.Report,
) ([]detect.Found, error) {
	from, to, err := g.part(rec)
	if err != nil {
		return nil, err
	}
	margin := audio.SamplesIn(searchMargin, rec.Rate())
	lo, hi := max(0, from-margin), min(rec.Len(), to+margin)
	o := g.find
	o.Step = rec.Encoding().Step()
	o.Vinyl, o.Mono, o.Report = switchOf(g.vinyl), switchOf(g.mono), how
	o.Progress = func(done float64) {
		env.ShowProgress(done, "searching %.0f s of audio", float64(hi-lo)/float64(rec.Rate()))
	}
	all, err := detect.Find(ctx, tail{rec, lo}, hi-lo, rec.Rate(), o)
	inside := func(all []detect.Found) []detect.Found {
		found := []detect.Found{}
		for _, f := range all {
			f.Start, f.End = f.Start+lo, f.End+lo
			if f.Start >= from && f.End <= to {
				found = append(found, f)
			}
		}
		return found
	}
	how.Near = inside(how.Near)
	return inside(all), datafile.FromFile(input, err)
}

// searchMargin is the length of the audio that is searched before --from and after --to, in seconds, because
// detectors compare a sound with its surroundings.
const searchMargin = 1

// A tail is a recording from a sample on.
type tail struct {
	audio.Source
	from int
}

// Read returns the samples [lo, hi) of the tail.
func (t tail) Read(lo, hi int) ([][]float64, error) { return t.Source.Read(lo+t.from, hi+t.from) }

// part returns the samples [from, to) of --from and --to. An end after the recording is the end of the recording.
func (g *gapFlags) part(rec *audio.File) (from, to int, err error) {
	to = rec.Len()
	for _, p := range []struct {
		flag, text string
		at         *int
	}{{"from", g.from, &from}, {"to", g.to, &to}} {
		if p.text == "" {
			continue
		}
		if *p.at, err = audio.ParsePosition(p.text, rec.Rate()); err != nil {
			return 0, 0, cli.Mistake("--%s: %w", p.flag, err)
		}
	}
	if to = min(to, rec.Len()); from < 0 || from >= to {
		return 0, 0, cli.Mistake("--from and --to select samples %d to %d; must be a part of the recording of %d samples",
			from, to, rec.Len())
	}
	return from, to, nil
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
	if len(labels) == 0 { // as --labels writes it if nothing is found
		env.Note("%s has no gaps", path)
		return nil, []detect.Found{}, nil
	}
	if !slices.ContainsFunc(labels, func(l audio.Label) bool { return l.Text != "" }) {
		found = nil
	}
	return gaps, found, nil
}
