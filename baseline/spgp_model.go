package baseline

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp"
)

// SparseModel is the model of SPGP and SVGP: inducing inputs and the posterior of
// the function there. It is safe for concurrent use.
type SparseModel struct {
	XNames, YNames []string          // of the inputs [Q] and outputs [D]; may be empty
	Notes          map[string]string // that a file keeps for the program that writes it

	units
	proj *projection
	q    posterior
}

// newSparseModel takes proj and q over.
func newSparseModel(u units, proj *projection, q posterior) *SparseModel {
	proj.work = nil
	return &SparseModel{units: u, proj: proj, q: q}
}

// Sizes are the numbers of inputs Q, outputs D and inducing inputs M of a fitted model.
func (s *SparseModel) Sizes() (q, d, m int) {
	m, d = s.q.mean.Dims()
	return s.units.q, d, m
}

// Covariance is a fitted model's covariance, in the data's units (see there for σ²).
func (s *SparseModel) Covariance() Covariance { return s.proj.h.cov.upright() }

// NoiseSD is the noise's standard deviation in each output of a fitted model, in its units.
func (s *SparseModel) NoiseSD() (sd []float64) {
	for _, scale := range s.out.Scale {
		sd = append(sd, math.Sqrt(s.proj.h.noise)*scale)
	}
	return sd
}

// Locations returns the inducing inputs [M,Q] in units of x; nil before a fit.
func (s *SparseModel) Locations() []float64 {
	if s == nil || s.proj == nil {
		return nil
	}
	return slices.Clone(s.proj.h.z)
}

// predictRows is the number of rows whose features are held at a time.
const predictRows = 1024

// Predict implements Model in O(M²) a row:
//
//	E[f] = φ·m,   Var[f] = k(x,x) − |φ|² + φ P⁻¹ φᵀ
func (s *SparseModel) Predict(x mat.Matrix) (*vssgp.Prediction, error) {
	rows, err := s.at(x)
	if err != nil {
		return nil, err
	}
	m, d := s.q.mean.Dims()
	n := len(rows) / s.units.q
	mean, variance := make([]float64, n*d), make([]float64, n*d)
	newTile(min(n, predictRows), m, d).each(s.proj, rows, mean, func(lo int, t *tile) {
		t.residuals(&s.q) // of zeros
		t.spreads(&s.q)
		for i, r := range t.residual {
			mean[lo*d+i] = -r
			variance[lo*d+i] = t.gap[i/d] + t.spread[i/d]
		}
	})
	return s.prediction(mean, variance, s.proj.h.noise), nil
}

// at returns the rows of x to predict at.
func (s *SparseModel) at(x mat.Matrix) ([]float64, error) {
	if s == nil || s.proj == nil {
		return nil, fmt.Errorf("baseline: predict: want a model that a Fit has made: %w", vssgp.ErrUnfitted)
	}
	return s.rows(x)
}

// PredictJoint is the mean [N,D] and the joint covariance [N·D,N·D] of the function (without noise) at all rows of x [N,Q], in
// O(N²·M) time; entry (n·D+d, n'·D+d') is
//
//	1[d=d'] (k(x_n, x_n') − φ_n φ_n'ᵀ + φ_n P⁻¹ φ_n'ᵀ)
//
// Its diagonal is Predict's variance without the noise. Errors are those of Predict.
func (s *SparseModel) PredictJoint(x mat.Matrix) (mean *mat.Dense, cov *mat.SymDense, err error) {
	rows, err := s.at(x)
	if err != nil {
		return nil, nil, err
	}
	single, err := s.Predict(x)
	if err != nil {
		return nil, nil, err
	}
	q, d, m := s.Sizes()
	n := len(rows) / q
	k, phi := mat.NewDense(n, n, nil), mat.NewDense(n, m, nil)
	s.proj.h.cov.matrix(k, rows, rows)
	s.proj.rows(phi, rows)
	blas64.Gemm(blas.NoTrans, blas.Trans, -1, phi.RawMatrix(), phi.RawMatrix(), 1, k.RawMatrix())
	s.q.precision.rightUpper(phi)
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, phi.RawMatrix(), phi.RawMatrix(), 1, k.RawMatrix())
	cov = mat.NewSymDense(n*d, nil)
	for i := range n {
		for j := range i + 1 {
			for e, scale := range s.out.Scale {
				cov.SetSym(i*d+e, j*d+e, k.At(i, j)*scale*scale)
			}
		}
	}
	return mat.NewDense(n, d, single.Mean), cov, nil
}

// Scale is the outputs' standard deviations [D], in whose units the covariance's σ² is.
func (s *SparseModel) Scale() []float64 { return slices.Clone(s.out.Scale) }
