package series

import (
	"math"
	"runtime"

	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/internal/simd"
)

// A cosine is the feature amp·cos(freq·(u − center) + phase). If from is not nil, it is 0 at u < from.
type cosine struct {
	amp, freq, center, phase float64
	from                     *float64
}

// moments contains the sufficient statistics of a group's observations: with features Φ at unit amplitudes, G = Φᵀ K_o⁻¹ Φ and C = Φᵀ
// K_o⁻¹ y.
type moments struct {
	n    int
	gram []float64   // [M,M]
	c    [][]float64 // [outputs][M]
	log  float64     // log |K_o|
}

const tileRows = 256

// whiten returns the moments of a track for each stateSpace in at. The features are computed only once.
func (l *layout) whiten(t *track, at []stateSpace) []*moments {
	var (
		waves, n = l.cosines(), len(t.u)
		m        = l.size()
		panels   = panelsFor(m + len(t.y))
		size     = panels * simd.Lanes
		tile     = simd.NewPanels(panels, min(n, tileRows))
		filters  = make([]*kalman, len(at))
		steps    = make([][]step, len(at))
		white    = make([]simd.Panels, len(at))
		grams    = make([][]float64, len(at))
		last     = make([][states][]float64, len(at))
		all      = make([]*moments, len(at))
	)
	for i, a := range at {
		filters[i], steps[i], white[i] = a.kalman(), make([]step, min(n, tileRows)), simd.NewPanels(panels, min(n, tileRows))
		grams[i] = make([]float64, size*size)
		for k := range last[i] {
			last[i][k] = make([]float64, size)
		}
		all[i] = &moments{n: n}
	}
	workers := runtime.GOMAXPROCS(0)
	for lo := 0; lo < n; lo += tileRows {
		hi := min(n, lo+tileRows)
		for i, f := range filters {
			for r := lo; r < hi; r++ {
				f.to(t.u[r], t.e[r], t.size(r))
				steps[i][r-lo] = f.step
				all[i].log += f.log
			}
		}
		parallel.For(panels, workers, func(p int) {
			rows, first := tile.Rows(0, hi-lo).Panel(p), p*simd.Lanes
			fill(rows, waves, t, first, lo, hi)
			for i := range at {
				whitenPanel(white[i].Rows(0, hi-lo).Panel(p), rows, steps[i], &last[i], first)
			}
		})
		const share = 3 // panels
		shares := (panels + share - 1) / share
		parallel.For(shares*len(at), workers, func(k int) {
			i, first := k/shares, k%shares*share
			simd.Gram(grams[i], size, white[i].Rows(0, hi-lo), first, min(panels, first+share))
		})
	}
	for i, s := range all {
		s.gram = make([]float64, m*m)
		for j := range m {
			for k := range j + 1 {
				s.gram[j*m+k], s.gram[k*m+j] = grams[i][j*size+k], grams[i][j*size+k]
			}
		}
		for d := range t.y {
			row := grams[i][(m+d)*size:]
			s.c = append(s.c, row[:m:m])
		}
	}
	return all
}

// lanes is one row of a panel.
type lanes = [simd.Lanes]float64

// whitenPanel runs the Kalman filter on eight columns, starting at their states last, and writes the scaled innovations to out.
func whitenPanel(out, rows []float64, steps []step, last *[states][]float64, first int) {
	value, slope := (*lanes)(last[0][first:]), (*lanes)(last[1][first:])
	walk, drift := (*lanes)(last[2][first:]), (*lanes)(last[3][first:])
	for n := 0; n*simd.Lanes < len(rows); n++ {
		s, row, to := &steps[n], (*lanes)(rows[n*simd.Lanes:]), (*lanes)(out[n*simd.Lanes:])
		f, gain, scale, walkGain, walkF := s.f[0][0], s.gain[0], s.scale, s.gain[2], s.f[2][2]
		if s.f[3][3] == 0 && s.gain[3] == 0 && s.f[0][1] == 0 && s.gain[1] == 0 { // Ornstein–Uhlenbeck, no drift
			for i, c := range row {
				a, w := f*value[i], walkF*walk[i]
				v := c - a - w
				value[i], walk[i], to[i] = a+gain*v, w+walkGain*v, v*scale
			}
			continue
		}
		f01, f10, f11, slopeGain := s.f[0][1], s.f[1][0], s.f[1][1], s.gain[1]
		f23, f33, driftGain := s.f[2][3], s.f[3][3], s.gain[3]
		for i, c := range row {
			a, b := f*value[i]+f01*slope[i], f10*value[i]+f11*slope[i]
			w, d := walkF*walk[i]+f23*drift[i], f33*drift[i]
			v := c - a - w
			value[i], slope[i], to[i] = a+gain*v, b+slopeGain*v, v*scale
			walk[i], drift[i] = w+walkGain*v, d+driftGain*v
		}
	}
}

