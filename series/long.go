package series

import (
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/internal/simd"
)

// In a long series the short memory's frequencies would have to be as many as the rows. There it is taken out of the rows instead (memory),
// and the other parts' moments are summed over whitened rows: with K_o the covariance of memory and noise,
//
//	G = Φᵀ K_o⁻¹ Φ      C = Φᵀ K_o⁻¹ y      Σy² is yᵀ K_o⁻¹ y, λ = 1
//
// and all else stays as it is. The memory's three hyper-parameters are fitted to the residuals, in turn with the others.
const (
	longTurns  = 5    // at most
	longMoved  = 0.05 // of a logarithm: less ends the turns
	longTurned = 3e4  // rows, the last ones, for the turns
	longFitted = 1e5  // and whose residuals the memory is fitted to in the end, when all rows are summed
	tileRows   = 256
)

// whiten sums a track's moments with the memory and its noise taken out.
func (l *layout) whiten(t *track, m memory, outputs []int) *moments {
	f := m.filter(t.u, t.e)
	features, n := l.spectral(), len(t.u)
	columns := features.M + len(t.y)
	count := (columns + simd.Lanes - 1) / simd.Lanes
	size := count * simd.Lanes
	gram, states := make([]float64, size*size), make([]float64, size)
	tile := simd.NewPanels(count, tileRows)
	workers := runtime.GOMAXPROCS(0)
	for lo := 0; lo < n; lo += tileRows {
		hi := min(n, lo+tileRows)
		rows := tile.Rows(0, hi-lo)
		parallel.For(count, workers, func(p int) {
			panel, state := rows.Panel(p), states[p*simd.Lanes:(p+1)*simd.Lanes]
			fill(panel, features, t, p*simd.Lanes, lo, hi)
			for i := lo; i < hi; i++ {
				row := panel[(i-lo)*simd.Lanes : (i-lo+1)*simd.Lanes]
				decay, gain, scale := f.decay[i], f.gain[i], f.scale[i]
				for k, c := range row {
					a := decay * state[k]
					v := c - a
					state[k] = a + gain*v
					row[k] = v * scale
				}
			}
		})
		const share = 3 // panels
		parallel.For((count+share-1)/share, workers, func(i int) { simd.Gram(gram, size, rows, i*share, min(count, (i+1)*share)) })
	}
	s := &moments{outputs: outputs, n: n, logErr: 0.5 * f.logDet, gram: make([]float64, features.M*features.M)}
	for i := range features.M {
		for j := range i + 1 {
			s.gram[i*features.M+j], s.gram[j*features.M+i] = gram[i*size+j], gram[i*size+j]
		}
	}
	for d := range t.y {
		row := (features.M + d) * size
		s.c = append(s.c, slices.Clone(gram[row:row+features.M]))
		s.yy = append(s.yy, gram[row+features.M+d])
	}
	return s
}

// fill writes eight columns from first on, features and then outputs, at rows [lo, hi). Where places are one step apart a feature is turned
// from one to the next; it is computed anew at the first row.
func fill(panel []float64, f *backend.Features, t *track, first, lo, hi int) {
	var sin, cos, stepSin, stepCos, amp [simd.Lanes]float64
	lanes := min(simd.Lanes, max(0, f.M-first)) // that are features
	for lane := range lanes {
		stepSin[lane], stepCos[lane] = math.Sincos(f.Freq[first+lane])
		amp[lane] = f.Amp[first+lane]
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
				k := first + lane
				sin[lane], cos[lane] = math.Sincos(f.Freq[k]*(t.u[n]-f.Center[k]) + f.Phase[k])
				row[lane] = amp[lane] * cos[lane]
			}
			clear(row[lanes:])
		}
		for i := range min(len(t.y), first+simd.Lanes-f.M) {
			if lane := f.M + i - first; lane >= 0 {
				row[lane] = t.y[i][n]
			}
		}
	}
}

