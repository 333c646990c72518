package cpu

import "gonum.org/v1/gonum/floats"

// dots fills c[i*ldc+j] (+)= Σ_r a[i*lda+r]·b[j*ldb+r] for i < m, j < n, r < k.
// Each sum is gonum's inner product, two lanes wide in assembly on amd64 (1.5
// times a register-blocked loop in Go); it goes through r in one order,
// whatever m and n are.
func dots(c []float64, ldc int, a []float64, lda, m int, b []float64, ldb, n, k int, add bool) {
	for i := range m {
		ai, ci := a[i*lda:][:k], c[i*ldc:][:n]
		for j := range ci {
			s := floats.Dot(ai, b[j*ldb:][:k])
			if add {
				s += ci[j]
			}
			ci[j] = s
		}
	}
}
