package series

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/internal/fileio/safetensors"
)

// FileFormat is the metadata entry "format" of a series' model file.
const FileFormat = "vssgp-series/1"

// The model file's tensors. Those of group g end in .g.
const (
	nameMode        = "hyper.mode"        // [θ] logarithms, in the model's units
	nameInformation = "hyper.information" // [θ,θ] of the posterior, in units of the priors' sds
	namePriors      = "hyper.prior"       // [θ,2] median in the model's units, sd of the logarithm
	nameDraws       = "hyper.draws"       // [S,θ]
	nameGram        = "moments.gram"      // [M,M]
	nameCross       = "moments.cross"     // [M,outputs]
	nameTrack       = "track"             // [2+outputs,N] of a long series: places, errors, values
)

// record is the metadata entry "series", as JSON.
type record struct {
	Frame  frame    `json:"frame"`
	Reach  float64  `json:"reach"`           // steps
	Memory int      `json:"memory"`          // frequencies
	Sines  int      `json:"sines,omitempty"` // of the random walk over a range of the data; 0: walkSines
	Parts  []saved  `json:"parts"`
	Groups []saving `json:"groups"`
	Median []bool   `json:"median,omitempty"` // [D] Model.medians
	Bound  float64  `json:"bound"`
	Value  float64  `json:"log_posterior"`
	Long   *memory  `json:"long,omitempty"` // the memory and noise of a long series
}

// saving is what a group's moments have besides their tensors.
type saving struct {
	Outputs []int     `json:"outputs"`
	Rows    int       `json:"rows"`
	Square  []float64 `json:"square"` // Σy²
	LogErr  float64   `json:"log_error"`
}

// saved is a part, with the fields that its kind has.
type saved struct {
	Kind      string  `json:"kind"`
	SD        Prior   `json:"sd,omitzero"`
	Length    Prior   `json:"length,omitzero"`
	Quality   Prior   `json:"quality,omitzero"`
	Amplitude Prior   `json:"amplitude,omitzero"`
	Period    float64 `json:"period,omitempty"`
	Harmonics int     `json:"harmonics,omitempty"`
	Cycle     bool    `json:"cycle,omitempty"`
	Long      *saved  `json:"long,omitempty"`
	Short     *saved  `json:"short,omitempty"`
}

func save(p Part) saved {
	switch p := p.(type) {
	case Slope:
		return saved{Kind: "slope", SD: p.SD}
	case SmoothTrend:
		return saved{Kind: "smooth_trend", SD: p.SD}
	case RandomWalk:
		return saved{Kind: "random_walk", SD: p.SD}
	case ShortMemory:
		return saved{Kind: "short_memory", SD: p.SD, Length: p.Length, Quality: p.Quality}
	case Season:
		return saved{Kind: "season", Period: p.Period, Harmonics: p.Harmonics, Cycle: p.Cycle, Length: p.Length, Amplitude: p.Amplitude}
	case Product:
		long, short := save(p.Long), save(p.Short)
		return saved{Kind: "product", Long: &long, Short: &short}
	case Noise:
		return saved{Kind: "noise", SD: p.SD}
	}
	return saved{Kind: "constant"}
}

// part is the inverse of save.
func (s *saved) part() (Part, error) {
	switch s.Kind {
	case "constant":
		return Constant{}, nil
	case "slope":
		return Slope{s.SD}, nil
	case "smooth_trend":
		return SmoothTrend{s.SD}, nil
	case "random_walk":
		return RandomWalk{s.SD}, nil
	case "short_memory":
		return ShortMemory{s.SD, s.Length, s.Quality}, nil
	case "noise":
		return Noise{s.SD}, nil
	case "season":
		return s.season(), nil
	case "product":
		if s.Long != nil && s.Short != nil {
			return Product{Long: s.Long.season(), Short: s.Short.season()}, nil
		}
	}
	return nil, fmt.Errorf("a part of kind %.40q: %w", s.Kind, ErrFile)
}

func (s *saved) season() Season {
	return Season{Period: s.Period, Harmonics: s.Harmonics, Cycle: s.Cycle, Length: s.Length, Amplitude: s.Amplitude}
}

// Save writes the model to a safetensors file, whole or not at all. Load predicts the same numbers from it.
func (m *Model) Save(path string) error { return fileio.Write(path, m.Write) }

