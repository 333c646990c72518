// Package crosschannel predicts a channel of a recording from the others with an FIR filter; only the residual is interpolated.
//
// With y_c the other channels, x_n = Σ_c Σ_{|l| ≤ L} h_{c,l} y_{c,n−l} + r_n. The taps h have a normal prior of one variance and are
// estimated by least squares of the prediction errors e = A x of an autoregressive model of x. A fill has to guess the errors; the signal
// itself would let loud low frequencies decide alone.
package crosschannel

import (
	"cmp"
	"slices"

	"github.com/vssgp/vssgp/internal/ar"
)

// Reach returns how many samples on either side of a gap another channel must have for a prediction from it.
func Reach(rate float64) int { return 2 * lags(rate) }

// A Prediction is a channel's prediction from others, and its residual.
type Prediction struct {
	Mean     []float64 // Σ_c h_c * y_c at every sample
	Left     []float64 // the residual r; zeros in the gap
	Channels []int     // the c
	Gaps     [][2]int  // in which x or a prediction of it is missing
	Which    int       // number of the gap among them
}

// Predict predicts channel of around its gap number which from the channels from, all of which have samples there. z are the samples of all
// channels, with guesses in their gaps. It returns nil if no prediction has more evidence than none.
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

// best returns the channels that each alone have the largest evidence, in rising order.
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

// filtered returns Σ_l h_l y_{n−l}, |l| ≤ L, with zeros around y.
func filtered(y, h []float64, l int) []float64 {
	padded := make([]float64, len(y)+2*l)
	copy(padded[l:], y)
	return ar.Errors(h, padded)
}
