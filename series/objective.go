package series

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/linalg/blocktri"
	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/internal/simd"
)

// minNoise is added to the noise variance, in units of the data variance. Rounding of the moments would dominate smaller values.
const minNoise = 1e-6

// errUnresolved is returned for hyper-parameters at which rounding dominates because large weights cancel.
var errUnresolved = errors.New("the hyper-parameters exceed the numerical precision")

// resolved is the maximum rounding error of the log marginal likelihood, in nats.
const resolved = 0.01

// epsilon is the relative spacing of numbers.
const epsilon = 0x1p-52

// difference is the finite-difference step for derivatives of moments, in the logarithms of the state-space parameters.
const difference = 1e-6

// An objective is the log marginal likelihood of the outputs as a function of v = log θ. Let D = diag(d(θ)) be the amplitudes and K_o(θ),
// in units of λ, the covariance of the state-space model. With the moments G and C, each output contributes
//
//	A = D G D + λI      m = A⁻¹ D C      L = −½(n log 2π + (n−M) log λ + log|A| + log|K_o| + (yᵀK_o⁻¹y − (DC)·m)/λ)
//
// All frequencies are known, so the bound has no KL terms and is exact.
type objective struct {
	ctx    context.Context
	layout *layout
	tracks []*track
	fixed  bool // skip the derivatives and the information of the state-space parameters

	at      stateSpace
	derived bool             // whether the derivatives by the parameters of at are known
	groups  []differentiated // moments of each track at at
	small   []*dense         // tracks with few observations; nil: others

	simulated int // approximate total number of simulated observations

	// The last expected information of the state-space model, at coordinates averaged; nil: none.
	averaged []float64
	averages [][]float64   // [groups] between its parameters
	freedoms [][][]float64 // [groups][parameters][M] of each with the amplitudes

	a      *backend.Gram // workspace [M,M]
	d      []float64
	slopes []slope
}

// differentiated contains moments and the derivatives of G and log |K_o| with respect to the logarithms of the state-space parameters.
type differentiated struct {
	*moments
	by    []*moments
	steps []step        // of the filter
	moved []*covariance // K_o with one parameter increased each
}

func newObjective(ctx context.Context, l *layout, tracks []*track) *objective {
	m := l.size()
	o := &objective{ctx: ctx, layout: l, tracks: tracks, simulated: simulatedRows, d: make([]float64, m), slopes: make([]slope, m)}
	if m > 0 {
		o.a = backend.NewGram([]int{0, m})
	}
	return o
}

// whiten computes the moments, or the covariances of few observations, at a stateSpace. On request, it also computes their derivatives.
// It does nothing if they are up to date.
func (o *objective) whiten(at stateSpace, derivatives bool) error {
	if o.groups != nil && at == o.at && (o.derived || !derivatives) {
		return nil
	}
	if o.small == nil {
		o.small = make([]*dense, len(o.tracks))
		for g, t := range o.tracks {
			if few(len(t.u), len(o.d)) {
				o.small[g] = newDense(o.layout, t)
			}
		}
	}
	all := []stateSpace{at}
	if derivatives {
		all = append(all, at.moved()...)
	}
	o.groups = nil
	for g, t := range o.tracks {
		if o.small[g] != nil {
			o.small[g].move(at, derivatives)
			o.groups = append(o.groups, differentiated{})
			continue
		}
		if err := o.ctx.Err(); err != nil {
			return err
		}
		sums := o.layout.whiten(t, all)
		for _, s := range sums[1:] {
			s.differentiate(sums[0])
		}
		group := differentiated{moments: sums[0], by: sums[1:], steps: at.steps(t)}
		for _, moved := range all[1:] {
			group.moved = append(group.moved, moved.covarianceOf(t))
		}
		o.groups = append(o.groups, group)
	}
	o.at, o.derived = at, derivatives
	return nil
}

// forgetMoments releases the memory of moments and covariances, which the next evaluation computes again.
func (o *objective) forgetMoments() { o.groups, o.small = nil, nil }

// parameters returns pointers to the nonzero parameters: ratio and length, quality, walk, rise and return.
func (m *stateSpace) parameters() (all []*float64) {
	if m.Ratio > 0 {
		all = append(all, &m.Ratio, &m.Length)
	}
	if m.Ratio > 0 && m.Quality > 0 {
		all = append(all, &m.Quality)
	}
	if m.Walk > 0 {
		all = append(all, &m.Walk)
	}
	if m.Rise > 0 {
		all = append(all, &m.Rise, &m.Return)
	}
	return all
}

