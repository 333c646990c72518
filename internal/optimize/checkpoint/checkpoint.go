// Package checkpoint saves the state of a fit to a file, so that a killed fit can resume and give
// the same bits. It implements the file's layout and checksum, the interval between checkpoints,
// and the fingerprint of everything that the result depends on.
package checkpoint

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/vssgp/vssgp/internal/fileio"
)

const (
	defaultEvery = 30 * time.Second
	// writingShare is the maximum fraction of the time for writing: the interval increases with
	// the duration of the last write.
	writingShare = 0.05
)

// A Writer writes the checkpoints of a fit. A nil Writer writes none.
type Writer struct {
	Setting
	Failed error // error of the last write

	next   time.Time // to write, by the monotonic clock
	unlock func()
}

// A Setting specifies the file and the interval of checkpoints.
type Setting struct {
	Path   string
	Every  time.Duration // minimum interval; 0: 30 s
	Resume bool          // from an existing file
	Warn   func(error)   // called if a write fails; nil: the error ends the fit
	Made   []Trait       // the fingerprint of the fit
}

// Open locks the file for this process and, to resume, reads it. The snapshot is nil if there
// is no file or the fit does not resume. check returns the reason why the fit cannot resume from a
// snapshot. Errors wrap Err or are system errors.
func Open(set Setting, check func(s *Snapshot) error) (*Writer, *Snapshot, error) {
	unlock, err := fileio.Lock(set.Path)
	if errors.Is(err, fileio.ErrLocked) {
		return nil, nil, fmt.Errorf("checkpoint %w; use a separate file for each fit: %w", err, Err)
	} else if err != nil {
		return nil, nil, fmt.Errorf("checkpoint: %w", err)
	}
	set.Every = cmp.Or(set.Every, defaultEvery)
	w := &Writer{Setting: set, next: time.Now().Add(set.Every), unlock: unlock}
	s, err := w.begin(check)
	if err == nil {
		err = fileio.Check(set.Path)
	}
	if err != nil {
		w.Close()
		return nil, nil, fmt.Errorf("checkpoint %w", err)
	}
	return w, s, nil
}

// begin reads the file if the fit resumes from it. Otherwise it checks that an existing file is a
// checkpoint and may be replaced.
func (w *Writer) begin(check func(s *Snapshot) error) (*Snapshot, error) {
	f, size, err := fileio.OpenRegular(w.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if !w.Resume {
		if !looksLike(f, size) {
			return nil, fmt.Errorf("%q: the existing file is not a checkpoint and was not changed; use another name: %w", w.Path, Err)
		}
		return nil, nil
	}
	s, err := read(f, size)
	if err == nil {
		err = check(s)
	}
	if err != nil {
		return nil, fmt.Errorf("%q was not changed: %w", w.Path, err)
	}
	return s, nil
}

// Close unlocks the file.
func (w *Writer) Close() {
	if w != nil {
		w.unlock()
	}
}

// Due reports whether it is time to write.
func (w *Writer) Due() bool { return w != nil && !time.Now().Before(w.next) }

// wrote records a write that began at the given time and has just ended.
func (w *Writer) wrote(began time.Time) {
	took := time.Since(began)
	w.next = began.Add(took + max(w.Every, time.Duration(float64(took)*(1/writingShare-1))))
}

// Write replaces the file. If it fails, the previous checkpoint remains. Without Warn the error
// ends the fit.
func (w *Writer) Write(s *Snapshot) error {
	began := time.Now()
	err := w.replace(s)
	w.wrote(began)
	w.Failed = err
	if err != nil && w.Warn != nil {
		w.Warn(fmt.Errorf("the fit continues without a new checkpoint: %w", err))
		return nil
	}
	return err
}

func (w *Writer) replace(s *Snapshot) error {
	s.Made = w.Made
	f, err := s.file()
	if err != nil {
		return err
	}
	return fileio.Write(w.Path, func(to io.Writer) error { return sealing(to, f.Write) })
}
