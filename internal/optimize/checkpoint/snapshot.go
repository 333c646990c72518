package checkpoint

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vssgp/vssgp/internal/fileio/safetensors"
	"github.com/vssgp/vssgp/internal/optimize"
	"github.com/vssgp/vssgp/internal/spectral"
	"github.com/vssgp/vssgp/variational"
)

// A Snapshot is the state of a fit, except data and options. Its file is a model file of
// Current, with additional tensors whose names begin with "checkpoint.", the rest as JSON in
// the metadata, and a seal.
type Snapshot struct {
	Version int     `json:"version"`
	Made    []Trait `json:"made"` // the fingerprint of the fit
	Progress
	// State is the state of the running attempt, or nil if none is running.
	State *optimize.State `json:"state,omitempty"`

	// The model files of the running attempt (or the best, if none is running), of the beginning
	// of its stage, and of the best previous attempt without its posterior. The last two may be
	// nil.
	Current, Begun, BestModel *safetensors.File `json:"-"`
}

// Progress describes the attempts of a fit.
type Progress struct {
	Start   int           `json:"start"` // current or next attempt, from 0
	Starts  int           `json:"starts"`
	Elapsed time.Duration `json:"elapsed"`          // at the time of the last snapshot
	Results []Result      `json:"results"`          // of the previous attempts
	Kept    int           `json:"kept"`             // index of the best in Results; −1: none
	Failed  string        `json:"failed,omitempty"` // error of the last failed attempt
	Best    *Best         `json:"best,omitempty"`   // of the previous attempts

	Search []spectral.Step `json:"search,omitempty"` // of a search for components
}

// A Result is the end of one attempt.
type Result struct {
	Seed  uint64 `json:"seed"`
	Bound Number `json:"bound"`
	Ended string `json:"ended"`
}

// Best describes the best attempt so far, except for its model.
type Best struct {
	Bad        string                 `json:"bad,omitempty"` // why it is a bad optimum
	Iterations int                    `json:"iterations"`
	At         variational.Evaluation `json:"at"`
}

// A Number is a float64 that JSON represents exactly, including infinities.
type Number float64

// MarshalText writes the shortest text that reads back as the same number.
func (r Number) MarshalText() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(r), 'g', -1, 64), nil
}

// UnmarshalText is the inverse of MarshalText.
func (r *Number) UnmarshalText(text []byte) error {
	v, err := strconv.ParseFloat(string(text), 64)
	*r = Number(v)
	return err
}

const (
	version = 3
	key     = "checkpoint" // of the metadata
	prefix  = "checkpoint."
	// sealName is sorted after every other name, so that the seal is at the end of the file.
	sealName = "~sha256"
)

// file converts the snapshot to a file that shares its arrays.
func (s *Snapshot) file() (*safetensors.File, error) {
	s.Version = version
	f := s.Current
	put := func(name string, a []float64) {
		f.Tensors[name] = safetensors.Tensor{Shape: []int{len(a)}, Data: a}
	}
	for name, part := range map[string]*safetensors.File{"begun": s.Begun, "best": s.BestModel} {
		if part == nil {
			continue
		}
		putUnder(f.Tensors, name, part.Tensors)
		putUnder(f.Metadata, name, part.Metadata)
	}
	if s.State != nil {
		arrays, _ := s.State.Arrays() // the counts of a run are always possible
		for name, a := range arrays {
			put(prefix+name, *a)
		}
	}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	f.Metadata[key] = string(text)
	put(sealName, make([]float64, sealBytes/8))
	return f, nil
}

// looksLike reports whether a file's header identifies a checkpoint.
func looksLike(r io.ReaderAt, size int64) bool {
	const most = 1 << 20
	head := make([]byte, min(size, most))
	n, _ := r.ReadAt(head, 0)
	return strings.Contains(string(head[:n]), `{"__metadata__":{"`+key+`":`)
}

// read reads a file of the given size. Its memory use is proportional to the size. Errors wrap
// Err.
func read(r io.ReaderAt, size int64) (*Snapshot, error) {
	if err := sealed(r, size); err != nil {
		return nil, err
	}
	f, err := safetensors.Read(r, size)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, Err)
	}
	s := &Snapshot{}
	if err := s.read(f); err != nil {
		return nil, fmt.Errorf("%w: %w", err, Err)
	}
	return s, nil
}

// read is the inverse of file.
func (s *Snapshot) read(f *safetensors.File) error {
	text, ok := f.Metadata[key]
	if !ok {
		return fmt.Errorf("it has no metadata %q and is not a checkpoint", key)
	}
	var which struct{ Version int }
	if err := json.Unmarshal([]byte(text), &which); err != nil {
		return fmt.Errorf("metadata %s: %w", key, err)
	}
	if which.Version != version {
		return fmt.Errorf("it has version %d of the format, expected %d: use the version of vssgp that wrote it",
			which.Version, version)
	}
	if err := json.Unmarshal([]byte(text), s); err != nil {
		return fmt.Errorf("metadata %s: %w", key, err)
	}
	part := func(name string) *safetensors.File {
		if tensors := under(f.Tensors, name); len(tensors) > 0 {
			return &safetensors.File{Tensors: tensors, Metadata: under(f.Metadata, name)}
		}
		return nil
	}
	s.Current, s.Begun, s.BestModel = f, part("begun"), part("best")
	if s.Start < 0 || s.Start >= s.Starts || len(s.Results) != s.Start || s.Kept < -1 || s.Kept >= s.Start ||
		(s.Best == nil) != (s.Kept == -1) || s.Elapsed < 0 {
		return fmt.Errorf("it is in attempt %d of %d with %d results after %v and the best is number %d: these numbers are inconsistent",
			s.Start, s.Starts, len(s.Results), s.Elapsed, s.Kept)
	}
	if b := s.Best; b != nil && (b.Iterations < 0 || math.IsNaN(b.At.Bound)) {
		return fmt.Errorf("its best attempt has %d iterations", b.Iterations)
	}
	if (s.Best == nil) != (s.BestModel == nil) || (s.State == nil) != (s.Begun == nil) {
		return fmt.Errorf("a model is missing, or there is an additional one")
	}
	if s.State == nil {
		return nil
	}
	arrays, err := s.State.Arrays()
	for _, name := range slices.Sorted(maps.Keys(arrays)) {
		t, ok := f.Tensors[prefix+name]
		if !ok {
			return fmt.Errorf("it has no tensor %s", prefix+name)
		}
		*arrays[name] = t.Data
	}
	return err
}

// putUnder copies the entries of a part into all, with the part's name as a prefix.
func putUnder[V any](all map[string]V, name string, part map[string]V) {
	for k, v := range part {
		all[prefix+name+"."+k] = v
	}
}

// under is the inverse of putUnder.
func under[V any](all map[string]V, name string) map[string]V {
	part := map[string]V{}
	for k, v := range all {
		if k, ok := strings.CutPrefix(k, prefix+name+"."); ok {
			part[k] = v
		}
	}
	return part
}