// moved returns copies of m with one parameter increased each, for finite differences.
func (m stateSpace) moved() (all []stateSpace) {
	for i := range m.parameters() {
		moved := m
		*moved.parameters()[i] *= math.Exp(difference)
		all = append(all, moved)
	}
	return all
}

// differentiate replaces G and log |K_o| at a moved stateSpace by their finite-difference derivatives.
func (s *moments) differentiate(at *moments) {
	for i, g := range at.gram {
		s.gram[i] = (s.gram[i] - g) / difference
	}
	s.log = (s.log - at.log) / difference
}

// factor overwrites the workspace with the Cholesky factor of A for a group's moments. If rounding makes D G D + λI indefinite, as it may
// at an extreme draw, factor adds a small ridge to the diagonal. It returns errUnresolved if that is not sufficient.
func (o *objective) factor(s *moments, lambda float64) (factor *blocktri.Factor, err error) {
	if o.a == nil {
		return nil, nil
	}
	a, m := o.a.Diag[0], len(o.d)
	for _, ridge := range ridges {
		o.scale(a, s.gram)
		for j := range m {
			a[j*m+j] *= 1 + ridge
		}
		if factor, err = blocktri.Factorize(o.a, lambda, 1); err == nil {
			return factor, nil
		}
	}
	return nil, errUnresolved
}

var ridges = []float64{0, 1e-13, 1e-12, 1e-11}

func (o *objective) scale(to, gram []float64) {
	m := len(o.d)
	for j, dj := range o.d {
		row, g := to[j*m:(j+1)*m], gram[j*m:(j+1)*m]
		for k, dk := range o.d {
			row[k] = dj * dk * g[k]
		}
	}
}

// mean returns m = A⁻¹ D C of an output.
func (o *objective) mean(factor *blocktri.Factor, c []float64) []float64 {
	m := make([]float64, len(c))
	for k, d := range o.d {
		m[k] = d * c[k]
	}
	if factor != nil {
		factor.Solve(m, 1)
	}
	return m
}

// evaluate fills e at coordinates v.
func (o *objective) evaluate(e *bayes.Evaluation, v []float64) error {
	for i, most := range o.layout.most {
		if v[i] > most {
			return errUnresolved
		}
	}
	lambda, rate := o.layout.variance(v)
	if err := o.whiten(o.layout.stateSpaceAt(v), !o.fixed); err != nil {
		return err
	}
	o.layout.amplitudes(o.d, v, o.slopes)
	e.Reset(len(v))
	inner := o.layout.inner(v, rate)
	bar := make([]float64, len(o.d)) // d∘∂L/∂d
	if !o.fixed {
		o.forget(v)
	}
	for g := range o.tracks {
		terms := o.whitened
		if o.small[g] != nil {
			terms = o.dense
		}
		t, err := terms(bar, g, lambda)
		if err != nil {
			return err
		}
		o.add(e, t, g, inner)
	}
	o.layout.pull(e.Gradient, bar, o.slopes)
	for i, g := range e.Gradient {
		if o.layout.deviations[i] {
			e.AddTo(i, i, max(0, -2*g-e.Information[i*len(v)+i]))
		}
	}
	return nil
}

// An inner coordinate is log λ or the logarithm of a state-space parameter, as a linear combination of coordinates.
type inner []struct {
	i  int
	by float64
}

// inner returns the inner coordinates at v: log λ, whose derivative with respect to the noise coordinate is rate, and the state-space
// parameters. Ratio and Walk are standard deviations divided by √λ.
func (l *layout) inner(v []float64, rate float64) []inner {
	all, m := []inner{{{l.noise, rate}}}, l.index
	if active(v, m.sd) {
		all = append(all, inner{{m.sd, 1}, {l.noise, -rate / 2}}, inner{{m.length, 1}})
		if active(v, m.quality) {
			all = append(all, inner{{m.quality, 1}})
		}
	}
	if active(v, m.walk) {
		all = append(all, inner{{m.walk, 1}, {l.noise, -rate / 2}})
	}
	if active(v, m.rise) {
		all = append(all, inner{{m.rise, 1}, {l.noise, -rate / 2}}, inner{{m.back, 1}})
	}
	return all
}

