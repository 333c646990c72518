package series

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/internal/simd"
)

// few reports whether the covariance of n observations costs less than the moments of m features.
func few(n, m int) bool { return n <= m+denseRows }

// denseRows is the maximum number of observations without features for which few is true.
const denseRows = 50

// A dense is a group with few observations and its covariance K = VᵀV + λK_o, V = DΦᵀ. With P = K⁻¹, α = Py, m = Vα,
// W = VPVᵀ and, for a parameter j of the state-space model, ∂_j = λ∂K_o,
//
//	L = −½(n log 2π + log|K| + yᵀα)
//	∂L/∂log d_k = m_k² − W_kk    ∂L/∂log λ = ½(yᵀα − mᵀm − n + tr W)    ∂L by j = ½(αᵀ∂_jα − tr P∂_j)
//
// These are the terms of a group with many observations, but without derivatives of moments. The expected information
// is exact. With K = LLᵀ, Z = L⁻¹Vᵀ and C_j = L⁻¹∂_jL⁻ᵀ, it is
//
//	j and i             ½ tr C_iC_j
//	j and amplitudes    Σ_k s_ik (ZᵀC_jZ)_kk
//	j and log λ         ½(tr C_j − tr ZᵀC_jZ)
//	log λ               ½(n − 2 tr W + tr W²)
//
// A symmetric matrix A is stored as a half H, A = H + Hᵀ, with zeros below the diagonal. Matrices are padded with
// zeros, and K with the identity, to multiples of eight.
type dense struct {
	track   *track
	m, size int // features, and observations with padding
	algebra *simd.Dense

	phi, turned simd.Panels // Φ [N,M] and Φᵀ
	v, z        simd.Panels // V [M,N] and Z [N,M]
	factor      []float64   // L [N,N]
	inverse     []float64   // P [N,N]
	variances   []float64   // K_nn
	w           []float64   // W [M,M], the lower triangle, with padding

	at  stateSpace
	own []float64   // K_o
	by  [][]float64 // ∂K_o for each parameter; nil: unknown

	spread []float64     // Σ ααᵀ − P over the outputs
	c      []simd.Panels // C_j/λ for each parameter [N,N]
	across simd.Panels   // C_jZ/λ [N,M]
}

func newDense(l *layout, t *track) *dense {
	n, m := len(t.u), l.size()
	rows, columns := panelsFor(n), panelsFor(m)
	size := rows * simd.Lanes
	d := &dense{track: t, m: m, size: size, algebra: simd.NewDense(1), variances: make([]float64, n)}
	for _, a := range []*simd.Panels{&d.phi, &d.z, &d.across} {
		*a = simd.NewPanels(columns, size)
	}
	for _, a := range []*simd.Panels{&d.turned, &d.v} {
		*a = simd.NewPanels(rows, m)
	}
	for _, a := range []*[]float64{&d.factor, &d.inverse, &d.own, &d.spread} {
		*a = simd.Aligned(size * size)
	}
	d.w = simd.Aligned(columns * columns * simd.Lanes * simd.Lanes)
	inputs, waves := &track{u: t.u, regressors: t.regressors}, l.cosines()
	for p := range columns {
		fill(d.phi.Panel(p), waves, inputs, p*simd.Lanes, 0, n)
	}
	for k := range m {
		for i := range n {
			*element(d.turned, k, i) = *element(d.phi, i, k)
		}
	}
	return d
}

// panelsFor returns the number of panels for n columns.
func panelsFor(n int) int { return (n + simd.Lanes - 1) / simd.Lanes }

// element returns the address of entry (i, j).
func element(a simd.Panels, i, j int) *float64 {
	return &a.Data[(j/simd.Lanes*a.Stride+i)*simd.Lanes+j%simd.Lanes]
}

// move computes K_o and, on request, its derivatives, unless they are up to date. K_o is a sum over the processes,
// each proportional to a variance, so the derivative by the logarithm of its standard deviation is twice the process.
func (d *dense) move(at stateSpace, derivatives bool) {
	if at == d.at && (d.by != nil || !derivatives) {
		return
	}
	d.at, d.by = at, nil
	clear(d.own)
	for i, e := range d.track.e {
		d.own[i*d.size+i] = 0.5 * e * e
	}
	for _, p := range at.processes() {
		process := d.half(p)
		floats.Add(d.own, process)
		if !derivatives {
			continue
		}
		for _, moved := range p.moved()[1:] {
			by := d.half(moved)
			floats.Sub(by, process)
			floats.Scale(1/difference, by)
			d.by = append(d.by, by)
		}
		floats.Scale(2, process)
		d.by = slices.Insert(d.by, len(d.by)-len(p.moved())+1, process)
	}
}

