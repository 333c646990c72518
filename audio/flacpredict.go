package audio

import (
	"math"
	"math/bits"
	"slices"

	"github.com/mewkiz/flac/frame"

	"github.com/vssgp/vssgp/internal/ar"
)

// predicted returns a frame with the samples [channels][·] of so many bits, each channel by the prediction that takes the fewest bits; two
// channels as left and right, or as one of them and their difference, or as their mean and their difference.
func predicted(x [][]int32, width int) *frame.Frame {
	f := &frame.Frame{Header: frame.Header{BlockSize: uint16(len(x[0])), Channels: frame.Channels(len(x) - 1)}}
	coded := make([]subframe, len(x))
	for c := range x {
		coded[c] = predict(x[c], width)
	}
	if len(x) == 2 {
		mid, side := make([]int32, len(x[0])), make([]int32, len(x[0]))
		for i, l := range x[0] {
			r := x[1][i]
			mid[i], side[i] = (l+r)>>1, l-r
		}
		left, right, mean, difference := coded[0], coded[1], predict(mid, width), predict(side, width+1)
		for _, c := range []struct {
			channels frame.Channels
			coded    []subframe
		}{
			{frame.ChannelsLeftSide, []subframe{left, difference}}, {frame.ChannelsSideRight, []subframe{difference, right}},
			{frame.ChannelsMidSide, []subframe{mean, difference}},
		} {
			if c.coded[0].bits+c.coded[1].bits < coded[0].bits+coded[1].bits {
				f.Channels, coded = c.channels, c.coded
			}
		}
	}
	for c := range x {
		f.Subframes = append(f.Subframes, &frame.Subframe{SubHeader: coded[c].SubHeader, Samples: x[c], NSamples: len(x[c])})
	}
	return f
}

// A subframe is how a channel is coded, and in about how many bits.
type subframe struct {
	frame.SubHeader
	bits float64
}

// most orders of the polynomials, of the autoregressive models, and of the division into parts of their own Rice parameters.
const (
	mostFixed = 4
	mostFIR   = 12
	mostParts = 6
)

// predict chooses the prediction of a channel whose samples have so many bits.
func predict(x []int32, width int) subframe {
	if !slices.ContainsFunc(x, func(v int32) bool { return v != x[0] }) {
		return subframe{frame.SubHeader{Pred: frame.PredConstant}, float64(width)}
	}
	var used int32
	for _, v := range x {
		used |= v
	}
	wasted := bits.TrailingZeros32(uint32(used))
	if wasted > 0 {
		x = slices.Clone(x)
		for i := range x {
			x[i] >>= wasted
		}
	}
	width -= wasted
	best := subframe{frame.SubHeader{Pred: frame.PredVerbatim}, float64(width * len(x))}
	for _, s := range []subframe{polynomial(x, width), linear(x, width)} {
		if s.bits < best.bits {
			best = s
		}
	}
	best.Wasted = uint(wasted)
	return best
}

// polynomial predicts by a polynomial through the last samples, of the order whose residuals are least.
func polynomial(x []int32, width int) subframe {
	order, least := 0, math.Inf(1)
	difference, residual := slices.Clone(x), x
	for k := 0; k <= min(mostFixed, len(x)-1); k++ {
		if k > 0 {
			for i := len(difference) - 1; i >= k; i-- {
				difference[i] -= difference[i-1]
			}
		}
		sum := 0.
		for _, v := range difference[k:] {
			sum += math.Abs(float64(v))
		}
		if sum < least {
			order, least, residual = k, sum, slices.Clone(difference)
		}
	}
	return rice(subframe{frame.SubHeader{Pred: frame.PredFixed, Order: order}, float64(width * order)}, residual)
}

// linear predicts by an autoregressive model of the order that promises the fewest bits, with rounded coefficients.
func linear(x []int32, width int) subframe {
	none := subframe{bits: math.Inf(1)}
	precision := 12
	if width > 17 {
		precision = 15
	}
	orders := min(mostFIR, len(x)/4)
	r := ar.Autocorrelation(tapered(x), orders)
	if orders == 0 || r[0] == 0 {
		return none
	}
	var model []float64
	least := math.Inf(1)
	levinson(r, func(a []float64, e float64) {
		p := len(a)
		if b := float64(len(x)-p)*max(0, math.Log2(e)/2) + float64(p*(precision+width)); b < least {
			model, least = slices.Clone(a), b
		}
	})
	s := subframe{frame.SubHeader{Pred: frame.PredFIR, Order: len(model), CoeffPrec: uint(precision)}, 0}
	s.bits = float64(4 + 5 + s.Order*(precision+width))
	if s.Order == 0 || !s.round(model, precision) {
		return none
	}
	residual := slices.Clone(x)
	for i := s.Order; i < len(x); i++ {
		sum := int64(0)
		for j, c := range s.Coeffs {
			sum += int64(c) * int64(x[i-1-j])
		}
		sum >>= s.CoeffShift
		e := int64(x[i]) - sum
		if sum != int64(int32(sum)) || e <= math.MinInt32 || e > math.MaxInt32 { // a decoder may have no more bits
			return none
		}
		residual[i] = int32(e)
	}
	return rice(s, residual)
}

