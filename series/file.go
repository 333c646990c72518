package series

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/internal/fileio/safetensors"
	"github.com/vssgp/vssgp/internal/version"
)

// fileFormat is the metadata entry "format" of the model file of a series.
const fileFormat = "vssgp-series/3"

// formats are the formats that Read accepts. Models of version 2 are of the values or of their logarithms, never of both.
var formats = []string{fileFormat, "vssgp-series/2"}

// otherPrefix begins the names of the tensors and of the record of the less probable scale.
const otherPrefix = "other."

// Names of the tensors in the model file. Tensors of group g have the suffix .g.
const (
	nameSeries      = "series"            // the metadata entry of a record
	nameMode        = "hyper.mode"        // [θ] logarithms, in the model's units
	nameInformation = "hyper.information" // [θ,θ] of the posterior, in units of the prior sds
	namePriors      = "hyper.prior"       // [θ,2] median in the model's units, sd of the logarithm
	nameDraws       = "hyper.draws"       // [S,θ]
	// [2+J+outputs,N] times, errors, regressors and values in the model's units, and optionally the log volatility
	nameRows = "rows"
)

// A record is the metadata entry "series", or "other.series" for the less probable scale, encoded as JSON.
type record struct {
	Frame      frame             `json:"frame"`
	Reach      float64           `json:"reach"`           // steps
	Sides      map[string]int    `json:"sides,omitempty"` // layout.sides
	Parts      []saved           `json:"parts"`
	Groups     [][]int           `json:"groups"`               // outputs of each group
	Volatility []savedVolatility `json:"volatility,omitempty"` // of each group
	Median     []bool            `json:"median,omitempty"`     // [D] Model.medians
	Bound      float64           `json:"bound"`
	Value      float64           `json:"log_posterior"`
}

// A savedVolatility contains the parameters of a volatility. Ratio is 0 if the group has no volatility.
type savedVolatility struct{ Ratio, Length, Unit, Known float64 }

// A saved is the JSON form of a part. Its kind determines which fields are set.
type saved struct {
	Kind      string  `json:"kind"`
	SD        Prior   `json:"sd,omitzero"`
	Length    Prior   `json:"length,omitzero"`
	Quality   Prior   `json:"quality,omitzero"`
	Amplitude Prior   `json:"amplitude,omitzero"`
	Period    float64 `json:"period,omitempty"`
	Harmonics int     `json:"harmonics,omitempty"`
	Cycle     bool    `json:"cycle,omitempty"`
	At        float64 `json:"at,omitempty"`
	Long      *saved  `json:"long,omitempty"`
	Short     *saved  `json:"short,omitempty"`
}

// save returns p for a model file. It panics on a part without a case, which a file could not represent.
func save(p Part) saved {
	switch p := p.(type) {
	case Constant:
		return saved{Kind: "constant"}
	case Slope:
		return saved{Kind: "slope", SD: p.SD}
	case SmoothTrend:
		return saved{Kind: "smooth_trend", SD: p.SD}
	case DampedTrend:
		return saved{Kind: "damped_trend", SD: p.SD, Length: p.Length}
	case RandomWalk:
		return saved{Kind: "random_walk", SD: p.SD}
	case ShortMemory:
		return saved{Kind: "short_memory", SD: p.SD, Length: p.Length, Quality: p.Quality}
	case LevelShift:
		return saved{Kind: "level_shift", At: p.At, SD: p.SD}
	case Season:
		return saved{Kind: "season", Period: p.Period, Harmonics: p.Harmonics, Cycle: p.Cycle, Length: p.Length, Amplitude: p.Amplitude}
	case Product:
		long, short := save(p.Long), save(p.Short)
		return saved{Kind: "product", Long: &long, Short: &short}
	case Noise:
		return saved{Kind: "noise", SD: p.SD}
	case Regressors:
		return saved{Kind: "regressors"}
	}
	panic(fmt.Sprintf("series: a part of type %T has no kind in model files", p))
}