// Write writes the model as a safetensors file.
func (m *Model) Write(w io.Writer) error {
	l, n := m.layout, len(m.layout.names)
	r := record{Frame: *m.frame, Reach: l.reach, Memory: l.memory, Sines: l.sines, Median: m.medians, Bound: m.bound, Value: m.at.Value}
	for _, p := range l.parts {
		r.Parts = append(r.Parts, save(p))
	}
	f := &safetensors.File{Tensors: map[string]safetensors.Tensor{
		nameMode:        {Shape: []int{n}, Data: m.at.Mode},
		nameInformation: {Shape: []int{n, n}, Data: m.at.Information()},
		nameDraws:       {Shape: []int{len(m.draws), n}, Data: slices.Concat(m.draws...)},
	}, Metadata: map[string]string{"format": FileFormat}}
	var priors []float64
	for _, p := range l.priors {
		priors = append(priors, p.Median, p.SD)
	}
	f.Tensors[namePriors] = safetensors.Tensor{Shape: []int{n, 2}, Data: priors}
	for g, s := range m.sums {
		r.Groups = append(r.Groups, saving{Outputs: s.outputs, Rows: s.n, Square: s.yy, LogErr: s.logErr})
		size := l.features()
		cross := make([]float64, 0, size*len(s.c))
		for k := range size {
			for _, c := range s.c {
				cross = append(cross, c[k])
			}
		}
		f.Tensors[fmt.Sprintf("%s.%d", nameGram, g)] = safetensors.Tensor{Shape: []int{size, size}, Data: s.gram}
		f.Tensors[fmt.Sprintf("%s.%d", nameCross, g)] = safetensors.Tensor{Shape: []int{size, len(s.c)}, Data: cross}
	}
	if m.long != nil {
		r.Long = &m.long.memory
		for g, t := range m.long.tracks {
			f.Tensors[fmt.Sprintf("%s.%d", nameTrack, g)] = safetensors.Tensor{Shape: []int{2 + len(t.y), len(t.u)},
				Data: slices.Concat(append([][]float64{t.u, t.e}, t.y...)...)}
		}
	}
	for name, value := range map[string]any{"series": r, "x.name": m.XName, "y.names": m.YNames, "notes": m.Notes} {
		text, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("series: save %s: %w", name, err)
		}
		f.Metadata[name] = string(text)
	}
	return f.Write(w)
}

