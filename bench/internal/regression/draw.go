package regression

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// A drawer draws a function and returns its values at increasing x.
type drawer = func(random *rand.Rand, x []float64) []float64

// The families of kernels that peers are told.
const (
	rbfFamily      = "rbf"
	matern32Family = "matern32"
	ouFamily       = "ou"
)

func rbf(length float64) func(d float64) float64 {
	return func(d float64) float64 { return math.Exp(-0.5 * d * d / (length * length)) }
}

func matern32(length float64) func(d float64) float64 {
	return func(d float64) float64 {
		u := math.Sqrt(3) * d / length
		return (1 + u) * math.Exp(-u)
	}
}

// band is the kernel of a quasi-periodic function with a given frequency.
func band(length, frequency float64) func(d float64) float64 {
	return func(d float64) float64 { return rbf(length)(d) * math.Cos(2*math.Pi*frequency*d) }
}

// nugget makes covariance matrices numerically positive definite. Its standard deviation is 1e-4.
const nugget = 1e-8

// gp draws from a Gaussian process with kernel k.
func gp(k func(distance float64) float64) drawer {
	return func(random *rand.Rand, x []float64) []float64 {
		n := len(x)
		cov := mat.NewSymDense(n, nil)
		for i := range n {
			for j := i; j < n; j++ {
				cov.SetSym(i, j, k(x[j]-x[i]))
			}
			cov.SetSym(i, i, k(0)+nugget)
		}
		var chol mat.Cholesky
		if !chol.Factorize(cov) {
			panic("regression: a covariance matrix is not positive definite")
		}
		z := make([]float64, n)
		for i := range z {
			z[i] = random.NormFloat64()
		}
		var root mat.TriDense
		chol.LTo(&root)
		var f mat.VecDense
		f.MulVec(&root, mat.NewVecDense(n, z))
		return f.RawVector().Data
	}
}

// ou draws an Ornstein–Uhlenbeck process with variance 1.
func ou(length float64) drawer {
	return func(random *rand.Rand, x []float64) []float64 {
		f := make([]float64, len(x))
		f[0] = random.NormFloat64()
		for i := 1; i < len(x); i++ {
			keep := math.Exp(-(x[i] - x[i-1]) / length)
			f[i] = keep*f[i-1] + math.Sqrt(1-keep*keep)*random.NormFloat64()
		}
		return f
	}
}

// frequencySpread is the maximum relative difference of a frequency from its nominal value.
const frequencySpread = 0.1

// line draws a sinusoid with a random phase and about the given frequency.
func line(amplitude, frequency float64) drawer {
	return func(random *rand.Rand, x []float64) []float64 {
		w := 2 * math.Pi * frequency * (1 + frequencySpread*(2*random.Float64()-1))
		phase := 2 * math.Pi * random.Float64()
		return values(x, func(v float64) float64 { return amplitude * math.Sin(w*v+phase) })
	}
}

// threeLines draws a sum of three sinusoids. scale multiplies their frequencies.
func threeLines(scale float64) drawer {
	return sum(line(1, 0.731*scale), line(0.7, 1.913*scale), line(0.5, 3.37*scale))
}

// trend draws a straight line through 0 whose slope has the given standard deviation.
func trend(sd float64) drawer {
	return func(random *rand.Rand, x []float64) []float64 {
		slope := sd * random.NormFloat64()
		return values(x, func(v float64) float64 { return slope * v })
	}
}

// waves draws a decaying and a growing sinusoid over [0, 10].
func waves(random *rand.Rand, x []float64) []float64 {
	decaying, growing := line(1, 1.3/(2*math.Pi))(random, x), line(1, 3.1/(2*math.Pi))(random, x)
	for i, v := range x {
		decaying[i] = decaying[i]*math.Exp(-v/9) + growing[i]*math.Exp(v/9-1)
	}
	return decaying
}

// chirp draws a sinusoid whose frequency grows from 0.3 to 2.7 over [0, 10].
func chirp(random *rand.Rand, x []float64) []float64 {
	phase := 2 * math.Pi * random.Float64()
	return values(x, func(v float64) float64 { return math.Sin(2*math.Pi*(0.3*v+0.12*v*v) + phase) })
}

// step draws a function that jumps by 1 near 3 and by −2 near 6.5.
func step(random *rand.Rand, x []float64) []float64 {
	up, down := 2.5+random.Float64(), 6+random.Float64()
	return values(x, func(v float64) (f float64) {
		if v > up {
			f++
		}
		if v > down {
			f -= 2
		}
		return f
	})
}

// zero returns zeros.
func zero(_ *rand.Rand, x []float64) []float64 { return make([]float64, len(x)) }

// sum draws the sum of functions.
func sum(all ...drawer) drawer {
	return func(random *rand.Rand, x []float64) []float64 {
		f := make([]float64, len(x))
		for _, draw := range all {
			for i, v := range draw(random, x) {
				f[i] += v
			}
		}
		return f
	}
}

// values returns f(x).
func values(x []float64, f func(float64) float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = f(v)
	}
	return y
}
