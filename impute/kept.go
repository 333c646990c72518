package impute

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/cpu/simd"
	"github.com/vssgp/vssgp/internal/atomicfile"
	"github.com/vssgp/vssgp/internal/safetensors"
)

// kept holds finished fills of single gaps for a later run. A fill's key is a hash of all that it depends on, so that one that is
// found is what the same command would make anew. A nil *kept keeps nothing.
type kept struct {
	path   string
	every  time.Duration
	warn   func(error) // of a save that failed, instead of ending the fill; or nil
	unlock func()
	common string // of all keys: what the fill depends on besides the samples

	mu     sync.Mutex
	saving sync.Mutex
	fills  map[string]*single
	saved  time.Time
	fresh  int // fills since then
}

const (
	// keptFormat names the file's format, and keptVersion what makes its fills: a change of how they are made is to raise it. The
	// recipes themselves are part of the key.
	keptFormat   = "vssgp-fills/1"
	keptVersion  = 1
	defaultEvery = 30 * time.Second
)

// newKept returns what keeps the fills of some options, which is nothing without a checkpoint.
func newKept(o *Options, m Method) *kept {
	if o.Model.Checkpoint == "" {
		return nil
	}
	recipes, err := json.Marshal(m.menu())
	if err != nil {
		panic(err) // of numbers and names
	}
	return &kept{
		path: o.Model.Checkpoint, every: cmp.Or(o.Model.CheckpointEvery, defaultEvery), warn: o.Model.Warn,
		common: fmt.Sprintf("%d %s %s %d %d %v", keptVersion, m, recipes, o.Draws, o.Model.Seed, mustSet()),
		fills:  map[string]*single{}, saved: time.Now(),
	}
}

// open takes the file for this process until close, and reads its fills if the fill resumes. Otherwise it makes sure that a file which
// is to be replaced holds fills.
func (k *kept) open(resume bool) error {
	if k == nil {
		return nil
	}
	unlock, err := atomicfile.Lock(k.path)
	if errors.Is(err, atomicfile.ErrLocked) {
		return fmt.Errorf("impute: checkpoint %w; want a file for each fill: %w", err, vssgp.ErrCheckpoint)
	} else if err != nil {
		return fmt.Errorf("impute: checkpoint: %w", err)
	}
	k.unlock = unlock
	err = k.begin(resume)
	if err == nil {
		err = atomicfile.Check(k.path)
	}
	if err != nil {
		k.close()
		return fmt.Errorf("impute: checkpoint %w", err)
	}
	return nil
}

func (k *kept) begin(resume bool) error {
	file, err := safetensors.ReadFile(k.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && file.Metadata["format"] != keptFormat {
		err = fmt.Errorf("%s: %w: its format is %q, want %q", k.path, safetensors.ErrFormat, file.Metadata["format"], keptFormat)
	} else if err == nil && resume {
		err = k.read(file)
	}
	if errors.Is(err, safetensors.ErrFormat) {
		return fmt.Errorf("%w; it holds no fills and stays as it is; want another name: %w", err, vssgp.ErrCheckpoint)
	}
	return err
}

// close leaves the file to others.
func (k *kept) close() {
	if k != nil && k.unlock != nil {
		k.unlock()
	}
}

func mustSet() simd.Set {
	set, _ := simd.Chosen()
	return set
}

// read takes in the fills of a file: rows of each tensor are trials and level in the first two entries, mean, sd and draws.
func (k *kept) read(file *safetensors.File) error {
	for key, t := range file.Tensors {
		if len(t.Shape) != 2 || t.Shape[0] < 3 || t.Shape[1] < 2 {
			return fmt.Errorf("%s: %w: tensor %.20s has shape %v, want rows of trials and level, mean, sd and draws", k.path, safetensors.ErrFormat, key, t.Shape)
		}
		n := t.Shape[1]
		row := func(i int) []float64 { return t.Data[i*n : (i+1)*n] }
		s := &single{trials: int(row(0)[0]), level: row(0)[1], mean: row(1), sd: row(2)}
		for i := 3; i < t.Shape[0]; i++ {
			s.draws = append(s.draws, row(i))
		}
		k.fills[key] = s
	}
	return nil
}

// key returns the hash of all that the fill of a gap depends on.
func (k *kept) key(z []float64, gaps [][2]int, gap Gap, channel, rate int) string {
	if k == nil {
		return ""
	}
	var b bytes.Buffer
	fmt.Fprint(&b, k.common, gaps, gap, channel, rate)
	binary.Write(&b, binary.LittleEndian, z) // a Buffer has no errors
	sum := sha256.Sum256(b.Bytes())
	return hex.EncodeToString(sum[:])
}

// find returns the fill of n samples with a key, or nil. A fill of one sample has a second that stands for nothing.
func (k *kept) find(key string, n, draws int) *single {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.fills[key]
	if s == nil || len(s.mean) != max(2, n) || len(s.draws) != draws {
		return nil
	}
	out := &single{trials: s.trials, level: s.level, mean: s.mean[:n], sd: s.sd[:n]}
	for _, d := range s.draws {
		out.draws = append(out.draws, d[:n])
	}
	return out
}

// keep takes in a finished fill.
func (k *kept) keep(key string, s *single) {
	if k == nil {
		return
	}
	wide := func(v []float64) []float64 {
		if len(v) == 1 {
			return []float64{v[0], 0}
		}
		return v
	}
	t := &single{trials: s.trials, level: s.level, mean: wide(s.mean), sd: wide(s.sd)}
	for _, d := range s.draws {
		t.draws = append(t.draws, wide(d))
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.fills[key] = t
	k.fresh++
}

// save saves the fills if there are new ones.
func (k *kept) save() error { return k.saveNow(true) }

// saveNow saves new fills, if it must or if the last time was long ago. Another goroutine that saves already is enough.
func (k *kept) saveNow(must bool) error {
	if k == nil {
		return nil
	}
	if must {
		k.saving.Lock()
	} else if !k.saving.TryLock() {
		return nil
	}
	defer k.saving.Unlock()
	k.mu.Lock()
	due := k.fresh > 0 && (must || time.Since(k.saved) >= k.every)
	file := &safetensors.File{Tensors: map[string]safetensors.Tensor{}, Metadata: map[string]string{"format": keptFormat}}
	if due {
		for key, s := range k.fills {
			file.Tensors[key] = s.tensor()
		}
		k.fresh = 0
	}
	k.mu.Unlock()
	if !due {
		return nil
	}
	began := time.Now()
	err := atomicfile.Write(k.path, file.Write)
	k.mu.Lock()
	k.saved = time.Now()
	k.every = max(k.every, 20*k.saved.Sub(began)) // writing takes a twentieth of the time at most
	k.mu.Unlock()
	if err != nil && k.warn != nil {
		k.warn(fmt.Errorf("impute: the fill goes on without its finished gaps being kept: %w", err))
		return nil
	}
	return err
}

// tensor returns a fill as rows of a file's tensor; see read.
func (s *single) tensor() safetensors.Tensor {
	n := len(s.mean)
	head := make([]float64, n)
	head[0], head[1] = float64(s.trials), s.level
	data := append(append(head, s.mean...), s.sd...)
	for _, d := range s.draws {
		data = append(data, d...)
	}
	return safetensors.Tensor{Shape: []int{3 + len(s.draws), n}, Data: data}
}