// terms are a group's contributions to an evaluation.
type terms struct {
	outputs  float64
	value    float64
	gradient []float64 // ∂L by the inner coordinates
	squares  []float64 // (W_kl)² [M,M]
	freedom  []float64 // (W − W²)_kk [M]
}

// newTerms returns the terms of a group with n observations. The gradient with respect to log λ is the derivative of −½
// log|λI|.
func newTerms(outputs, n float64, inner int) *terms {
	t := &terms{outputs: outputs, gradient: make([]float64, inner)}
	t.gradient[0] = -0.5 * outputs * n
	return t
}

// weigh adds the terms of W [M,M], which becomes squares, and subtracts its diagonal from bar.
func (t *terms) weigh(w, bar []float64) {
	m := len(bar)
	t.squares, t.freedom = w, make([]float64, m)
	for k := range m {
		row := w[k*m : (k+1)*m]
		bar[k] -= t.outputs * row[k]
		t.gradient[0] += 0.5 * t.outputs * row[k]
		t.freedom[k] = row[k]
		for j, v := range row {
			row[j] = v * v
			t.freedom[k] -= v * v
		}
	}
}

// whitened returns the terms of a group and adds the gradient with respect to log d to bar. With the residual r = y − Φ D m, α = K_o⁻¹r,
// W = DΦᵀK⁻¹ΦD = I − λA⁻¹ and X = D (∂G) D,
//
//	yᵀK⁻¹y = rᵀα/λ + mᵀm      ∂L/∂log d_k = m_k² − W_kk      ∂L/∂log λ = ½(rᵀα/λ − n + tr W)
//	∂L by a state-space parameter = ½(αᵀ(∂K_o)α/λ − ∂log|K_o| − tr A⁻¹X)
//
// These forms avoid cancellation.
func (o *objective) whitened(bar []float64, group int, lambda float64) (*terms, error) {
	s := o.groups[group]
	factor, err := o.factor(s.moments, lambda)
	if err != nil {
		return nil, err
	}
	m, logDet := len(o.d), 0.0
	t := newTerms(float64(len(s.c)), float64(s.n), 1+len(s.moved))
	weights := make([][]float64, len(s.c)) // D m
	for i, c := range s.c {
		w := o.mean(factor, c)
		for k, d := range o.d {
			bar[k] += w[k] * w[k]
			t.value -= 0.5 * w[k] * w[k]
			w[k] *= d
		}
		if weights[i] = w; s.rounding(w)/lambda > resolved {
			return nil, errUnresolved
		}
	}
	var z []float64
	if factor != nil {
		logDet = factor.LogDet()
		z = factor.Inverse().Diag[0]
	}
	t.value -= 0.5 * t.outputs * (float64(s.n)*math.Log(2*math.Pi) + float64(s.n-m)*math.Log(lambda) + logDet + s.log)
	for _, r := range o.layout.residuals(o.tracks[group], weights) {
		alpha := solve(s.steps, r)
		square := dot(r, alpha) / lambda
		t.value -= 0.5 * square
		t.gradient[0] += 0.5 * square
		for j, k := range s.moved {
			t.gradient[1+j] += 0.5 * dot(alpha, k.change(alpha, r)) / lambda
		}
	}
	if !o.fixed {
		if o.averages[group] == nil {
			o.averages[group] = o.averageInformation(z, group, lambda, t.outputs)
		}
		x := make([]float64, m*m)
		for j, by := range s.by {
			o.scale(x, by.gram)
			t.gradient[1+j] -= 0.5 * t.outputs * (by.log + dot(z, x))
			if len(o.freedoms[group]) == j {
				o.freedoms[group] = append(o.freedoms[group], o.freedom(z, x, lambda))
			}
		}
	}
	for i := range z {
		z[i] *= -lambda
	}
	for k := range m {
		z[k*m+k]++
	}
	t.weigh(z, bar)
	return t, nil
}

