package vssgp

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/vssgp/vssgp/internal/lbfgs"
	"github.com/vssgp/vssgp/internal/safetensors"
)

// snapshot is where a fit stands: with the data and the options, all that the
// rest of it depends on. Its file is that of current, which any reader of
// models takes, with further tensors under names that begin with
// "checkpoint.", the rest as JSON in the metadata, and a seal.
type snapshot struct {
	place
	current *Model       // of the running start; the best one's where none runs
	begun   *Params      // at the beginning of the stage: the chart's origin
	best    *Model       // of the starts before, without its posterior
	ascent  *lbfgs.State // of a stage by L-BFGS that has begun
	descent *rmsProp     // of a stochastic stage that has begun
	v       []float64    // and its coordinates
}

// place is a snapshot's part that is no array.
type place struct {
	Version    int           `json:"version"`
	Made       []trait       `json:"made"`
	Start      int           `json:"start"` // from 0
	Starts     int           `json:"starts"`
	Rough      int           `json:"rough,omitempty"` // which of them is the rough one
	Stage      int           `json:"stage"`           // of the running start; noStage where none runs
	Iterations int           `json:"iterations"`      // of the running start
	Bound      float         `json:"bound"`
	Elapsed    time.Duration `json:"elapsed"`
	Results    []startRecord `json:"results"`
	Kept       int           `json:"kept"` // of Results; −1: none
	Failed     string        `json:"failed,omitempty"`
	Best       *bestRecord   `json:"best,omitempty"`

	Ascent  *ascentRecord  `json:"ascent,omitempty"`
	Descent *descentRecord `json:"descent,omitempty"`
}

// noStage stands for a start that has not begun.
const noStage = -1

type startRecord struct {
	Seed  uint64 `json:"seed"`
	Bound float  `json:"bound"`
	Ended string `json:"ended"`
}

type bestRecord struct {
	Bad        string       `json:"bad,omitempty"`
	Iterations int          `json:"iterations"`
	Terms      []termRecord `json:"terms"`
	Jitter     float        `json:"jitter"`
	Bound      float        `json:"bound"`
}

type termRecord struct {
	Name  string `json:"name"`
	Value float  `json:"value"`
}

// ascentRecord is lbfgs.State's part that is no array.
type ascentRecord struct {
	F          float        `json:"value"`
	Pairs      int          `json:"pairs"`
	Iterations int          `json:"iterations"`
	Turns      int          `json:"turns"`
	Slow       int          `json:"slow"`
	Apart      *apartRecord `json:"apart,omitempty"`
}

type apartRecord struct {
	Failed int  `json:"failed"`
	Over   bool `json:"over"`
}

// descentRecord is the random stream's place: so many mini-batches drawn, and
// the generator's state then.
type descentRecord struct {
	Steps  int    `json:"steps"`
	Stream []byte `json:"stream"`
}

// float is a float64 that JSON holds to the last bit, infinite ones too.
type float float64

// MarshalText writes the shortest text that reads back as the same number.
func (r float) MarshalText() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(r), 'g', -1, 64), nil
}

// UnmarshalText is MarshalText's inverse.
func (r *float) UnmarshalText(text []byte) error {
	v, err := strconv.ParseFloat(string(text), 64)
	*r = float(v)
	return err
}

const (
	checkpointVersion = 1
	checkpointKey     = "checkpoint" // of the metadata
	checkpointPrefix  = "checkpoint."
	// sealName comes after every other name, so that the seal ends the file.
	sealName = "~sha256"
)

// bare is the model with other parameters and without its posterior.
func (m *Model) bare(p *Params) *Model {
	c := *m
	c.Params, c.mean, c.factor, c.begun = p, nil, nil, nil
	return &c
}

// file lays the snapshot out; its arrays are not copied.
func (s *snapshot) file() (*safetensors.File, error) {
	s.Version = checkpointVersion
	f, err := s.current.file()
	if err != nil {
		return nil, err
	}
	put := func(name string, a []float64) { f.Tensors[checkpointPrefix+name] = vector(a) }
	sub := func(name string, m *Model) error {
		part, err := m.file()
		if err != nil {
			return err
		}
		for k, t := range part.Tensors {
			f.Tensors[checkpointPrefix+name+"."+k] = t
		}
		for k, t := range part.Metadata {
			f.Metadata[checkpointPrefix+name+"."+k] = t
		}
		return nil
	}
	if s.best != nil {
		if err := sub("best", s.best); err != nil {
			return nil, err
		}
	}
	if s.begun != nil {
		if err := sub("begun", s.current.bare(s.begun)); err != nil {
			return nil, err
		}
	}
	s.eachArray(func(name string, a *[]float64) error { put(name, *a); return nil })
	text, err := json.Marshal(s.place)
	if err != nil {
		return nil, fmt.Errorf("vssgp: checkpoint: %w", err)
	}
	f.Metadata[checkpointKey] = string(text)
	f.Tensors[sealName] = vector(make([]float64, sealBytes/8))
	return f, nil
}

