package paper

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/vssgp/vssgp/bench/internal/machine"
)

// Options specify the experiments to run.
type Options struct {
	Sets    []string // names of the sets; if empty, all
	Methods []string // methods to run in each set; if empty, all
	Data    string   // folder of the data files
	Out     string   // folder for lines and figures
	Quick   bool     // run a small version of everything on the data in testdata
	Seeds   int      // number of repeats; 0: the set's default
	Draw    bool     // make tables and figures of the stored lines; run nothing
	Again   bool     // repeat fits that already have a line
	Machine machine.Machine

	// Recordings contains additional recordings for set gaps, each as CLASS:FILE. FILE is relative to Data or absolute.
	Recordings []string
}

// ErrOptions is wrapped by every error about invalid options.
var ErrOptions = errors.New("unusable options")

// errMissing is wrapped by errors about a missing data file. The set is then skipped.
var errMissing = errors.New("no such data file")

// A fit computes a line. run adds the results to l. Its error becomes the status of the line, unless the context has
// ended.
type fit struct {
	line Line
	run  func(ctx context.Context, l *Line) error
}

// A session is one run of the experiments.
type session struct {
	Options
	log io.Writer
}

// repeats returns the number of seeds to run. n is the set's default.
func (s *session) repeats(n int) uint64 {
	if s.Seeds > 0 {
		return uint64(s.Seeds)
	}
	return uint64(s.size(n, min(n, 2)))
}

// size returns full, or quick for a quick run.
func (s *session) size(full, quick int) int {
	if s.Quick {
		return quick
	}
	return full
}

// file returns the path of a data file in the folder of data. For a quick run it returns the path of the replacement in
// testdata.
func (s *session) file(name, replacement string) (path string, from Source, err error) {
	path = name
	if !filepath.IsAbs(name) {
		path = filepath.Join(s.Data, name)
	}
	if s.Quick {
		path = filepath.Join("testdata", replacement)
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && !s.Quick {
		return "", from, fmt.Errorf("%s (see bench/README.md for its source and -data for the folder): %w", path, errMissing)
	}
	if err != nil {
		return "", from, err
	}
	return path, Source{filepath.Base(path), fmt.Sprintf("%x", sha256.Sum256(text))}, nil
}
