package simd

// A Set is an instruction set of the kernels.
type Set uint8

const (
	Plain  Set = iota // Go, on every processor
	AVX2              // AVX2 and FMA: four lanes, sixteen registers
	AVX512            // AVX-512 F and DQ: eight lanes, thirty-two registers
)

var names = [...]string{Plain: "go", AVX2: "avx2", AVX512: "avx512"}

// String returns "go", "avx2" or "avx512".
func (s Set) String() string { return names[s] }
