// Package crosschannel predicts a channel of a recording from what others hold at the same time: its gaps are then those of what is left.
//
// With y_c the other channels, x_n = Σ_c Σ_{|l| ≤ L} h_{c,l} y_{c,n−l} + r_n. The taps h have a normal prior of one variance and are
// estimated by least squares of the prediction errors e = A x of an autoregressive model of x: errors of a prediction are what a fill
// has to guess, whereas the signal itself would have loud low frequencies decide alone.
package crosschannel

import (
	"cmp"
	"slices"

	"github.com/vssgp/vssgp/internal/simd"
)

// Reach returns how many samples about a gap another channel must hold for a prediction from it.
func Reach(rate float64) int { return 2 * lags(rate) }

// A Prediction is what other channels say of one, up to what is left of it.
type Prediction struct {
	Mean     []float64 // Σ_c h_c * y_c at every sample
	Left     []float64 // r, x less that; zeros in the gap
	Channels []int     // the c
	Gaps     [][2]int  // where x or a prediction of it is missing
	Which    int       // of them the gap
}

// Predict predicts channel of about its gap number which, from those of the channels from that know of it. z are the samples of all
// channels, with guesses in their gaps. It returns nil where they say nothing.
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

// best returns the channels that alone say most, in rising order.
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
	turned := slices.Clone(h)
	slices.Reverse(turned)
	padded := make([]float64, len(y)+2*l)
	copy(padded[l:], y)
	out := make([]float64, len(y))
	for n := range out {
		out[n] = simd.Dot(turned, padded[n:n+len(h)])
	}
	return out
}
