package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/internal/report"
)

// toldFiles are the outputs that say what was found and filled: labels and a page.
func (a *app) toldFiles(f *report.Fill, o *imputeFlags) (files []fileio.File, err error) {
	if o.gaps.labels != "" {
		files = append(files, o.gaps.labelFile(f))
	}
	if o.report != "" {
		d, err := report.Impute(f)
		if err != nil {
			return nil, err
		}
		files = append(files, a.reportFile(o.report, d))
	}
	return files, nil
}

// finishDry writes and says what was found, and nothing else.
func (a *app) finishDry(f *report.Fill, o *imputeFlags) error {
	files, err := a.toldFiles(f, o)
	if err != nil {
		return err
	}
	if len(files) > 0 {
		if err := a.write(files...); err != nil {
			return err
		}
	}
	if a.json {
		return a.printJSON(object{
			"rate", f.Rate, "channels", f.Channels, "samples", f.Samples, "missing", audio.Missing(f.Gaps),
			"gaps", spans(f.Gaps), "gap_channels,omitempty", owners(f.Gaps), "found", foundObjects(f.Found),
		})
	}
	a.sayFound(f)
	for i, d := range f.Found {
		if i == mostFound {
			a.say("%d more; --labels, --json and --report name them", len(f.Found)-i)
			break
		}
		strength := ""
		if d.Strength != 0 {
			strength = fmt.Sprintf(", %.0f dB over what is expected there", d.Strength)
		}
		a.say("%s at %.4f s: samples %v%s", d.Kind, float64(d.Start)/float64(f.Rate), d.Gap, strength)
	}
	a.sayWritten(files)
	return nil
}

// finishIntact writes a recording in which nothing was found as it is.
func (a *app) finishIntact(f *report.Fill, rec *audio.File, container audio.Container, o *imputeFlags) error {
	patch, _, err := rec.Patch(nil)
	if err != nil {
		return err
	}
	files := []fileio.File{{Path: o.output, Write: func(w io.Writer) error { return patch.Write(w, container) }}}
	told, err := a.toldFiles(f, o)
	if err != nil {
		return err
	}
	if files = append(files, told...); o.output == toStdout {
		files = append(files[1:], files[0])
	}
	if err := a.writeLast(files, func() {}); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(object{
			"rate", f.Rate, "channels", f.Channels, "samples", f.Samples, "missing", 0,
			"gaps", spans(nil), "found", foundObjects(f.Found), "doubts", []object{}, "output", o.output,
		})
	}
	a.sayFound(f)
	a.sayWritten(files)
	return nil
}

// sayFound counts what was found, if it was looked for.
func (a *app) sayFound(f *report.Fill) {
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
		a.say("found nothing to repair in %.1f s of sound", float64(f.Samples)/float64(f.Rate))
		return
	}
	for i, k := range kinds {
		kinds[i] = fmt.Sprintf("%d %s", count[k], k)
	}
	a.say("found %s in %.1f s of sound", strings.Join(kinds, ", "), float64(f.Samples)/float64(f.Rate))
}

// mostFound bounds the finds that the text names.
const mostFound = 40

func (a *app) sayWritten(files []fileio.File) {
	var names []string
	for _, f := range files {
		names = append(names, f.Path)
	}
	a.sayPaths(names)
}

// sayPaths names the files that were written.
func (a *app) sayPaths(paths []string) {
	if paths = slices.DeleteFunc(paths, func(p string) bool { return p == toStdout }); len(paths) > 0 {
		a.say("wrote %s", strings.Join(paths, ", "))
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
func foundObjects(found []report.Found) (all []object) {
	if found == nil {
		return nil
	}
	all = []object{}
	for _, d := range found {
		o := object{"start", d.Start, "end", d.End, "channel", d.Channel, "kind", d.Kind}
		if d.Strength != 0 {
			o = append(o, "strength_db", d.Strength)
		}
		all = append(all, o)
	}
	return all
}
