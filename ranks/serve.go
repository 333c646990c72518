package ranks

import (
	"fmt"

	"github.com/vssgp/vssgp/backend"
)

// Serve serves rank 0's backends until rank 0 calls Quit. open opens this rank's backend for the
// spec given to New. Errors of open and of the passes are reported to rank 0, which handles them.
func Serve(c Comm, open func(spec string) (backend.Backend, error)) error {
	n := newNode(c)
	sets := map[int]*set{}
	var inner backend.Backend
	for {
		var h header
		n.Broadcast(h[:], 0)
		n.lap(&n.times.Waiting)
		id, err := int(h[1]), error(nil)
		switch o := op(h[0]); o {
		case opQuit:
			return nil
		case opStart:
			inner, err = open(n.broadcastText(""))
			_ = n.agree(err)
		case opStop:
			if inner != nil {
				err = inner.Close()
				inner = nil
			}
			_ = n.agree(err)
		case opOpen:
			sets[id] = newSet(n, h)
			_ = sets[id].open(inner, nil)
		case opClose:
			_ = n.agree(sets[id].close())
			delete(sets, id)
		default:
			if sets[id] == nil {
				return fmt.Errorf("ranks: rank %d does not have rows %d", n.Rank(), id)
			}
			sets[id].serve(o, h[2:])
		}
	}
}

// serve takes part in a pass of rank 0's Rows. Rank 0 receives any error from agree.
func (s *set) serve(o op, more []float64) {
	switch o {
	case opMoments:
		_ = s.moments(nil, nil)
	case opPullback:
		_ = s.pullback(nil, nil, nil)
	case opFactorized:
		_ = s.factorized(nil, nil, nil, nil, int(more[0]))
	case opPredict:
		_ = s.predict(nil, nil, nil, int(more[0]), more[1] == 1)
	case opSolve:
		_ = s.solve(nil, nil, more[0])
	case opPullSolved:
		_ = s.pullSolved(nil, nil, backend.SolvedAdjoint{Inverse: more[0], Outer: more[1], Linear: more[2]})
	}
}
