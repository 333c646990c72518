package series

import (
	"context"
	"math/rand/v2"
	"runtime"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/linalg/blocktri"
	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/internal/simd"
)

// A view is a group of outputs at some hyper-parameters, with the factor of its A.
type view struct {
	group  int
	o      *objective
	sums   *moments
	factor *blocktri.Factor
	lambda float64
	hyper  []float64 // that it is at
}

// A bridge is what a long series' rows say of the short memory at some places. The memory there given weights w is N(ȳ − φ̄w, V), with ȳ
// and φ̄ the smoothed columns, so the function is ȳ + (φ − φ̄)w and V.
type bridge struct {
	sequence *sequence
	filter   *filter
	phi, bar []float64   // [n,M] φ and φ̄, at unit amplitudes
	y        [][]float64 // [outputs][n] ȳ
	variance []float64   // [n] V
	u        []float64   // [n]
}

// bridge smooths every column, eight at a time.
func (l *long) bridge(ctx context.Context, group int, features *backend.Features, u []float64) (*bridge, error) {
	t, m, n := l.tracks[group], features.M, len(u)
	b := &bridge{sequence: t.join(u), phi: make([]float64, n*m), bar: make([]float64, n*m), u: u}
	s := b.sequence
	b.filter = l.memory.filter(s.u, s.e)
	b.variance = b.filter.variances(s, n)
	rows := &track{u: s.u}
	for _, y := range t.y {
		values := make([]float64, len(s.u))
		for i, row := range s.value {
			if row >= 0 {
				values[i] = y[row]
			}
		}
		rows.y, b.y = append(rows.y, values), append(b.y, make([]float64, n))
	}
	panels := (m + len(t.y) + simd.Lanes - 1) / simd.Lanes
	return b, parallel.Try(panels, runtime.GOMAXPROCS(0), func(p int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		first, c := p*simd.Lanes, make([]float64, len(s.u)*simd.Lanes)
		for lo := 0; lo < len(s.u); lo += tileRows {
			hi := min(len(s.u), lo+tileRows)
			fill(c[lo*simd.Lanes:hi*simd.Lanes], features, rows, first, lo, hi)
		}
		for i, q := range s.query {
			if q >= 0 && first < m {
				copy(b.phi[q*m+first:q*m+min(m, first+simd.Lanes)], c[i*simd.Lanes:])
			}
		}
		b.filter.smooth(s, c, simd.Lanes, func(q int, means []float64) {
			for lane, v := range means {
				switch k := first + lane; {
				case k < m:
					b.bar[q*m+k] = v
				case k < m+len(b.y):
					b.y[k-m][q] = v
				}
			}
		})
		return nil
	})
}

// latent is view.latent for a long series. Of its parts, those that keep has are alone without the memory, and the memory is what stays
// without features.
func (b *bridge) latent(v view, only *selection, visit func(d, n int, mean, variance float64)) error {
	d, l := v.o.d, v.o.layout
	m, n := len(d), len(b.variance)
	x, innovations := make([]float64, n*m), make([]float64, n)
	parallel.For(n, runtime.GOMAXPROCS(0), func(r int) {
		row := x[r*m : (r+1)*m]
		if only == nil || !only.memory {
			copy(row, b.phi[r*m:])
			if b.u[r] > l.reach {
				innovations[r] = l.beyond(row, v.hyper, b.u[r], only.features())
			}
		}
		for k := range row {
			switch {
			case only == nil || only.memory:
				row[k] = d[k] * (row[k] - b.bar[r*m+k])
			case only.keep(k):
				row[k] *= d[k]
			default:
				row[k] = 0
			}
		}
	})
	local := only == nil || only.memory
	v.solve(x, func(r int, means []float64, variance float64) {
		variance += innovations[r]
		if local {
			variance += b.variance[r]
		}
		for i, out := range v.sums.outputs {
			if local {
				means[i] += b.y[i][r]
			}
			visit(out, r, means[i], variance)
		}
	})
	return nil
}

// solve calls visit with φDm of each output and λ‖R⁻¹Dφ‖² for the rows φD of x [n,M], which it overwrites.
func (v view) solve(x []float64, visit func(r int, means []float64, variance float64)) {
	m, outputs := len(v.o.d), len(v.sums.outputs)
	n := len(x) / m
	means := make([]float64, n*outputs)
	for i, c := range v.sums.c {
		w := v.o.mean(v.factor, c)
		for r := range n {
			means[r*outputs+i] = dot(x[r*m:(r+1)*m], w)
		}
	}
	const share = 64 // rows
	lower := blas64.Triangular{N: m, Stride: m, Data: v.factor.R.Diag[0], Uplo: blas.Lower, Diag: blas.NonUnit}
	parallel.For((n+share-1)/share, runtime.GOMAXPROCS(0), func(i int) {
		lo, hi := i*share, min(n, (i+1)*share)
		blas64.Trsm(blas.Right, blas.Trans, 1, lower, blas64.General{Rows: hi - lo, Cols: m, Stride: m, Data: x[lo*m : hi*m]})
	})
	for r := range n {
		row := x[r*m : (r+1)*m]
		visit(r, means[r*outputs:(r+1)*outputs], v.lambda*dot(row, row))
	}
}

// draw draws the function at the places up to reach, and the memory beyond, given the weights of output i times their amplitudes.
func (b *bridge) draw(t *track, features *backend.Features, i int, w []float64, reach float64, random *rand.Rand) []float64 {
	residual := (&track{u: t.u, e: t.e, y: [][]float64{t.y[i]}}).residuals(features, [][]float64{w})[0]
	f := make([]float64, len(b.variance))
	b.filter.draw(b.sequence, residual, random, f)
	for r := range f {
		if b.u[r] <= reach {
			f[r] += dot(b.phi[r*len(w):(r+1)*len(w)], w)
		}
	}
	return f
}

// A selection is a component's features, or the memory of a long series.
type selection struct {
	memory bool
	keep   func(k int) bool
}

// features is keep; nil for all.
func (s *selection) features() func(k int) bool {
	if s == nil {
		return nil
	}
	return s.keep
}
