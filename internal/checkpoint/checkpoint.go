// Package checkpoint writes where a fit stands to a file, so that a fit that is
// killed goes on to the same bits, and reads it back: the file's layout and its
// seal, how often it is written, and the fingerprint of all that the fit's bits
// depend on.
package checkpoint

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/vssgp/vssgp/internal/atomicfile"
)

const (
	defaultEvery = 30 * time.Second
	// writingShare bounds the time that writing takes, of all: the interval
	// grows with what the last write took.
	writingShare = 0.05
)

// Writer writes a fit's checkpoints; nil writes none.
type Writer struct {
	Failed error // the last write's
	Made   []Trait

	path   string
	warn   func(error)
	pace   pace
	unlock func()
}

// pace says when to write next, by a clock that nobody sets.
type pace struct {
	every time.Duration
	now   func() time.Duration // since some moment
	next  time.Duration
}

func newPace(every time.Duration) pace {
	if every == 0 {
		every = defaultEvery
	}
	began := time.Now()
	return pace{every: every, now: func() time.Duration { return time.Since(began) }, next: every} // monotonic
}

func (p *pace) due() bool { return p.now() >= p.next }

// wrote notes a write that began at the given time and has just ended.
func (p *pace) wrote(began time.Duration) {
	end := p.now()
	rest := time.Duration(float64(end-began) * (1/writingShare - 1))
	p.next = end + max(p.every, rest)
}

// Setting says where checkpoints go and when.
type Setting struct {
	Path   string
	Every  time.Duration // at least, between two of them; 0: half a minute
	Resume bool          // go on from the one that is there
	Warn   func(error)   // told of those that could not be written; nil: that ends the fit
	Made   []Trait       // what the fit's bits depend on
}

// Open takes the file for this process and, to go on from it, reads it; the
// snapshot is nil where there is none. check says why the fit cannot go on from
// it. Errors wrap Err, or are the system's.
func Open(set Setting, check func(s *Snapshot) error) (*Writer, *Snapshot, error) {
	unlock, err := atomicfile.Lock(set.Path)
	if errors.Is(err, atomicfile.ErrLocked) {
		return nil, nil, fmt.Errorf("vssgp: checkpoint %w; want a file for each fit: %w", err, Err)
	} else if err != nil {
		return nil, nil, fmt.Errorf("vssgp: checkpoint: %w", err)
	}
	w := &Writer{path: set.Path, Made: set.Made, warn: set.Warn, pace: newPace(set.Every), unlock: unlock}
	s, err := w.begin(set.Resume, check)
	if err == nil {
		err = atomicfile.Check(set.Path)
	}
	if err != nil {
		w.Close()
		return nil, nil, fmt.Errorf("vssgp: checkpoint %w", err)
	}
	return w, s, nil
}

// begin reads the file if the fit goes on from it, and else makes sure that
// there is nothing but a checkpoint to replace.
func (w *Writer) begin(resume bool, check func(s *Snapshot) error) (*Snapshot, error) {
	f, size, err := atomicfile.OpenRegular(w.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if !resume {
		if !looksLike(f, size) {
			return nil, fmt.Errorf("%q: the file that is there is no checkpoint and stays as it is; want another name: %w", w.path, Err)
		}
		return nil, nil
	}
	s, err := read(f, size)
	if err == nil {
		err = check(s)
	}
	if err != nil {
		return nil, fmt.Errorf("%q stays as it is: %w", w.path, err)
	}
	return s, nil
}

// Close leaves the file to others.
func (w *Writer) Close() {
	if w != nil {
		w.unlock()
	}
}

// Due reports whether it is time to write.
func (w *Writer) Due() bool { return w != nil && w.pace.due() }

// Write replaces the file. A failure leaves the one before it, and ends the fit
// unless there is somebody to warn.
func (w *Writer) Write(s *Snapshot) error {
	began := w.pace.now()
	err := w.replace(s)
	w.pace.wrote(began)
	w.Failed = err
	if err != nil && w.warn != nil {
		w.warn(fmt.Errorf("vssgp: the fit goes on without a new checkpoint: %w", err))
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
	return atomicfile.Write(w.path, func(to io.Writer) error {
		out := &sealer{w: to, hash: sha256.New()}
		if err := f.Write(out); err != nil {
			return err
		}
		return out.seal()
	})
}
