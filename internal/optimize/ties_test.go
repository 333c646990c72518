package optimize

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/variational"
)

// begun returns parameters of a shape with distinct values that an initialization may have, and
// coefficients.
func begun(shape variational.Shape) *variational.Params {
	p := shape.Params()
	p.CoefMean, p.CoefVar = make([]float64, p.M()*p.D), make([]float64, p.M()*p.D)
	for _, t := range p.Tensors() {
		for i := range *t.Data {
			(*t.Data)[i] = 1 + float64(i)/float64(len(*t.Data))
		}
	}
	for k := range p.PhaseUpper {
		p.PhaseUpper[k] = p.PhaseLower[k]
		if !shape.FixedPhases {
			p.PhaseUpper[k]++
		}
	}
	if shape.PointFrequencies {
		clear(p.FreqVar)
	}
	return p
}

// shapes returns shapes with and without windows, of one and two inputs.
func shapes() (all []variational.Shape) {
	windows := backend.Windows{Center: []float64{1, 3, 5}, Length: 4}
	for _, q := range []int{1, 2} {
		for _, points := range []bool{false, true} {
			for _, fixed := range []bool{false, true} {
				s := variational.Shape{Components: []int{3}, K: 4, Q: q, D: 2, PointFrequencies: points, FixedPhases: fixed}
				all = append(all, s)
				s.Windows = windows
				for _, s.Components = range [][]int{{2, 2, 2}, {1, 3, 2}, {4, 0, 1}} {
					all = append(all, s)
				}
				s.Windows, s.Components = backend.Windows{Center: []float64{2}, Length: 4}, []int{3}
				all = append(all, s)
			}
		}
	}
	return all
}

// TestCountMatchesParameters compares the number of coordinates computed from a shape with the number for its
// parameters.
func TestCountMatchesParameters(t *testing.T) {
	ties := []Ties{{}, {Twins: true}, {Shared: true}, {Tensors: tieable}, {Twins: true, Shared: true}}
	for _, name := range tieable {
		ties = append(ties, Ties{Tensors: []string{name}}, Ties{Shared: true, Tensors: []string{name}})
	}
	all := variational.Names(nil)
	free := [][]string{nil, all, hyperparameters, FeatureTensors, coefficients}
	for _, name := range all {
		free = append(free, []string{name})
	}
	counts := map[int]bool{}
	for _, shape := range shapes() {
		p := begun(shape)
		for _, f := range free {
			for _, tie := range ties {
				want := NewCoordinates(p, f, tie, 2).N()
				if got := Count(shape, f, tie); got != want {
					t.Errorf("%+v, free %v, ties %+v: counted %d coordinates, there are %d", shape, f, tie, got, want)
				}
				counts[want] = true
			}
		}
	}
	if len(counts) < 30 {
		t.Errorf("only %d different counts were compared", len(counts))
	}
}

// movedBy returns the entries of a tensor that each coordinate moves.
func movedBy(t *testing.T, p *variational.Params, tensor string, ties Ties) (moved [][]int) {
	t.Helper()
	c := NewCoordinates(p, []string{tensor}, ties, 2)
	at := slices.IndexFunc(p.Tensors(), func(t variational.Tensor) bool { return t.Name == tensor })
	v := make([]float64, c.N())
	c.read(v, p)
	was := *p.Tensors()[at].Data
	for i := range v {
		to, w := p.Clone(), slices.Clone(v)
		w[i] += 0.5
		c.write(to, w)
		var entries []int
		for j, x := range *to.Tensors()[at].Data {
			if math.Abs(x-was[j]) > 1e-3 {
				entries = append(entries, j)
			}
		}
		moved = append(moved, entries)
	}
	return moved
}

// TestTiesOfSeveralInputs checks that ties are between the same input of different components,
// for tensors with one entry per component and with one per input.
func TestTiesOfSeveralInputs(t *testing.T) {
	shape := variational.Shape{
		Windows: backend.Windows{Center: []float64{1, 3, 5}, Length: 4}, Components: []int{2, 1, 3}, K: 2, Q: 2, D: 1,
	}
	p := begun(shape)
	for _, c := range []struct {
		name, tensor string
		ties         Ties
		want         [][]int
	}{
		{"variances tied", "kernel.variance", Ties{Tensors: tieable}, [][]int{{0, 1, 2, 3, 4, 5}}},
		{"length-scales tied", "kernel.lengthscale", Ties{Tensors: tieable}, [][]int{{0, 2, 4, 6, 8, 10}, {1, 3, 5, 7, 9, 11}}},
		{"frequencies tied", "kernel.frequency", Ties{Tensors: tieable}, [][]int{{0, 2, 4, 6, 8, 10}, {1, 3, 5, 7, 9, 11}}},
		{"variances shared", "kernel.variance", Ties{Shared: true}, [][]int{{0, 2, 3}, {1, 4}, {5}}},
		{"length-scales shared", "kernel.lengthscale", Ties{Shared: true}, [][]int{{0, 4, 6}, {1, 5, 7}, {2, 8}, {3, 9}, {10}, {11}}},
		{"frequencies shared", "kernel.frequency", Ties{Shared: true}, [][]int{{0, 4, 6}, {1, 5, 7}, {2, 8}, {3, 9}, {10}, {11}}},
		{"shared, variances tied", "kernel.variance", Ties{Shared: true, Tensors: []string{"kernel.variance"}}, [][]int{{0, 1, 2, 3, 4, 5}}},
		{"twins", variational.FrequencyMean, Ties{Twins: true}, pairs(p.M(), p.Q)},
	} {
		if got := movedBy(t, p, c.tensor, c.ties); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: coordinates move the entries %v, want %v", c.name, got, c.want)
		}
	}
}

// pairs returns the entries [m,q] of each two neighboring features, per input.
func pairs(m, q int) (all [][]int) {
	for k := 0; k < m; k += 2 {
		for i := range q {
			all = append(all, []int{k*q + i, (k+1)*q + i})
		}
	}
	return all
}
