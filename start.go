package vssgp

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/vssgp/vssgp/internal/score"
	"github.com/vssgp/vssgp/spectral"
)

// New makes a model of data with starting values (Options.Init) and no
// posterior yet. Errors wrap ErrData or ErrOptions.
func New(data *Data, o Options) (*Model, error) {
	return newModel(context.Background(), data, o)
}

func newModel(ctx context.Context, data *Data, o Options) (*Model, error) {
	if err := ctx.Err(); err != nil {
		return nil, interrupted(ctx, err)
	}
	if err := data.Check(); err != nil {
		return nil, err
	}
	if err := o.check(data); err != nil {
		return nil, err
	}
	if o.From != nil {
		return o.resume()
	}
	m := &Model{Inference: Exact, X: identity(data.Q), Y: identity(data.D), XNames: data.XNames, YNames: data.YNames, Backend: o.Backend}
	if !o.Raw {
		m.X, m.Y = data.Standardise()
	}
	var err error
	switch {
	case o.rough:
		err = m.startRough(ctx, data, o)
	case o.init(data) == InitSpectrum:
		err = m.startSpectrum(ctx, data, o)
	default:
		m.startPaper(data, o)
	}
	if err := cmp.Or(interrupted(ctx, ctx.Err()), err); err != nil {
		return nil, err
	}
	if err := m.Params.Check(); err != nil {
		return nil, fmt.Errorf("vssgp: these options and data give no model (%v): %w", err, ErrOptions)
	}
	if err := o.checkMemory(data, m); err != nil {
		return nil, err
	}
	return m, nil
}

// init is the start that the options ask for, or the default for the data.
func (o *Options) init(data *Data) Init {
	switch {
	case o.Init != "":
		return o.Init
	case data.varies() && o.Method != RP && o.Lengthscales == nil && o.FrequencyVariance == 0 && o.Features%2 == 0:
		return InitSpectrum
	}
	return InitPaper
}

// resume is a copy of Options.From, if it is of the method asked for.
func (o *Options) resume() (*Model, error) {
	m := o.From.clone()
	if o.Backend != nil {
		m.Backend = o.Backend
	}
	p := m.Params
	if o.Method != SSGP && o.Method != RP {
		return m, nil
	}
	for i, v := range p.FreqVar {
		if v != 0 {
			return nil, fmt.Errorf("vssgp: the model to start from has frequency.variance[%d] = %v, method %s wants 0: %w", i, v, o.Method, ErrOptions)
		}
	}
	if o.Method == SSGP {
		for k := range p.M() {
			if at := k * p.Q; p.K%2 == 1 || (k%2 == 1 && !slices.Equal(p.FreqMean[at:at+p.Q], p.FreqMean[at-p.Q:at])) {
				return nil, fmt.Errorf("vssgp: the features of the model to start from are no pairs of cosine and sine (feature %d), as method ssgp wants: %w", k, ErrOptions)
			}
		}
	}
	return m, nil
}

// clone copies the model; the posterior, which nothing changes, is shared.
func (m *Model) clone() *Model {
	c := *m
	c.Params = m.Params.Clone()
	return &c
}

// Standardise gives maps under which every column has mean 0 and standard
// deviation 1 (a constant one a unit far below its own size). Data that are nil
// or empty have maps of no columns.
func (d *Data) Standardise() (x, y Affine) {
	if d == nil || d.N < 1 {
		return Affine{}, Affine{}
	}
	return standardise(d.X, d.Q), standardise(d.Y, d.D)
}

// constantShare is the relative spread below which a column counts as constant;
// such a column gets that share of its size as its unit.
const constantShare = 1e-9

// leastNormal is the smallest number of float64's full precision.
const leastNormal = 0x1p-1022

func standardise(a []float64, cols int) Affine {
	m := identity(cols)
	for c := range cols {
		mean, sd := score.MeanSD(a, c, cols)
		m.Offset[c], m.Scale[c] = mean, sd
		if size := math.Abs(mean); sd <= constantShare*size {
			m.Scale[c] = max(constantShare*cmp.Or(size, 1), leastNormal)
		}
	}
	return m
}

// extent is the lowest and highest value of an input.
func extent(a []float64, cols, c int) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for i := c; i < len(a); i += cols {
		lo, hi = min(lo, a[i]), max(hi, a[i])
	}
	return lo, hi
}

// layWindows is windows of the given length over [lo, hi], the first and last
// centre at or inside the ends: outward of them the gates stay at 1. share, in
// [0, 1], is how much of the room left over goes before the first.
func layWindows(lo, hi, length, share float64, dim int) spectral.Windows {
	if length <= 0 || hi-lo <= length/2 {
		return spectral.Windows{}
	}
	n := int(math.Floor((hi-lo)/(length/2))) + 1
	first := lo + ((hi-lo)-float64(n-1)*length/2)*share
	w := spectral.Windows{Center: make([]float64, n), Length: length, Dim: dim}
	for v := range w.Center {
		w.Center[v] = first + float64(v)*length/2
	}
	return w
}

const (
	// paperFeatures is K where the options leave it open, paperVariance the
	// starting Σ: a feature reaches over thirty length-scales (DESIGN.md,
	// "Starting values").
	paperFeatures = 50
	paperVariance = 0.001
	// paperNoise is the starting τ in units of 1/var(y).
	paperNoise = 100
)

