package variational

import "math"

// Tensor is one of a model's arrays under its name in the model file, with all that
// other code has to know about it.
type Tensor struct {
	Name  string     // as in the file: "kernel.variance", …
	Shape []int      // [L], [L,Q], [M], [M,Q], [M,D] or [1]
	Data  *[]float64 // the field of Params itself, row-major, not a copy

	Group      Group      // what its numbers are
	Domain     Domain     // which numbers it may hold
	Coordinate Coordinate // how an optimizer moves it
	Tieable    bool       // whether Options.Tie and Shared may tie its entries

	of *Params // of which it is a field
}

// A Group says what a tensor's numbers describe.
type Group uint8

const (
	Covariance   Group = iota // a hyper-parameter of the covariance
	Noise                     // the noise precision
	FeatureDist               // of the features' own distribution q(ω), and their inducing inputs
	Coefficients              // of the factorized posterior over the coefficients; may be absent
)

// A Domain is the numbers that a tensor may hold, finite in any case.
type Domain uint8

const (
	Real        Domain = iota // any
	NonNegative               // zero or positive
	Positive                  // above zero
)

// A Coordinate is how an optimizer moves the entries of a tensor.
type Coordinate uint8

const (
	Log      Coordinate = iota // as logarithms
	Shift                      // as differences from where they began
	Phase                      // lower and upper end together, as center and width
	PhaseEnd                   // with Phase, which comes first
	Level                      // a noise precision, above the noise level
)

// Tensors lists the real-valued arrays that a gradient has entries for, in a
// fixed order. It is the one place where names, shapes and fields meet.
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

// FrequencyMean is the name of μ, which SSGP moves without its variance.
const FrequencyMean = "frequency.mean"

const frequencyVariance = "frequency.variance"

// Names are the names of the tensors for which keep holds, or of all if keep is nil.
func Names(keep func(t Tensor) bool) (names []string) {
	for _, t := range (&Params{}).Tensors() {
		if keep == nil || keep(t) {
			names = append(names, t.Name)
		}
	}
	return names
}

// Size is how many numbers the shape holds.
func (t Tensor) Size() int {
	n := 1
	for _, s := range t.Shape {
		n *= s
	}
	return n
}

// PerComponent is how many entries belong to each of l components; 0 if all share
// them.
func (t Tensor) PerComponent(l int) int {
	if t.Group == Noise {
		return 0
	}
	return t.Size() / l
}

// Constant reports whether entry i is a constant of the model rather than a
// parameter: the variance of a point frequency, the ends of a fixed phase. No
// gradient is defined there.
func (t Tensor) Constant(i int) bool {
	switch p := t.of; t.Data {
	case &p.FreqVar:
		return p.FreqVar[i] == 0
	case &p.PhaseLower, &p.PhaseUpper:
		return p.PhaseLower[i] == p.PhaseUpper[i]
	}
	return false
}

// Unit is the natural step of entry i of a Shift: steps of one unit change the
// features about equally for every entry. reach is the largest distance in x over
// which a feature matters.
//
//	z: 1/√(ω² + P)        a radian of the feature's own phase
//	μ: min(1, l/reach)    a radian at the feature's reach
//	p: 1/(2π·reach)       the same
//	m: √s                 a posterior standard deviation
func (t Tensor) Unit(i int, reach float64) float64 {
	p := t.of
	k, q := i/p.Q, i%p.Q // of a feature's entry
	of := k/p.K*p.Q + q  // and its component's
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

// Optional reports whether a model may lack the tensor.
func (t Tensor) Optional() bool { return t.Group == Coefficients }

// lacks is the place of the first number that is not in the domain, or how many there are.
func (d Domain) lacks(a []float64) int {
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

// want says in words what v, which is not in the domain, should be.
func (d Domain) want(v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "a finite number"
	case d == Positive:
		return "a positive number"
	}
	return "zero or a positive number"
}
