package audio

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/datafile"
)

// imputeFolder fills every recording of a folder, or the one file, into another folder. One that cannot be filled does not keep the others
// from being filled; the error names it.
func imputeFolder(ctx context.Context, env *cli.Env, input string, o *imputeFlags) error {
	paths, err := recordingsIn(env, input)
	if err != nil {
		return err
	}
	if o.output != "" {
		return cli.Mistake("-o %s names one file and --out-dir %s a folder; want one of them", o.output, o.outDir)
	}
	for _, f := range o.perRecording() {
		if len(paths) > 1 && *f.path != "" && !f.shared && !strings.Contains(*f.path, cli.NameMark) {
			return cli.Mistake("--%s %s is one file for %d recordings; want %s in it, which means each one's name", f.flag, *f.path,
				len(paths), cli.NameMark)
		}
	}
	if !o.gaps.dry {
		if err := os.MkdirAll(o.outDir, 0o777); err != nil {
			return cli.Mistake("--out-dir: %w", err)
		}
	}
	var results []*result
	var failed []string
	var first error
	for _, path := range paths {
		env.Print("%s:", path)
		one := o.of(path)
		var filled *result
		err := takeRecording(env, path, one)
		if err == nil {
			filled, err = imputeOne(ctx, env, path, one)
		}
		if ctx.Err() != nil {
			return err
		}
		if err == nil {
			results = append(results, filled)
		} else {
			env.Note("%w", err)
			failed = append(failed, filepath.Base(path))
			if first == nil || cli.ExitCode(first) == cli.ExitMistake && cli.ExitCode(err) != cli.ExitMistake {
				first = err
			}
		}
	}
	if env.JSON {
		all := struct {
			Recordings []*result `json:"recordings"`
			Failed     []string  `json:"failed,omitempty"` // their names
		}{results, failed}
		if err := env.PrintJSON(all); err != nil {
			return err
		}
	}
	if first != nil {
		return fmt.Errorf("%d of %s could not be filled (%s); the first: %w", len(failed), cli.Counted(len(paths), "recording"),
			strings.Join(failed, ", "), first)
	}
	return nil
}

// recordingsIn returns the recordings of a folder by name, or the one that is given. It warns of other files.
func recordingsIn(env *cli.Env, path string) (paths []string, err error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		if info, e := os.Stat(path); e == nil && !info.IsDir() {
			return []string{path}, nil
		}
		return nil, err
	}
	var others []string
	for _, e := range entries {
		switch name := e.Name(); {
		case e.IsDir() || strings.HasPrefix(name, "."):
		case datafile.IsRecording(name):
			paths = append(paths, filepath.Join(path, name))
		default:
			others = append(others, name)
		}
	}
	formats := "." + strings.Join(cli.RecordingFiles, ", .")
	if others != nil {
		env.Warn("others", "%s: %s not read (the first is %s); only %s are; convert other audio first: ffmpeg -i IN OUT.wav", path,
			cli.Counted(len(others), "file"), others[0], formats)
	}
	if len(paths) == 0 {
		return nil, cli.Mistake("%s: no recording in this folder; want %s", path, formats)
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
		*f.path = strings.ReplaceAll(*f.path, cli.NameMark, name)
	}
	return &one
}

// takeRecording registers the files of one of several recordings.
func takeRecording(env *cli.Env, input string, o *imputeFlags) error {
	env.Files.Read, env.Files.Written = nil, nil
	env.Files.Add(cli.NamedFile{Name: "IN.wav", Path: input}, false)
	for _, f := range o.perRecording() {
		if *f.path != "" {
			env.Files.Add(cli.NamedFile{Name: "--" + f.flag, Path: *f.path}, !f.shared)
		}
	}
	if o.gaps.dry {
		return env.CheckOutputs()
	}
	return env.CheckOutputs(o.output)
}