// processes returns the short memory, the random walk and the integral of the slope separately.
func (m stateSpace) processes() (all []stateSpace) {
	memory, walk, slope := m, m, m
	memory.Walk, memory.Rise = 0, 0
	walk.Ratio, walk.Quality, walk.Rise = 0, 0, 0
	slope.Ratio, slope.Quality, slope.Walk = 0, 0, 0
	return slices.DeleteFunc([]stateSpace{memory, walk, slope}, stateSpace.none)
}

// half returns the covariance of a process without the noise.
func (d *dense) half(process stateSpace) []float64 {
	first := 0 // of the two states of the process
	if process.Ratio == 0 {
		first = 2
	}
	prior := process.covarianceOf(d.track).prior
	moves := make([][4]float64, len(prior))
	for i, k := range prior {
		moves[i] = [4]float64{k.f[first][first], k.f[first][first+1], k.f[first+1][first], k.f[first+1][first+1]}
	}
	h := make([]float64, d.size*d.size)
	for j, k := range prior {
		row := h[j*d.size:][:len(prior)]
		row[j] = 0.5 * k.variance
		a, b := k.cross[first], k.cross[first+1]
		for i := j + 1; i < len(row); i++ {
			f := &moves[i]
			a, b = f[0]*a+f[1]*b, f[2]*a+f[3]*b
			row[i] = a
		}
	}
	return h
}

// full writes the symmetric matrix of a half.
func (d *dense) full(to simd.Panels, half []float64) {
	for p := range to.Count {
		panel, first := to.Panel(p), p*simd.Lanes
		for i := range d.size {
			row := (*lanes)(panel[i*simd.Lanes:])
			*row = lanes{}
			if i < first+simd.Lanes {
				*row = lanes(half[i*d.size+first:][:simd.Lanes])
			}
			if i >= first {
				for lane := range row {
					row[lane] += half[(first+lane)*d.size+i]
				}
			}
		}
	}
}

// transpose writes the transpose of a [N,N].
func transpose(to, a simd.Panels) {
	for p := range to.Count {
		panel := to.Panel(p)
		for q := range a.Count {
			block := a.Panel(q)[p*simd.Lanes*simd.Lanes:][:simd.Lanes*simd.Lanes]
			for i, v := range block {
				panel[(q*simd.Lanes+i%simd.Lanes)*simd.Lanes+i/simd.Lanes] = v
			}
		}
	}
}

// factorize computes P and W for amplitudes [M], and returns log|K|. It returns errUnresolved if K is not positive
// definite.
func (d *dense) factorize(amplitudes []float64, lambda float64) (log float64, err error) {
	for p := range d.z.Count {
		var scale lanes
		copy(scale[:], amplitudes[p*simd.Lanes:])
		from, to := d.phi.Panel(p), d.z.Panel(p)
		for i := range from {
			to[i] = from[i] * scale[i%simd.Lanes]
		}
	}
	for p := range d.v.Count {
		from, to := d.turned.Panel(p), d.v.Panel(p)
		for i := range from {
			to[i] = from[i] * amplitudes[i/simd.Lanes]
		}
	}
	for i := range d.size {
		for j := range i + 1 {
			d.factor[i*d.size+j] = lambda * d.own[j*d.size+i]
		}
		d.factor[i*d.size+i] *= 2
	}
	for i := len(d.track.u); i < d.size; i++ {
		d.factor[i*d.size+i] = 1
	}
	simd.Gram(d.factor, d.size, d.v, 0, d.v.Count)
	for i := range d.variances {
		d.variances[i] = d.factor[i*d.size+i]
	}
	if d.algebra.Cholesky(d.factor, d.size, d.size) >= 0 {
		return 0, errUnresolved
	}
	for i := range d.size {
		log += 2 * math.Log(d.factor[i*d.size+i])
	}
	d.algebra.SolveLower(d.z, d.factor, d.size)
	clear(d.w)
	simd.Gram(d.w, d.z.Count*simd.Lanes, d.z, 0, d.z.Count)
	copy(d.inverse, d.factor)
	d.algebra.Inverse(d.inverse, d.size, d.size)
	return log, nil
}

