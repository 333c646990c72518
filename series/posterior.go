package series

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/internal/simd"
)

// A posterior is the posterior N(m, λA⁻¹) of the weights of a group's outputs at given hyper-parameters, in units of the amplitudes D.
// Given weights w, the posterior of the state-space model follows from the residuals y − ΦDw.
type posterior struct {
	hyper   []float64
	lambda  float64
	process stateSpace
	d       []float64   // [M]
	weights [][]float64 // [outputs][M] D m
	factor  []float64   // [M,M] R, the lower Cholesky factor of A
}

// conditional returns the posterior of each group at hyper-parameters v, from its moments.
func (o *objective) conditional(v []float64, sums []*moments) (all []*posterior, err error) {
	lambda, _ := o.layout.variance(v)
	o.layout.amplitudes(o.d, v, nil)
	for _, s := range sums {
		factor, err := o.factor(s, lambda)
		if err != nil {
			return nil, err
		}
		p := &posterior{hyper: v, lambda: lambda, process: o.layout.stateSpaceAt(v), d: slices.Clone(o.d)}
		if factor != nil {
			p.factor = slices.Clone(factor.R.Diag[0])
		}
		for _, c := range s.c {
			w := o.mean(factor, c)
			for k, d := range o.d {
				w[k] *= d
			}
			if s.rounding(w)/lambda > resolved {
				return nil, errUnresolved
			}
			p.weights = append(p.weights, w)
		}
		all = append(all, p)
	}
	return all, nil
}

// conditional returns the posterior of each group at hyper-parameters v.
func (m *Model) conditional(ctx context.Context, v []float64) ([]*posterior, error) {
	var sums []*moments
	for _, t := range m.tracks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		sums = append(sums, m.layout.whiten(t, []stateSpace{m.layout.stateSpaceAt(v)})[0])
	}
	return newObjective(ctx, m.layout, m.tracks).conditional(v, sums)
}

// condition computes the posteriors at the mode and at the draws on the first call. It drops extreme draws that exceed the numerical
// precision.
func (m *Model) condition(ctx context.Context) error {
	m.conditioning.Lock()
	defer m.conditioning.Unlock()
	if m.mode != nil {
		return nil
	}
	mode, err := m.conditional(ctx, m.at.Mode)
	if err != nil {
		return m.failed(err)
	}
	o := newObjective(ctx, m.layout, m.tracks)
	var draws [][]float64
	var posteriors [][]*posterior
	const atOnce = 8 // draws per pass over the features
	for part := range slices.Chunk(m.draws, atOnce) {
		sums, err := o.momentsAt(part)
		if err != nil {
			return err
		}
		for i, v := range part {
			p, err := o.conditional(v, sums[i])
			switch {
			case err == nil:
				draws, posteriors = append(draws, v), append(posteriors, p)
			case !errors.Is(err, errUnresolved) || m.loaded:
				return m.failed(err)
			}
		}
	}
	if len(draws) == 0 {
		draws, posteriors = [][]float64{slices.Clone(m.at.Mode)}, [][]*posterior{mode}
	}
	m.draws, m.posteriors, m.mode = draws, posteriors, mode
	return nil
}

// momentsAt returns the moments [draws][groups] at the given draws.
func (o *objective) momentsAt(draws [][]float64) ([][]*moments, error) {
	all, at := make([][]*moments, len(draws)), make([]stateSpace, len(draws))
	for i, v := range draws {
		at[i] = o.layout.stateSpaceAt(v)
	}
	for _, t := range o.tracks {
		if err := o.ctx.Err(); err != nil {
			return nil, err
		}
		for i, s := range o.layout.whiten(t, at) {
			all[i] = append(all[i], s)
		}
	}
	return all, nil
}

// A chunk contains consecutive query times in increasing order.
type chunk struct {
	at []int // indices of the query times
	*track
}

// maxQueries is the maximum number of query times in a chunk.
const maxQueries = 1024

// chunks splits the query times into chunks of at most maxQueries sorted times, whose neighbors differ by at most apart.
func (t *track) chunks(apart float64) (all []*chunk) {
	order := t.order()
	for lo := 0; lo < len(order); {
		hi := lo + 1
		for hi < len(order) && hi-lo < maxQueries && t.u[order[hi]]-t.u[order[hi-1]] <= apart {
			hi++
		}
		all, lo = append(all, &chunk{order[lo:hi], t.pick(order[lo:hi])}), hi
	}
	return all
}

// features returns Φ [n,M] at unit amplitudes.
func (l *layout) features(t *track) []float64 {
	m := l.size()
	phi := make([]float64, len(t.u)*m)
	l.tiles(t, func(panel []float64, first, lanes, lo, hi int) {
		for n := lo; n < hi; n++ {
			copy(phi[n*m+first:][:lanes], panel[(n-lo)*simd.Lanes:])
		}
	})
	return phi
}

