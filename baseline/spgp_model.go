package baseline

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/matrices"
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

// fitted says whether there is a posterior.
func (s *SparseModel) fitted() bool { return s != nil && s.proj != nil }

// Sizes are the numbers of inputs Q, outputs D and inducing inputs M; 0 before a fit.
func (s *SparseModel) Sizes() (q, d, m int) {
	if !s.fitted() {
		return 0, 0, 0
	}
	m, d = s.q.mean.Dims()
	return s.units.q, d, m
}

// Covariance is the model's covariance, in the data's units (see there for σ²); empty before a fit.
func (s *SparseModel) Covariance() Covariance {
	if !s.fitted() {
		return Covariance{}
	}
	return s.proj.h.cov.upright()
}

// Scale is the outputs' standard deviations [D], in whose units the covariance's σ² is; nil before a fit.
func (s *SparseModel) Scale() []float64 {
	if !s.fitted() {
		return nil
	}
	return slices.Clone(s.out.Scale)
}

// NoiseSD is the noise's standard deviation in each output [D], in its units; nil before a fit.
func (s *SparseModel) NoiseSD() []float64 {
	sd := s.Scale()
	for i := range sd {
		sd[i] *= math.Sqrt(s.proj.h.noise)
	}
	return sd
}

// Locations returns the inducing inputs [M,Q] in units of x; nil before a fit.
func (s *SparseModel) Locations() []float64 {
	if !s.fitted() {
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
	if !s.fitted() {
		return nil, fmt.Errorf("baseline: predict: want a model that a Fit has made: %w", vssgp.ErrUnfitted)
	}
	return s.rows(x)
}

// PredictJoint is PredictJointContext without an end.
func (s *SparseModel) PredictJoint(x mat.Matrix) (mean *mat.Dense, cov *mat.SymDense, err error) {
	return s.PredictJointContext(context.Background(), x)
}

// jointRows are those whose covariances with all rows are held at a time.
const jointRows = 128

// PredictJointContext is the mean [N,D] and the joint covariance [N·D,N·D] of the function (without noise) at all rows of
// x [N,Q] in the data's units, in O(N²·M) time and O(N·M) memory besides the result; entry (n·D+d, n'·D+d') is
//
//	1[d=d'] (k(x_n, x_n') − φ_n φ_n'ᵀ + φ_n P⁻¹ φ_n'ᵀ)
//
// The first two terms are the variance that the inducing variables do not explain. FITC takes it for independent between the
// rows of the data only, so its rows x covary by it, too. The diagonal is Predict's variance without the noise. Errors are
// Predict's, vssgp.ErrData where the result has more than 2³¹ entries, and ctx.Err() soon after ctx (nil: the background) has ended.
func (s *SparseModel) PredictJointContext(ctx context.Context, x mat.Matrix) (mean *mat.Dense, cov *mat.SymDense, err error) {
	rows, err := s.at(x)
	if err != nil {
		return nil, nil, err
	}
	q, d, m := s.Sizes()
	n := len(rows) / q
	if err := matrices.CheckJoint(n, d); err != nil {
		return nil, nil, fmt.Errorf("baseline: predict: %w: %w", err, vssgp.ErrData)
	}
	phi, spread := mat.NewDense(n, m, nil), mat.NewDense(n, m, nil) // φ and φR⁻ᵀ
	s.proj.rows(phi, rows)
	spread.Copy(phi)
	s.q.precision.rightUpper(spread)
	mean, cov = mat.NewDense(n, d, nil), mat.NewSymDense(n*d, nil)
	mean.Mul(phi, s.q.mean)
	mean.Apply(func(_, e int, v float64) float64 { return s.out.Offset[e] + s.out.Scale[e]*v }, mean)
	for lo := 0; lo < n; lo += jointRows {
		if err := cmp.Or(ctx, context.Background()).Err(); err != nil {
			return nil, nil, fmt.Errorf("baseline: predict: %w", err)
		}
		hi := min(n, lo+jointRows)
		k := mat.NewDense(hi-lo, hi, nil) // the lower triangle's
		s.proj.h.cov.matrix(k, rows[lo*q:hi*q], rows[:hi*q])
		add := func(sign float64, a blas64.General) {
			blas64.Gemm(blas.NoTrans, blas.Trans, sign, part(a, lo, hi, 0, m), part(a, 0, hi, 0, m), 1, k.RawMatrix())
		}
		add(-1, phi.RawMatrix())
		add(1, spread.RawMatrix())
		s.spreadOut(cov, k, lo)
	}
	return mean, cov, nil
}

// spreadOut puts rows of the covariance of the scaled function, from row lo on, into that of the outputs.
func (s *SparseModel) spreadOut(cov *mat.SymDense, k *mat.Dense, lo int) {
	d := len(s.out.Scale)
	for i := range k.RawMatrix().Rows {
		for j, v := range k.RawRowView(i)[:lo+i+1] {
			for e, scale := range s.out.Scale {
				cov.SetSym((lo+i)*d+e, j*d+e, v*scale*scale)
			}
		}
	}
}
