package baseline

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/safetensors"
)

// FileFormat is the metadata entry "format" of a SparseModel's file.
const FileFormat = "vssgp-baseline/1"

// ErrFile is wrapped by every error about the content of a SparseModel's file.
var ErrFile = errors.New("baseline: not a model file of a sparse Gaussian process")

// The file's tensors. σ² and τ⁻¹ are in units of the scaled y, l, p and z in those of x.
const (
	nameVariance    = "kernel.variance"    // σ² [L]
	nameLengthscale = "kernel.lengthscale" // l [L,Q]
	nameFrequency   = "kernel.frequency"   // p [L,Q]
	nameNoise       = "noise.variance"     // τ⁻¹ [1]
	nameInducing    = "inducing.location"  // z [M,Q]
	// nameWhitening is L of K_uu [M,M], the lower triangle. K_uu is all but singular: were L made again from one with another
	// processor's last bits, means would move by up to a hundredth of the noise. And a reader's time would not be bounded by
	// the file's length.
	nameWhitening = "inducing.factor"
	nameMean      = "coefficient.mean"   // of the whitened inducing variables [M,D]
	nameFactor    = "coefficient.factor" // R of their precision R·Rᵀ [M,M], the lower triangle
)

// metadata are the JSON entries of the file, with where they are written from and read into.
func (s *SparseModel) metadata() map[string]any {
	return map[string]any{"y.offset": &s.out.Offset, "y.scale": &s.out.Scale, "x.names": &s.XNames, "y.names": &s.YNames, "notes": &s.Notes}
}

// Write writes the model as a safetensors file, from which ReadSparse makes one that predicts the same bits. Errors wrap
// vssgp.ErrUnfitted before a fit, or ErrFile where w is nil, or are w's own.
func (s *SparseModel) Write(w io.Writer) error {
	switch {
	case !s.fitted():
		return fmt.Errorf("baseline: save: want a model that a Fit has made: %w", vssgp.ErrUnfitted)
	case w == nil:
		return fmt.Errorf("baseline: write a model to nil, want a writer: %w", ErrFile)
	}
	h := s.proj.h
	m, d := s.q.mean.Dims()
	lq, mm := []int{h.cov.L, h.cov.Q}, []int{m, m}
	f := &safetensors.File{
		Tensors: map[string]safetensors.Tensor{
			nameVariance:    {Shape: lq[:1], Data: h.cov.Variance},
			nameLengthscale: {Shape: lq, Data: h.cov.Lengthscale},
			nameFrequency:   {Shape: lq, Data: h.cov.Frequency},
			nameNoise:       {Shape: []int{1}, Data: []float64{h.noise}},
			nameInducing:    {Shape: []int{m, h.cov.Q}, Data: h.z},
			nameMean:        {Shape: []int{m, d}, Data: mat.DenseCopyOf(s.q.mean).RawMatrix().Data},
			nameWhitening:   {Shape: mm, Data: s.proj.factor.triangle()},
			nameFactor:      {Shape: mm, Data: s.q.precision.triangle()},
		},
		Metadata: map[string]string{"format": FileFormat},
	}
	for name, from := range s.metadata() {
		text, err := json.Marshal(from)
		if err != nil {
			return fmt.Errorf("baseline: save %s: %w", name, err)
		}
		f.Metadata[name] = string(text)
	}
	return f.Write(w)
}

// triangle returns the factor [n,n] with zeros above its diagonal.
func (f factor) triangle() []float64 {
	n := f.l.N
	out := make([]float64, n*n)
	for i := range n {
		copy(out[i*n:][:i+1], f.l.Data[i*f.l.Stride:])
	}
	return out
}

// ReadSparse reads a file of size bytes that Write has written. Errors wrap ErrFile, or are r's own.
func ReadSparse(r io.ReaderAt, size int64) (*SparseModel, error) {
	if r == nil {
		return nil, fmt.Errorf("baseline: read a model from nil, want a reader: %w", ErrFile)
	}
	f, err := safetensors.Read(r, size)
	if errors.Is(err, safetensors.ErrFormat) {
		err = fmt.Errorf("%w: %w", err, ErrFile)
	}
	if err != nil {
		return nil, err
	}
	if got := f.Metadata["format"]; got != FileFormat {
		return nil, fmt.Errorf("its format is %.40q, want %q: %w", got, FileFormat, ErrFile)
	}
	s := &SparseModel{}
	for name, to := range s.metadata() {
		if err := f.Entry(name, to); err != nil {
			return nil, fmt.Errorf("its metadata %q: %w: %w", name, err, ErrFile)
		}
	}
	if err := s.read(f); err != nil {
		return nil, err
	}
	return s, nil
}