// latent calls visit for each output and query time with the mean and variance of the function without noise, and with the noise variance
// λg², all standardized. If only is not empty, the function is this component.
func (m *Model) latent(ctx context.Context, p *track, at []*posterior, only string,
	visit func(d, n int, mean, variance, noise float64)) error {
	l, apart := m.layout, math.Inf(1)
	if !at[0].process.none() {
		apart = 2 * at[0].process.reach()
	}
	for _, c := range p.chunks(apart) {
		phi := l.features(c.track)
		for g, t := range m.tracks {
			if err := ctx.Err(); err != nil {
				return err
			}
			at[g].latent(l, t, c, phi, only, visit)
		}
	}
	return nil
}

// latent implements Model.latent for one group and one chunk.
func (p *posterior) latent(l *layout, t *track, c *chunk, phi []float64, only string,
	visit func(d, n int, mean, variance, noise float64)) {
	m, n := len(p.d), len(c.u)
	x, variances := slices.Clone(phi), make([]float64, n)
	first, _ := slices.BinarySearch(c.u, math.Nextafter(l.reach, math.Inf(1)))
	parallel.For(n-first, runtime.GOMAXPROCS(0), func(i int) {
		r := first + i
		variances[r] = l.beyond(x[r*m:(r+1)*m], p.hyper, c.u[r], only)
	})
	if only != "" {
		for _, b := range l.blocks {
			for r := 0; r < n && b.component != only; r++ {
				clear(x[r*m+b.lo : r*m+b.hi])
			}
		}
	}
	means := make([][]float64, len(t.y))
	for i := range means {
		means[i] = make([]float64, n)
		for r := range n {
			means[i][r] = dot(x[r*m:(r+1)*m], p.weights[i])
		}
	}
	size := t.volatility.at(c.u)
	if pick, ok := picks[only]; ok && !p.process.none() {
		w := p.process.window(t, c.u)
		w.bars(l, pick, func(k, r int, bar float64) { x[r*m+k] -= bar })
		for i, residual := range l.residuals(w.rows, p.weights) {
			for j, mean := range smooth(w.steps, w.column(residual), pick) {
				if q := w.query[j]; q >= 0 {
					means[i][q] += mean
				}
			}
		}
		for j, v := range smoothedVariances(w.steps, pick) {
			if q := w.query[j]; q >= 0 {
				variances[q] += p.lambda * v
			}
		}
	}
	p.variances(x, func(r int, variance float64) { variances[r] += variance })
	for i, d := range t.outputs {
		for r, at := range c.at {
			visit(d, at, means[i][r], variances[r], p.lambda*size[r]*size[r])
		}
	}
}

// picks maps a component to its states.
var picks = map[string]selection{"": everyState, trend: onlyWalk, ShortMemory{}.name(): onlyMemory}

// variances calls visit with λ‖R⁻¹Dφ‖² for each row φ of x [n,M]. It overwrites x.
func (p *posterior) variances(x []float64, visit func(r int, variance float64)) {
	m := len(p.d)
	if m == 0 {
		return
	}
	const share = 64 // rows
	n := len(x) / m
	lower := blas64.Triangular{N: m, Stride: m, Data: p.factor, Uplo: blas.Lower, Diag: blas.NonUnit}
	parallel.For((n+share-1)/share, runtime.GOMAXPROCS(0), func(i int) {
		lo, hi := i*share, min(n, (i+1)*share)
		for r := lo; r < hi; r++ {
			for k, d := range p.d {
				x[r*m+k] *= d
			}
		}
		blas64.Trsm(blas.Right, blas.Trans, 1, lower, blas64.General{Rows: hi - lo, Cols: m, Stride: m, Data: x[lo*m : hi*m]})
	})
	for r := range n {
		row := x[r*m : (r+1)*m]
		visit(r, p.lambda*dot(row, row))
	}
}

// A window merges query times and the observations that influence the state there, in increasing time. e is 0 at a query time.
type window struct {
	*track
	value []int  // index in rows; −1 for a query time
	query []int  // index of the query time; −1 for an observation
	lo    int    // index of the first observation within reach
	rows  *track // observations within reach
	steps []step
	from  int // index of the first query time
}

// window returns the window of sorted query times u.
func (m stateSpace) window(t *track, u []float64) *window {
	far := m.reach()
	lo, _ := slices.BinarySearch(t.u, u[0]-far)
	hi, _ := slices.BinarySearch(t.u, u[len(u)-1]+far)
	w := &window{track: &track{}, lo: lo, rows: t.rows(lo, hi)}
	add := func(u, e float64, value, query int) {
		w.u, w.e, w.value, w.query = append(w.u, u), append(w.e, e), append(w.value, value), append(w.query, query)
	}
	for n, q := 0, 0; n < hi-lo || q < len(u); {
		if q == len(u) || n < hi-lo && w.rows.u[n] <= u[q] {
			add(w.rows.u[n], w.rows.e[n], n, -1)
			n++
		} else {
			add(u[q], 0, -1, q)
			q++
		}
	}
	if t.volatility != nil {
		queries := t.volatility.at(u)
		for j, q := range w.query {
			if q >= 0 {
				w.g = append(w.g, queries[q])
			} else {
				w.g = append(w.g, w.rows.g[w.value[j]])
			}
		}
	}
	w.steps = m.steps(w.track)
	w.from = slices.IndexFunc(w.query, func(q int) bool { return q >= 0 })
	return w
}