// part converts s back to a Part. It is the inverse of save.
func (s *saved) part() (Part, error) {
	switch s.Kind {
	case "constant":
		return Constant{}, nil
	case "slope":
		return Slope{s.SD}, nil
	case "smooth_trend":
		return SmoothTrend{s.SD}, nil
	case "damped_trend":
		return DampedTrend{s.SD, s.Length}, nil
	case "random_walk":
		return RandomWalk{s.SD}, nil
	case "short_memory":
		return ShortMemory{s.SD, s.Length, s.Quality}, nil
	case "level_shift":
		return LevelShift{s.At, s.SD}, nil
	case "noise":
		return Noise{s.SD}, nil
	case "regressors":
		return Regressors{}, nil
	case "season":
		return s.season(), nil
	case "product":
		if s.Long != nil && s.Short != nil {
			return Product{Long: s.Long.season(), Short: s.Short.season()}, nil
		}
	}
	return nil, fmt.Errorf("unknown kind of part %.40q: %w", s.Kind, ErrFile)
}

func (s *saved) season() Season {
	return Season{Period: s.Period, Harmonics: s.Harmonics, Cycle: s.Cycle, Length: s.Length, Amplitude: s.Amplitude}
}

// Save writes the model to a safetensors file atomically. A model loaded from it makes the same predictions.
func (m *Model) Save(path string) error { return fileio.Write(path, m.Write) }

// Write writes the model as a safetensors file.
func (m *Model) Write(w io.Writer) error {
	if m.frame == nil {
		return errEmpty
	}
	f := &safetensors.File{Tensors: map[string]safetensors.Tensor{}, Metadata: map[string]string{
		"format": fileFormat, "version": version.Number,
	}}
	entries := map[string]any{nameSeries: m.save(f, ""), "x.name": m.XName, "y.names": m.YNames, "notes": m.Notes}
	if m.other != nil {
		entries[otherPrefix+nameSeries] = m.other.save(f, otherPrefix)
	}
	for name, value := range entries {
		text, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("save %s: %w", name, err)
		}
		f.Metadata[name] = string(text)
	}
	return f.Write(w)
}

// save adds the tensors of one scale to a file, with a prefix, and returns its record.
func (m *Model) save(f *safetensors.File, prefix string) *record {
	l, n := m.layout, len(m.layout.names)
	r := &record{Frame: *m.frame, Reach: l.reach, Sides: l.sides, Median: m.medians, Bound: m.bound, Value: m.at.Value}
	for _, p := range l.parts {
		r.Parts = append(r.Parts, save(p))
	}
	var priors []float64
	for _, p := range l.priors {
		priors = append(priors, p.Median, p.SD)
	}
	add := func(name string, data []float64, shape ...int) {
		f.Tensors[prefix+name] = safetensors.Tensor{Shape: shape, Data: data}
	}
	add(nameMode, m.at.Mode, n)
	add(nameInformation, m.at.Information(), n, n)
	add(nameDraws, slices.Concat(m.draws...), len(m.draws), n)
	add(namePriors, priors, n, 2)
	for g, t := range m.tracks {
		r.Groups = append(r.Groups, t.outputs)
		rows, v := slices.Concat([][]float64{t.u, t.e}, t.regressors, t.y), savedVolatility{}
		if t.volatility != nil {
			v = savedVolatility{t.volatility.Ratio, t.volatility.Length, t.volatility.unit, t.volatility.known}
			rows = append(rows, t.volatility.rows.y[0])
		}
		r.Volatility = append(r.Volatility, v)
		add(fmt.Sprintf("%s.%d", nameRows, g), slices.Concat(rows...), len(rows), len(t.u))
	}
	return r
}

// Load reads a model file. Errors wrap ErrFile or an error of the file system.
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