// levinson gives the coefficients of each order that predict a series with autocorrelation r, and the variance of what is left. It adds
// nothing to r, as a sound whose upper band is empty is predicted to the last of 24 bits.
func levinson(r []float64, each func(a []float64, e float64)) {
	a, e := make([]float64, 0, len(r)), r[0]
	for p := 1; p < len(r); p++ {
		k := r[p]
		for j, v := range a {
			k -= v * r[p-1-j]
		}
		k /= e
		for i, j := 0, len(a)-1; i <= j; i, j = i+1, j-1 {
			a[i], a[j] = a[i]-k*a[j], a[j]-k*a[i]
		}
		a = append(a, k)
		if e *= 1 - k*k; !(e > 0) {
			return
		}
		each(a, e)
	}
}

// tapered returns the samples under a window that is flat in its middle half, with cosines to both sides.
func tapered(x []int32) []float64 {
	y, edge := make([]float64, len(x)), len(x)/4
	for i, v := range x {
		y[i] = float64(v)
		if d := min(i, len(x)-1-i); d < edge {
			y[i] *= (1 - math.Cos(math.Pi*(float64(d)+0.5)/float64(edge))) / 2
		}
	}
	return y
}

// round sets the coefficients of a prediction to those of a model, rounded so that their errors cancel. It fails where they are too large.
func (s *subframe) round(a []float64, precision int) bool {
	largest := 0.
	for _, v := range a {
		largest = max(largest, math.Abs(v))
	}
	_, exponent := math.Frexp(largest)
	shift := min(15, precision-1-exponent)
	if shift < 0 || largest == 0 {
		return false
	}
	limit, err := math.Ldexp(1, precision-1), 0.
	s.CoeffShift = int32(shift)
	for _, v := range a {
		v = math.Ldexp(v, shift) + err
		c := max(-limit, min(math.Round(v), limit-1))
		err = v - c
		s.Coeffs = append(s.Coeffs, int32(c))
	}
	return true
}

// rice adds the coding of the residuals, which begin behind the order's first samples: as many parts as take the fewest bits.
func rice(s subframe, residual []int32) subframe {
	n, most := len(residual), 0
	for most < mostParts && n%(2<<most) == 0 && n>>(most+1) > s.Order {
		most++
	}
	sums := make([]float64, 1<<most)
	for i, v := range residual[s.Order:] {
		u := 2 * math.Abs(float64(v)) // as the sign is folded in
		if v < 0 {
			u--
		}
		sums[(i+s.Order)/(n>>most)] += u
	}
	least := math.Inf(1)
	for parts := most; parts >= 0; parts-- {
		coded, total, largest := make([]frame.RicePartition, len(sums)), 0., uint(0)
		for i, sum := range sums {
			count := float64(n >> parts)
			if i == 0 {
				count -= float64(s.Order)
			}
			k, b := riceParameter(sum, count)
			coded[i].Param, total, largest = k, total+b, max(largest, k)
		}
		method, parameter := frame.ResidualCodingMethodRice1, 4.
		if largest > 14 {
			method, parameter = frame.ResidualCodingMethodRice2, 5
		}
		if total += 6 + parameter*float64(len(sums)); total < least {
			least, s.ResidualCodingMethod = total, method
			s.RiceSubframe = &frame.RiceSubframe{PartOrder: parts, Partitions: coded}
		}
		for i := range len(sums) / 2 {
			sums[i] = sums[2*i] + sums[2*i+1]
		}
		sums = sums[:len(sums)/2]
	}
	s.bits += least
	return s
}

// riceParameter returns the parameter for a number of residuals with a sum, and the bits that they take, less than one each apart.
func riceParameter(sum, count float64) (k uint, b float64) {
	b = math.Inf(1)
	for try := range uint(31) {
		each := count*float64(try+1) + math.Ldexp(sum, -int(try))
		if try > 0 {
			each -= count / 2
		}
		if each >= b {
			break
		}
		k, b = try, each
	}
	return k, b
}