// Load reads a model file; it computes on the CPU until SetBackend. Errors wrap ErrFile, or are the system's.
func Load(path string) (*Model, error) {
	f, size, err := fileio.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := Read(f, size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// Read reads a model file of size bytes, as Load does.
func Read(r io.ReaderAt, size int64) (*Model, error) {
	f, err := safetensors.Read(r, size)
	if errors.Is(err, safetensors.ErrFormat) {
		err = fmt.Errorf("%w: %w", err, ErrFile)
	}
	if err != nil {
		return nil, err
	}
	return load(f)
}

func load(f *safetensors.File) (*Model, error) {
	if got := f.Metadata["format"]; got != FileFormat {
		return nil, fmt.Errorf("its format is %.40q, want %q: %w", got, FileFormat, ErrFile)
	}
	m, r := &Model{backend: cpu.New(), loaded: true}, &record{}
	for name, to := range map[string]any{"series": r, "x.name": &m.XName, "y.names": &m.YNames, "notes": &m.Notes} {
		if err := f.Entry(name, to); err != nil {
			return nil, fmt.Errorf("its metadata %q: %w: %w", name, err, ErrFile)
		}
	}
	m.frame, m.bound, m.medians = &r.Frame, r.Bound, r.Median
	if n := len(m.medians); n != 0 && n != len(r.Frame.Scale) {
		return nil, fmt.Errorf("its medians are of %d outputs of %d: %w", n, len(r.Frame.Scale), ErrFile)
	}
	if n := len(m.YNames); n != 0 && n != len(r.Frame.Scale) {
		return nil, fmt.Errorf("its metadata \"y.names\" has %d names for %d outputs: %w", n, len(r.Frame.Scale), ErrFile)
	}
	if err := m.loadLayout(r, f); err != nil {
		return nil, err
	}
	if err := m.loadPosterior(r.Value, f); err != nil {
		return nil, err
	}
	if err := m.loadMoments(r, f); err != nil || r.Long == nil {
		return m, err
	}
	return m, m.loadTracks(*r.Long, f)
}

// loadTracks reads the rows of a long series.
func (m *Model) loadTracks(at memory, f *safetensors.File) error {
	if !finite(at.SD, at.Length, at.Noise) || at.SD <= 0 || at.Length <= 0 || at.Noise <= 0 {
		return fmt.Errorf("its short memory is %+v: %w", at, ErrFile)
	}
	m.long = &long{memory: at}
	for g, s := range m.sums {
		a, err := numbers(f, fmt.Sprintf("%s.%d", nameTrack, g), 2+len(s.outputs), s.n)
		if err != nil {
			return err
		}
		t := &track{u: a[:s.n], e: a[s.n : 2*s.n]}
		for i := range s.outputs {
			t.y = append(t.y, a[(2+i)*s.n:(3+i)*s.n])
		}
		if !slices.IsSorted(t.u) || slices.Min(t.e) <= 0 {
			return fmt.Errorf("group %d: its rows are out of order, or without an error: %w", g, ErrFile)
		}
		m.long.tracks = append(m.long.tracks, t)
	}
	return nil
}

// loadLayout lays the parts out again, if that takes no more features than the file has moments of.
func (m *Model) loadLayout(r *record, f *safetensors.File) error {
	fr, outputs := m.frame, len(m.frame.Scale)
	ok := fr.Step > 0 && fr.Range > 0 && fr.Rows >= leastRows && outputs > 0 && len(fr.Offset) == outputs &&
		(fr.Error == nil || len(fr.Error) == outputs) && finite(fr.Error...) &&
		finite(fr.First, fr.Step, fr.Range, fr.Range*fr.Step, r.Reach) && finite(fr.Offset...) && finite(fr.Scale...) &&
		slices.Min(fr.Scale) > 0 &&
		r.Reach >= fr.Range && r.Reach <= MaxHorizon*fr.Range && r.Memory >= 0 && r.Memory <= memories[len(memories)-1] && r.Sines >= 0 &&
		r.Sines <= wildSines && len(r.Parts) <= mostParts
	if !ok {
		return fmt.Errorf("its frame or layout is impossible: %w", ErrFile)
	}
	var o Options
	for i := range r.Parts {
		p, err := r.Parts[i].part()
		if err != nil {
			return err
		}
		o.Parts = append(o.Parts, p)
	}
	if err := o.check(); err != nil {
		return fmt.Errorf("its parts: %w: %w", err, ErrFile)
	}
	if r.Long == nil && len(ordered(o.Parts)) != len(o.Parts) {
		return fmt.Errorf("it has no noise: %w", ErrFile)
	}
	size := f.Tensors[nameGram+".0"].Shape
	if len(size) == 0 || size[0] < 1 {
		return fmt.Errorf("it has no moments: %w", ErrFile)
	}
	m.layout = newLayout(fr, o.Parts, r.Reach, r.Memory, cmp.Or(r.Sines, walkSines), size[0], func(float64) float64 { return 1 })
	if m.layout.features() != size[0] {
		return fmt.Errorf("its parts do not have the %d features of its moments: %w", size[0], ErrFile)
	}
	n := len(m.layout.priors)
	priors, err := numbers(f, namePriors, n, 2)
	if err != nil {
		return err
	}
	for i := range m.layout.priors {
		m.layout.priors[i] = bayes.Prior{Median: priors[2*i], SD: priors[2*i+1]}
		if err := m.layout.priors[i].Check(); err != nil {
			return fmt.Errorf("its priors: %w: %w", err, ErrFile)
		}
	}
	return nil
}

func (m *Model) loadPosterior(value float64, f *safetensors.File) error {
	n := len(m.layout.priors)
	mode, err := numbers(f, nameMode, n)
	if err != nil {
		return err
	}
	information, err := numbers(f, nameInformation, n, n)
	if err != nil {
		return err
	}
	if m.at, err = bayes.NewGaussian(mode, m.layout.scale(), value, information); err != nil {
		return fmt.Errorf("%w: %w", err, ErrFile)
	}
	if n == 0 {
		m.draws = [][]float64{nil}
		return nil
	}
	draws, err := numbers(f, nameDraws, -1, n)
	for i := 0; i < len(draws); i += n {
		m.draws = append(m.draws, draws[i:i+n])
	}
	return err
}

func (m *Model) loadMoments(r *record, f *safetensors.File) error {
	seen := make([]bool, len(m.frame.Scale))
	size := m.layout.features()
	for g, s := range r.Groups {
		sums := &moments{outputs: s.Outputs, n: s.Rows, yy: s.Square, logErr: s.LogErr}
		for _, d := range s.Outputs {
			if d < 0 || d >= len(seen) || seen[d] {
				return fmt.Errorf("its outputs are in no or several groups: %w", ErrFile)
			}
			seen[d] = true
		}
		if len(s.Square) != len(s.Outputs) || s.Rows < leastRows || !finite(s.Square...) || !finite(s.LogErr) {
			return fmt.Errorf("group %d is impossible: %w", g, ErrFile)
		}
		var err error
		if sums.gram, err = numbers(f, fmt.Sprintf("%s.%d", nameGram, g), size, size); err != nil {
			return err
		}
		cross, err := numbers(f, fmt.Sprintf("%s.%d", nameCross, g), size, len(s.Outputs))
		if err != nil {
			return err
		}
		sums.split(cross)
		m.sums = append(m.sums, sums)
	}
	if slices.Contains(seen, false) {
		return fmt.Errorf("an output has no moments: %w", ErrFile)
	}
	return nil
}

// mostParts bounds the parts of a model file.
const mostParts = 100

// numbers are a tensor's, of the given shape; −1 is any number.
func numbers(f *safetensors.File, name string, shape ...int) ([]float64, error) {
	t, ok := f.Tensors[name]
	if !ok {
		return nil, fmt.Errorf("it has no tensor %q: %w", name, ErrFile)
	}
	if !slices.EqualFunc(t.Shape, shape, func(got, want int) bool { return got == want || want < 0 && got > 0 }) {
		return nil, fmt.Errorf("its tensor %q has the shape %v, want %v: %w", name, t.Shape, shape, ErrFile)
	}
	if !finite(t.Data...) {
		return nil, fmt.Errorf("its tensor %q has numbers that are not finite: %w", name, ErrFile)
	}
	return t.Data, nil
}

func finite(a ...float64) bool {
	return !slices.ContainsFunc(a, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}
