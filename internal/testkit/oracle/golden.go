package oracle

import (
	"encoding/json"
	"fmt"
	"os"
)

// Golden is one file of testdata/golden: results of an independent float64
// implementation with automatic differentiation, in the model file's names.
type Golden struct {
	Name          string
	N, Q, D, L, K int
	X, Y          [][]float64 // [N][Q], [N][D]
	Params        *Params
	// Features of the first row, and of E[ΦᵀΦ] its trace and the sum of its
	// entries.
	FirstMean, FirstSecond []float64 // [M]
	GramTrace, GramSum     float64
	KL                     float64 // of frequencies and phases
	Exact, Factorized      GoldenBound
	CoefMean               [][]float64 // [M][D] of the optimal q(A)
	CoefVar                []float64   // [M] diagonal of its covariance
	Predict                GoldenPredict
	Minibatch              *GoldenBatch // nil: none in this file
}

// GoldenBound is a bound with its gradient, whose absent fields are nil.
type GoldenBound struct {
	Bound    float64
	Gradient *Params
}

// GoldenBatch is the bound of eq. lower_bound_SVI on some rows.
type GoldenBatch struct {
	Rows []int
	GoldenBound
}

// GoldenPredict holds predictions at X [n][Q]: means [n][D] and covariances
// [n][D][D], of the exact posterior and of the factorised.
type GoldenPredict struct {
	X              [][]float64   `json:"X"`
	ExactMean      [][]float64   `json:"exact_mean"`
	ExactCov       [][][]float64 `json:"exact_covariance"`
	FactorizedMean [][]float64   `json:"factorised_mean"`
	FactorizedCov  [][][]float64 `json:"factorised_covariance"`
}

// wireParams are Params as the files spell them.
type wireParams struct {
	Variance        []float64   `json:"kernel.variance"`
	Lengthscale     [][]float64 `json:"kernel.lengthscale"`
	Frequency       [][]float64 `json:"kernel.frequency"`
	Location        [][]float64 `json:"inducing.location"`
	FreqMean        [][]float64 `json:"frequency.mean"`
	FreqVar         [][]float64 `json:"frequency.variance"`
	PhaseLower      []float64   `json:"phase.lower"`
	PhaseUpper      []float64   `json:"phase.upper"`
	NoisePrecision  []float64   `json:"noise.precision"`
	CoefMean        [][]float64 `json:"coefficient.mean"`
	CoefVar         [][]float64 `json:"coefficient.variance"`
	WindowCenter    []float64   `json:"window.center"`
	WindowLength    []float64   `json:"window.length"`
	ComponentWindow []float64   `json:"component.window"`
}

func (w *wireParams) params() *Params {
	p := &Params{
		Variance: w.Variance, Lengthscale: w.Lengthscale, Frequency: w.Frequency,
		Location: w.Location, FreqMean: w.FreqMean, FreqVar: w.FreqVar,
		PhaseLower: w.PhaseLower, PhaseUpper: w.PhaseUpper,
		CoefMean: w.CoefMean, CoefVar: w.CoefVar, WindowCenter: w.WindowCenter,
	}
	if len(w.NoisePrecision) > 0 {
		p.NoisePrecision = w.NoisePrecision[0]
	}
	if len(w.WindowLength) > 0 {
		p.WindowLength = w.WindowLength[0]
	}
	for _, v := range w.ComponentWindow {
		p.ComponentWindow = append(p.ComponentWindow, int(v))
	}
	return p
}

type wireBound struct {
	Bound    float64     `json:"bound"`
	Gradient wireParams  `json:"gradient"`
	CoefMean [][]float64 `json:"coefficient_mean"`
	CoefVar  []float64   `json:"coefficient_covariance_diagonal"`
}

func (w *wireBound) bound() GoldenBound { return GoldenBound{w.Bound, w.Gradient.params()} }

type wireGolden struct {
	Name          string
	N, Q, D, L, K int
	X, Y          [][]float64
	Parameters    wireParams `json:"parameters"`
	Features      struct {
		Mean   []float64 `json:"mean_first_row"`
		Second []float64 `json:"second_moment_first_row"`
		Trace  float64   `json:"gram_trace"`
		Sum    float64   `json:"gram_sum"`
	} `json:"features"`
	KL         float64       `json:"kl_frequencies_and_phases"`
	Exact      wireBound     `json:"exact"`
	Factorized wireBound     `json:"factorised"`
	Predict    GoldenPredict `json:"predict"`
	Minibatch  *struct {
		Rows []int `json:"rows"`
		wireBound
	} `json:"minibatch"`
}

// LoadGolden reads one golden file.
func LoadGolden(path string) (*Golden, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("oracle: golden file: %w", err)
	}
	var w wireGolden
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, fmt.Errorf("oracle: golden file %s: %w", path, err)
	}
	g := &Golden{
		Name: w.Name, N: w.N, Q: w.Q, D: w.D, L: w.L, K: w.K, X: w.X, Y: w.Y,
		Params:    w.Parameters.params(),
		FirstMean: w.Features.Mean, FirstSecond: w.Features.Second,
		GramTrace: w.Features.Trace, GramSum: w.Features.Sum, KL: w.KL,
		Exact: w.Exact.bound(), Factorized: w.Factorized.bound(),
		CoefMean: w.Exact.CoefMean, CoefVar: w.Exact.CoefVar,
		Predict: w.Predict,
	}
	if b := w.Minibatch; b != nil {
		g.Minibatch = &GoldenBatch{Rows: b.Rows, GoldenBound: b.bound()}
	}
	if len(g.X) != g.N || len(g.Y) != g.N || len(g.Params.Location) != g.L*g.K {
		return nil, fmt.Errorf("oracle: golden file %s: %d rows of X, %d of Y, %d features; N=%d, L·K=%d",
			path, len(g.X), len(g.Y), len(g.Params.Location), g.N, g.L*g.K)
	}
	return g, nil
}
