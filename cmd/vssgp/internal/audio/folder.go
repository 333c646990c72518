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

// imputeFolder fills every recording of a folder, or a single file, and writes the results to another folder. If a recording fails, the
// others are still filled. The error lists the failed recordings.
func imputeFolder(ctx context.Context, env *cli.Env, input string, o *imputeFlags) error {
	paths, err := recordingsIn(env, input)
	if err != nil {
		return err
	}
	if o.output != "" {
		return cli.Mistake("-o %s and --out-dir %s cannot be combined", o.output, o.outDir)
	}
	for _, f := range o.fileFlags() {
		if len(paths) > 1 && *f.path != "" && !f.shared && !strings.Contains(*f.path, cli.NameMark) {
			return cli.Mistake("--%s %s is one file for %d recordings; must contain %s, which is replaced by each recording's name", f.name,
				*f.path, len(paths), cli.NameMark)
		}
	}
	if !o.gaps.dry {
		if err := os.MkdirAll(o.outDir, 0o777); err != nil {
			return cli.Mistake("--out-dir: %w", err)
		}
		from, err := os.Stat(filepath.Dir(paths[0]))
		to, failed := os.Stat(o.outDir)
		if err == nil && failed == nil && os.SameFile(from, to) && !env.Files.Overwrite {
			return cli.Mistake("--out-dir %s is the folder of the recordings; use another folder, or --overwrite to "+
				"replace them", o.outDir)
		}
	}
	var all struct {
		Recordings []*result `json:"recordings"`
		Failed     []string  `json:"failed,omitempty"`  // names of files
		Skipped    []string  `json:"skipped,omitempty"` // names of files that an earlier run repaired
	}
	done := openJournal(env, o.outDir)
	var first error // the first error, with preference for errors that the caller did not cause
	for _, path := range paths {
		one := o.forRecording(path)
		if o.resume && done.has(path, one.files(path)) {
			env.Print("%s was repaired before and is skipped", path)
			all.Skipped = append(all.Skipped, filepath.Base(path))
			continue
		}
		env.Print("%s:", path)
		filled, err := one.imputeIn(ctx, env, path)
		if err == nil && !o.gaps.dry {
			err = done.add(path, one.files(path))
		}
		switch {
		case err == nil:
			all.Recordings = append(all.Recordings, filled)
			continue
		case ctx.Err() != nil && len(paths) == 1:
			return err
		case ctx.Err() != nil:
			return o.interrupted(len(all.Recordings)+len(all.Skipped), len(paths))
		}
		env.Note("%w", err)
		all.Failed = append(all.Failed, filepath.Base(path))
		if first == nil || cli.ExitCode(first) == cli.ExitMistake && cli.ExitCode(err) != cli.ExitMistake {
			first = err
		}
	}
	if env.JSON {
		if err := env.PrintJSON(all); err != nil {
			return err
		}
	}
	if first != nil {
		return fmt.Errorf("%d of %s could not be filled (%s); the first error: %w", len(all.Failed), cli.Counted(len(paths), "recording"),
			strings.Join(all.Failed, ", "), first)
	}
	return nil
}

// recordingsIn returns the paths of the recordings of a folder, or the path of a single file. It warns of other files.
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
		env.Warn("others", "%s: %s not read, such as %s; supported extensions are %s; convert other audio first: ffmpeg -i IN OUT.wav",
			path, cli.Counted(len(others), "file"), others[0], formats)
	}
	if len(paths) == 0 {
		return nil, cli.Mistake("%s: the folder has no recording with one of the extensions %s", path, formats)
	}
	return paths, nil
}

// A fileFlag is a flag for a file of each recording.
type fileFlag struct {
	name   string
	path   *string
	shared bool // it is an input, which several recordings may share
}

func (o *imputeFlags) fileFlags() []fileFlag {
	return []fileFlag{
		{"gaps", &o.gaps.file, true}, {"labels", &o.gaps.labels, false}, {"report", &o.report, false}, {"sd", &o.sd, false},
		{"removed", &o.removed, false},
		{"model", &o.models, false}, {"reference", &o.reference, true},
	}
}

// forRecording returns the flags for one of several recordings. In paths, it replaces NameMark by the recording's name.
func (o *imputeFlags) forRecording(path string) *imputeFlags {
	one := *o
	one.outDir, one.output = "", filepath.Join(o.outDir, filepath.Base(path))
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	for _, f := range one.fileFlags() {
		*f.path = strings.ReplaceAll(*f.path, cli.NameMark, name)
	}
	return &one
}

// files returns the paths of a recording, its other inputs and its outputs.
func (o *imputeFlags) files(path string) []string {
	all := append([]string{path, o.output}, cli.NumberedFiles(o.output, o.fill.Draws)...)
	for _, f := range o.fileFlags() {
		if *f.path != "" {
			all = append(all, *f.path)
		}
	}
	return all
}

// imputeIn fills one of several recordings.
func (o *imputeFlags) imputeIn(ctx context.Context, env *cli.Env, path string) (*result, error) {
	env.Files.Read, env.Files.Written = nil, nil
	env.Files.Add(cli.NamedFile{Name: "IN.wav", Path: path}, false)
	for _, f := range o.fileFlags() {
		if *f.path != "" {
			env.Files.Add(cli.NamedFile{Name: "--" + f.name, Path: *f.path}, !f.shared)
		}
	}
	if !o.gaps.dry {
		env.Files.Add(cli.NamedFile{Path: o.output}, true)
	}
	if err := env.CheckOutputs(); err != nil {
		return nil, err
	}
	return imputeFile(ctx, env, path, o)
}
