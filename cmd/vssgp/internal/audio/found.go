package audio

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/internal/report"
)

// toldFiles are the outputs that say what was found and filled: labels and a page.
func toldFiles(env *cli.Env, f *report.Fill, o *imputeFlags) (files []fileio.File, err error) {
	if o.gaps.labels != "" {
		files = append(files, o.gaps.labelFile(f))
	}
	if o.report != "" {
		d, err := report.Impute(f)
		if err != nil {
			return nil, err
		}
		files = append(files, env.ReportFile(o.report, d))
	}
	return files, nil
}

// finishDry writes and says what was found, and nothing else.
func finishDry(env *cli.Env, f *report.Fill, o *imputeFlags) error {
	files, err := toldFiles(env, f, o)
	if err != nil {
		return err
	}
	if len(files) > 0 {
		if err := env.Write(files...); err != nil {
			return err
		}
	}
	if env.JSON {
		return env.PrintJSON(cli.Object{
			"rate", f.Rate, "channels", f.Channels, "samples", f.Samples, "missing", audio.Missing(f.Gaps),
			"gaps", spans(f.Gaps), "gap_channels,omitempty", owners(f.Gaps), "found", foundObjects(f.Found),
		})
	}
	sayFound(env, f)
	for i, d := range f.Found {
		if i == mostFound {
			env.Say("%d more; --labels, --json and --report name them", len(f.Found)-i)
			break
		}
		strength := ""
		if d.Strength != 0 {
			strength = fmt.Sprintf(", %.0f dB over what is expected there", d.Strength)
		}
		env.Say("%s at %.4f s: samples %v%s", d.Kind, float64(d.Start)/float64(f.Rate), d.Gap, strength)
	}
	sayWritten(env, files)
	return nil
}

// finishIntact writes a recording in which nothing was found as it is.
func finishIntact(env *cli.Env, f *report.Fill, rec *audio.File, container audio.Container, o *imputeFlags) error {
	patch, _, err := rec.Patch(nil)
	if err != nil {
		return err
	}
	files := []fileio.File{{Path: o.output, Write: func(w io.Writer) error { return patch.Write(w, container) }}}
	told, err := toldFiles(env, f, o)
	if err != nil {
		return err
	}
	if files = append(files, told...); o.output == cli.ToStdout {
		files = append(files[1:], files[0])
	}
	if err := env.Write(files...); err != nil {
		return err
	}
	if env.JSON {
		return env.PrintJSON(cli.Object{
			"rate", f.Rate, "channels", f.Channels, "samples", f.Samples, "missing", 0,
			"gaps", spans(nil), "found", foundObjects(f.Found), "doubts", []cli.Object{}, "output", o.output,
		})
	}
	sayFound(env, f)
	sayWritten(env, files)
	return nil
}

// sayFound counts what was found, if it was looked for.
func sayFound(env *cli.Env, f *report.Fill) {
	if f.Found == nil {
		return
	}
	count, kinds := map[string]int{}, []string{}
	for _, d := range f.Found {
		if count[d.Kind]++; count[d.Kind] == 1 {
			kinds = append(kinds, d.Kind)
		}
	}
	if len(kinds) == 0 {
		env.Say("found nothing to repair in %.1f s of sound", float64(f.Samples)/float64(f.Rate))
		return
	}
	for i, k := range kinds {
		kinds[i] = fmt.Sprintf("%d %s", count[k], k)
	}
	env.Say("found %s in %.1f s of sound", strings.Join(kinds, ", "), float64(f.Samples)/float64(f.Rate))
}

// mostFound bounds the finds that the text names.
const mostFound = 40

func sayWritten(env *cli.Env, files []fileio.File) {
	var names []string
	for _, f := range files {
		names = append(names, f.Path)
	}
	sayPaths(env, names)
}

// sayPaths names the files that were written.
func sayPaths(env *cli.Env, paths []string) {
	if paths = slices.DeleteFunc(paths, func(p string) bool { return p == cli.ToStdout }); len(paths) > 0 {
		env.Say("wrote %s", strings.Join(paths, ", "))
	}
}

// spans are the gaps without their channels.
func spans(gaps []audio.Gap) [][2]int {
	all := [][2]int{}
	for _, g := range gaps {
		all = append(all, [2]int{g.Start, g.End})
	}
	return all
}

// owners are the gaps' channels, 0 for all; nil if every gap is of all.
func owners(gaps []audio.Gap) (channels []int) {
	any := false
	for _, g := range gaps {
		channels = append(channels, g.Channel)
		any = any || g.Channel > 0
	}
	if !any {
		return nil
	}
	return channels
}

// foundObjects is what was found as --json prints it; nil if nothing was looked for.
func foundObjects(found []report.Found) (all []cli.Object) {
	if found == nil {
		return nil
	}
	all = []cli.Object{}
	for _, d := range found {
		o := cli.Object{"start", d.Start, "end", d.End, "channel", d.Channel, "kind", d.Kind}
		if d.Strength != 0 {
			o = append(o, "strength_db", d.Strength)
		}
		all = append(all, o)
	}
	return all
}
