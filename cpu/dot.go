package cpu

// dots fills c[i*ldc+j] (+)= Σ_r a[i*lda+r]·b[j*ldb+r] for i < m, j < n, r < k.
// Four rows of a meet two of b at a time, so that eight sums run in registers;
// each sum goes through r in order, whatever m and n are.
func dots(c []float64, ldc int, a []float64, lda, m int, b []float64, ldb, n, k int, add bool) {
	i := 0
	for ; i+4 <= m; i += 4 {
		a0, a1 := a[i*lda:][:k], a[(i+1)*lda:][:k]
		a2, a3 := a[(i+2)*lda:][:k], a[(i+3)*lda:][:k]
		j := 0
		for ; j+2 <= n; j += 2 {
			var s [8]float64
			dot4x2(&s, a0, a1, a2, a3, b[j*ldb:][:k], b[(j+1)*ldb:][:k])
			for p := range 4 {
				store(c, (i+p)*ldc+j, s[2*p], add)
				store(c, (i+p)*ldc+j+1, s[2*p+1], add)
			}
		}
		for ; j < n; j++ {
			bj := b[j*ldb:][:k]
			store(c, i*ldc+j, dot(a0, bj), add)
			store(c, (i+1)*ldc+j, dot(a1, bj), add)
			store(c, (i+2)*ldc+j, dot(a2, bj), add)
			store(c, (i+3)*ldc+j, dot(a3, bj), add)
		}
	}
	for ; i < m; i++ {
		for j := range n {
			store(c, i*ldc+j, dot(a[i*lda:][:k], b[j*ldb:][:k]), add)
		}
	}
}

func store(c []float64, at int, v float64, add bool) {
	if add {
		v += c[at]
	}
	c[at] = v
}

func dot4x2(s *[8]float64, a0, a1, a2, a3, b0, b1 []float64) {
	n := len(a0)
	a1, a2, a3, b0, b1 = a1[:n], a2[:n], a3[:n], b0[:n], b1[:n]
	var s0, s1, s2, s3, s4, s5, s6, s7 float64
	for r, p0 := range a0 {
		q0, q1 := b0[r], b1[r]
		s0 += p0 * q0
		s1 += p0 * q1
		p1 := a1[r]
		s2 += p1 * q0
		s3 += p1 * q1
		p2 := a2[r]
		s4 += p2 * q0
		s5 += p2 * q1
		p3 := a3[r]
		s6 += p3 * q0
		s7 += p3 * q1
	}
	*s = [8]float64{s0, s1, s2, s3, s4, s5, s6, s7}
}

func dot(a, b []float64) float64 {
	b = b[:len(a)]
	var s float64
	for r, v := range a {
		s += v * b[r]
	}
	return s
}
