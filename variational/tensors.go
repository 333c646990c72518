package variational

import "math"

// Tensor is one of a model's arrays with its name in the model file and its properties.
type Tensor struct {
	Name  string     // in the model file, such as "kernel.variance"
	Shape []int      // [L], [L,Q], [M], [M,Q], [M,D] or [1]
	Data  *[]float64 // pointer to the field of Params, row-major

	Group      Group      // kind of parameter
	Domain     Domain     // allowed values
	Coordinate Coordinate // coordinate of the optimizer
	Tieable    bool       // whether Options.Tie and Shared may tie its entries

	of *Params // the parameters that contain it
}

// A Group is the kind of parameter that a tensor contains.
type Group uint8

const (
	Covariance   Group = iota // a hyper-parameter of the covariance
	Noise                     // the noise precision
	FeatureDist               // a parameter of q(ω), or an inducing input
	Coefficients              // a parameter of the factorized posterior over the coefficients; may be absent
)

// A Domain is the set of allowed values of a tensor. All values must be finite.
type Domain uint8

const (
	Real        Domain = iota // any value
	NonNegative               // zero or positive
	Positive                  // positive
)

// A Coordinate is the parametrization in which an optimizer changes the entries of a tensor.
type Coordinate uint8

const (
	Log      Coordinate = iota // the logarithm
	Shift                      // the difference from the initial value
	Phase                      // center and width of a phase interval, for the lower end
	PhaseEnd                   // the upper end, which follows its Phase
	Level                      // a noise precision relative to the noise level
)

// Tensors returns the real-valued arrays, which are the arrays of a gradient, in a fixed
// order. It defines the names, shapes and properties of all fields.
func (p *Params) Tensors() []Tensor {
	if p == nil {
		return nil
	}
	l, m, q, d := p.L, p.M(), p.Q, p.D
	return []Tensor{
		{"kernel.variance", []int{l}, &p.Variance, Covariance, Positive, Log, true, p},
		{"kernel.lengthscale", []int{l, q}, &p.Lengthscale, Covariance, Positive, Log, true, p},
		{"kernel.frequency", []int{l, q}, &p.Frequency, Covariance, Real, Shift, true, p},
		{"inducing.location", []int{m, q}, &p.Location, FeatureDist, Real, Shift, false, p},
		{FrequencyMean, []int{m, q}, &p.FreqMean, FeatureDist, Real, Shift, false, p},
		{frequencyVariance, []int{m, q}, &p.FreqVar, FeatureDist, NonNegative, Log, false, p},
		{"phase.lower", []int{m}, &p.PhaseLower, FeatureDist, Real, Phase, false, p},
		{"phase.upper", []int{m}, &p.PhaseUpper, FeatureDist, Real, PhaseEnd, false, p},
		{"noise.precision", []int{1}, &p.NoisePrecision, Noise, Positive, Level, false, p},
		{"coefficient.mean", []int{m, d}, &p.CoefMean, Coefficients, Real, Shift, false, p},
		{"coefficient.variance", []int{m, d}, &p.CoefVar, Coefficients, Positive, Log, false, p},
	}
}

// FrequencyMean is the name of μ. SSGP optimizes μ but not its variance.
const FrequencyMean = "frequency.mean"

const frequencyVariance = "frequency.variance"

// Names returns the names of the tensors for which keep returns true, or of all tensors if keep is nil.
func Names(keep func(t Tensor) bool) (names []string) {
	for _, t := range (&Params{}).Tensors() {
		if keep == nil || keep(t) {
			names = append(names, t.Name)
		}
	}
	return names
}

// Size returns the number of entries.
func (t Tensor) Size() int {
	n := 1
	for _, s := range t.Shape {
		n *= s
	}
	return n
}

// PerComponent returns the number of entries per component if there are l components, or 0
// if the components share the entries.
func (t Tensor) PerComponent(l int) int {
	if t.Group == Noise {
		return 0
	}
	return t.Size() / l
}

// Constant reports whether entry i is a constant of the model and not a parameter: the
// variance of a point frequency or an end of a fixed phase. The gradient of a constant is
// not defined.
func (t Tensor) Constant(i int) bool {
	switch p := t.of; t.Data {
	case &p.FreqVar:
		return p.FreqVar[i] == 0
	case &p.PhaseLower, &p.PhaseUpper:
		return p.PhaseLower[i] == p.PhaseUpper[i]
	}
	return false
}

// Unit returns the scale of entry i of a tensor with coordinate Shift. A step of one unit
// changes the features by a similar amount for every entry. reach is the largest distance
// in x at which a feature is not negligible.
//
//	z: 1/√(ω² + P)        a radian of the feature's phase
//	μ: min(1, l/reach)    a radian at the distance reach
//	p: 1/(2π·reach)       a radian at the distance reach
//	m: √s                 a posterior standard deviation
func (t Tensor) Unit(i int, reach float64) float64 {
	p := t.of
	k, q := i/p.Q, i%p.Q // feature and input
	of := k/p.K*p.Q + q  // index of the component's entry
	switch t.Data {
	case &p.Frequency:
		return 1 / (2 * math.Pi * reach)
	case &p.FreqMean:
		return min(1, p.Lengthscale[of]/reach)
	case &p.Location:
		l := p.Lengthscale[of]
		omega := p.FreqMean[i]/l + 2*math.Pi*p.Frequency[of]
		return 1 / math.Sqrt(omega*omega+p.FreqVar[i]/(l*l)+1/(reach*reach))
	case &p.CoefMean:
		return math.Sqrt(p.CoefVar[i])
	}
	return 1
}

// Optional reports whether the tensor may be absent from a model.
func (t Tensor) Optional() bool { return t.Group == Coefficients }

// firstOutside returns the index of the first value outside of the domain, or len(a).
func (d Domain) firstOutside(a []float64) int {
	least := -math.MaxFloat64
	switch d {
	case Positive:
		least = math.SmallestNonzeroFloat64
	case NonNegative:
		least = 0
	}
	for i, v := range a {
		if !(v >= least && v <= math.MaxFloat64) {
			return i
		}
	}
	return len(a)
}

// allowed describes the allowed values for the error about v, which is outside of the domain.
func (d Domain) allowed(v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "finite"
	case d == Positive:
		return "positive"
	}
	return "zero or positive"
}
