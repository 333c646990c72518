package oracle

import (
	"math"
	"math/big"
	"sync"
)

// Gate returns g(x) for the window of feature k's component, along input 0, or 1 without
// windows.
func Gate(p *Params, x []float64, k int) float64 {
	if len(p.WindowCenter) == 0 {
		return 1
	}
	_, perComponent, _, _ := p.Dims()
	return gate(p.WindowCenter, p.WindowLength, p.ComponentWindow[k/perComponent], x[0])
}

// gate returns g_v(t) = cos(π(t − x_v)/W) for |t − x_v| < W/2, else 0. The first and the last
// window are 1 beyond their centers.
func gate(center []float64, length float64, v int, t float64) float64 {
	d := t - center[v]
	if v == 0 && d <= 0 {
		return 1
	}
	if v == len(center)-1 && d >= 0 {
		return 1
	}
	if math.Abs(d) >= length/2 {
		return 0
	}
	return math.Cos(math.Pi * d / length)
}

// sinc returns sin(h)/h, or 1 at 0.
func sinc(h float64) float64 {
	if h == 0 {
		return 1
	}
	return math.Sin(h) / h
}

// expectCos returns E[cos(w·x̄ + 2π p·u + r·b)] for w ~ N(μ_k, diag Σ_k) and b ~ U(α_k, β_k), with
// x̄ = u/l (identity 2 of the paper's appendix). r is the number of phases in the sum: u = x − z
// and r = 1 for a feature, u = (x − z) + (y − z) and r = 2 or u = x − y and r = 0 for products of
// two features.
func expectCos(p *Params, u []float64, r float64, k int) float64 {
	_, perComponent, _, nq := p.Dims()
	i := k / perComponent
	var decay, angle float64
	for q := range nq {
		bar := u[q] / p.Lengthscale[i][q]
		decay += p.FreqVar[k][q] * bar * bar
		angle += p.FreqMean[k][q]*bar + 2*math.Pi*p.Frequency[i][q]*u[q]
	}
	c := (p.PhaseLower[k] + p.PhaseUpper[k]) / 2
	h := (p.PhaseUpper[k] - p.PhaseLower[k]) / 2
	return sinc(r*h) * math.Exp(-decay/2) * math.Cos(angle+r*c)
}

// amplitude2 returns 2σ²_i/K of the component of feature k.
func amplitude2(p *Params, k int) float64 {
	_, perComponent, _, _ := p.Dims()
	return 2 * p.Variance[k/perComponent] / float64(perComponent)
}

// Mean returns E[φ_k(x)] (eq. exp_Phi), including the gate of k's window.
func Mean(p *Params, x []float64, k int) float64 {
	u := make([]float64, len(x))
	for q := range x {
		u[q] = x[q] - p.Location[k][q]
	}
	return Gate(p, x, k) * math.Sqrt(amplitude2(p, k)) * expectCos(p, u, 1, k)
}

// Cross returns E[φ_k(x) φ_k(y)], the product of a feature at two inputs. By cos s cos t = ½ cos(s
// − t) + ½ cos(s + t) it is
//
//	(σ²/K) g(x) g(y) (E cos(θ(x) − θ(y)) + E cos(θ(x) + θ(y) + 2b)).
func Cross(p *Params, x, y []float64, k int) float64 {
	minus, plus := make([]float64, len(x)), make([]float64, len(x))
	for q := range x {
		z := p.Location[k][q]
		minus[q] = x[q] - y[q]
		plus[q] = (x[q] - z) + (y[q] - z)
	}
	return Gate(p, x, k) * Gate(p, y, k) * amplitude2(p, k) / 2 *
		(expectCos(p, minus, 0, k) + expectCos(p, plus, 2, k))
}

// Second returns E[φ_k(x)²], the diagonal of eq. exp_PhiT_Phi for one row.
func Second(p *Params, x []float64, k int) float64 { return Cross(p, x, x, k) }

// MeanMatrix returns E[Φ] [N][M].
func MeanMatrix(p *Params, xs [][]float64) [][]float64 {
	_, _, m, _ := p.Dims()
	phi := array(len(xs), m)
	for n, x := range xs {
		for k := range m {
			phi[n][k] = Mean(p, x, k)
		}
	}
	return phi
}

// Gram returns E[ΦᵀΦ] [M][M] (eq. exp_PhiT_Phi), off the diagonal E[Φ]ᵀE[Φ] by independence.
func Gram(p *Params, xs [][]float64) [][]float64 { return gram(p, MeanMatrix(p, xs), xs) }

func gram(p *Params, phi, xs [][]float64) [][]float64 {
	_, _, m, _ := p.Dims()
	g := array(m, m)
	for j := range m {
		for k := range m {
			for n, x := range xs {
				if j == k {
					g[j][k] += Second(p, x, k)
				} else {
					g[j][k] += phi[n][j] * phi[n][k]
				}
			}
		}
	}
	return g
}

// precision is the number of bits of angles: 53 for the result, 30 for up to 10⁹ turns, 53 for the
// low half of a product, and a reserve.
const precision = 256

// twoPi is 2π with the full precision.
var twoPi = func() *big.Float {
	pi, _, err := big.ParseFloat("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798",
		10, precision, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	return pi.Mul(pi, number(2))
}()

func number(v float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(v) }

func add(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(precision).Add(a, b) }
func sub(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(precision).Sub(a, b) }
func mul(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(precision).Mul(a, b) }
func quo(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(precision).Quo(a, b) }

// reduce returns an angle modulo 2π in [−2π, 2π], with the accuracy of float64 for any angle.
func reduce(angle *big.Float) float64 {
	turns, _ := quo(angle, twoPi).Int(nil)
	whole := new(big.Float).SetPrec(precision).SetInt(turns)
	r, _ := sub(angle, mul(whole, twoPi)).Float64()
	return r
}

// Angle returns Σ_q ω_q (x_q − z_q) + c modulo 2π, rounded once at the end, or NaN if an
// argument is not finite.
func Angle(omega, x, z []float64, c float64) float64 {
	plain := c
	for q := range omega {
		plain += omega[q] * (x[q] - z[q])
	}
	if math.IsNaN(plain) || math.IsInf(plain, 0) {
		return math.NaN()
	}
	if len(omega) != 1 {
		return angle(omega, x, z, c)
	}
	key := [4]float64{omega[0], x[0], z[0], c}
	angles.Lock()
	defer angles.Unlock()
	r, known := angles.known[key]
	if !known {
		if len(angles.known) == maxAngles {
			clear(angles.known)
		}
		r = angle(omega, x, z, c)
		angles.known[key] = r
	}
	return r
}

// angles contains the latest angles of one input, because several checks of a backend need the same ones.
var angles = struct {
	sync.Mutex
	known map[[4]float64]float64
}{known: map[[4]float64]float64{}}

const maxAngles = 1 << 18

// angle implements Angle for finite arguments.
func angle(omega, x, z []float64, c float64) float64 {
	sum := number(c)
	for q := range omega {
		sum = add(sum, mul(number(omega[q]), sub(number(x[q]), number(z[q]))))
	}
	return reduce(sum)
}
