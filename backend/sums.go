package backend

import "cmp"

// Moments are the sums over rows that the exact bound needs (eq. lower_bound_opt_A). Their
// adjoint has the same type. Its Gram is ∂/∂G as a symmetric matrix, so that
// dL = Σ_kj barG_kj dG_kj over all pairs.
type Moments struct {
	C    []float64 // [M,D] Φ̄ᵀY
	Gram *Gram     // [M,M] Φ̄ᵀΦ̄ off the diagonal, Σ_n E[φ²] on it
	D    int       // outputs
	// Terms is the maximum number of rounding errors in a sum of the last pass, each relative to the diagonal entry. It is 0 if
	// there is one per row.
	Terms int
}

// NewMoments returns zero moments for f and d outputs.
func NewMoments(f *Features, d int) *Moments {
	return &Moments{C: make([]float64, f.M*d), Gram: NewGram(f.Offsets()), D: d}
}

// Check returns an error if the arrays do not match the features and d.
func (m *Moments) Check(f *Features, d int) error {
	if m == nil || m.Gram == nil || f == nil {
		return errNil
	}
	return cmp.Or(checkOutputs(m.D, d), checkLength("C", len(m.C), f.M*d, "M·D"), m.Gram.checkShape(f))
}

// Weights represents the Gaussian over the coefficients with diagonal covariance of the
// factorized bound: a_kd ~ N(Mean_kd, Var_kd). Its adjoint has the same type.
type Weights struct {
	Mean []float64 // m [M,D]
	Var  []float64 // s [M,D], ≥ 0
	D    int       // outputs
}

// NewWeights returns zero weights for m features and d outputs.
func NewWeights(m, d int) *Weights {
	return &Weights{Mean: make([]float64, m*d), Var: make([]float64, m*d), D: d}
}

// Check returns an error if the arrays do not match the features and d.
func (w *Weights) Check(f *Features, d int) error {
	if w == nil || f == nil {
		return errNil
	}
	return cmp.Or(checkOutputs(w.D, d),
		checkLength("coefficient mean", len(w.Mean), f.M*d, "M·D"), checkLength("coefficient variance", len(w.Var), f.M*d, "M·D"))
}

// FactorizedSums contains the value and the gradient of the expected squared error over a set
// of rows, the data-dependent part of eq. lower_bound_dist:
//
//	F = Σ_n E_q‖y_n − φ_n A‖²
//	  = Σ_n [ ‖y_n − φ̄_n m‖² + Σ_k Σ_d (m_kd² + s_kd) E[φ_nk²] − m_kd² φ̄_nk² ]
//
// Sums over disjoint sets of rows can be added.
type FactorizedSums struct {
	Value    float64   // F
	Features *Features // ∂F/∂features
	Weights  *Weights  // ∂F/∂m and ∂F/∂s
}

// NewFactorizedSums returns zero sums for f and d outputs.
func NewFactorizedSums(f *Features, d int) *FactorizedSums {
	return &FactorizedSums{Features: NewFeatures(f.M, f.Q), Weights: NewWeights(f.M, d)}
}

// Check returns an error if the sums do not match the features and d.
func (s *FactorizedSums) Check(f *Features, d int) error {
	if s == nil {
		return errNil
	}
	return cmp.Or(s.Features.CheckRoom(f), s.Weights.Check(f, d))
}

// Posterior is a Gaussian over the coefficients for prediction: means and either a covariance
// that all outputs share (Cov, the exact posterior) or a diagonal covariance for each output
// (Var, the factorized posterior).
type Posterior struct {
	Mean []float64 // m [M,D]
	Cov  *Gram     // S [M,M]; only the blocks of neighboring windows
	Var  []float64 // s [M,D]; used if Cov is nil
	D    int       // outputs
}

// check returns an error if the arrays do not match the features.
func (p *Posterior) check(f *Features) error {
	if p == nil || f == nil {
		return errNil
	}
	if p.Cov == nil {
		return (&Weights{p.Mean, p.Var, p.D}).Check(f, max(1, p.D))
	}
	return cmp.Or(checkOutputs(p.D, max(1, p.D)), checkLength("coefficient mean", len(p.Mean), f.M*p.D, "M·D"), p.Cov.checkShape(f))
}

// Prediction contains the mean and covariance of the latent function at each row
// (eqs. pred_mean, pred_uncertainty without the noise τ⁻¹I):
//
//	Mean_nd   = φ̄_n m_d
//	Cov_n,dd' = 1[d=d'] tr(E[φ_nᵀφ_n] S_d) + Σ_k m_kd m_kd' (E[φ_nk²] − φ̄_nk²)
type Prediction struct {
	Mean []float64 // [N,D]
	Cov  []float64 // [N,D,D]
}

// NewPrediction returns a zero prediction for n rows and d outputs.
func NewPrediction(n, d int) *Prediction {
	return &Prediction{Mean: make([]float64, n*d), Cov: make([]float64, n*d*d)}
}

// check returns an error if the arrays do not match n rows and d outputs.
func (p *Prediction) check(n, d int) error {
	if p == nil {
		return errNil
	}
	return cmp.Or(checkLength("predicted mean", len(p.Mean), n*d, "N·D"), checkLength("predicted covariance", len(p.Cov), n*d*d, "N·D·D"))
}
