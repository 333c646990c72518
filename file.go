package vssgp

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/internal/fileio/safetensors"
	"github.com/vssgp/vssgp/internal/linalg/blocktri"
	"github.com/vssgp/vssgp/internal/spectral"
	"github.com/vssgp/vssgp/internal/version"
	"github.com/vssgp/vssgp/variational"
)

// fileFormat is the metadata entry "format" of a model file.
const fileFormat = "vssgp/1"

// fileSearched is the format of a model that a search has found. It has the additional entries "components" and "draws.components" (the
// components in the model's units, as JSON), and for rough components the rows, nameRowsX and nameRowsY, in place of the coefficients.
const fileSearched = "vssgp/2"

// fileFactorized is the spelling of Factorized in files of this format. Factorized itself is read, too.
const fileFactorized = "factorised"

// Names of the model file's tensors that have no gradient and that Params.Tensors
// therefore does not list.
const (
	nameWindowCenter    = "window.center"
	nameWindowLength    = "window.length"
	nameComponentWindow = "component.window"
	// nameFactor is the exact posterior's Cholesky factor R of A = R Rᵀ
	// (S = τ⁻¹A⁻¹): all diagonal blocks L_v [M_v,M_v], then all subdiagonal blocks
	// E_v [M_{v+1},M_v], row-major in one vector.
	nameFactor = "coefficient.factor"
	// nameRowsX [N] and nameRowsY [N,D] are the rows on which a model with rough components is conditioned, in the model's units.
	nameRowsX, nameRowsY = "rows.x", "rows.y"
	// nameComponents is the metadata entry of the components.
	nameComponents = "components"
)

// sharedNames lists the tensors that a model shares with the draws of its hyper-parameters.
var sharedNames = []string{nameWindowCenter, nameWindowLength, nameComponentWindow, nameRowsX, nameRowsY}

// Save writes the model to a safetensors file atomically. A loaded model gives
// bit-identical predictions. Python reads the file with safetensors.numpy.load_file.
// Errors wrap ErrParams or are file system errors, such as fs.ErrInvalid if path cannot
// be written to.
func (m *Model) Save(path string) error {
	return fileio.Write(path, m.Write)
}

// Write writes the model as a safetensors file to w. Errors wrap ErrParams, wrap
// ErrFile if w is nil, or are returned by w.
func (m *Model) Write(w io.Writer) error {
	if w == nil {
		return fmt.Errorf("cannot write the model: the writer is nil: %w", ErrFile)
	}
	f, err := m.file()
	if err != nil {
		return err
	}
	return f.Write(w)
}

