package vssgp

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"time"

	"github.com/vssgp/vssgp/internal/atomicfile"
)

// ErrCheckpoint is wrapped by every error about a checkpoint that cannot be
// gone on from, which stays as it is: damaged, of other data, options or
// another build, no checkpoint at all, or in use by another process.
var ErrCheckpoint = errors.New("unusable checkpoint")

const (
	checkpointEvery = 30 * time.Second
	// writingShare bounds the time that writing takes, of all: the interval
	// grows with what the last write took.
	writingShare = 0.05
)

// checkpointer writes a fit's checkpoints; nil writes none.
type checkpointer struct {
	path   string
	made   []trait
	warn   func(error)
	pace   pace
	failed error // the last write's
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
		every = checkpointEvery
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

// openCheckpoint takes the file for this process and reads it if the fit is to
// go on from it. Without Options.Checkpoint both results are nil.
func openCheckpoint(data *Data, o *Options) (*checkpointer, *snapshot, error) {
	switch {
	case o.CheckpointEvery < 0:
		return nil, nil, fmt.Errorf("vssgp: a checkpoint every %v, want a positive time: %w", o.CheckpointEvery, ErrOptions)
	case o.Checkpoint == "" && o.Resume:
		return nil, nil, fmt.Errorf("vssgp: resume from no checkpoint, want the name of its file: %w", ErrOptions)
	case o.Checkpoint == "":
		return nil, nil, nil
	}
	unlock, err := atomicfile.Lock(o.Checkpoint)
	if errors.Is(err, atomicfile.ErrLocked) {
		return nil, nil, fmt.Errorf("vssgp: checkpoint %w; want a file for each fit: %w", err, ErrCheckpoint)
	} else if err != nil {
		return nil, nil, fmt.Errorf("vssgp: checkpoint: %w", err)
	}
	made, err := traits(data, o)
	c := &checkpointer{path: o.Checkpoint, made: made, warn: o.Warn, pace: newPace(o.CheckpointEvery), unlock: unlock}
	var s *snapshot
	if err == nil {
		s, err = c.begin(o)
	}
	if err == nil {
		err = atomicfile.Check(o.Checkpoint)
	}
	if err != nil {
		c.close()
		return nil, nil, fmt.Errorf("vssgp: checkpoint %w", err)
	}
	return c, s, nil
}

// begin reads the file if the fit goes on from it, and else makes sure that
// there is nothing but a checkpoint to replace.
func (c *checkpointer) begin(o *Options) (*snapshot, error) {
	f, size, err := atomicfile.OpenRegular(c.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if !o.Resume {
		if !looksLikeCheckpoint(f, size) {
			return nil, fmt.Errorf("%q: the file that is there is no checkpoint and stays as it is; want another name: %w", c.path, ErrCheckpoint)
		}
		return nil, nil
	}
	s, err := readCheckpoint(f, size)
	if err == nil {
		err = s.check(c.made, o)
	}
	if err != nil {
		return nil, fmt.Errorf("%q stays as it is: %w", c.path, err)
	}
	return s, nil
}

func (c *checkpointer) close() {
	if c != nil {
		c.unlock()
	}
}

// due reports whether it is time to write.
func (c *checkpointer) due() bool { return c != nil && c.pace.due() }

// write replaces the file. A failure leaves the one before it, and ends the fit
// unless there is somebody to warn.
func (c *checkpointer) write(s *snapshot) error {
	began := c.pace.now()
	err := c.replace(s)
	c.pace.wrote(began)
	c.failed = err
	if err != nil && c.warn != nil {
		c.warn(fmt.Errorf("vssgp: the fit goes on without a new checkpoint: %w", err))
		return nil
	}
	return err
}

func (c *checkpointer) replace(s *snapshot) error {
	s.Made = c.made
	f, err := s.file()
	if err != nil {
		return err
	}
	return atomicfile.Write(c.path, func(w io.Writer) error {
		out := &sealer{w: w, hash: sha256.New()}
		if _, err := f.WriteTo(out); err != nil {
			return err
		}
		return out.seal()
	})
}

// sealBytes end a checkpoint: its last tensor, the eight 32-bit words of the
// SHA-256 of everything before as float64.
const sealBytes = 8 * sha256.Size / 4

// sealer passes a file through and, at the end, puts the seal in the place of
// its last bytes.
type sealer struct {
	w    io.Writer
	hash hash.Hash
	tail []byte // the last bytes given, not yet passed on
}

func (s *sealer) Write(b []byte) (int, error) {
	s.tail = append(s.tail, b...)
	pass := max(0, len(s.tail)-sealBytes)
	s.hash.Write(s.tail[:pass])
	if _, err := s.w.Write(s.tail[:pass]); err != nil {
		return 0, err
	}
	s.tail = append(s.tail[:0], s.tail[pass:]...)
	return len(b), nil
}

func (s *sealer) seal() error {
	_, err := s.w.Write(sealOf(s.hash))
	return err
}

func sealOf(h hash.Hash) []byte {
	sum := h.Sum(nil)
	var seal []byte
	for ; len(sum) > 0; sum = sum[4:] {
		seal = appendFloat(seal, float64(binary.BigEndian.Uint32(sum)))
	}
	return seal
}

// sealed reports a file that does not end in its own seal.
func sealed(r io.ReaderAt, size int64) error {
	if size < sealBytes {
		return fmt.Errorf("it has %d bytes and is damaged, or no checkpoint: %w", size, ErrCheckpoint)
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(r, 0, size-sealBytes)); err != nil {
		return err
	}
	var is [sealBytes]byte
	if _, err := r.ReadAt(is[:], size-sealBytes); err != nil && err != io.EOF {
		return err
	}
	if string(is[:]) != string(sealOf(h)) {
		return fmt.Errorf("its checksum does not match its content; it is damaged, or no checkpoint: %w", ErrCheckpoint)
	}
	return nil
}
