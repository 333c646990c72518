package simd

// startRows is the number of rows of numbers for the initial values of a panel's two chains.
const startRows = 8

// Starts contains, for each panel over even rows, either the first two rows and factors of its
// features or, if the features are stored in Cos and Sin, false in stepped.
type Starts struct {
	data    []float64 // [Count][8][8] z_0, w_0, z_1, w_1
	stepped []bool    // [Count]
}

// resize allocates memory for count panels.
func (s *Starts) resize(count int) {
	if cap(s.stepped) < count {
		s.data, s.stepped = Aligned(count*startRows*Lanes), make([]bool, count)
	}
	s.data, s.stepped = s.data[:count*startRows*Lanes], s.stepped[:count]
	clear(s.stepped)
}

// EvenFused reports whether features of even rows need not be stored for Factorized. Tiles may
// then exceed the L2 cache.
func EvenFused() bool { return use == AVX512 }

// ramp and square are t and t² for rows counted from the middle row, t = i − EvenMost.
var ramp, square [2 * EvenMost]float64

func init() {
	for i := range ramp {
		ramp[i] = float64(i - EvenMost)
		square[i] = ramp[i] * ramp[i]
	}
}
