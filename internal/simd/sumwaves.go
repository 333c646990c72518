package simd

import "math"

// These are the rows of a panel of waves to sum (SumWaves). The kernel uses the last rows as
// scratch.
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
	WaveExtent        // see PairWaves; the kernel uses the rows from here on
	WaveReach
	WaveRows = WaveReach + 5
)

// WaveSums is the number of sums per wave.
const WaveSums = 5

// SumWaves writes, for each lane of the panels of jobs [panels,WaveRows,8], moments over the table
// E around the lane's position [panels,8],
//
//	p_0,  δp_0 − ip_1,  ςp_0 − 2iδp_1 − p_2      p_i = Σ_k (η(k − r))^i·E_{position+k}·V_k,  −points ≤ k < points of the panel
//	V_k = A·exp(−½α(k − r)² + 2πi(c + tk))
//
// to sums [panels,WaveSums,8]: the real and the imaginary parts times their factors, but only the
// real part of the last one. Lanes without a wave need a valid position too. V is computed from k = 0
// outwards, so its error grows with the square of points.
func SumWaves(sums, jobs []float64, table []complex128, positions, points []int64) {
	panels := len(points)
	if panels == 0 {
		return
	}
	sums, jobs, positions = sums[:panels*WaveSums*Lanes], jobs[:panels*WaveRows*Lanes], positions[:panels*Lanes]
	for i, at := range positions {
		_, _ = table[at-points[i/Lanes]], table[at+points[i/Lanes]-1]
	}
	if sumWavesVector(&sums[0], &jobs[0], &table[0], &positions[0], &points[0], panels) {
		return
	}
	for i, at := range positions {
		panel, lane := i/Lanes, i%Lanes
		sumWavesPlain(sums[panel*WaveSums*Lanes+lane:], jobs[panel*WaveRows*Lanes+lane:], table[at-points[panel]:at+points[panel]])
	}
}

// sumWavesPlain sums one lane.
func sumWavesPlain(sums, job []float64, table []complex128) {
	get := func(row int) float64 { return job[row*Lanes] }
	decay, center, eta := get(WaveDecay), get(WaveCenter), get(WaveWeight)
	ts, tc := math.Sincos(2 * math.Pi * fraction(get(WaveTwist)))
	s, c := math.Sincos(2 * math.Pi * fraction(get(WaveTurns)))
	a := math.Exp(-0.5 * (get(WaveQuad) + decay*center*center))
	bend, points := math.Exp(-decay), len(table)/2
	e := math.Exp(-0.5 * decay * (1 - 2*center))
	up := wave{a * c, a * s, e * tc, e * ts, bend}
	e = math.Exp(-0.5 * decay * (1 + 2*center))
	down := wave{a * c, a * s, e * tc, -e * ts, bend}
	down.next()
	p := up.sum(table, points, 1, -center*eta, eta)
	q := down.sum(table, points-1, -1, -center*eta-eta, -eta)
	for i, v := range q {
		p[i] += v
	}
	delta, re, im := get(WaveOffset), get(WaveReal), get(WaveImag)
	sums[0], sums[Lanes] = re*p[0], im*p[1]
	sums[2*Lanes], sums[3*Lanes] = re*(p[3]+delta*p[0]), im*(delta*p[1]-p[2])
	sums[4*Lanes] = re * (get(WaveSquare)*p[0] + 2*delta*p[3] - p[4])
}

// A wave is V_k and V_{k+1}/V_k, which is multiplied by bend at each term.
type wave struct{ re, im, stepRe, stepIm, bend float64 }

func (w *wave) next() {
	w.re, w.im = w.re*w.stepRe-w.im*w.stepIm, w.re*w.stepIm+w.im*w.stepRe
	w.stepRe *= w.bend
	w.stepIm *= w.bend
}

// sum sums half the terms of a table, starting at index at.
func (w wave) sum(table []complex128, at, step int, weight, eta float64) [WaveSums]float64 {
	var p0, q0, p1, q1, p2 float64
	for range len(table) / 2 {
		e := table[at]
		re, im := w.re*real(e)-w.im*imag(e), w.re*imag(e)+w.im*real(e)
		p0 += re
		q0 += im
		re *= weight
		p1 += re
		q1 += weight * im
		p2 += weight * re
		w.next()
		at += step
		weight += eta
	}
	return [WaveSums]float64{p0, q0, p1, q1, p2}
}

// fraction returns a phase minus its integer number of turns.
func fraction(turns float64) float64 { return turns - math.RoundToEven(turns) }