// eachArray calls do with the optimiser's arrays and their names, as the
// records tell which there are.
func (s *snapshot) eachArray(do func(name string, a *[]float64) error) error {
	var names []string
	var arrays []*[]float64
	add := func(name string, a *[]float64) { names, arrays = append(names, name), append(arrays, a) }
	if st := s.ascent; st != nil {
		add("ascent.x", &st.X)
		add("ascent.gradient", &st.G)
		for i := range st.S {
			add(fmt.Sprintf("ascent.step.%02d", i), &st.S[i])
			add(fmt.Sprintf("ascent.difference.%02d", i), &st.Y[i])
		}
		if a := st.Apart; a != nil && !a.Over {
			add("apart.x", &a.X)
			add("apart.gradient", &a.G)
			add("apart.radius", &a.Radius)
			add("apart.recent", &a.Recent)
		}
	}
	if r := s.descent; r != nil {
		add("descent.x", &s.v)
		add("descent.square", &r.square)
		add("descent.rate", &r.rate)
		add("descent.last", &r.last)
	}
	for i, name := range names {
		if err := do(name, arrays[i]); err != nil {
			return err
		}
	}
	return nil
}

// looksLikeCheckpoint reports whether a file's header calls it one.
func looksLikeCheckpoint(r io.ReaderAt, size int64) bool {
	const most = 1 << 20
	head := make([]byte, min(size, most))
	n, _ := r.ReadAt(head, 0)
	return strings.Contains(string(head[:n]), `{"__metadata__":{"`+checkpointKey+`":`)
}

// readCheckpoint reads a file of the given size, in memory in proportion to
// it. Errors wrap ErrCheckpoint.
func readCheckpoint(r io.ReaderAt, size int64) (*snapshot, error) {
	if err := sealed(r, size); err != nil {
		return nil, err
	}
	f, err := safetensors.Read(r, size)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrCheckpoint)
	}
	s := &snapshot{}
	if err := s.read(f); err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrCheckpoint)
	}
	return s, nil
}

// read is file's inverse.
func (s *snapshot) read(f *safetensors.File) (err error) {
	text, ok := f.Metadata[checkpointKey]
	if !ok {
		return fmt.Errorf("it has no metadata %q and is no checkpoint", checkpointKey)
	}
	if err := json.Unmarshal([]byte(text), &s.place); err != nil {
		return fmt.Errorf("metadata %s: %w", checkpointKey, err)
	}
	if s.Version != checkpointVersion {
		return fmt.Errorf("it has version %d of the format, want %d", s.Version, checkpointVersion)
	}
	if s.current, err = fromFile(f); err != nil {
		return err
	}
	if s.Best != nil {
		if s.best, err = fromFile(part(f, "best")); err != nil {
			return fmt.Errorf("best: %w", err)
		}
	}
	if s.Stage != noStage {
		begun, err := fromFile(part(f, "begun"))
		if err != nil {
			return fmt.Errorf("begun: %w", err)
		}
		s.begun = begun.Params
	}
	if err := s.makeOptimiser(); err != nil {
		return err
	}
	return s.eachArray(func(name string, a *[]float64) error {
		t, ok := f.Tensors[checkpointPrefix+name]
		if !ok {
			return fmt.Errorf("it has no tensor %s", checkpointPrefix+name)
		}
		*a = t.Data
		return nil
	})
}

// makeOptimiser makes the records' states, whose arrays are still to come.
func (s *snapshot) makeOptimiser() error {
	if a := s.Ascent; a != nil {
		if a.Pairs < 0 || a.Pairs > lbfgs.Memory || a.Iterations < 0 || a.Turns < 0 || a.Slow < 0 {
			return fmt.Errorf("%d pairs of at most %d, %d iterations, %d turns, %d of them slow: want no other numbers than a fit counts", a.Pairs, lbfgs.Memory, a.Iterations, a.Turns, a.Slow)
		}
		s.ascent = &lbfgs.State{
			F: float64(a.F), S: make([][]float64, a.Pairs), Y: make([][]float64, a.Pairs),
			Iterations: a.Iterations, Turns: a.Turns, Slow: a.Slow,
		}
		if a.Apart != nil {
			s.ascent.Apart = &lbfgs.Apart{Failed: a.Apart.Failed, Over: a.Apart.Over}
		}
	}
	if s.Descent != nil {
		s.descent = &rmsProp{}
	}
	return nil
}

// part is the file that sub has put into another.
func part(f *safetensors.File, name string) *safetensors.File {
	out := &safetensors.File{Tensors: map[string]safetensors.Tensor{}, Metadata: map[string]string{}}
	for k, t := range f.Tensors {
		if k, ok := strings.CutPrefix(k, checkpointPrefix+name+"."); ok {
			out.Tensors[k] = t
		}
	}
	for k, t := range f.Metadata {
		if k, ok := strings.CutPrefix(k, checkpointPrefix+name+"."); ok {
			out.Metadata[k] = t
		}
	}
	return out
}
