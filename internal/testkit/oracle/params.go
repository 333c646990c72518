package oracle

import "slices"

// Params are the parameters of a model, with the fields of the model file. In a gradient, a field
// contains the derivatives with respect to its entries, or nil.
type Params struct {
	Variance       []float64   `json:"kernel.variance"`      // [L] σ²_i, units of y²
	Lengthscale    [][]float64 `json:"kernel.lengthscale"`   // [L][Q] l_iq, units of x
	Frequency      [][]float64 `json:"kernel.frequency"`     // [L][Q] p_iq, cycles per unit of x
	Location       [][]float64 `json:"inducing.location"`    // [M][Q] z_k, units of x
	FreqMean       [][]float64 `json:"frequency.mean"`       // [M][Q] μ_k
	FreqVar        [][]float64 `json:"frequency.variance"`   // [M][Q] diagonal of Σ_k; 0: a point frequency
	PhaseLower     []float64   `json:"phase.lower"`          // [M] α_k, radians
	PhaseUpper     []float64   `json:"phase.upper"`          // [M] β_k ≥ α_k, radians; equal: a fixed phase
	NoisePrecision float64     `json:"-"`                    // τ, units of 1/y²
	CoefMean       [][]float64 `json:"coefficient.mean"`     // [M][D] m_d
	CoefVar        [][]float64 `json:"coefficient.variance"` // [M][D] diagonal of s_d
	// Windows divide input 0. If all three fields are empty, there are no windows.
	WindowCenter    []float64 `json:"window.center"` // [V] x_v, spaced half a window
	WindowLength    float64   `json:"-"`             // W, units of x
	ComponentWindow []int     `json:"-"`             // [L] the window of each component
}

// Dims returns the sizes L, K, M and Q.
func (p *Params) Dims() (l, k, m, q int) {
	l, m = len(p.Variance), len(p.Location)
	return l, m / l, m, len(p.Lengthscale[0])
}

// Clone returns a deep copy of p.
func (p *Params) Clone() *Params {
	c := *p
	c.Variance = slices.Clone(p.Variance)
	c.Lengthscale = cloneRows(p.Lengthscale)
	c.Frequency = cloneRows(p.Frequency)
	c.Location = cloneRows(p.Location)
	c.FreqMean = cloneRows(p.FreqMean)
	c.FreqVar = cloneRows(p.FreqVar)
	c.PhaseLower = slices.Clone(p.PhaseLower)
	c.PhaseUpper = slices.Clone(p.PhaseUpper)
	c.CoefMean = cloneRows(p.CoefMean)
	c.CoefVar = cloneRows(p.CoefVar)
	c.WindowCenter = slices.Clone(p.WindowCenter)
	c.ComponentWindow = slices.Clone(p.ComponentWindow)
	return &c
}

func cloneRows(a [][]float64) [][]float64 {
	if a == nil {
		return nil
	}
	c := make([][]float64, len(a))
	for i := range a {
		c[i] = slices.Clone(a[i])
	}
	return c
}

// A Tensor is a differentiable field of a Params, with its name in the model file and the
// addresses of its entries, row-major. It has no entries if the field is missing.
type Tensor struct {
	Name    string
	Entries []*float64
}

// Values returns the tensor's entries, row-major.
func (t Tensor) Values() []float64 {
	v := make([]float64, len(t.Entries))
	for i, e := range t.Entries {
		v[i] = *e
	}
	return v
}

// Tensors returns p's differentiable fields, always all of them and in the same order.
func (p *Params) Tensors() []Tensor {
	return []Tensor{
		{"kernel.variance", vector(p.Variance)},
		{"kernel.lengthscale", matrix(p.Lengthscale)},
		{"kernel.frequency", matrix(p.Frequency)},
		{"inducing.location", matrix(p.Location)},
		{"frequency.mean", matrix(p.FreqMean)},
		{"frequency.variance", matrix(p.FreqVar)},
		{"phase.lower", vector(p.PhaseLower)},
		{"phase.upper", vector(p.PhaseUpper)},
		{"noise.precision", []*float64{&p.NoisePrecision}},
		{"coefficient.mean", matrix(p.CoefMean)},
		{"coefficient.variance", matrix(p.CoefVar)},
	}
}

func vector(a []float64) (e []*float64) {
	for i := range a {
		e = append(e, &a[i])
	}
	return e
}

func matrix(a [][]float64) (e []*float64) {
	for i := range a {
		e = append(e, vector(a[i])...)
	}
	return e
}

// array returns a zero matrix [rows][cols].
func array(rows, cols int) [][]float64 {
	a := make([][]float64, rows)
	for i := range a {
		a[i] = make([]float64, cols)
	}
	return a
}
