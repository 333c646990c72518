package simd

import "fmt"

// startRows is how many rows of numbers the start of a panel's two chains has.
const startRows = 8

// Starts say, for each panel over even rows, where its features start, or that
// they stand in the panels of cos and sin.
type Starts struct {
	data    []float64 // [Count][8][8] z_0, w_0, z_1, w_1
	stepped []bool    // [Count]
}

// resize makes room for so many panels.
func (s *Starts) resize(count int) {
	if cap(s.stepped) < count {
		s.data, s.stepped = Aligned(count*startRows*Lanes), make([]bool, count)
	}
	s.data, s.stepped = s.data[:count*startRows*Lanes], s.stepped[:count]
	clear(s.stepped)
}

// EvenFused is whether features of even rows need not be written for
// FactorisedEven: tiles may then be larger than a core's second cache.
func EvenFused() bool { return use == AVX512 }

// FitEven is FeaturesFitEven for at most EvenMost rows, but where the set in use
// has kernels for it, it leaves panels of features that FactorisedEven can step
// through once more unwritten, and their starts in to.
func FitEven(to *Starts, cos, sin Panels, acc []float64, b Bank, s Stepped, x, gate, w []float64) {
	b.check("FitEven", cos.N, x, cos, sin)
	checkFit("FitEven", acc, cos, w)
	b.checkSteps("FitEven", s, gate, cos.N)
	to.resize(b.Count)
	if cos.empty() {
		return
	}
	p := piece{cos: cos, sin: sin, acc: acc, b: b, s: s, x: x, gate: gate, w: w}
	if use != AVX512 || cos.N < EvenLeast || cos.N > EvenMost {
		b.even(cos, sin, acc, s, x, gate, w)
		return
	}
	for at := 0; at < b.Count; at++ {
		done := evenStartVector(&to.data[at*startRows*Lanes], &x[0], first(gate), &acc[0], &w[at*Lanes], &b.Panel(at)[0], &s.Data[SteppedRoom(at)], cos.N, b.Count-at)
		for range done {
			to.stepped[at] = true
			at++
		}
		if at < b.Count {
			p.formula(at, at+1)
		}
	}
}

// FactorisedEven is Factorised over what FitEven has left in from, cos and sin.
// inv and gate may be nil where all gates are 1.
func FactorisedEven(sums []float64, from *Starts, cos, sin Panels, res, x, gate, inv []float64, lanes []Lane, b Bank, s Stepped) {
	b.check("FactorisedEven", len(res), x, cos, sin)
	checkSums("FactorisedEven", sums, cos.Count*FactorisedRows)
	b.checkSteps("FactorisedEven", s, gate, cos.N)
	if len(from.stepped) != b.Count || len(inv) != len(gate) {
		panic(fmt.Sprintf("simd: FactorisedEven: %d starts for %d panels, %d gates and %d inverse squares", len(from.stepped), b.Count, len(gate), len(inv)))
	}
	b.centers("FactorisedEven", lanes, 0)
	for lo := 0; lo < b.Count && cos.N > 0; {
		hi := lo + 1
		for hi < b.Count && from.stepped[hi] == from.stepped[lo] {
			hi++
		}
		to := sums[lo*FactorisedRows*Lanes : hi*FactorisedRows*Lanes]
		if from.stepped[lo] {
			mid := cos.N / 2
			evenFactorisedVector(&to[0], &from.data[lo*startRows*Lanes], &res[0], first(gate), first(inv), &ramp[EvenMost-mid], &square[EvenMost-mid], &s.Data[SteppedRoom(lo)], &lanes[lo].Amp[0], x[mid], s.Delta, cos.N, hi-lo)
		} else {
			Factorised(to, cos.Slice(lo, hi), sin.Slice(lo, hi), res, x, inv, lanes[lo:hi], b.Slice(lo, hi))
		}
		lo = hi
	}
}

// ramp and square are t and t² for rows counted from one in the middle,
// t = i − EvenMost.
var ramp, square [2 * EvenMost]float64

func init() {
	for i := range ramp {
		ramp[i] = float64(i - EvenMost)
		square[i] = ramp[i] * ramp[i]
	}
}