// startPaper draws the paper's starting values: μ ~ N(0, 1), z uniform over
// the data's range, fixed phases uniform over a turn, Σ small, around the
// given length-scales and periods. SSGP's features share z and come as cosine
// and sine; RP's have point frequencies.
func (m *Model) startPaper(data *Data, o Options) {
	rng := rand.New(rand.NewPCG(o.Seed, 0x9a9e6))
	x := m.X.ToModel(data.X)
	lengths, periods := o.paperScales(data)
	k := cmp.Or(o.Features, paperFeatures)
	w := o.paperWindows(x, data.Q, m.X.Scale)
	per, v := len(lengths), w.Count()
	p := NewParams(per*v, k, data.Q, data.D)
	p.CoefMean, p.CoefVar = nil, nil
	p.Windows = w
	if len(w.Center) > 0 {
		p.ComponentWindow = make([]int, p.L)
	}
	variance := m.outputVariance(data)
	for i := range p.L {
		if len(w.Center) > 0 {
			p.ComponentWindow[i] = i / per
		}
		p.Variance[i] = variance / float64(per)
		for q := range p.Q {
			p.Lengthscale[i*p.Q+q] = lengths[i%per][q] / m.X.Scale[q]
			if t := periods[i%per]; t > 0 && !math.IsInf(t, 0) {
				p.Frequency[i*p.Q+q] = m.X.Scale[q] / t
			}
		}
	}
	p.NoisePrecision[0] = o.startNoise(paperNoise/variance, m.Y)
	drawFeatures(p, x, o, rng)
	m.Params = p
}

// paperWindows are the windows over rows x, in units of the given scale.
func (o *Options) paperWindows(x []float64, q int, scale []float64) spectral.Windows {
	if !(o.Window > 0) {
		return spectral.Windows{}
	}
	lo, hi := extent(x, q, o.WindowDim)
	return layWindows(lo, hi, o.Window/scale[o.WindowDim], 0.5, o.WindowDim)
}

// paperScales are the length-scales [L][Q] and periods [L] of a window's
// components, in the data's units of x. The default is a tenth of each input's
// range, times √Q since distances grow with it; further components are shorter
// by fours.
func (o *Options) paperScales(data *Data) (lengths [][]float64, periods []float64) {
	n := len(o.Lengthscales)
	if o.Lengthscales == nil {
		n = max(1, o.Components)
	}
	lengths, periods = make([][]float64, n), o.Periods
	if periods == nil {
		periods = make([]float64, n)
	}
	for i := range lengths {
		for q := range data.Q {
			lo, hi := extent(data.X, data.Q, q)
			l := (hi - lo) / 10 * math.Sqrt(float64(data.Q)) / math.Pow(4, float64(i))
			if l == 0 { // a constant input: any length-scale will do that its unit can express
				l = min(1, cmp.Or(math.Abs(lo), 1))
			}
			if o.Lengthscales != nil {
				l = o.Lengthscales[i]
			}
			lengths[i] = append(lengths[i], l)
		}
	}
	return lengths, periods
}

// startNoise is the asked-for τ in the model's units, or the given default.
func (o *Options) startNoise(byDefault float64, y Affine) float64 {
	if o.NoisePrecision > 0 {
		return o.NoisePrecision * y.Scale[0] * y.Scale[0]
	}
	return byDefault
}

// outputVariance is the mean square of the outputs in the model's units.
func (m *Model) outputVariance(data *Data) float64 {
	s := dotSelf(m.Y.ToModel(data.Y)) / float64(data.N*data.D)
	if s == 0 {
		return 1
	}
	return s
}

// drawFeatures fills z, μ, Σ and the phases for the method.
func drawFeatures(p *Params, x []float64, o Options, rng *rand.Rand) {
	n := len(x) / p.Q
	for k := range p.M() {
		row := rng.IntN(n)
		for q := range p.Q {
			at := k*p.Q + q
			p.FreqMean[at] = rng.NormFloat64()
			p.Location[at] = x[row*p.Q+q]
			p.FreqVar[at] = cmp.Or(o.FrequencyVariance, paperVariance)
		}
		a := 2 * math.Pi * rng.Float64()
		p.PhaseLower[k], p.PhaseUpper[k] = a, a
		if o.UniformPhases {
			p.PhaseUpper[k] = a + math.Pi/2
		}
		if o.Method == SSGP || o.Method == RP {
			p.pointFeature(k, o.Method)
		}
	}
	if len(p.Windows.Center) > 0 {
		p.centreFeatures()
	}
}

// pointFeature makes feature k one of SSGP's or RP's: Σ = 0, and for SSGP the
// sine after its cosine, both about the origin of its window.
func (p *Params) pointFeature(k int, method Method) {
	for q := range p.Q {
		at := k*p.Q + q
		p.FreqVar[at] = 0
		p.Location[at] = 0
		if method == SSGP && k%2 == 1 {
			p.FreqMean[at] = p.FreqMean[at-p.Q]
		}
	}
	if method == SSGP {
		phase := -float64(k%2) * math.Pi / 2
		p.PhaseLower[k], p.PhaseUpper[k] = phase, phase
	}
}

// centreFeatures moves every feature's z under its own window: uniformly drawn
// inputs mostly lie outside it.
func (p *Params) centreFeatures() {
	w, q := &p.Windows, p.Windows.Dim
	for k := range p.M() {
		c := w.Center[p.ComponentWindow[k/p.K]]
		z := &p.Location[k*p.Q+q]
		*z = c + math.Remainder(*z-c, w.Length)
	}
}
