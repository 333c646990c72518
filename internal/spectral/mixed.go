package spectral

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/markov"
	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/variational"
)

// Rough components would need a large number of nodes. They are evaluated by a Kalman filter instead (package markov), together
// with the noise. With L Lᵀ = K the covariance of the rough components and the noise, Φ [N,M] the features of the other components,
// Φ̃ = L⁻¹Φ, ỹ = L⁻¹y, A = Φ̃ᵀΦ̃ + I and m = A⁻¹Φ̃ᵀỹ, the log evidence is
//
//	−½D (N log 2π + log|K| + log|A|) − ½ (Σ ỹ² − Σ m∘Φ̃ᵀỹ)
//
// An evaluation takes N·M² operations.

// A series has the rows sorted by time.
type series struct {
	x []float64 // [N]
	y []float64 // [N,D]
	d int
}

// byTime returns the indices of x in increasing order of x.
func byTime(x []float64) []int {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	return order
}

func newSeries(data *backend.Data) *series {
	s := &series{d: data.D}
	for _, i := range byTime(data.X) {
		s.x = append(s.x, data.X[i])
		s.y = append(s.y, data.Y[i*data.D:(i+1)*data.D]...)
	}
	return s
}

// terms returns the rough components.
func (m Model) terms() (terms []markov.Term) {
	for _, c := range m.Components {
		if c.filtered() {
			terms = append(terms, markov.Term{Order: c.Kind.order(), SD: c.SD, Length: c.Length, Frequency: c.Frequency})
		}
	}
	return terms
}

// maxMixed is the maximum number of values of a mixed evaluation, 800 MB.
const maxMixed = 1e8

// A mixed evaluation has the whitened features and outputs.
type mixed struct {
	*series
	p      *variational.Params
	m      int // features
	filter *markov.Filter
	raw    []float64 // [N,M] Φ
	white  []float64 // [N,M+D] Φ̃, ỹ
	states []float64 // of the filter, for the gradient
	chol   mat.Cholesky
	mean   *mat.Dense // m [M,D]
	a      *mat.SymDense
	fit    float64 // Σ ỹ² − Σ m∘Φ̃ᵀỹ
}

// columns returns the number of whitened columns.
func (e *mixed) columns() int { return e.m + e.d }

// condition whitens the features of the parameters p, whose noise has the given standard deviation, and the outputs.
func (s *series) condition(p *variational.Params, terms []markov.Term, noise float64, gradient bool) (*mixed, error) {
	e := &mixed{series: s, p: p, m: p.M()}
	n, cols := len(s.x), e.columns()
	if values := float64(n*cols) * (3 + float64(len(terms))); values > maxMixed {
		return nil, fmt.Errorf("%d rows with %d features and rough components: %w", n, e.m, variational.ErrBound)
	}
	e.filter = markov.New(terms, noise, s.x, nil, gradient)
	e.raw = features(p, s.x)
	e.white = make([]float64, n*cols)
	for i := range n {
		copy(e.white[i*cols:], e.raw[i*e.m:(i+1)*e.m])
		copy(e.white[i*cols+e.m:], s.y[i*s.d:(i+1)*s.d])
	}
	if gradient {
		e.states = make([]float64, n*cols*e.filter.States())
	}
	e.filter.Whiten(e.white, e.states)

	gram := blas64.Symmetric{N: cols, Stride: cols, Data: make([]float64, cols*cols), Uplo: blas.Upper}
	blas64.Syrk(blas.Trans, 1, general(e.white, n, cols), 0, gram)
	all := mat.NewSymDense(cols, gram.Data)
	e.a = mat.NewSymDense(e.m, nil)
	right := mat.NewDense(e.m, s.d, nil)
	for i := range e.m {
		for j := i; j < e.m; j++ {
			e.a.SetSym(i, j, all.At(i, j))
		}
		e.a.SetSym(i, i, all.At(i, i)+1)
		for d := range s.d {
			right.Set(i, d, all.At(i, e.m+d))
		}
	}
	if !e.chol.Factorize(e.a) {
		return nil, fmt.Errorf("the matrix of the features has no Cholesky factor: %w", variational.ErrBound)
	}
	e.mean = mat.NewDense(e.m, s.d, nil)
	if err := e.chol.SolveTo(e.mean, right); err != nil {
		return nil, fmt.Errorf("%w: %w", err, variational.ErrBound)
	}
	for d := range s.d {
		e.fit += all.At(e.m+d, e.m+d) - mat.Dot(e.mean.ColView(d), right.ColView(d))
	}
	return e, nil
}

