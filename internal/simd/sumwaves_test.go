package simd

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// TestSumWaves compares every set with the formula, for waves of every width, turn and amplitude,
// and for lanes without a wave.
func TestSumWaves(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 5))
		table := testkit.Numbers(400, func(int) complex128 { return complex(rng.NormFloat64(), rng.NormFloat64()) })
		for _, panels := range []int{1, 2, 5} {
			counts := testkit.Numbers(panels, func(i int) int64 { return int64(16 + 4*i) })
			most := 16 + 4*panels
			jobs, positions := make([]float64, panels*WaveRows*Lanes), make([]int64, panels*Lanes)
			row := func(i, r int) *float64 { return &jobs[(i/Lanes*WaveRows+r)*Lanes+i%Lanes] }
			for i := range positions {
				positions[i] = int64(most + rng.IntN(len(table)-2*most))
				*row(i, WaveDecay) = []float64{0, 1e-9, 0.01, 0.3}[i%4] * rng.Float64()
				*row(i, WaveCenter) = rng.Float64() - 0.5
				*row(i, WaveQuad) = []float64{0, 3, 60, 1e4}[i/4%4]
				*row(i, WaveWeight), *row(i, WaveOffset), *row(i, WaveSquare) = 0.5+rng.Float64(), rng.NormFloat64(), rng.NormFloat64()
				*row(i, WaveReal), *row(i, WaveImag) = 1+rng.Float64(), -1-rng.Float64()
				*row(i, WaveTurns), *row(i, WaveTwist) = 3*rng.NormFloat64(), []float64{0, 0.4, 0.01}[i%3]*rng.NormFloat64()
			}
			sums := make([]float64, panels*WaveSums*Lanes)
			SumWaves(sums, jobs, table, positions, counts)
			for i, at := range positions {
				var want [3]complex128
				size, points := 0.0, int(counts[i/Lanes])
				for k := -points; k < points; k++ {
					x := float64(k)
					amplitude := math.Exp(-0.5 * (*row(i, WaveQuad) + *row(i, WaveDecay)*(x-*row(i, WaveCenter))*(x-*row(i, WaveCenter))))
					sin, cos := math.Sincos(2 * math.Pi * (*row(i, WaveTurns) + *row(i, WaveTwist)*x))
					v := complex(amplitude*cos, amplitude*sin) * table[int(at)+k]
					weight := complex(*row(i, WaveWeight)*(x-*row(i, WaveCenter)), 0)
					want[0], want[1], want[2] = want[0]+v, want[1]+weight*v, want[2]+weight*weight*v
					size += amplitude
				}
				delta, re, im := complex(*row(i, WaveOffset), 0), *row(i, WaveReal), *row(i, WaveImag)
				first := delta*want[0] - 1i*want[1]
				second := complex(*row(i, WaveSquare), 0)*want[0] - 2i*delta*want[1] - want[2]
				for r, want := range []float64{re * real(want[0]), im * imag(want[0]), re * real(first), im * imag(first), re * real(second)} {
					got := sums[(i/Lanes*WaveSums+r)*Lanes+i%Lanes]
					if !(math.Abs(got-want) <= 1e-13*size*math.Pow(2*float64(points), float64(r/2))) {
						t.Errorf("%v, %d panels, wave %d: sum %d is %v, want %v", use, panels, i, r, got, want)
					}
				}
			}
		}
	})
}