// file returns the model as tensors and metadata.
func (m *Model) file() (*safetensors.File, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	p := m.Params
	f := &safetensors.File{Tensors: map[string]safetensors.Tensor{}, Metadata: map[string]string{
		"format": fileFormat, "version": version.Number,
		"inference": strings.Replace(string(m.Inference), string(Factorized), fileFactorized, 1),
	}}
	maps.Copy(f.Metadata, own(m.Metadata))
	for _, t := range p.Tensors() {
		if len(*t.Data) > 0 {
			f.Tensors[t.Name] = safetensors.Tensor{Shape: t.Shape, Data: *t.Data}
		}
	}
	if n := len(p.Windows.Center); n > 0 {
		own := make([]float64, p.L)
		for i, v := range p.ComponentWindow {
			own[i] = float64(v)
		}
		f.Tensors[nameWindowCenter] = vector(p.Windows.Center)
		f.Tensors[nameWindowLength] = vector([]float64{p.Windows.Length})
		f.Tensors[nameComponentWindow] = vector(own)
		if p.Windows.Dim != 0 {
			f.Metadata["window.input"] = fmt.Sprint(p.Windows.Dim)
		}
	}
	if m.Inference == Exact && m.exact != nil {
		f.Tensors["coefficient.mean"] = safetensors.Tensor{Shape: []int{p.M(), p.D}, Data: m.exact.Mean}
		var all []float64
		root := m.exact.Root()
		for _, b := range slices.Concat(root.Diag, root.Below) {
			all = append(all, b...)
		}
		f.Tensors[nameFactor] = vector(all)
	}
	if m.kernel != nil {
		f.Metadata["format"] = fileSearched
		if err := putJSON(f, nameComponents, m.kernel); err != nil {
			return nil, err
		}
	}
	if m.rows != nil {
		f.Tensors[nameRowsX] = vector(m.rows.X)
		f.Tensors[nameRowsY] = safetensors.Tensor{Shape: []int{m.rows.N, m.rows.D}, Data: m.rows.Y}
	}
	if err := m.savePosterior(f); err != nil {
		return nil, err
	}
	for _, e := range m.metadata() {
		if m.Range == nil && e.name == "x.range" {
			continue
		}
		if err := putJSON(f, e.name, e.value); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// putJSON adds a metadata entry.
func putJSON(f *safetensors.File, name string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("save %s: %w", name, err)
	}
	f.Metadata[name] = string(text)
	return nil
}

func vector(a []float64) safetensors.Tensor {
	return safetensors.Tensor{Shape: []int{len(a)}, Data: a}
}

// metadata returns the names of the JSON metadata entries and pointers to their fields.
func (m *Model) metadata() []struct {
	name  string
	value any
} {
	return []struct {
		name  string
		value any
	}{
		{"x.offset", &m.X.Offset}, {"x.scale", &m.X.Scale}, {"y.offset", &m.Y.Offset}, {"y.scale", &m.Y.Scale},
		{"x.names", &m.XNames}, {"y.names", &m.YNames}, {"x.range", &m.Range},
	}
}

// ownPrefix is the name prefix of application metadata.
const ownPrefix = "app."

// own returns the application metadata, or nil if there is none.
func own(all map[string]string) map[string]string {
	var list map[string]string
	for name, text := range all {
		if strings.HasPrefix(name, ownPrefix) {
			if list == nil {
				list = map[string]string{}
			}
			list[name] = text
		}
	}
	return list
}

// Load reads a model file. A file without coefficients is a valid model that can be
// evaluated or used as Options.From. Errors wrap ErrFile or ErrParams, or are file
// system errors.
func Load(path string) (*Model, error) {
	f, err := safetensors.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m, err := fromFile(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// Read reads a model file of the given size from r. It returns the same errors as Load.
func Read(r io.ReaderAt, size int64) (*Model, error) {
	if r == nil {
		return nil, fmt.Errorf("cannot read the model: the reader is nil: %w", ErrFile)
	}
	f, err := safetensors.Read(r, size)
	if err != nil {
		return nil, err
	}
	return fromFile(f)
}

func fromFile(f *safetensors.File) (*Model, error) {
	if v := f.Metadata["format"]; v != "" && v != fileFormat && v != fileSearched {
		return nil, fmt.Errorf("metadata format is %q, must be %q or %q: %w", v, fileFormat, fileSearched, ErrParams)
	}
	p, err := paramsFromFile(f)
	if err != nil {
		return nil, err
	}
	if err := p.Check(); err != nil {
		return nil, err
	}
	m, err := NewModel(p)
	if err != nil {
		return nil, err
	}
	switch i := Inference(f.Metadata["inference"]); i {
	case "":
	case Exact, Factorized:
		m.Inference = i
	case fileFactorized:
		m.Inference = Factorized
	default:
		return nil, fmt.Errorf("metadata inference is %q, must be exact or factorized: %w", i, ErrParams)
	}
	for _, e := range m.metadata() {
		if text, ok := f.Metadata[e.name]; ok {
			if err := f.Entry(e.name, e.value); err != nil {
				return nil, fmt.Errorf("metadata %s is %.40q, must be a JSON list: %w: %w", e.name, text, err, ErrParams)
			}
		}
	}
	if err := m.checkMaps(); err != nil {
		return nil, err
	}
	m.Metadata = own(f.Metadata)
	if err := m.readComponents(f); err != nil {
		return nil, err
	}
	if err := m.readFactor(f); err != nil {
		return nil, err
	}
	return m, m.readPosterior(f)
}

// readComponents reads the components of a search if the file contains them.
func (m *Model) readComponents(f *safetensors.File) error {
	text, ok := f.Metadata[nameComponents]
	if !ok {
		return nil
	}
	m.kernel = &spectral.Model{}
	if err := f.Entry(nameComponents, m.kernel); err != nil {
		return fmt.Errorf("metadata %s is %.40q, must be a list of components: %w: %w", nameComponents, text, err, ErrParams)
	}
	for _, c := range m.kernel.Components {
		if err := c.Check(m.Params.Q, ErrParams); err != nil {
			return err
		}
	}
	if m.Params.Q > 2 {
		return fmt.Errorf("%d inputs, but components of a search need one or two: %w", m.Params.Q, ErrParams)
	}
	return m.readRows(f)
}

// readRows reads the rows of a model with rough components.
func (m *Model) readRows(f *safetensors.File) error {
	x, ok := f.Tensors[nameRowsX]
	if !ok || !m.kernel.Rough() {
		return nil
	}
	n, d := len(x.Data), m.Params.D
	y := f.Tensors[nameRowsY]
	if n == 0 || len(x.Shape) != 1 || !slices.Equal(y.Shape, []int{n, d}) {
		return fmt.Errorf("%s has shape %v and %s %v, must be [N] and [N,%d]: %w", nameRowsX, x.Shape, nameRowsY, y.Shape, d, ErrParams)
	}
	m.rows = &backend.Data{N: n, Q: 1, D: d, X: x.Data, Y: y.Data}
	if err := m.rows.Check(); err != nil {
		return fmt.Errorf("%s and %s: %w: %w", nameRowsX, nameRowsY, err, ErrParams)
	}
	return nil
}

// Name prefixes of the tensors of the hyper-parameters' posterior: one tensor of standard
// deviations per hyper-parameter, and the tensors of one model per draw.
const namePosterior, nameDraw = "posterior.", "draw.%03d."

// nameDrawComponents is the metadata entry of the components of the draws.
const nameDrawComponents = "draws.components"

// tensors returns the standard deviations with their names and shapes for p.
func (h *Posterior) tensors(p *Params) []Tensor {
	l, lq, mq := []int{p.L}, []int{p.L, p.Q}, []int{p.M(), p.Q}
	return []Tensor{
		{Name: namePosterior + "kernel.variance", Shape: l, Data: &h.Variance},
		{Name: namePosterior + "kernel.lengthscale", Shape: lq, Data: &h.Lengthscale},
		{Name: namePosterior + "kernel.frequency", Shape: lq, Data: &h.Frequency},
		{Name: namePosterior + "noise.precision", Shape: []int{1}, Data: &h.Noise},
		{Name: namePosterior + "frequency", Shape: mq, Data: &h.Features},
	}
}

// savePosterior adds the posterior of the hyper-parameters to f.
func (m *Model) savePosterior(f *safetensors.File) error {
	if m.hyper == nil {
		return nil
	}
	for _, t := range m.hyper.tensors(m.Params) {
		if *t.Data == nil {
			continue
		}
		f.Tensors[t.Name] = safetensors.Tensor{Shape: t.Shape, Data: *t.Data}
	}
	var kernels []*spectral.Model
	for i, d := range m.hyper.Draws {
		own, err := d.file()
		if err != nil {
			return err
		}
		kernels = append(kernels, d.kernel)
		for name, t := range own.Tensors {
			if slices.Contains(sharedNames, name) { // rows may belong to some draws only
				f.Tensors[name] = t
			} else {
				f.Tensors[fmt.Sprintf(nameDraw, i)+name] = t
			}
		}
	}
	if m.kernel == nil {
		return nil
	}
	return putJSON(f, nameDrawComponents, kernels)
}

// readPosterior reads the posterior of the hyper-parameters if the file contains one.
func (m *Model) readPosterior(f *safetensors.File) error {
	h := &Posterior{}
	for _, t := range h.tensors(m.Params) {
		have, ok := f.Tensors[t.Name]
		if !ok && h.Variance == nil {
			return nil
		}
		if !ok && t.Data == &h.Features {
			continue
		}
		if !ok || !slices.Equal(have.Shape, t.Shape) {
			return fmt.Errorf("%s has shape %v, must be %v: %w", t.Name, have.Shape, t.Shape, ErrParams)
		}
		for i, v := range have.Data {
			if !(v >= 0) || math.IsInf(v, 0) {
				return fmt.Errorf("%s[%d] is %v, must be a finite number, zero or more: %w", t.Name, i, v, ErrParams)
			}
		}
		*t.Data = have.Data
	}
	var kernels []json.RawMessage
	if m.kernel != nil {
		if err := f.Entry(nameDrawComponents, &kernels); err != nil {
			return fmt.Errorf("metadata %s: %w: %w", nameDrawComponents, err, ErrParams)
		}
	}
	for i := range maxDraws {
		own := &safetensors.File{Tensors: map[string]safetensors.Tensor{}, Metadata: maps.Clone(f.Metadata)}
		delete(own.Metadata, nameComponents)
		if i < len(kernels) {
			own.Metadata[nameComponents] = string(kernels[i])
		}
		for name, t := range f.Tensors {
			if rest, ok := strings.CutPrefix(name, fmt.Sprintf(nameDraw, i)); ok {
				own.Tensors[rest] = t
			}
		}
		if len(own.Tensors) == 0 {
			break
		}
		for _, name := range sharedNames {
			if t, ok := f.Tensors[name]; ok {
				own.Tensors[name] = t
			}
		}
		d, err := fromFile(own)
		if err != nil {
			return fmt.Errorf("draw %d of the hyper-parameters: %w", i, err)
		}
		alike := d.Params.Alike(m.Params) || m.kernel != nil && d.kernel != nil && d.Params.Q == m.Params.Q && d.Params.D == m.Params.D
		if !alike || !d.Fitted() {
			return fmt.Errorf("draw %d of the hyper-parameters differs from the model in size, or has no coefficients: %w", i, ErrParams)
		}
		h.Draws = append(h.Draws, d)
	}
	m.hyper = h
	return nil
}

// paramsFromFile reads the parameters. The sizes follow from the tensors' shapes.
func paramsFromFile(f *safetensors.File) (*Params, error) {
	p := &Params{D: 1}
	length, m := f.Tensors["kernel.lengthscale"].Shape, f.Tensors["inducing.location"].Shape
	if len(length) != 2 || len(m) != 2 || length[0] < 1 || length[1] < 1 || m[0] < 1 || m[0]%length[0] != 0 {
		return nil, fmt.Errorf("kernel.lengthscale has shape %v and inducing.location %v, must be [L,Q] and [L·K,Q]: %w", length, m,
			ErrParams)
	}
	p.L, p.Q, p.K = length[0], length[1], m[0]/length[0]
	if s := f.Tensors["coefficient.mean"].Shape; len(s) == 2 {
		p.D = s[1]
	} else if s := f.Metadata["y.offset"]; s != "" {
		var offset []float64
		if json.Unmarshal([]byte(s), &offset) == nil && len(offset) > 0 {
			p.D = len(offset)
		}
	}
	for _, t := range p.Tensors() {
		have, ok := f.Tensors[t.Name]
		if !ok {
			if t.Optional() {
				continue
			}
			return nil, fmt.Errorf("the file has no %s, expected shape %v: %w", t.Name, t.Shape, ErrParams)
		}
		if !slices.Equal(have.Shape, t.Shape) {
			return nil, fmt.Errorf("%s has shape %v, must be %v: %w", t.Name, have.Shape, t.Shape, ErrParams)
		}
		*t.Data = have.Data
	}
	return p, windowsFromFile(p, f)
}

// windowsFromFile reads the three window tensors. A file must have all or none of them.
func windowsFromFile(p *Params, f *safetensors.File) error {
	center, ok1 := f.Tensors[nameWindowCenter]
	length, ok2 := f.Tensors[nameWindowLength]
	own, ok3 := f.Tensors[nameComponentWindow]
	if !ok1 && !ok2 && !ok3 {
		return nil
	}
	if !ok1 || !ok2 || !ok3 || len(center.Shape) != 1 || len(center.Data) < 1 || !slices.Equal(length.Shape, []int{1}) ||
		!slices.Equal(own.Shape, []int{p.L}) {
		return fmt.Errorf("windows need %s [V], %s [1] and %s [%d], got shapes %v, %v, %v: %w",
			nameWindowCenter, nameWindowLength, nameComponentWindow, p.L, center.Shape, length.Shape, own.Shape, ErrParams)
	}
	p.Windows = backend.Windows{Center: center.Data, Length: length.Data[0]}
	if s := f.Metadata["window.input"]; s != "" {
		var err error
		if p.Windows.Dim, err = strconv.Atoi(s); err != nil {
			return fmt.Errorf("metadata window.input is %.20q, must be the number of an input: %w", s, ErrParams)
		}
	}
	p.ComponentWindow = make([]int, p.L)
	for i, v := range own.Data {
		if !(v >= 0 && v < float64(len(center.Data))) || v != math.Trunc(v) {
			return fmt.Errorf("%s[%d] is %v, must be the index of one of %d windows: %w", nameComponentWindow, i, v, len(center.Data),
				ErrParams)
		}
		p.ComponentWindow[i] = int(v)
	}
	return nil
}

// readFactor reads the exact posterior if the file contains one.
func (m *Model) readFactor(f *safetensors.File) error {
	t, ok := f.Tensors[nameFactor]
	if !ok || m.Inference != Exact {
		return nil
	}
	p := m.Params
	offset := p.Features().Offsets()
	want := int(blocktri.Size(offset))
	if len(t.Data) != want || len(p.CoefMean) != p.M()*p.D {
		return fmt.Errorf("%s has %d numbers and coefficient.mean %d, must be %d and %d: %w", nameFactor, len(t.Data), len(p.CoefMean),
			want, p.M()*p.D, ErrParams)
	}
	r := backend.NewGram(offset)
	at := 0
	for _, b := range slices.Concat(r.Diag, r.Below) {
		at += copy(b, t.Data[at:])
	}
	for i, v := range t.Data {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%s[%d] is %v, must be finite: %w", nameFactor, i, v, ErrParams)
		}
	}
	for v, b := range r.Diag {
		n := r.Size(v)
		for i := range n {
			if d := b[i*n+i]; d <= 0 {
				return fmt.Errorf("%s has %v on the diagonal of block %d, must be positive: %w", nameFactor, d, v, ErrParams)
			}
		}
	}
	m.exact = variational.NewPosterior(p.CoefMean, r)
	p.CoefMean = nil
	return nil
}