// add adds a group's terms to an evaluation. The expected information ½ tr(K⁻¹ ∂K K⁻¹ ∂K) is
//
//	amplitudes    2 Σ_kl s_ik (W_kl)² s_jl,  s_ik = ∂log d_k/∂v_i
//	and log λ     Σ_k s_ik (W − W²)_kk
//	and state     −λ Σ_k s_ik (A⁻¹XA⁻¹)_kk
//
// For pairs of inner coordinates, averageInformation estimates it. In the logarithm v of a standard deviation, L has the curvature
// −∂²L/∂v² = −4σ⁴ ∂²L/∂(σ²)² − 2 ∂L/∂v. The expectation of the second term is 0. If the curvature exceeds the expected information, for
// example if only the prior keeps a variance above 0, evaluate uses the curvature.
func (o *objective) add(e *bayes.Evaluation, t *terms, group int, inner []inner) {
	e.Value += t.value
	o.layout.inform(e, t.squares, o.slopes, 2*t.outputs)
	o.cross(e, t.freedom, t.outputs, inner[0])
	for i, v := range t.gradient {
		for _, p := range inner[i] {
			e.Gradient[p.i] += v * p.by
		}
	}
	if o.fixed {
		return
	}
	for j, by := range o.freedoms[group] {
		o.cross(e, by, t.outputs, inner[1+j])
	}
	for i, a := range inner {
		for _, p := range a {
			for j, b := range inner {
				for _, q := range b {
					e.AddTo(p.i, q.i, o.averages[group][i*len(inner)+j]*p.by*q.by)
				}
			}
		}
	}
}

// cross adds the information between the amplitudes and an inner coordinate, given by feature in by.
func (o *objective) cross(e *bayes.Evaluation, by []float64, factor float64, with inner) {
	sums := make([]float64, len(e.Gradient))
	o.layout.pull(sums, by, o.slopes)
	for i, c := range sums {
		for _, p := range with {
			if i != p.i {
				e.Add(i, p.i, factor*c*p.by)
			}
		}
	}
}

// change returns (∂K_o)α with respect to the parameter that is increased in the covariance c, given applied = K_oα.
func (c *covariance) change(alpha, applied []float64) []float64 {
	column := c.times(alpha)
	for n, v := range applied {
		column[n] = (column[n] - v) / difference
	}
	return column
}

// nearby is the maximum change of a coordinate for which the expected information of the state-space model is not computed
// again. It only affects the steps of a search: the evidence of a variant uses the information at its mode.
const nearby = 0.5

// forget discards the expected information of the state-space model if v is not near the coordinates of the last one.
func (o *objective) forget(v []float64) {
	moved := func(i int) bool { return math.Abs(v[i]-o.averaged[i]) > nearby }
	if o.averaged == nil || slices.ContainsFunc(upTo(0, len(v)), moved) {
		o.averaged, o.averages, o.freedoms = slices.Clone(v), make([][]float64, len(o.tracks)), make([][][]float64, len(o.tracks))
	}
}

// freedom returns −λ (A⁻¹XA⁻¹)_kk [M], given A⁻¹ and X [M,M].
func (o *objective) freedom(z, x []float64, lambda float64) []float64 {
	m := len(o.d)
	product, size := product(z, x, m)
	f := make([]float64, m)
	for k := range m {
		f[k] = -lambda * dot(product[k*size:][:m], z[k*m:(k+1)*m])
	}
	return f
}

const (
	simulatedRows = 1000 // simulated observations for the evidence
	steppingRows  = 200  // same for the steps of a search
)