// solve returns α = Py.
func (d *dense) solve(y []float64) []float64 {
	alpha := make([]float64, len(y))
	for i := range alpha {
		alpha[i] = dot(y, d.inverse[i*d.size:])
	}
	return alpha
}

// project returns m = Vα.
func (d *dense) project(alpha []float64) []float64 {
	m := make([]float64, d.m)
	for i, a := range alpha {
		panel := d.v.Panel(i / simd.Lanes)
		for k := range m {
			m[k] += a * panel[k*simd.Lanes+i%simd.Lanes]
		}
	}
	return m
}

// dense returns the terms of a group with few observations.
func (o *objective) dense(bar []float64, group int, lambda float64) (*terms, error) {
	d := o.small[group]
	log, err := d.factorize(o.d, lambda)
	if err != nil {
		return nil, err
	}
	n, outputs := float64(len(d.track.u)), float64(len(d.track.y))
	t := newTerms(outputs, n, 1+len(d.by))
	t.value = -0.5 * outputs * (n*math.Log(2*math.Pi) + log)
	floats.ScaleTo(d.spread, -outputs, d.inverse)
	for _, y := range d.track.y {
		alpha := d.solve(y)
		if d.rounding(alpha) > resolved {
			return nil, errUnresolved
		}
		m, fit := d.project(alpha), dot(y, alpha)
		t.value -= 0.5 * fit
		t.gradient[0] += 0.5 * (fit - dot(m, m))
		for k, v := range m {
			bar[k] += v * v
		}
		for i, a := range alpha {
			floats.AddScaled(d.spread[i*d.size:][:len(alpha)], a, alpha)
		}
	}
	for j, by := range d.by {
		t.gradient[1+j] = lambda * floats.Dot(d.spread, by)
	}
	t.weigh(d.weights(), bar)
	if !o.fixed && o.averages[group] == nil {
		o.averages[group], o.freedoms[group] = d.information(outputs, lambda)
	}
	return t, nil
}

// rounding bounds the error of yᵀα caused by the rounding of K.
func (d *dense) rounding(alpha []float64) float64 {
	sum := 0.0
	for i, a := range alpha {
		sum += math.Abs(a) * math.Sqrt(d.variances[i])
	}
	return epsilon * sum * sum
}

// weights returns W.
func (d *dense) weights() []float64 {
	all := make([]float64, d.m*d.m)
	for k := range d.m {
		for j, v := range d.w[k*d.z.Count*simd.Lanes:][:k+1] {
			all[k*d.m+j], all[j*d.m+k] = v, v
		}
	}
	return all
}

// information returns the expected information between log λ and the parameters of the state-space model, and of each
// parameter with the amplitudes by feature.
func (d *dense) information(outputs, lambda float64) (pairs []float64, cross [][]float64) {
	width := 1 + len(d.by)
	pairs = make([]float64, width*width)
	free := float64(len(d.track.u)) // n − 2 tr W + tr W²
	stride := d.z.Count * simd.Lanes
	for k := range d.m {
		row := d.w[k*stride:][:k+1]
		free += 2*dot(row, row) - row[k]*row[k] - 2*row[k]
	}
	pairs[0] = 0.5 * outputs * free
	solved := simd.NewPanels(d.size/simd.Lanes, d.size) // L⁻¹∂_j/λ
	for j, by := range d.by {
		if j == len(d.c) {
			d.c = append(d.c, simd.NewPanels(solved.Count, d.size))
		}
		d.full(solved, by)
		d.algebra.SolveLower(solved, d.factor, d.size)
		transpose(d.c[j], solved)
		d.algebra.SolveLower(d.c[j], d.factor, d.size)
		simd.Product(d.across, d.c[j], d.z, 0, d.across.Count)
		own, with := make([]float64, d.m), 0.0
		for i := range d.size {
			with += lambda * *element(d.c[j], i, i)
		}
		for k := range own {
			for i := range d.size {
				own[k] += lambda * *element(d.across, i, k) * *element(d.z, i, k)
			}
			with -= own[k]
		}
		cross = append(cross, own)
		pairs[1+j], pairs[(1+j)*width] = 0.5*outputs*with, 0.5*outputs*with
		for i := range j + 1 {
			pair := 0.5 * outputs * lambda * lambda * floats.Dot(d.c[i].Data, d.c[j].Data)
			pairs[(1+j)*width+1+i], pairs[(1+i)*width+1+j] = pair, pair
		}
	}
	return pairs, cross
}