// residuals are the outputs less the features' sums with weights w [outputs][M].
func (t *track) residuals(f *backend.Features, w [][]float64) [][]float64 {
	all := make([][]float64, len(w))
	for d := range all {
		all[d] = slices.Clone(t.y[d])
	}
	tiles := (len(t.u) + tileRows - 1) / tileRows
	parallel.For(tiles, runtime.GOMAXPROCS(0), func(i int) {
		lo, hi := i*tileRows, min(len(t.u), (i+1)*tileRows)
		panel := make([]float64, tileRows*simd.Lanes)
		for first := 0; first < f.M; first += simd.Lanes {
			fill(panel, f, t, first, lo, hi)
			lanes := min(simd.Lanes, f.M-first)
			for d := range all {
				weights := w[d][first : first+lanes]
				for n := lo; n < hi; n++ {
					all[d][n] -= dot(weights, panel[(n-lo)*simd.Lanes:])
				}
			}
		}
	})
	return all
}

// layLong lays out the parts of a long series but for its short memory and noise.
func (s *search) layLong(parts []Part) *layout {
	parts = slices.DeleteFunc(slices.Clone(parts), func(p Part) bool {
		switch p.(type) {
		case ShortMemory, Noise:
			return true
		}
		return false
	})
	return newLayout(s.frame, parts, s.reach, 0, walkSines, 0, s.peak)
}

// lengthen replaces a trial's short memory by the one without frequencies.
func (s *search) lengthen(t *trial) (*trial, error) {
	l := s.layLong(t.parts)
	if len(l.parts) == 0 {
		return nil, fmt.Errorf("%w: a series of %d rows needs a part beside its short memory and noise, such as Constant", ErrOptions,
			s.frame.Rows)
	}
	var tracks, recent, last []*track
	groups := s.frame.groups()
	for _, g := range groups {
		t := s.frame.track(g)
		tracks, recent, last = append(tracks, t), append(recent, t.last(longFitted)), append(last, t.last(longTurned))
	}
	old := func(name string) (float64, bayes.Prior) {
		i := slices.Index(t.o.layout.names, name)
		return math.Exp(t.mode[i]), t.o.layout.priors[i]
	}
	var m memory
	var priors [3]bayes.Prior
	m.SD, priors[0] = old("short_memory.sd")
	m.Length, priors[1] = old("short_memory.length")
	m.Noise, priors[2] = old(t.o.layout.names[t.o.layout.noise])
	turn := func(from *trial, fitted, summed []*track) (next *trial, moved float64, err error) {
		residuals, err := from.residuals(fitted)
		if err != nil {
			return nil, 0, err
		}
		before := m
		if m, err = m.fit(fitted, residuals, priors); err == nil {
			err = s.ctx.Err()
		}
		if err != nil {
			return nil, 0, err
		}
		var sums []*moments
		for i, g := range groups {
			sums = append(sums, l.whiten(summed[i], m, g.outputs))
		}
		next, err = s.mode(&trial{parts: t.parts, memory: t.memory, o: newObjective(l, sums), long: &long{m, tracks}}, from)
		return next, m.distance(before), err
	}
	next, moved, err := turn(t, last, last)
	for n := 1; n < longTurns && moved > longMoved && err == nil; n++ {
		next, moved, err = turn(next, last, last)
	}
	if err != nil {
		return nil, err
	}
	next, _, err = turn(next, recent, tracks)
	return next, err
}

// last is the last rows.
func (t *track) last(rows int) *track {
	lo := max(0, len(t.u)-rows)
	l := &track{u: t.u[lo:], e: t.e[lo:]}
	for _, y := range t.y {
		l.y = append(l.y, y[lo:])
	}
	return l
}

// residuals are those of tracks at the mode, [tracks][outputs][N], without the short memory's features if there are any.
func (t *trial) residuals(tracks []*track) (all [][][]float64, err error) {
	features := t.o.layout.spectral()
	lambda, _ := t.o.variance(t.mode)
	t.o.layout.amplitudes(t.o.d, t.mode, nil)
	for i, s := range t.o.sums {
		factor, err := t.o.factor(s, t.o.d, lambda)
		if err != nil {
			return nil, err
		}
		var w [][]float64
		for _, c := range s.c {
			mean := t.o.mean(factor, c)
			for k, d := range t.o.d {
				mean[k] *= d
			}
			if last := t.o.layout.blocks[len(t.o.layout.blocks)-1]; last.nested {
				clear(mean[last.lo:])
			}
			w = append(w, mean)
		}
		all = append(all, tracks[i].residuals(features, w))
	}
	return all, nil
}