// averageInformation returns ½ yᵀK⁻¹ ∂_iK K⁻¹ ∂_jK K⁻¹y for log λ and the state-space parameters (Gilmour, Thompson & Cullis 1995), averaged
// over outputs y simulated from the model. The expectation over y is the expected information. With the residual r = y − Φ D m, K⁻¹y =
// K_o⁻¹ r/λ. With q_i = ∂_iK_o K_o⁻¹ r for a state-space parameter and q = r for log λ, the term is
//
//	½ (q_iᵀK_o⁻¹q_j − (DΦᵀK_o⁻¹q_i)ᵀ A⁻¹ (DΦᵀK_o⁻¹q_j))/λ
func (o *objective) averageInformation(z []float64, group int, lambda, outputs float64) []float64 {
	t, steps, moved := o.tracks[group], o.groups[group].steps, o.groups[group].moved
	width := 1 + len(moved)
	simulated := o.simulate(group, steps, z, lambda)
	q, solved := make([][]float64, len(simulated)*width), make([][]float64, len(simulated)*width) // [·][N]
	parallel.For(len(simulated), runtime.GOMAXPROCS(0), func(i int) {
		q[i*width], solved[i*width] = simulated[i], solve(steps, simulated[i])
	})
	parallel.For(len(simulated)*len(moved), runtime.GOMAXPROCS(0), func(i int) {
		r, k := i/len(moved)*width, i/len(moved)*width+1+i%len(moved)
		q[k] = moved[i%len(moved)].change(solved[r], q[r])
		solved[k] = solve(steps, q[k])
	})
	projected := o.project(t, solved)
	factor, information := 0.5*outputs/lambda/float64(len(simulated)), make([]float64, width*width)
	for first := 0; first < len(q); first += width {
		for j := range width {
			turned := times(z, projected[first+j])
			for i := range width {
				information[i*width+j] += factor * (dot(q[first+i], solved[first+j]) - dot(projected[first+i], turned))
			}
		}
	}
	return information
}

// simulate draws outputs from the model and returns their residuals y − Φ D m.
func (o *objective) simulate(group int, steps []step, z []float64, lambda float64) [][]float64 {
	t, s, m := o.tracks[group], o.groups[group], len(o.d)
	count := 1 + o.simulated/len(t.u)
	random := rand.New(rand.NewPCG(1, 1))
	y, solved, w := make([][]float64, count), make([][]float64, count), make([][]float64, count)
	for i := range y {
		y[i] = color(steps, random)
		for n := range y[i] {
			y[i][n] *= math.Sqrt(lambda)
		}
		solved[i] = solve(steps, y[i])
		for range m {
			w[i] = append(w[i], random.NormFloat64())
		}
	}
	for i, c := range o.project(t, solved) { // A m = DΦᵀK_o⁻¹y + D G D w, and r = y − ΦD(m − w)
		for k, d := range o.d {
			g := s.gram[k*m : (k+1)*m]
			for j, e := range o.d {
				c[k] += d * g[j] * e * w[i][j]
			}
		}
		mean := times(z, c)
		for k, d := range o.d {
			w[i][k] = d * (mean[k] - w[i][k])
		}
	}
	return o.layout.residuals(&track{u: t.u, regressors: t.regressors, y: y}, w)
}

// project returns D Φᵀ x for each column of x.
func (o *objective) project(t *track, x [][]float64) [][]float64 {
	all := o.layout.project(t, x)
	for _, p := range all {
		for k := range p {
			p[k] *= o.d[k]
		}
	}
	return all
}

// times returns the product of a symmetric matrix a [M,M] and a vector x [M].
func times(a, x []float64) []float64 {
	m := len(x)
	y := make([]float64, m)
	for k := range m {
		y[k] = dot(a[k*m:(k+1)*m], x)
	}
	return y
}

// product returns the product of two symmetric matrices [m,m] and its row stride.
func product(a, b []float64, m int) (c []float64, size int) {
	panels := panelsFor(m)
	size = panels * simd.Lanes
	left, right := simd.NewPanels(panels, m), simd.NewPanels(panels, m)
	c = make([]float64, size*size)
	workers := runtime.GOMAXPROCS(0)
	parallel.For(panels, workers, func(p int) {
		lo, hi := p*simd.Lanes, min(m, (p+1)*simd.Lanes)
		for n := range m {
			copy(left.Panel(p)[n*simd.Lanes:(n+1)*simd.Lanes], a[n*m+lo:n*m+hi])
			copy(right.Panel(p)[n*simd.Lanes:(n+1)*simd.Lanes], b[n*m+lo:n*m+hi])
		}
	})
	const share = 3
	parallel.For((panels+share-1)/share, workers, func(i int) {
		lo, hi := i*share, min(panels, (i+1)*share)
		simd.Cross(c[lo*simd.Lanes*size:hi*simd.Lanes*size], size, left.Slice(lo, hi), right)
	})
	return c, size
}

// rounding bounds the error of wᵀ G w for weights w = D m, caused by the rounding of G.
func (s *moments) rounding(weights []float64) float64 {
	sum, m := 0.0, len(weights)
	for k, w := range weights {
		sum += math.Abs(w) * math.Sqrt(s.gram[k*m+k])
	}
	return epsilon * sum * sum
}
