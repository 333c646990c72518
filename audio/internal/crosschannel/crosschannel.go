// Package crosschannel predicts a channel of a recording from the others with an FIR filter; only the residual is interpolated.
//
// With the other channels y_c, the model is x_n = Σ_c Σ_{|l| ≤ L} h_{c,l} y_{c,n−l} + r_n. The taps h have a normal prior with a common
// variance. They are estimated by least squares on the prediction errors e = A x of an autoregressive model of x; on the signal itself,
// loud low frequencies would dominate the estimate.
package crosschannel

import (
	"cmp"
	"slices"

	"github.com/vssgp/vssgp/audio/internal/ar"
)

// Reach returns the number of samples on each side of a gap that must be known in another channel to predict from it.
func Reach(rate float64) int { return 2 * lags(rate) }

// Context returns the number of samples on each side of a gap from which Predict estimates the filter.
func Context(rate float64) int { return int(context * rate) }

// A Prediction is a channel's prediction from other channels, and the residual.
type Prediction struct {
	Mean     []float64 // Σ_c h_c * y_c at every sample
	Left     []float64 // the residual r; zeros in the gap
	Channels []int     // channels c of the predictors
	Gaps     [][2]int  // samples at which x or its prediction is missing
	Which    int       // index of the gap in Gaps
}

// Predict predicts channel of around its gap with index which from the channels from, which must be known there. z contains the samples
// of all channels with initial fills in the gaps. It returns nil if the evidence does not support a prediction.
func Predict(z [][]float64, gaps [][][2]int, of, which int, from []int, rate float64) *Prediction {
	p := &problem{z, gaps, of, gaps[of][which], lags(rate), rate}
	a := p.whitener()
	if a == nil || len(from) == 0 {
		return nil
	}
	if len(from) > most {
		from = p.best(a, from)
	}
	h, _ := p.normal(a, from).solve()
	if h == nil {
		return nil
	}
	out := &Prediction{Mean: make([]float64, len(z[of])), Left: slices.Clone(z[of]), Channels: from}
	for k, c := range from {
		for i, v := range filtered(z[c], h[k*(2*p.l+1):(k+1)*(2*p.l+1)], p.l) {
			out.Mean[i] += v
		}
	}
	for i, v := range out.Mean {
		out.Left[i] -= v
	}
	clear(out.Left[p.gap[0]:p.gap[1]])
	out.Gaps = p.missing(from, 0)
	out.Which = slices.IndexFunc(out.Gaps, func(g [2]int) bool { return g[1] > p.gap[0] })
	return out
}

// best returns the channels with the largest evidence as single predictors, in increasing order.
func (p *problem) best(a []float64, from []int) []int {
	gain := make([]float64, len(p.z))
	for _, c := range from {
		_, gain[c] = p.normal(a, []int{c}).solve()
	}
	from = slices.Clone(from)
	slices.SortStableFunc(from, func(a, b int) int { return cmp.Compare(gain[b], gain[a]) })
	from = from[:most]
	slices.Sort(from)
	return from
}

// filtered returns Σ_l h_l y_{n−l}, |l| ≤ L, with zero padding.
func filtered(y, h []float64, l int) []float64 {
	padded := make([]float64, len(y)+2*l)
	copy(padded[l:], y)
	return ar.Errors(h, padded)
}
