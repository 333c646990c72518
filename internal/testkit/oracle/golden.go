package oracle

import (
	"encoding/json"
	"fmt"
	"os"
)

// Golden is the content of a file of testdata/golden: results of an independent float64
// implementation with automatic differentiation, with the names of the model file.
type Golden struct {
	Name           string
	N, Q, D, L, K  int
	X, Y           [][]float64 // [N][Q], [N][D]
	Params         *Params     `json:"parameters"`
	GoldenFeatures `json:"features"`
	KL             float64       `json:"kl_frequencies_and_phases"`
	Exact          GoldenBound   `json:"exact"`
	Factorized     GoldenBound   `json:"factorised"`
	Predict        GoldenPredict `json:"predict"`
	Minibatch      *GoldenBatch  `json:"minibatch"` // nil if the file has none
	// These are the mean and the diagonal of the covariance of the optimal q(A), from Exact.
	CoefMean [][]float64 `json:"-"` // [M][D]
	CoefVar  []float64   `json:"-"` // [M]
}

// GoldenFeatures are the features of the first row, and the trace and the sum of entries of E[ΦᵀΦ].
type GoldenFeatures struct {
	FirstMean   []float64 `json:"mean_first_row"` // [M]
	FirstSecond []float64 `json:"second_moment_first_row"`
	GramTrace   float64   `json:"gram_trace"`
	GramSum     float64   `json:"gram_sum"`
}

// GoldenBound is a bound with its gradient, whose missing fields are nil. The exact bound includes
// the optimal q(A).
type GoldenBound struct {
	Bound    float64     `json:"bound"`
	Gradient *Params     `json:"gradient"`
	CoefMean [][]float64 `json:"coefficient_mean"`                // [M][D]
	CoefVar  []float64   `json:"coefficient_covariance_diagonal"` // [M]
}

// GoldenBatch is the bound of eq. lower_bound_SVI for a mini-batch.
type GoldenBatch struct {
	Rows []int `json:"rows"`
	GoldenBound
}

// GoldenPredict contains predictions at X [n][Q]: means [n][D] and covariances [n][D][D] of the
// exact and of the factorized posterior.
type GoldenPredict struct {
	X              [][]float64   `json:"X"`
	ExactMean      [][]float64   `json:"exact_mean"`
	ExactCov       [][][]float64 `json:"exact_covariance"`
	FactorizedMean [][]float64   `json:"factorised_mean"`
	FactorizedCov  [][][]float64 `json:"factorised_covariance"`
}

// UnmarshalJSON parses parameters in the format of the files: scalars are lists of length one, and
// window indexes are floats.
func (p *Params) UnmarshalJSON(b []byte) error {
	type plain Params
	w := struct {
		*plain
		NoisePrecision  []float64 `json:"noise.precision"`
		WindowLength    []float64 `json:"window.length"`
		ComponentWindow []float64 `json:"component.window"`
	}{plain: (*plain)(p)}
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	for _, v := range w.NoisePrecision {
		p.NoisePrecision = v
	}
	for _, v := range w.WindowLength {
		p.WindowLength = v
	}
	for _, v := range w.ComponentWindow {
		p.ComponentWindow = append(p.ComponentWindow, int(v))
	}
	return nil
}

// LoadGolden reads one golden file.
func LoadGolden(path string) (*Golden, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("oracle: golden file: %w", err)
	}
	g := &Golden{}
	if err := json.Unmarshal(data, g); err != nil {
		return nil, fmt.Errorf("oracle: golden file %s: %w", path, err)
	}
	if g.Params == nil || len(g.X) != g.N || len(g.Y) != g.N || len(g.Params.Location) != g.L*g.K {
		return nil, fmt.Errorf("oracle: golden file %s: N=%d, L·K=%d do not match the sizes of its arrays", path, g.N, g.L*g.K)
	}
	g.CoefMean, g.CoefVar = g.Exact.CoefMean, g.Exact.CoefVar
	return g, nil
}
