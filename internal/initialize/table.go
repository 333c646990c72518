package initialize

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/optimize/lbfgs"
	"github.com/vssgp/vssgp/variational"
)

const (
	// TableFewest is the minimum number of rows of a table for this initialization.
	TableFewest = 20
	// TableParts is the number of components for several inputs. The initial length-scales of the
	// second are tableRatio times as long.
	TableParts, tableRatio = 2, 4
	// tableRows is the maximum number of rows of the exact Gaussian process, whose cost is
	// proportional to the cube of the rows. tableIterations is the maximum number of iterations.
	tableRows, tableIterations = 1000, 200
	// The number of features is tablePerRow times the number of rows, between fewestFeatures and
	// mostFeatures. It is less for many rows, so that the squared number of features times the
	// number of rows is at most tableCost.
	tablePerRow                  = 2
	fewestFeatures, mostFeatures = 1000, 2000
	tableCost                    = 1.6e10
	// tableRange is the maximum change of the logarithm of a parameter, which stays finite if it
	// has no effect.
	tableRange = 14
	// tableSalt distinguishes this random stream from the others.
	tableSalt = 0x7ab1e
)

// Table returns the initial parameters for several inputs if nothing determines the features. The
// frequencies are drawn at random, in pairs of cosine and sine, and are not optimized, so the
// features approximate a Gaussian process with a sum of squared exponentials. Its length-scales,
// variances and noise maximize the evidence of the exact Gaussian process on some of the rows.
func Table(ctx context.Context, data *backend.Data, s Settings, evaluator Evaluator) (*variational.Params, error) {
	v, err := tableEvidence(ctx, data, s, evaluator, 0)
	if err != nil {
		return nil, err
	}
	s.Method, s.Lengthscales, s.Frequencies = variational.SSGP, nil, nil
	for p := range TableParts {
		scales := make([]float64, data.Q)
		for q := range scales {
			scales[q] = math.Exp(v[2+p*(data.Q+1)+q])
		}
		s.Lengthscales, s.Frequencies = append(s.Lengthscales, scales), append(s.Frequencies, make([]float64, data.Q))
	}
	if s.Noise == 0 {
		s.Noise = math.Exp(-v[0])
	}
	s.Features = tableFeatures(data.N)
	for s.Features > 2 && evaluator.Fits(paperShape(data, s)) != nil {
		s.Features = s.Features / 4 * 2
	}
	p, err := Paper(data, s, evaluator)
	if err == nil {
		for i := range p.Variance {
			p.Variance[i] = math.Exp(v[1+i*(data.Q+1)])
		}
		orthogonalize(p)
	}
	return p, err
}

// orthogonalize makes the frequencies w of each Q successive pairs of a component orthogonal and
// keeps their norms, so that each is still N(0, I). The kernel of such orthogonal random features has a
// smaller error than with independent ones (Yu et al. 2016).
func orthogonalize(p *variational.Params) {
	size := 2 * p.Q * p.Q // of Q pairs
	for i := range p.L {
		own := p.FreqMean[i*p.K*p.Q:][:p.K*p.Q]
		for block := range slices.Chunk(own, size) {
			var basis [][]float64
			for k := 0; k < len(block); k += 2 * p.Q {
				w := block[k:][:p.Q]
				norm := floats.Norm(w, 2)
				for _, b := range basis {
					floats.AddScaled(w, -floats.Dot(w, b), b)
				}
				floats.Scale(1/floats.Norm(w, 2), w)
				basis = append(basis, slices.Clone(w))
				floats.Scale(norm, w)
				copy(block[k+p.Q:], w)
			}
		}
	}
}

// OutputFactors returns a factor for each output [D]. Divided by it, all outputs have the same noise
// variance under the kernel of Table, whose evidence is maximal. The first factor is 1.
func OutputFactors(ctx context.Context, data *backend.Data, s Settings, evaluator Evaluator) ([]float64, error) {
	v, err := tableEvidence(ctx, data, s, evaluator, data.D-1)
	if err != nil {
		return nil, err
	}
	factors := []float64{1}
	for _, f := range v[len(v)-(data.D-1):] {
		factors = append(factors, math.Exp(f))
	}
	return factors, nil
}

// tableFeatures returns the even number of features of each component for n rows.
func tableFeatures(n int) int {
	m := min(tablePerRow*n, mostFeatures, int(math.Sqrt(tableCost/float64(n))))
	return max(m, fewestFeatures) / TableParts / 2 * 2
}

// tableEvidence returns the coordinates of a gaussian on at most tableRows rows, fewer if memory is
// short, that maximize its evidence. The last coordinates are the given number of factors.
func tableEvidence(ctx context.Context, data *backend.Data, s Settings, evaluator Evaluator, factors int,
) ([]float64, error) {
	rows := *data
	n := min(data.N, tableRows)
	for n > TableFewest && evaluator.FitsInitialization(gaussianBytes(n, TableParts)) != nil {
		n /= 2
	}
	if n < data.N {
		rows = data.Some(rand.New(rand.NewPCG(s.Seed, tableSalt)).Perm(data.N)[:n])
	}
	variance := cmp.Or(sumSquares(data.Y)/float64(len(data.Y)), 1) // 1 if all outputs are zero
	v := []float64{math.Log(variance / paperNoise)}
	for p := range TableParts {
		v = append(v, math.Log(variance/TableParts))
		for q := range data.Q {
			_, sd := bayes.MeanSD(rows.X, q, data.Q)
			sd = cmp.Or(sd, 1) // 1 for a constant input
			v = append(v, math.Log(sd*math.Sqrt(float64(data.Q))*math.Pow(tableRatio, float64(p))))
		}
	}
	v = append(v, make([]float64, factors)...)
	evidence := newGaussian(ctx, &rows, TableParts, s.Priors).evidence
	state, err := lbfgs.Start(evidence, v) // copies v
	if err == nil {
		_, err = lbfgs.Maximize(evidence, state, lbfgs.Settings{
			Iterations: tableIterations, Gain: variational.BoundTolerance * float64(len(rows.Y)),
		})
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return v, nil // the initial coordinates are valid parameters
	}
	for i, x := range state.X {
		v[i] = min(max(x, v[i]-tableRange), v[i]+tableRange)
	}
	return v, nil
}
