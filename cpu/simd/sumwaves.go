package simd

import "math"

// Rows of a panel of waves to sum (SumWaves). The kernel keeps numbers of its own in the last ones.
const (
	WaveDecay  = iota // α ≥ 0
	WaveCenter        // r
	WaveQuad          // −2 log A
	WaveTurns         // c, turns at k = 0
	WaveTwist         // t, turns from k to k + 1
	WaveWeight        // η
	WaveOffset        // δ
	WaveSquare        // ς
	WaveReal          // factor of the real parts
	WaveImag          // factor of the imaginary parts
	waveBend
	waveStart
	waveBack = waveStart + 2
	WaveRows = waveBack + 3
)

// WaveSums is how many sums a wave has.
const WaveSums = 5

// SumWaves writes, for each lane of the panels of jobs [panels,WaveRows,8], moments over the table E around the lane's place,
//
//	p_0,  δp_0 − ip_1,  ςp_0 − 2iδp_1 − p_2      p_i = Σ_k (η(k − r))^i·E_{place+k}·V_k,  −points ≤ k < points
//	V_k = A·exp(−½α(k − r)² + 2πi(c + tk))
//
// to sums [panels,WaveSums,8]: the real and the imaginary parts times their factors, of the last one the real part alone. Lanes
// that have no wave need a place, too. V is made from k = 0 outwards, so its error grows with the square of points.
func SumWaves(sums, jobs []float64, table []complex128, places []int64, points int) {
	panels := len(places) / Lanes
	if panels == 0 {
		return
	}
	sums, jobs = sums[:panels*WaveSums*Lanes], jobs[:panels*WaveRows*Lanes]
	for _, at := range places {
		_, _ = table[at-int64(points)], table[at+int64(points)-1]
	}
	if sumWavesVector(&sums[0], &jobs[0], &table[0], &places[0], points, panels) {
		return
	}
	for i, at := range places {
		panel, lane := i/Lanes, i%Lanes
		sumWavesPlain(sums[panel*WaveSums*Lanes+lane:], jobs[panel*WaveRows*Lanes+lane:], table[at-int64(points):at+int64(points)])
	}
}

// sumWavesPlain sums one lane.
func sumWavesPlain(sums, job []float64, table []complex128) {
	get := func(row int) float64 { return job[row*Lanes] }
	decay, center, eta := get(WaveDecay), get(WaveCenter), get(WaveWeight)
	ts, tc := math.Sincos(2 * math.Pi * fraction(get(WaveTwist)))
	s, c := math.Sincos(2 * math.Pi * fraction(get(WaveTurns)))
	a := math.Exp(-0.5 * (get(WaveQuad) + decay*center*center))
	up, down, bend := math.Exp(-0.5*decay*(1-2*center)), math.Exp(-0.5*decay*(1+2*center)), math.Exp(-decay)
	w := wave{a * c, a * s, up * tc, up * ts, bend}
	var acc [WaveSums]float64
	weight := -center * eta
	points := len(table) / 2
	for _, e := range table[points:] {
		w.add(&acc, e, weight)
		w.next()
		weight += eta
	}
	w = wave{a * c, a * s, down * tc, -down * ts, bend}
	weight = -center * eta
	for k := range points {
		weight -= eta
		w.next()
		w.add(&acc, table[points-1-k], weight)
	}
	delta, re, im := get(WaveOffset), get(WaveReal), get(WaveImag)
	sums[0], sums[Lanes] = re*acc[0], im*acc[1]
	sums[2*Lanes], sums[3*Lanes] = re*(acc[3]+delta*acc[0]), im*(delta*acc[1]-acc[2])
	sums[4*Lanes] = re * (get(WaveSquare)*acc[0] + 2*delta*acc[3] - acc[4])
}

// A wave is V_k, and V_{k+1}/V_k, which is multiplied by bend from term to term.
type wave struct{ re, im, stepRe, stepIm, bend float64 }

func (w *wave) next() {
	w.re, w.im = w.re*w.stepRe-w.im*w.stepIm, w.re*w.stepIm+w.im*w.stepRe
	w.stepRe *= w.bend
	w.stepIm *= w.bend
}

// add adds a term to the sums.
func (w *wave) add(acc *[WaveSums]float64, e complex128, weight float64) {
	re, im := w.re*real(e)-w.im*imag(e), w.re*imag(e)+w.im*real(e)
	acc[0] += re
	acc[1] += im
	re, im = weight*re, weight*im
	acc[2] += re
	acc[3] += im
	acc[4] += weight * re
}

// fraction is a phase less whole turns.
func fraction(turns float64) float64 { return turns - math.RoundToEven(turns) }
