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

// Options say what to run.
type Options struct {
	Sets    []string // names; none: all
	Methods []string // of each set; none: all
	Data    string   // folder of the data files
	Out     string   // folder for lines and figures
	Quick   bool     // a small version of everything, on the data of testdata
	Seeds   int      // repeats; 0: the set's own
	Draw    bool     // tables and figures of the lines that there are; run nothing
	Again   bool     // run what there is a line of, too
	Machine machine.Machine
}

// ErrOptions is wrapped by every error about options that cannot be met.
var ErrOptions = errors.New("unusable options")

// errMissing is wrapped where a data file is not there: the set is left out.
var errMissing = errors.New("no such data file")

// A fit is one line to be. run fills in what it finds; an error becomes the line's status, unless the context has ended.
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
	switch {
	case s.Seeds > 0:
		return uint64(s.Seeds)
	case s.Quick:
		return uint64(min(n, 2))
	}
	return uint64(n)
}

// file finds a data file: in the folder of data, or, for a quick run, what stands in for it in the repository's testdata.
func (s *session) file(name, standIn string) (path string, from Source, err error) {
	path = filepath.Join(s.Data, name)
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
