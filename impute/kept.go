package impute

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/cpu/simd"
	"github.com/vssgp/vssgp/internal/atomicfile"
)

// kept holds the finished fills of single gaps: in the checkpoint, if there is one, where a later run finds them by their keys whatever ended
// this one, else in a journal of its own. A fill's key is a hash of all that it depends on, so that one that is found is what the same
// command would make anew.
type kept struct {
	path   string      // of the checkpoint; "": none
	warn   func(error) // of a checkpoint that takes no more, instead of ending the fill; or nil
	unlock func()
	common string // of all keys: what the fill depends on besides the samples
	every  time.Duration

	own journal // where there is no checkpoint, or it takes no more

	mu     sync.Mutex // guards the rest
	file   *journal   // the checkpoint; nil: none
	known  map[key]int64
	failed bool // the checkpoint takes no more
	synced time.Time
}

// A place says where a fill is kept.
type place struct {
	in *journal
	at int64
}

const (
	// keptFormat begins a checkpoint of fills, and keptVersion is for what makes them: a change of how they are made is to raise it. The
	// recipes themselves are part of the key.
	keptFormat   = "vssgp-fills/3\n"
	keptVersion  = 4
	defaultEvery = 30 * time.Second
)

// newKept returns what keeps the fills of some options.
func newKept(o *Options, m Method) *kept {
	recipes, err := json.Marshal(m.menu())
	if err != nil {
		panic(err) // of numbers and names
	}
	set, _ := simd.Chosen()
	return &kept{
		path: o.Model.Checkpoint, every: cmp.Or(o.Model.CheckpointEvery, defaultEvery), warn: o.Model.Warn,
		common: fmt.Sprintf("%d %s %s %d %d %v", keptVersion, m, recipes, o.Draws, o.Model.Seed, set),
		known:  map[key]int64{}, synced: time.Now(),
	}
}

// open takes the checkpoint for this process until close, and finds its fills if the fill resumes. Otherwise it begins anew, if the file
// holds fills.
func (k *kept) open(resume bool) error {
	if k.path == "" {
		return nil
	}
	unlock, err := atomicfile.Lock(k.path)
	if errors.Is(err, atomicfile.ErrLocked) {
		return fmt.Errorf("impute: checkpoint %w; want a file for each fill: %w", err, vssgp.ErrCheckpoint)
	} else if err != nil {
		return fmt.Errorf("impute: checkpoint: %w", err)
	}
	k.unlock = unlock
	if err = atomicfile.Check(k.path); err == nil {
		err = k.begin(resume)
	}
	if err != nil {
		k.close()
		return fmt.Errorf("impute: checkpoint %w", err)
	}
	return nil
}

func (k *kept) begin(resume bool) error {
	f, err := os.OpenFile(k.path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	k.file = &journal{file: f, size: int64(len(keptFormat))}
	head := make([]byte, len(keptFormat))
	switch n, err := io.ReadFull(io.NewSectionReader(f, 0, k.file.size), head); {
	case err == io.EOF || string(head[:n]) == keptFormat[:n] && err == io.ErrUnexpectedEOF: // new, or killed as it was made
		_, err = f.WriteAt([]byte(keptFormat), 0)
		return err
	case err != nil && err != io.ErrUnexpectedEOF:
		return err
	case string(head[:n]) != keptFormat:
		return fmt.Errorf("%q begins with %q, want %q; it holds no fills and stays as it is; want another name: %w", k.path, head[:n], keptFormat, vssgp.ErrCheckpoint)
	case !resume:
		return f.Truncate(k.file.size)
	}
	return k.file.scan(k.file.size, func(key key, at int64, _ *single) { k.known[key] = at })
}

// close leaves the checkpoint to others. What is kept can still be read until release.
func (k *kept) close() {
	if k.unlock != nil {
		k.unlock()
		k.unlock = nil
	}
}

// release ends the use of all files.
func (k *kept) release() {
	k.close()
	k.own.close()
	if k.file != nil {
		k.file.close()
	}
}

// key returns the hash of all that the fill of a gap of a channel depends on: the samples of the channels that it looks at, their
// gaps, and which other channels may be used.
func (k *kept) key(z [][]float64, gaps [][][2]int, gap Gap, channel, rate int, others []int) (sum key) {
	if k.path == "" {
		return sum
	}
	var b bytes.Buffer
	fmt.Fprint(&b, k.common, gaps, gap, channel, rate, others)
	for _, v := range z {
		binary.Write(&b, binary.LittleEndian, v) // a Buffer has no errors
	}
	return sha256.Sum256(b.Bytes())
}

// find returns the place of the fill of n samples with a key, and the fill, if there is one.
func (k *kept) find(key key, n, draws int) (at place, s *single) {
	k.mu.Lock()
	offset, ok := k.known[key]
	k.mu.Unlock()
	if !ok {
		return place{}, nil
	}
	s, err := k.file.get(offset)
	if err != nil || len(s.mean) != n || len(s.draws) != draws {
		return place{}, nil
	}
	return place{k.file, offset}, s
}

// keep takes in a finished fill. Where the checkpoint takes no more, it says so once and keeps the others apart.
func (k *kept) keep(key key, s *single) (place, error) {
	record := s.encode(key)
	if k.file != nil && !k.gaveUp(nil) {
		at, err := k.file.add(record)
		if err == nil {
			err = k.sync(false)
		}
		if err == nil {
			return place{k.file, at}, nil
		}
		if k.warn == nil {
			return place{}, fmt.Errorf("impute: checkpoint %s: %w", k.path, err)
		}
		k.gaveUp(err)
	}
	at, err := k.own.add(record)
	if err != nil {
		return place{}, fmt.Errorf("impute: %w", err)
	}
	return place{&k.own, at}, nil
}

// gaveUp reports whether the checkpoint takes no more, which it does from an error on; the first is told.
func (k *kept) gaveUp(err error) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil && !k.failed {
		k.failed = true
		k.warn(fmt.Errorf("impute: the fill goes on without its finished gaps being kept: checkpoint %s: %w", k.path, err))
	}
	return k.failed
}

// sync asks the system to write the checkpoint to the disk, if it must or if the last time was long ago: what is written survives the process
// in any case, but not a power cut.
func (k *kept) sync(must bool) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.file == nil || !must && time.Since(k.synced) < k.every {
		return nil
	}
	k.synced = time.Now()
	return k.file.file.Sync()
}
