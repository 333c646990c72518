package declip

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/audio/internal/ar"
	"github.com/vssgp/vssgp/internal/initialize/autoregression"
)

// learn estimates the autoregressive model of each tile.
func (s *section) learn() {
	peak := floats.Norm(s.mean, math.Inf(1))
	least := 1e-12*peak*peak + minPower
	for i := range s.tiles {
		t := &s.tiles[i]
		r := s.autocorrelation(t)
		r[0] += least
		t.model = ar.YuleWalker(r)
	}
}

// widen increases the variances E of the tiles to account for the uncertainty of the models, and scales the sites accordingly. A model of
// order p fitted to n samples predicts other samples with (n+p)/(n−p) times the error variance (Akaike 1970); the window halves the
// effective n. The factor unsteady accounts for nonstationary audio.
func (s *section) widen() {
	factor := func(order int) float64 {
		n, p := float64(s.wide)/2, float64(order)
		return unsteady * (n + p) / max(n-p, n/8)
	}
	for i := range s.tiles {
		s.tiles[i].model.E *= factor(s.tiles[i].order)
	}
	for i := range s.sites {
		s.sites[i].precision /= factor(s.order)
		s.sites[i].product /= factor(s.order)
	}
}

// autocorrelation returns the expected autocorrelation of the samples around a tile under Hann's window,
//
//	r_l = Σ_n w_n w_{n+l} (m_n m_{n+l} + Cov_{n,n+l}) / Σ_n w_n²,
//
// as in expectation maximization. The means alone would underestimate the power.
func (s *section) autocorrelation(t *tile) []float64 {
	lo := min(max(0, (t.lo+t.hi-s.wide)/2), len(s.mean)-s.wide)
	x := make([]float64, s.wide)
	for i, w := range s.window {
		x[i] = w * s.mean[lo+i]
	}
	r := autoregression.Autocorrelation(x, t.order)
	sum := floats.Dot(s.window, s.window)
	floats.Scale(float64(s.wide)/sum, r)
	if s.covariance == nil {
		return r
	}
	from, to := s.index(lo), s.index(lo+s.wide)
	for i := from; i < to; i++ {
		w := s.window[s.at[i]-lo] / sum
		for _, run := range s.covariance.Row(i) {
			skip := min(max(0, from-run.First), len(run.Values))
			values := run.Values[skip:]
			for k, at := range s.at[run.First+skip:][:len(values)] {
				if l := s.at[i] - at; l <= t.order {
					r[l] += w * s.window[at-lo] * values[k]
				}
			}
		}
	}
	return r
}