// features returns Φ [N,M] at times x: a cosine and a sine for each component of p, from params.
func features(p *variational.Params, x []float64) []float64 {
	m := p.M()
	out := make([]float64, len(x)*m)
	parallel.Blocks(len(x), variational.ChunkRows, func(_, lo, hi int) {
		for i := range p.L {
			amplitude, rate := math.Sqrt(p.Variance[i]), 2*math.Pi*p.Frequency[i]
			for n := lo; n < hi; n++ {
				sin, cos := math.Sincos(rate * (x[n] - p.Location[0]))
				out[n*m+2*i], out[n*m+2*i+1] = amplitude*cos, amplitude*sin
			}
		}
	})
	return out
}

func general(a []float64, rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: a}
}

// evidence returns the log evidence and its terms.
func (e *mixed) evidence() (float64, []variational.Term) {
	d, n := float64(e.d), float64(len(e.x))
	terms := []variational.Term{
		{Name: "noise", Value: -0.5 * d * (n*math.Log(2*math.Pi) + e.filter.LogDet())},
		{Name: "fit", Value: -0.5 * e.fit},
		{Name: "log_determinant", Value: -0.5 * d * e.chol.LogDet()},
	}
	sum := 0.0
	for _, t := range terms {
		sum += t.Value
	}
	return sum, terms
}

// gradient returns the derivatives of the log evidence with respect to the logarithm of the variance and the frequency of each component of
// p, and to the coordinates of the filter.
func (e *mixed) gradient() (variance, frequency, filter []float64, err error) {
	n, cols, d := len(e.x), e.columns(), float64(e.d)
	var inverse mat.SymDense
	if err := e.chol.InverseTo(&inverse); err != nil {
		return nil, nil, nil, fmt.Errorf("%w: %w", err, variational.ErrBound)
	}
	// The gradient with respect to [Φ̃, ỹ] is [Φ̃, ỹ] times this matrix.
	b := mat.NewDense(cols, cols, nil)
	for i := range e.m {
		for j := range e.m {
			b.Set(i, j, -floats.Dot(e.mean.RawRowView(i), e.mean.RawRowView(j))-d*inverse.At(i, j))
		}
		for k := range e.d {
			b.Set(i, e.m+k, e.mean.At(i, k))
			b.Set(e.m+k, i, e.mean.At(i, k))
		}
	}
	for k := range e.d {
		b.Set(e.m+k, e.m+k, -1)
	}
	bar := make([]float64, n*cols)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, general(e.white, n, cols), b.RawMatrix(), 0, general(bar, n, cols))
	filter = e.filter.Pull(bar, e.white, e.states)
	for i, s := range e.filter.LogDetSlopes() {
		filter[i] -= 0.5 * d * s
	}
	variance, frequency = make([]float64, e.p.L), make([]float64, e.p.L)
	for row, x := range e.x {
		turn := 2 * math.Pi * (x - e.p.Location[0])
		raw, bar := e.raw[row*e.m:(row+1)*e.m], bar[row*cols:]
		for i := range e.p.L {
			cos, sin := raw[2*i], raw[2*i+1]
			variance[i] += 0.5 * (cos*bar[2*i] + sin*bar[2*i+1])
			frequency[i] += turn * (cos*bar[2*i+1] - sin*bar[2*i])
		}
	}
	return variance, frequency, filter, nil
}