// Read reads a model file of size bytes. Errors are as for Load.
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
	if got := f.Metadata["format"]; !slices.Contains(formats, got) {
		return nil, fmt.Errorf("format is %.40q, must be %s: %w", got, strings.Join(formats, " or "), ErrFile)
	}
	m := &Model{}
	for name, to := range map[string]any{"x.name": &m.XName, "y.names": &m.YNames, "notes": &m.Notes} {
		if err := entry(f, name, to); err != nil {
			return nil, err
		}
	}
	if err := m.load(f); err != nil {
		return nil, err
	}
	if n := len(m.YNames); n != 0 && n != m.Outputs() {
		return nil, fmt.Errorf("metadata \"y.names\" has %d names for %d outputs: %w", n, m.Outputs(), ErrFile)
	}
	other := stripped(f, otherPrefix)
	if _, ok := other.Metadata[nameSeries]; !ok {
		return m, nil
	}
	m.other = &Model{}
	if err := m.other.load(other); err != nil {
		return nil, fmt.Errorf("the less probable scale: %w", err)
	}
	if !m.frame.complements(m.other.frame) {
		return nil, fmt.Errorf("the scales have different times, outputs or regressors, or are the same: %w", ErrFile)
	}
	return m, nil
}

// entry decodes an entry of the metadata.
func entry(f *safetensors.File, name string, to any) error {
	if err := f.Entry(name, to); err != nil {
		return fmt.Errorf("metadata %q: %w: %w", name, err, ErrFile)
	}
	return nil
}

// stripped returns the tensors and entries of a file whose names begin with a prefix, without it.
func stripped(f *safetensors.File, prefix string) *safetensors.File {
	return &safetensors.File{Tensors: strip(f.Tensors, prefix), Metadata: strip(f.Metadata, prefix)}
}

func strip[V any](all map[string]V, prefix string) map[string]V {
	own := map[string]V{}
	for name, v := range all {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			own[rest] = v
		}
	}
	return own
}

// complements reports whether the frames are of the same series, one of its values and one of their logarithms.
func (f *frame) complements(g *frame) bool {
	return f.Log != g.Log && f.First == g.First && f.Step == g.Step && f.Range == g.Range && f.Positive == g.Positive &&
		len(f.Scale) == len(g.Scale) && slices.Equal(f.Regressors, g.Regressors)
}

// load reads one scale of a file.
func (m *Model) load(f *safetensors.File) error {
	r := &record{}
	if err := entry(f, nameSeries, r); err != nil {
		return err
	}
	m.loaded, m.frame, m.bound, m.medians = true, &r.Frame, r.Bound, r.Median
	if n := len(m.medians); n != 0 && n != len(r.Frame.Scale) {
		return fmt.Errorf("medians are given for %d outputs, must be %d: %w", n, len(r.Frame.Scale), ErrFile)
	}
	if err := m.frame.checkCounts(); err != nil {
		return err
	}
	if err := m.loadLayout(r, f); err != nil {
		return err
	}
	if err := m.loadPosterior(r.Value, f); err != nil {
		return err
	}
	return m.loadRows(r, f)
}

// loadRows reads the observations of each group.
func (m *Model) loadRows(r *record, f *safetensors.File) error {
	seen := make([]bool, len(m.frame.Scale))
	if len(r.Volatility) != len(r.Groups) {
		return fmt.Errorf("volatilities are given for %d groups, must be %d: %w", len(r.Volatility), len(r.Groups), ErrFile)
	}
	for g, outputs := range r.Groups {
		for _, d := range outputs {
			if d < 0 || d >= len(seen) || seen[d] {
				return fmt.Errorf("an output index is out of range or in two groups: %w", ErrFile)
			}
			seen[d] = true
		}
		first, v := 2+len(m.frame.Regressors), r.Volatility[g]
		last := first + len(outputs)
		width := last
		if v.Ratio != 0 {
			width++
		}
		a, err := numbers(f, fmt.Sprintf("%s.%d", nameRows, g), width, -1)
		if err != nil {
			return err
		}
		n := len(a) / width
		rows := slices.Collect(slices.Chunk(a, n))
		t := &track{u: rows[0], e: rows[1], regressors: rows[2:first], y: rows[first:last], outputs: outputs}
		if !slices.IsSorted(t.u) || slices.Min(t.e) <= 0 || n < minRows || len(outputs) == 0 {
			return fmt.Errorf("group %d: rows are not sorted, too few, or without a positive error: %w", g, ErrFile)
		}
		if v.Ratio != 0 {
			if !finite(v.Ratio, v.Length, v.Unit, v.Known) || v.Ratio < 0 || v.Length <= 0 || v.Unit <= 0 {
				return fmt.Errorf("invalid volatility %+v: %w", v, ErrFile)
			}
			ones := slices.Repeat([]float64{1}, n)
			t.volatility = &volatility{stateSpace: stateSpace{Ratio: v.Ratio, Length: v.Length}, unit: v.Unit, known: v.Known,
				rows: &track{u: t.u, e: ones, y: rows[last:]}}
			t.g = t.volatility.at(t.u)
		}
		m.tracks = append(m.tracks, t)
	}
	if slices.Contains(seen, false) {
		return fmt.Errorf("an output has no rows: %w", ErrFile)
	}
	return nil
}

