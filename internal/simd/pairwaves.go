package simd

import "math"

// Rows of a panel of eight waves (PairWaves), and the numbers of one.
const (
	PairDecay  = iota // P
	PairCenter        // Z
	PairLow           // what rounding took from Z
	PairCycles        // frequency on the grid, a whole number
	PairPart          // and the rest of it
	PairPhase         // turns at X = 0
	PairRows
)

// A PairGrid contains the numbers of a table that PairWaves needs.
type PairGrid [16]float64

// NewPairGrid takes P₀, the step h of the frequencies, √(2π)/T, the span of the rows, the number of frequencies after which they
// repeat themselves or 0, the place of frequency 0, and how many standard deviations of a Gaussian count.
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

// PairWaves writes jobs and places of SumWaves for the products ψ_jψ_k and ψ_jψ_k* of the wave one [PairRows] with each of the
// panels of waves [panels,PairRows,8]: two panels for each, and to row 7 of pairs [panels,8,8] the points that the moments are
// about. In WaveExtent of each job it leaves P·span² − 2·log of the envelope's greatest value, in WaveReach how many frequencies
// it reaches on each side. It reports false, and does nothing, if the instruction set in use has no such kernel.
func PairWaves(jobs []float64, places []int64, pairs, one, waves []float64, grid *PairGrid) bool {
	panels := len(waves) / (PairRows * Lanes)
	if panels == 0 {
		return use != Plain
	}
	jobs, places = jobs[:2*panels*WaveRows*Lanes], places[:2*panels*Lanes]
	pairs, one = pairs[:panels*Lanes*Lanes], one[:PairRows]
	return pairWavesVector(&jobs[0], &places[0], &pairs[7*Lanes], &one[0], &waves[0], &grid[0], panels)
}
