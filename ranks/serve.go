package ranks

import (
	"errors"
	"fmt"

	"github.com/vssgp/vssgp/spectral"
)

// Serve works for rank 0's backends until it Quits. open opens this rank's own,
// by the spec that New was given; its errors, and those of the passes, become
// rank 0's, which decides what follows.
func Serve(c Comm, open func(spec string) (spectral.Backend, error)) error {
	n := newNode(c)
	var inner spectral.Backend
	for {
		var h header
		n.Broadcast(h[:], 0)
		n.lap(&n.times.Waiting)
		var err error
		switch o := op(h[0]); o {
		case opQuit:
			return nil
		case opStart:
			inner, err = open(n.broadcastText(""))
			err = n.agree(err)
		case opStop:
			if inner != nil {
				err = inner.Close()
				inner = nil
			}
			err = n.agree(err)
		case opOpen:
			n.sets[int(h[1])], err = n.open(inner, h, nil)
		case opClose:
			err = n.agree(n.sets[int(h[1])].close())
			delete(n.sets, int(h[1]))
		default:
			s := n.sets[int(h[1])]
			if s == nil {
				return fmt.Errorf("ranks: rank %d knows no rows %d", n.Rank(), int(h[1]))
			}
			err = s.run(o, work{all: h[2] == 1, outputs: int(h[2]), cov: h[3] == 1})
		}
		_ = err // rank 0 has it, by agree
	}
}

// work is what a pass is about; on the other ranks hardly anything.
type work struct {
	moments    *spectral.Moments
	features   *spectral.Features
	gradient   *spectral.Features
	sums       *spectral.FactorisedSums
	weights    *spectral.Weights
	places     []int
	all        bool
	prediction *spectral.Prediction
	posterior  *spectral.Posterior
	outputs    int
	cov        bool
	solution   *spectral.Solution
	lambda     float64
	bar        spectral.SolvedAdjoint
}

// run is one pass, called on all ranks alike.
func (s *set) run(o op, w work) error {
	switch {
	case o == opMoments && s.windows > 1:
		return s.gatherMoments(w.moments, w.features)
	case o == opMoments:
		return s.sumMoments(w.moments, w.features)
	case o == opPullback && s.windows > 1:
		return s.pullbackWindows(w.gradient, w.features, w.moments)
	case o == opPullback:
		return s.pullback(w.gradient, w.features, w.moments)
	case o == opFactorised:
		return s.factorised(w.sums, w.features, w.weights, w.places, w.all)
	case o == opPredict:
		return s.predict(w.prediction, w.features, w.posterior, w.outputs, w.cov)
	case o == opSolve:
		lambda := []float64{w.lambda}
		s.broadcast(lambda)
		return s.solve(w.solution, w.features, lambda[0])
	case o == opPullSolved:
		bar := []float64{w.bar.Inverse, w.bar.Outer, w.bar.Linear}
		s.broadcast(bar)
		return s.pullSolved(w.gradient, w.features, spectral.SolvedAdjoint{Inverse: bar[0], Outer: bar[1], Linear: bar[2]})
	}
	return errors.New("ranks: unknown work")
}

// places are where the given rows lie, nil for all.
func (s *set) places(rows []int) []int {
	if rows == nil || s.place == nil {
		return rows
	}
	places := make([]int, len(rows))
	for i, row := range rows {
		places[i] = s.place[row]
	}
	return places
}