// loadLayout rebuilds the layout from the saved parts.
func (m *Model) loadLayout(r *record, f *safetensors.File) error {
	fr, outputs := m.frame, len(m.frame.Scale)
	ok := fr.Step > 0 && fr.Range > 0 && fr.Rows >= minRows && outputs > 0 && len(fr.Offset) == outputs &&
		(fr.Error == nil || len(fr.Error) == outputs) && finite(fr.Error...) &&
		finite(fr.First, fr.Step, fr.Range, fr.Range*fr.Step, r.Reach) && finite(fr.Offset...) && finite(fr.Scale...) &&
		slices.Min(fr.Scale) > 0 &&
		r.Reach >= fr.Range && r.Reach <= MaxHorizon*fr.Range && len(r.Parts) <= maxParts
	for i := range fr.Regressors {
		ok = ok && fr.Regressors[i].Scale > 0 && finite(fr.Regressors[i].Mean, fr.Regressors[i].Scale)
	}
	if !ok {
		return fmt.Errorf("invalid frame or layout: %w", ErrFile)
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
		return fmt.Errorf("parts: %w: %w", err, ErrFile)
	}
	if len(fr.ordered(o.Parts)) != len(o.Parts) {
		return fmt.Errorf("the noise part is missing: %w", ErrFile)
	}
	m.layout = newLayout(fr, o.Parts, r.Reach, r.Sides, maxFeatures, func(float64) float64 { return 1 })
	if m.layout.size() > maxFeatures {
		return fmt.Errorf("the parts have more than the maximum of %d features: %w", maxFeatures, ErrFile)
	}
	n := len(m.layout.priors)
	priors, err := numbers(f, namePriors, n, 2)
	if err != nil {
		return err
	}
	for i := range m.layout.priors {
		m.layout.priors[i] = bayes.Prior{Median: priors[2*i], SD: priors[2*i+1]}
		if err := m.layout.priors[i].Check(); err != nil {
			return fmt.Errorf("priors: %w: %w", err, ErrFile)
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
	draws, err := numbers(f, nameDraws, -1, n)
	for i := 0; i < len(draws); i += n {
		m.draws = append(m.draws, draws[i:i+n])
	}
	return err
}

// maxParts and maxFeatures limit the size of a loaded model.
const maxParts, maxFeatures = 100, 20000

// numbers returns the data of a tensor and checks its shape; −1 matches any positive dimension.
func numbers(f *safetensors.File, name string, shape ...int) ([]float64, error) {
	t, ok := f.Tensors[name]
	if !ok {
		return nil, fmt.Errorf("tensor %q is missing: %w", name, ErrFile)
	}
	if !slices.EqualFunc(t.Shape, shape, func(got, want int) bool { return got == want || want < 0 && got > 0 }) {
		return nil, fmt.Errorf("tensor %q has shape %v, must be %v: %w", name, t.Shape, shape, ErrFile)
	}
	if !finite(t.Data...) {
		return nil, fmt.Errorf("tensor %q has values that are not finite: %w", name, ErrFile)
	}
	return t.Data, nil
}

func finite(a ...float64) bool {
	return !slices.ContainsFunc(a, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}
