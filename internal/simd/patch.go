package simd

const (
	// PatchSums is the number of sums of SumPatch.
	PatchSums = 10
	// PatchColumns is the smallest number of columns of SumPatch.
	PatchColumns = 32
	// patchOut is PatchSums, rounded up to whole vectors.
	patchOut = 16
)

// PatchWork returns the length of the workspace of SumPatch.
func PatchWork(rows int) int { return Lanes * (PatchSums + 2*(rows+Lanes)) }

// SumPatch writes sums over a patch E of rows of a table of complex numbers, weighted by v_i for its rows and w_j for
// its columns,
//
//	Σ_ij v_i E_ij w_j · 1, x_i, x_i², y_j, y_j²
//
// real and imaginary parts, to sums. The real parts of row i begin at table[2·width·i], the imaginary parts width
// later. v and w are [3,n]: real parts, imaginary parts, and x or y, with a multiple of 8 rows or columns, at least
// PatchColumns columns, and zeros from rows on. If twisted is false, the imaginary parts of the weights are not used.
// work has PatchWork(rows) finite numbers.
func SumPatch(sums *[PatchSums]float64, table []float64, width, rows int, v, w, work []float64, twisted bool) {
	heights, columns := len(v)/3, len(w)/3
	_, _ = table[(2*rows-1)*width+columns-1], work[PatchWork(rows)-1]
	var out [patchOut]float64
	if sumPatchVector(&out[0], &table[0], width, rows, &v[0], heights, &w[0], columns, &work[0], twisted) {
		*sums = [PatchSums]float64(out[:])
		return
	}
	sumPatchPlain(sums, table, width, rows, v, w, twisted)
}

// sumPatchPlain is SumPatch.
func sumPatchPlain(sums *[PatchSums]float64, table []float64, width, rows int, v, w []float64, twisted bool) {
	heights, columns := len(v)/3, len(w)/3
	weight := func(w []float64, n, i int) complex128 {
		if twisted {
			return complex(w[i], w[n+i])
		}
		return complex(w[i], 0)
	}
	*sums = [PatchSums]float64{}
	for i := range rows {
		re, im := table[2*width*i:][:columns], table[2*width*i+width:][:columns]
		a, x := weight(v, heights, i), v[2*heights+i]
		var zero, one, two complex128
		for j := range columns {
			e, y := complex(re[j], im[j])*weight(w, columns, j), w[2*columns+j]
			zero += e
			e = complex(y*real(e), y*imag(e))
			one += e
			two += complex(y*real(e), y*imag(e))
		}
		for s, z := range [...]complex128{zero, complex(x*real(zero), x*imag(zero)), complex(x*x*real(zero), x*x*imag(zero)), one, two} {
			z *= a
			sums[2*s] += real(z)
			sums[2*s+1] += imag(z)
		}
	}
}
