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
	Sets    []string // names; none: all
	Methods []string // of each set; none: all
	Data    string   // folder of the data files
	Out     string   // folder for lines and figures
	Quick   bool     // a small version of everything, on the data of testdata
	Seeds   int      // repeats; 0: the set's own
	Draw    bool     // tables and figures of the lines that there are; run nothing
	Again   bool     // run fits that have a line, too
	Machine machine.Machine

	// Recordings are additional recordings for gaps, CLASS:FILE each. FILE is in Data, or a whole path.
	Recordings []string
}

// ErrOptions is wrapped by every error about options that cannot be met.
var ErrOptions = errors.New("unusable options")

// errMissing is wrapped where a data file is not there: the set is left out.
var errMissing = errors.New("no such data file")

// A fit is a line to be made. run fills in the results; an error becomes the line's status, unless the context has ended.
type fit struct {
	line Line
	run  func(ctx context.Context, l *Line) error
}

// A session is a run over sets.
type session struct {
	Options
	log io.Writer
}

// repeats is how many seeds to run where the set's own number is n.
func (s *session) repeats(n int) uint64 {
	if s.Seeds > 0 {
		return uint64(s.Seeds)
	}
	return uint64(s.size(n, min(n, 2)))
}

// size is how much a full run computes, or a quick one.
func (s *session) size(full, quick int) int {
	if s.Quick {
		return quick
	}
	return full
}

// file finds a data file: in the folder of data, or, for a quick run, its replacement in the repository's testdata.
func (s *session) file(name, standIn string) (path string, from Source, err error) {
	path = name
	if !filepath.IsAbs(name) {
		path = filepath.Join(s.Data, name)
	}
	if s.Quick {
		path = filepath.Join("testdata", standIn)
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && !s.Quick {
		return "", from, fmt.Errorf("%s (bench/README.md says where to get it; -data names the folder): %w", path, errMissing)
	}
	if err != nil {
		return "", from, err
	}
	return path, Source{filepath.Base(path), fmt.Sprintf("%x", sha256.Sum256(text))}, nil
}
