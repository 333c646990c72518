package optimise

import (
	"cmp"
	"slices"

	"github.com/vssgp/vssgp/internal/cost"
	"github.com/vssgp/vssgp/internal/lbfgs"
	"github.com/vssgp/vssgp/variational"
)

// Work is an estimate of a run's work and memory.
type Work struct {
	// Gradients are evaluations of the bound with its gradient, and MiniBatches
	// steps on as many rows as BatchRows; a line search that steps back takes
	// more, convergence fewer.
	Gradients, MiniBatches, BatchRows int
	HistoryBytes                      float64 // of the optimiser's steps and gradients
	// Exact says that the matrix of the exact bound is needed at some time, and
	// Bound that the coefficients' start takes one bound of all rows. From fewer
	// rows it takes MeanFlops.
	Exact, Bound bool
	MeanFlops    float64
}

// NewWork estimates a run over so many rows. fitted says that the parameters already
// have coefficients.
func NewWork(rows int, shape variational.Shape, s Settings, fitted bool) (w Work) {
	s.Inference = cmp.Or(s.Inference, variational.Exact)
	stages := s.stages(rows, shape.M())
	for _, stage := range stages {
		n := Count(shape, stage.free, s.Ties)
		switch {
		case n == 0:
		case stage.stochastic:
			w.MiniBatches += stage.iterations
		default:
			w.Gradients += stage.iterations + 1
			// Pairs, and the point and the gradient where the optimiser stands, where windows stand and where it tries, a step and workspace.
			w.HistoryBytes = max(w.HistoryBytes, 8*float64(n*(2*min(lbfgs.Memory, stage.iterations)+8)))
		}
	}
	w.BatchRows = s.batchSize(rows)
	w.Exact = s.Inference == variational.Exact
	if s.needsCoefficients(stages) && !fitted {
		from, direct := meanFrom(rows, shape.M(), len(shape.Windows.Center) > 0, s.Inference)
		w.Exact = w.Exact || direct
		w.Bound = from == rows
		n, m, d := float64(from), float64(shape.M()), float64(shape.D)
		switch {
		case w.Bound:
		case direct: // without windows
			w.MeanFlops = cost.Moments(n, m, d) + cost.Factor(shape.Offsets())
		default:
			w.MeanFlops = (variational.ConjugateSteps + 1) * cost.Factorised(n, m, float64(shape.Q), d)
		}
	}
	return w
}

// Count is Coordinates.N for parameters of the shape.
func Count(shape variational.Shape, free []string, ties Ties) (n int) {
	for _, t := range shape.Tensors() {
		if !slices.Contains(free, t.Name) || t.Coordinate == variational.PhaseEnd || shape.Constant(t) {
			continue
		}
		size := t.Size()
		switch {
		case ties.Twins && t.Name == variational.FrequencyMean:
			size = shape.M() / 2 * shape.Q
		case slices.Contains(ties.Tensors, t.Name):
			size = t.PerComponent(shape.L())
		case ties.Shared && t.Tieable && len(shape.Windows.Center) > 0:
			size = shape.Most() * t.PerComponent(shape.L())
		}
		if t.Coordinate == variational.Phase {
			size *= 2
		}
		n += size
	}
	return n
}
