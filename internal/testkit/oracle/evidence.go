package oracle

import "math"

// LogEvidence returns log p(Y|X) of a tiny model (L = 1, Q = 1, D = 1, K = 1 or 2) by quadrature:
//
//	p(Y|X) = ∫ N(y; 0, ΦΦᵀ + τ⁻¹I) Π_k N(w_k; 0, 1) U(b_k; 0, 2π) dw_k db_k
//
// It uses the trapezoidal rule, with nw points over |w| ≤ 6 and nb points for b. Over a full
// period of b the rule converges faster than any power of the step. The result depends on σ², l,
// p, z, τ and the windows, not on q.
func LogEvidence(p *Params, xs [][]float64, y []float64, nw, nb int) float64 {
	_, perComponent, m, q := p.Dims()
	if m != perComponent || q != 1 || m > 2 {
		panic("oracle: evidence by quadrature is for L = 1, Q = 1, K at most 2")
	}
	grids := make([][]point, m)
	for k := range m {
		grids[k] = grid(p, xs, k, nw, nb)
	}
	var sum float64
	cov := array(len(xs), len(xs))
	for _, first := range grids[0] {
		if m == 1 {
			sum += first.weight * density(p, cov, y, first.phi)
			continue
		}
		for _, second := range grids[1] {
			sum += first.weight * second.weight * density(p, cov, y, first.phi, second.phi)
		}
	}
	return math.Log(sum)
}

// A point is a node (w_k, b_k) of the grid, with its prior weight and φ_k at every row.
type point struct {
	weight float64
	phi    []float64 // [N]
}

func grid(p *Params, xs [][]float64, k, nw, nb int) (points []point) {
	const reach = 6
	step := 2.0 * reach / float64(nw-1)
	for i := range nw {
		w := -reach + step*float64(i)
		prior := step * math.Exp(-w*w/2) / math.Sqrt(2*math.Pi)
		for j := range nb {
			b := 2 * math.Pi * float64(j) / float64(nb)
			pt := point{weight: prior / float64(nb)}
			for _, x := range xs {
				pt.phi = append(pt.phi, Feature(p, x, []float64{w}, b, k))
			}
			points = append(points, pt)
		}
	}
	return points
}

// Feature returns φ_k(x) for frequency w and phase b, without expectations.
func Feature(p *Params, x, w []float64, b float64, k int) float64 {
	_, perComponent, _, nq := p.Dims()
	i := k / perComponent
	angle := b
	for q := range nq {
		d := x[q] - p.Location[k][q]
		angle += w[q]*d/p.Lengthscale[i][q] + 2*math.Pi*p.Frequency[i][q]*d
	}
	return Gate(p, x, k) * math.Sqrt(amplitude2(p, k)) * math.Cos(angle)
}

// density returns N(y; 0, Σ_k φ_k φ_kᵀ + τ⁻¹I) by a Cholesky factorization that overwrites cov
// [N][N].
func density(p *Params, cov [][]float64, y []float64, phis ...[]float64) float64 {
	for n := range y {
		for o := range n + 1 {
			cov[n][o] = 0
			for _, phi := range phis {
				cov[n][o] += phi[n] * phi[o]
			}
		}
		cov[n][n] += 1 / p.NoisePrecision
	}
	logDensity := 0.0
	r := make([]float64, 0, 8) // r = L⁻¹y
	for n := range y {
		for o := range n + 1 {
			for i := range o {
				cov[n][o] -= cov[n][i] * cov[o][i]
			}
			if o < n {
				cov[n][o] /= cov[o][o]
			} else {
				cov[n][n] = math.Sqrt(cov[n][n])
			}
		}
		v := y[n]
		for i := range n {
			v -= cov[n][i] * r[i]
		}
		r = append(r, v/cov[n][n])
		logDensity -= r[n]*r[n]/2 + math.Log(cov[n][n]) + math.Log(2*math.Pi)/2
	}
	return math.Exp(logDensity)
}