// column returns the values of the observations in the order of the window, and 0 at query times.
func (w *window) column(of []float64) []float64 {
	c := make([]float64, len(w.u))
	for j, row := range w.value {
		if row >= 0 {
			c[j] = of[row]
		}
	}
	return c
}

// bars calls visit with the smoother output of each feature k at each query time.
func (w *window) bars(l *layout, of selection, visit func(k, query int, bar float64)) {
	waves, m := l.cosines(), l.size()
	after := len(w.u) - w.from
	gains := make([]square, after)
	for j := range after - 1 {
		gains[j] = back(&w.steps[w.from+j], &w.steps[w.from+j+1])
	}
	columns := &track{u: w.u}
	for _, z := range w.rows.regressors {
		columns.regressors = append(columns.regressors, w.column(z))
	}
	parallel.For(panelsFor(m), runtime.GOMAXPROCS(0), func(p int) {
		first, tile := p*simd.Lanes, make([]float64, tileRows*simd.Lanes)
		var last [states][]float64
		for k := range last {
			last[k] = make([]float64, simd.Lanes)
		}
		for lo := 0; lo < w.from; lo += tileRows {
			hi := min(w.from, lo+tileRows)
			fill(tile, waves, columns, first, lo, hi)
			rows := tile[:(hi-lo)*simd.Lanes]
			whitenPanel(rows, rows, w.steps[lo:hi], &last, 0)
		}
		var at [simd.Lanes]state
		for lane := range at {
			for k := range last {
				at[lane][k] = last[k][lane]
			}
		}
		all := make([][simd.Lanes]state, after)
		for lo := w.from; lo < len(w.u); lo += tileRows {
			hi := min(len(w.u), lo+tileRows)
			fill(tile, waves, columns, first, lo, hi)
			for n := lo; n < hi; n++ {
				s := &w.steps[n]
				for lane := range at {
					at[lane] = s.f.next(&at[lane])
					s.update(&at[lane], tile[(n-lo)*simd.Lanes+lane])
				}
				all[n-w.from] = at
			}
		}
		for j := after - 1; j >= 0; j-- {
			here := &all[j]
			if j+1 < after {
				for lane := range here {
					here[lane].smoothed(&gains[j], &w.steps[w.from+j+1], &all[j+1][lane])
				}
			}
			if q := w.query[w.from+j]; q >= 0 {
				for lane := range min(simd.Lanes, m-first) {
					visit(first+lane, q, of.of(&here[lane]))
				}
			}
		}
	})
}

// draw draws the function of output i of a group at the query times.
func (p *posterior) draw(l *layout, t *track, i int, at *track, random *rand.Rand) []float64 {
	w, m := slices.Clone(p.weights[i]), len(p.d)
	if m > 0 {
		noise := make([]float64, m)
		for k := range noise {
			noise[k] = random.NormFloat64()
		}
		blas64.Trsv(blas.Trans, blas64.Triangular{N: m, Stride: m, Data: p.factor, Uplo: blas.Lower, Diag: blas.NonUnit},
			blas64.Vector{N: m, Inc: 1, Data: noise})
		for k, d := range p.d {
			w[k] += d * math.Sqrt(p.lambda) * noise[k]
		}
	}
	f := make([]float64, len(at.u))
	for _, c := range at.chunks(math.Inf(1)) {
		phi := l.features(c.track)
		for r, n := range c.at {
			if c.u[r] <= l.reach {
				f[n] = dot(phi[r*m:(r+1)*m], w)
			}
		}
	}
	order := at.order()
	sorted := at.pick(order)
	if near, _ := slices.BinarySearch(sorted.u, math.Nextafter(l.reach, math.Inf(1))); near < len(order) {
		for j, y := range l.drawBeyond(w, p.hyper, sorted.pick(upTo(near, len(order))), random) {
			f[order[near+j]] = y
		}
	}
	if !p.process.none() && len(order) > 0 {
		v := p.process.window(t, sorted.u)
		residual := l.residuals(&track{u: v.rows.u, regressors: v.rows.regressors, y: [][]float64{v.rows.y[i]}}, [][]float64{w})[0]
		for n := range residual {
			residual[n] /= math.Sqrt(p.lambda)
		}
		for j, y := range draw(v.steps, v.column(residual), random) {
			if q := v.query[j]; q >= 0 {
				f[order[q]] += math.Sqrt(p.lambda) * y
			}
		}
	}
	return f
}
