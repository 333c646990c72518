package simd

// Lattice performs stage m ≥ 1 of Burg's recursion with reflection coefficient k in place, for all n ≥ m:
//
//	f_n ← f_n + k·b_{n−1},   b_n ← b_{n−1} + k·f_n,
//
// and returns the sums of the next stage, Σ_{n>m} v_n f_n b_{n−1} and Σ_{n>m} v_n (f_n² + b²_{n−1}), v_n = w_{n−lag}. f and b
// have the same length, more than m, and lag ≤ m+1.
func Lattice(f, b, w []float64, lag, m int, k float64) (products, squares float64) {
	n := len(f)
	b = b[:n]
	s := stage{f: f, b: b, w: w, lag: lag, k: k, was: b[m-1]}
	s.step(m)
	from := m + 1
	if head := (from + Lanes - 1) / Lanes * Lanes; use != Plain && head+Lanes <= n { // aligned vectors
		s.plain(from, head)
		whole := (n - head) / Lanes * Lanes
		var sums [2 * Lanes]float64
		next := b[head+whole-1]
		latticeVector(&sums[0], &f[head], &b[head], &w[head-lag], &k, &s.was, whole)
		for i := range Lanes {
			s.products, s.squares = s.products+sums[i], s.squares+sums[Lanes+i]
		}
		s.was, from = next, head+whole
	}
	s.plain(from, n)
	return s.products, s.squares
}

// A stage processes the samples in order. was is the old value of b at the previous sample.
type stage struct {
	f, b, w                   []float64
	lag                       int
	k, was, products, squares float64
}

// step updates f and b at a sample.
func (s *stage) step(n int) {
	x, y := s.f[n]+s.k*s.was, s.was+s.k*s.f[n]
	s.f[n], s.b[n], s.was = x, y, s.b[n]
}

// plain is the plain loop over samples from … to−1.
func (s *stage) plain(from, to int) {
	if from >= to {
		return
	}
	f, b, w := s.f[from:to], s.b[from:to], s.w[from-s.lag:][:to-from]
	b, w = b[:len(f)], w[:len(f)]
	k, was, is := s.k, s.was, s.b[from-1]
	var products, ofF, ofB float64
	for i, v := range f {
		x, y := v+k*was, was+k*v
		weighted := w[i] * x
		products += weighted * is
		ofF += weighted * x
		ofB += w[i] * is * is
		was, is = b[i], y
		f[i], b[i] = x, y
	}
	s.was, s.products, s.squares = was, s.products+products, s.squares+ofF+ofB
}

// Reflect increases the order in Levinson's recursion with reflection coefficient k, in place:
//
//	a_j ← a_j + k·s_j,   s_j ← s_j + k·a_j,
//
// and returns Σ_j a_j r_j. The slices have equal length.
func Reflect(a, s, r []float64, k float64) (product float64) {
	s, r = s[:len(a)], r[:len(a)]
	done := 0
	if n := len(a) / (2 * Lanes) * (2 * Lanes); use != Plain && n > 0 {
		var sums [Lanes]float64
		reflectVector(&sums[0], &a[0], &s[0], &r[0], &k, n)
		for _, v := range sums {
			product += v
		}
		done = n
	}
	for j := done; j < len(a); j++ {
		x, y := a[j]+k*s[j], s[j]+k*a[j]
		a[j], s[j] = x, y
		product += x * r[j]
	}
	return product
}

// Dot returns Σ_j a_j b_j. The slices have equal length.
func Dot(a, b []float64) (sum float64) {
	b = b[:len(a)]
	done := 0
	if n := len(a) / (4 * Lanes) * (4 * Lanes); use != Plain && n > 0 {
		var sums [Lanes]float64
		dotVector(&sums[0], &a[0], &b[0], n)
		for _, v := range sums {
			sum += v
		}
		done = n
	}
	for j := done; j < len(a); j++ {
		sum += a[j] * b[j]
	}
	return sum
}
