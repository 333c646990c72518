package vssgp

import (
	"runtime"

	"github.com/vssgp/vssgp/internal/cost"
)

const (
	// tileRows and tilePanels are the rows and the arrays of a tile: what a core
	// has of the features that it sums at a time, and factorisedRows the rows of
	// one of a factorised bound.
	tileRows, tilePanels, factorisedRows = 256, 2, 64
	// grown is how much room there is for numbers that are appended one by one.
	grown = 1.125
	// fillShare is how much of a matrix fills in, at most, where it is factored
	// in segments.
	fillShare = 0.5
	// paramCopies is how many sets of parameters there are: the model, a trial,
	// the gradient, effective features and theirs.
	paramCopies = 5
)

// givenBytes are n rows of x and y.
func (b *planner) givenBytes(n float64) float64 { return 8 * n * float64(b.data.Q+b.data.D) }

// heldBytes are n rows as the CPU holds them: x and y in the model's units and
// again in the order of the windows, that order and each row's place and window
// in it, and the gates of two windows with their inverse squares.
func (b *planner) heldBytes(n float64) float64 {
	numbers := 3.0
	if b.plan.Windows > 1 {
		numbers += 4
	}
	return 2*b.givenBytes(n) + 8*n*numbers
}

// bytes is the most that any stretch of a fit holds.
func (b *planner) bytes() {
	p, n := b.plan, float64(b.data.N)
	given, held := b.givenBytes(n), b.heldBytes(n)
	p.RowBytes = given + held
	if b.matrix {
		p.MatrixBytes = cost.MatrixBytes(b.offset)
	}
	// A matrix is summed, factored and inverted in its own room; what is computed
	// with has as much where the matrix is dense, and what fills in.
	matrix, beside := p.MatrixBytes, 0.0
	switch {
	case len(b.offset) == 2:
		beside = matrix
	case b.o.Segments > 2:
		beside = fillShare * matrix
	}
	numbers := 0
	for _, t := range b.params.Tensors() {
		numbers += len(*t.Data)
	}
	params := 8 * float64(numbers)
	// What an evaluation with a gradient needs; and at the end, beside it, the
	// posterior that is kept. The best of earlier starts has one, too.
	fit := paramCopies*params + p.HistoryBytes
	if b.matrix {
		fit += matrix
	}
	if b.inference() == Exact {
		if p.Gradients > 0 {
			fit += matrix + beside
		}
		if p.Starts > 1 {
			fit += matrix + params
		}
	}
	most := p.RowBytes + fit
	// Rows that are asked for are predicted by a posterior of the others: its
	// factor, and a copy of that to be inverted.
	asked := grown*given + held + 2*matrix + beside + paramCopies*params
	if b.hidden {
		trial := given + p.StartBytes + asked
		if b.begun {
			trial += matrix
		}
		most = max(most, trial)
	}
	if b.out {
		if b.inference() == Exact {
			asked += 2 * matrix // the best fit's, and what its evaluations had, which is lent on
		}
		most = max(most, given+8*n+asked+paramCopies*params)
	}
	most = max(most, given+p.StartBytes) + b.tileBytes()
	// An array that goes beyond what may be left is there before the collector
	// has freed as much: a matrix is the largest.
	p.PeakBytes = max(cost.Collected*most, most+matrix)
}

// tileBytes are what the cores work in.
func (b *planner) tileBytes() float64 {
	rows := factorisedRows
	if b.matrix {
		rows = tileRows
	}
	return tileBytes(b.offset, b.data.N, rows, b.matrix)
}

// tileBytes are a tile of so many of n rows for each core, with the features of
// two windows, and where there are windows and a matrix those blocks of it in
// the order that a product reads them in.
func tileBytes(offset []int, n, rows int, matrix bool) float64 {
	most := 0
	for v := range len(offset) - 1 {
		most = max(most, offset[min(v+2, len(offset)-1)]-offset[v])
	}
	numbers := rows * tilePanels
	if matrix && len(offset) > 2 {
		numbers += most
	}
	return 8 * float64(numbers) * float64(most) * float64(min(runtime.GOMAXPROCS(0), 1+n/tileRows))
}
