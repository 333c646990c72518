package baselines

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// A posterior is q(v) of the whitened inducing variables: of each output
// N(mean_d, P⁻¹), with one precision P for all.
type posterior struct {
	precision factor     // R of P = R·Rᵀ
	mean      *mat.Dense // [M,D]
}

// A tile is rows of the data seen through a projection and a posterior; its
// buffers are used again.
type tile struct {
	n, d int
	x, y []float64 // [n,Q], [n,D]

	phi      *mat.Dense // [n,M] φ
	bar      *mat.Dense // [n,M] first ΦP⁻¹, then the gradient by φ
	gap      []float64  // [n] k(x,x) − |φ|²: variance that the inducing variables do not explain
	spread   []float64  // [n] φ P⁻¹ φᵀ: variance at the row that comes from q(v)
	residual []float64  // [n,D] y − φ·mean
}

func newTile(n, m, d int) *tile {
	return &tile{
		n: n, d: d, phi: mat.NewDense(n, m, nil), bar: mat.NewDense(n, m, nil),
		gap: make([]float64, n), spread: make([]float64, n), residual: make([]float64, n*d),
	}
}

// each projects the rows of x and y, as many at a time as t has, and calls f with
// them and the first one's number.
func (t *tile) each(p *projection, x, y []float64, f func(lo int, rows *tile)) {
	q := p.h.cov.Q
	for lo := 0; lo < len(x)/q; lo += t.n {
		if left := len(x)/q - lo; left < t.n {
			t = newTile(left, t.phi.RawMatrix().Cols, t.d)
		}
		rows := *t
		rows.x, rows.y = x[lo*q:][:t.n*q], y[lo*t.d:][:t.n*t.d]
		rows.project(p)
		f(lo, &rows)
	}
}

// project fills phi and gap.
func (t *tile) project(p *projection) {
	p.rows(t.phi, t.x)
	k := p.h.cov.diagonal()
	chunks(t.n, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			t.gap[i] = k - square(t.phi.RawRowView(i))
		}
	})
}

// residuals fills residual.
func (t *tile) residuals(q *posterior) {
	copy(t.residual, t.y)
	r := blas64.General{Rows: t.n, Cols: t.d, Stride: t.d, Data: t.residual}
	blas64.Gemm(blas.NoTrans, blas.NoTrans, -1, t.phi.RawMatrix(), q.mean.RawMatrix(), 1, r)
}

// spreads fills spread and leaves Φ·R⁻ᵀ in bar.
func (t *tile) spreads(q *posterior) {
	t.bar.Copy(t.phi)
	q.precision.rightUpper(t.bar)
	for i := range t.n {
		t.spread[i] = square(t.bar.RawRowView(i))
	}
}

// adjoint sets bar to the gradient by φ of
//
//	−½ Σ_n (|r_n|² + D·spread_n)/Λ_n + Σ_n ḡ_n gap_n
//
// at the given posterior: (r_n·meanᵀ − D·φ_n P⁻¹)/Λ_n − 2ḡ_n φ_n. It follows
// residuals and spreads.
func (t *tile) adjoint(q *posterior, lambda, gapBar []float64) {
	q.precision.rightLower(t.bar)
	d := float64(t.d)
	mean := q.mean.RawMatrix()
	chunks(t.n, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			bar, phi, r := t.bar.RawRowView(i), t.phi.RawRowView(i), t.residual[i*t.d:][:t.d]
			weight := 1 / lambda[i]
			for m := range bar {
				rm := 0.0
				for e, v := range mean.Data[m*mean.Stride:][:t.d] {
					rm += r[e] * v
				}
				bar[m] = weight*(rm-d*bar[m]) - 2*gapBar[i]*phi[m]
			}
		}
	})
}
