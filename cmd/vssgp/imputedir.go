package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// imputeFolder fills every recording of a folder, or the one file, into another folder. One that cannot be filled does not keep the others
// from being filled; the error says which.
func (a *app) imputeFolder(ctx context.Context, input string, o *imputeFlags) error {
	paths, err := recordingsIn(input)
	if err != nil {
		return err
	}
	if o.output != "" {
		return mistake("-o %s names one file and --out-dir %s a folder; want one of them", o.output, o.outDir)
	}
	for _, f := range o.perRecording() {
		if len(paths) > 1 && *f.path != "" && !f.shared && !strings.Contains(*f.path, nameMark) {
			return mistake("--%s %s is one file for %d recordings; want %s in it, which stands for each one's name", f.flag, *f.path, len(paths), nameMark)
		}
	}
	if !o.gaps.dry {
		if err := os.MkdirAll(o.outDir, 0o777); err != nil {
			return mistake("--out-dir: %w", err)
		}
	}
	results := []any{}
	if a.json {
		a.results = &results
	}
	var failed []string
	var first error
	for _, path := range paths {
		a.say("%s:", path)
		one := o.of(path)
		err := a.takeRecording(path, one)
		if err == nil {
			err = a.imputeOne(ctx, path, one)
		}
		if ctx.Err() != nil {
			return err
		}
		if err != nil {
			a.note("%w", err)
			failed = append(failed, filepath.Base(path))
			if first == nil || exitCode(first) == exitMistake && exitCode(err) != exitMistake {
				first = err
			}
		}
	}
	a.results = nil
	if a.json {
		if err := a.printJSON(object{"recordings", results, "failed,omitempty", failed}); err != nil {
			return err
		}
	}
	if first != nil {
		return fmt.Errorf("%d of %s could not be filled (%s); the first: %w", len(failed), counted(len(paths), "recording"), strings.Join(failed, ", "), first)
	}
	return nil
}

// recordingsIn returns the recordings of a folder in the order of their names, or the one that is given.
func recordingsIn(path string) (paths []string, err error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		if info, e := os.Stat(path); e == nil && !info.IsDir() {
			return []string{path}, nil
		}
		return nil, err
	}
	for _, e := range entries {
		if name := filepath.Join(path, e.Name()); !e.IsDir() && isRecording(name) && !strings.HasPrefix(e.Name(), ".") {
			paths = append(paths, name)
		}
	}
	if len(paths) == 0 {
		return nil, mistake("%s: no recording in this folder; want .%s", path, strings.Join(recordingFiles, ", ."))
	}
	return paths, nil
}

// recordingFile is a flag that names a file for a recording.
type recordingFile struct {
	flag   string
	path   *string
	shared bool // one file may serve several recordings
}

func (o *imputeFlags) perRecording() []recordingFile {
	return []recordingFile{
		{"gaps", &o.gaps.file, true}, {"labels", &o.gaps.labels, false}, {"report", &o.report, false}, {"sd", &o.sd, false},
		{"model", &o.models, false}, {"reference", &o.reference, true},
	}
}

// of returns the flags for one of several recordings.
func (o *imputeFlags) of(path string) *imputeFlags {
	one := *o
	one.outDir, one.output = "", filepath.Join(o.outDir, filepath.Base(path))
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	for _, f := range one.perRecording() {
		*f.path = strings.ReplaceAll(*f.path, nameMark, name)
	}
	return &one
}

// takeRecording registers the files of one of several recordings.
func (a *app) takeRecording(input string, o *imputeFlags) error {
	a.files.read, a.files.written = nil, nil
	a.files.add(namedFile{name: "IN.wav", path: input}, false)
	for _, f := range o.perRecording() {
		if *f.path == "" {
			continue
		}
		a.files.add(namedFile{name: "--" + f.flag, path: *f.path}, !f.shared)
	}
	if o.gaps.dry {
		return a.checkOutputs()
	}
	return a.checkOutputs(o.output)
}