// read takes the tensors.
func (s *SparseModel) read(f *safetensors.File) error {
	shape, z := f.Tensors[nameLengthscale].Shape, f.Tensors[nameInducing].Shape
	if len(shape) != 2 || len(z) != 2 || shape[0] < 1 || shape[1] < 1 || z[0] < 1 {
		return fmt.Errorf("%s has shape %v and %s %v, want [L,Q] and [M,Q]: %w", nameLengthscale, shape, nameInducing, z, ErrFile)
	}
	q, m, d := shape[1], z[0], len(s.out.Scale)
	if err := s.checkUnits(q, d); err != nil {
		return err
	}
	var noise, mean, whitening, precision []float64
	h := hyper{cov: Covariance{L: shape[0], Q: q}}
	for _, t := range []struct {
		name  string
		shape []int
		to    *[]float64
		want  kind
	}{
		{nameVariance, shape[:1], &h.cov.Variance, aPositive}, {nameLengthscale, shape, &h.cov.Lengthscale, aPositive},
		{nameFrequency, shape, &h.cov.Frequency, aFinite}, {nameNoise, []int{1}, &noise, aPositive},
		{nameInducing, []int{m, q}, &h.z, aFinite}, {nameMean, []int{m, d}, &mean, aFinite},
		{nameWhitening, []int{m, m}, &whitening, aFinite}, {nameFactor, []int{m, m}, &precision, aFinite},
	} {
		have, ok := f.Tensors[t.name]
		if !ok || !slices.Equal(have.Shape, t.shape) {
			return fmt.Errorf("%s has shape %v, want %v: %w", t.name, have.Shape, t.shape, ErrFile)
		}
		if err := t.want.check(t.name, have.Data); err != nil {
			return err
		}
		*t.to = have.Data
	}
	h.noise = noise[0]
	if v := h.cov.diagonal(); !finite(v) {
		return fmt.Errorf("%s adds up to %v, want a finite number: %w", nameVariance, v, ErrFile)
	}
	lower := func(data []float64) factor {
		return factor{l: blas64.Triangular{N: m, Stride: m, Data: data, Uplo: blas.Lower, Diag: blas.NonUnit}}
	}
	s.units.q, s.proj = q, &projection{h: h, factor: lower(whitening)}
	s.q = posterior{lower(precision), mat.NewDense(m, d, mean)}
	return cmp.Or(s.proj.factor.check(nameWhitening), s.q.precision.check(nameFactor))
}

// check reports an entry of a file's factor that no factor has on its diagonal.
func (f factor) check(name string) error {
	for i := range f.l.N {
		if v := f.l.Data[i*f.l.Stride+i]; !positive(v) {
			return fmt.Errorf("%s[%d,%d] is %v, want a positive number: %w", name, i, i, v, ErrFile)
		}
	}
	return nil
}

// A kind of numbers, as errors call one.
type kind struct {
	name string
	has  func(float64) bool
}

var aPositive, aFinite = kind{"positive", positive}, kind{"finite", finite}

// check reports the first number of a file's array that is none of the kind.
func (k kind) check(name string, data []float64) error {
	if i := slices.IndexFunc(data, func(v float64) bool { return !k.has(v) }); i >= 0 {
		return fmt.Errorf("%s[%d] is %v, want a %s number: %w", name, i, data[i], k.name, ErrFile)
	}
	return nil
}

// checkUnits checks the maps of the outputs and the names.
func (s *SparseModel) checkUnits(q, d int) error {
	if d < 1 || len(s.out.Offset) != d {
		return fmt.Errorf("its metadata y.offset has %d numbers and y.scale %d; want one for each output: %w", len(s.out.Offset), d, ErrFile)
	}
	if n := len(s.XNames); n != 0 && n != q {
		return fmt.Errorf("its metadata x.names has %d names for %d inputs: %w", n, q, ErrFile)
	}
	if n := len(s.YNames); n != 0 && n != d {
		return fmt.Errorf("its metadata y.names has %d names for %d outputs: %w", n, d, ErrFile)
	}
	return aPositive.check("y.scale", s.out.Scale) // JSON has finite numbers only
}
