package simd

import "math"

// Rows of a panel of eight waves (PairWaves), and indices of the numbers of one wave.
const (
	PairDecay  = iota // P
	PairCenter        // Z
	PairLow           // rounding error of Z
	PairCycles        // frequency on the grid, an integer
	PairPart          // fractional part of the frequency
	PairPhase         // turns at X = 0
	PairRows
)

// A PairGrid contains the parameters of a table for PairWaves.
type PairGrid [16]float64

// NewPairGrid returns the grid for P₀, the step h of the frequencies, √(2π)/T, the span of the
// rows, the period of the frequencies (or 0), the position of frequency 0, and the number of
// standard deviations of a Gaussian to include.
func NewPairGrid(p0, h, density, span, length float64, margin int, digits float64) *PairGrid {
	const wholes, integer = 3 << 51, 1 << 52
	perLength := 0.0
	if length > 0 {
		perLength = 1 / length
	}
	return &PairGrid{
		p0, h, density, span / 2, -span / 2, length, perLength, float64(margin) + integer,
		wholes, 1 / (2 * math.Pi), span * span, digits / h, 1e-300, math.Copysign(0, -1), integer, 1,
	}
}

// PairWaves writes jobs and positions of SumWaves for the products ψ_jψ_k and ψ_jψ_k* of the wave one
// [PairRows] with each of the panels of waves [panels,PairRows,8]: two panels each. It writes the
// points of the moments to row 7 of pairs [panels,8,8], P·span² − 2·log of the envelope's maximum
// to WaveExtent of each job, and the number of frequencies that it reaches on each side to
// WaveReach. If the instruction set in use has no such kernel, it does nothing and returns false.
func PairWaves(jobs []float64, positions []int64, pairs, one, waves []float64, grid *PairGrid) bool {
	panels := len(waves) / (PairRows * Lanes)
	if panels == 0 {
		return use != Plain
	}
	jobs, positions = jobs[:2*panels*WaveRows*Lanes], positions[:2*panels*Lanes]
	pairs, one = pairs[:panels*Lanes*Lanes], one[:PairRows]
	return pairWavesVector(&jobs[0], &positions[0], &pairs[7*Lanes], &one[0], &waves[0], &grid[0], panels)
}