// fill writes the eight columns [first, first+8) of observations [lo, hi). Columns are cosines, then regressors, then outputs. If the
// next time is exactly one step later, cosines are computed by rotation; otherwise and at lo, directly.
func fill(panel []float64, waves []cosine, t *track, first, lo, hi int) {
	var sin, cos, stepSin, stepCos, amp [simd.Lanes]float64
	lanes := min(simd.Lanes, max(0, len(waves)-first)) // that are cosines
	for lane := range lanes {
		w := &waves[first+lane]
		stepSin[lane], stepCos[lane] = math.Sincos(w.freq)
		amp[lane] = w.amp
	}
	for n := lo; n < hi; n++ {
		row := panel[(n-lo)*simd.Lanes : (n-lo+1)*simd.Lanes]
		if n > lo && t.u[n]-t.u[n-1] == 1 {
			for lane := range sin {
				s, c := sin[lane], cos[lane]
				s, c = s*stepCos[lane]+c*stepSin[lane], c*stepCos[lane]-s*stepSin[lane]
				sin[lane], cos[lane], row[lane] = s, c, amp[lane]*c
			}
		} else {
			for lane := range lanes {
				w := &waves[first+lane]
				sin[lane], cos[lane] = math.Sincos(w.freq*(t.u[n]-w.center) + w.phase)
				row[lane] = amp[lane] * cos[lane]
			}
			clear(row[lanes:])
		}
	}
	for lane := range lanes {
		if from := waves[first+lane].from; from != nil {
			for n := lo; n < hi && t.u[n] < *from; n++ {
				panel[(n-lo)*simd.Lanes+lane] = 0
			}
		}
	}
	for lane := lanes; lane < simd.Lanes; lane++ {
		var column []float64
		switch k := first + lane - len(waves); {
		case k < len(t.regressors):
			column = t.regressors[k]
		case k < len(t.regressors)+len(t.y):
			column = t.y[k-len(t.regressors)]
		default:
			continue
		}
		for n := lo; n < hi; n++ {
			panel[(n-lo)*simd.Lanes+lane] = column[n]
		}
	}
}

// tiles calls visit for each tile of a track and each panel of features: columns [first, first+lanes) of observations [lo, hi). The
// panels of one tile are visited in order; different tiles run in parallel.
func (l *layout) tiles(t *track, visit func(panel []float64, first, lanes, lo, hi int)) {
	waves, m := l.cosines(), l.size()
	inputs := &track{u: t.u, regressors: t.regressors}
	parallel.For((len(t.u)+tileRows-1)/tileRows, runtime.GOMAXPROCS(0), func(i int) {
		lo, hi := i*tileRows, min(len(t.u), (i+1)*tileRows)
		panel := make([]float64, tileRows*simd.Lanes)
		for first := 0; first < m; first += simd.Lanes {
			fill(panel, waves, inputs, first, lo, hi)
			visit(panel, first, min(simd.Lanes, m-first), lo, hi)
		}
	})
}

// residuals returns y − Φw for each output, with weights w [outputs][M].
func (l *layout) residuals(t *track, w [][]float64) [][]float64 {
	all := make([][]float64, len(w))
	for d := range all {
		all[d] = append([]float64(nil), t.y[d]...)
	}
	l.tiles(t, func(panel []float64, first, lanes, lo, hi int) {
		for d := range all {
			weights := w[d][first : first+lanes]
			for n := lo; n < hi; n++ {
				all[d][n] -= dot(weights, panel[(n-lo)*simd.Lanes:])
			}
		}
	})
	return all
}

// project returns Φᵀx [M] for each column of x [N].
func (l *layout) project(t *track, x [][]float64) [][]float64 {
	m, count := l.size(), (len(t.u)+tileRows-1)/tileRows
	parts := make([]float64, count*len(x)*m) // one sum per tile, added in order
	l.tiles(t, func(panel []float64, first, lanes, lo, hi int) {
		for i, column := range x {
			sums := parts[(lo/tileRows*len(x)+i)*m+first:][:lanes]
			for n := lo; n < hi; n++ {
				for lane, v := range panel[(n-lo)*simd.Lanes:][:lanes] {
					sums[lane] += v * column[n]
				}
			}
		}
	})
	all := make([][]float64, len(x))
	for i := range all {
		all[i] = make([]float64, m)
		for tile := range count {
			for k, v := range parts[(tile*len(x)+i)*m:][:m] {
				all[i][k] += v
			}
		}
	}
	return all
}
