package vssgp

import (
	"cmp"
	"fmt"
	"math"
	"runtime"

	"github.com/vssgp/vssgp/internal/heap"
	"github.com/vssgp/vssgp/internal/linalg/blocktri"
	"github.com/vssgp/vssgp/internal/optimize"
	"github.com/vssgp/vssgp/internal/rowspectrum"
	"github.com/vssgp/vssgp/variational"
)

const (
	// tileRows are the rows of a tile, whose features a core computes at a time, in tilePanels arrays.
	tileRows, tilePanels = 256, 2
	// paramCopies is how many sets of parameters a fit needs: the model, a trial, the gradient, effective features and their gradient.
	paramCopies = 5
)

// memory is an upper estimate of the bytes that a fit of this shape needs at a time, for what grows with the rows and for what grows
// with the features.
func (f *frame) memory(s *variational.Shape) (rows, features float64) {
	n, offset, exact := float64(f.data.N), s.Offsets(), cmp.Or(f.o.Inference, Exact) == Exact
	windows := len(s.Windows.Center) > 0
	heldOut := f.o.Iterations != NoIterations && f.holdsOut(cmp.Or(f.o.Inference, Exact), s.M(), windows)

	rows = f.rowBytes()
	if exact {
		_, _, tables := f.tables(s)
		rows += tables
	}
	matrices := 0.0 // E[ΦᵀΦ] and others of its size
	switch {
	case exact && heldOut:
		matrices = 4 // the best fit's posterior, one without the held-out rows, its inverse, the workspace of the fit
	case exact:
		matrices = 3
	case heldOut || s.M() <= optimize.DirectLimit:
		matrices = 2
	}
	switch { // the workspace of the factor and the inverse
	case matrices > 0 && !windows:
		matrices++
	case matrices > 0 && f.o.Windows.Segments > 2: // blocks fill in
		matrices += 0.5
	}
	most := 0.0 // features that a row meets
	for v := range len(offset) - 1 {
		most = max(most, float64(offset[min(v+2, len(offset)-1)]-offset[v]))
	}
	tile := tileRows * tilePanels * most
	if windows {
		tile += most * most
	}
	features = 8*(paramCopies*float64(s.Numbers())+matrices*blocktri.Size(offset)+tile*min(float64(runtime.GOMAXPROCS(0)), 1+n/tileRows)) +
		optimize.HistoryBytes(*s, f.o.optimize(f.formOf(s.PointFrequencies), f.o.Seed))
	return heap.Factor * rows, heap.Factor * features
}

// rowBytes is the memory of the rows: as given, in the model's units, twice more (as a backend stores them, or without the held-out rows),
// and eight numbers of their order and their windows.
func (f *frame) rowBytes() float64 { return 8 * float64(f.data.N*(4*(f.data.Q+f.data.D)+8)) }

// tables estimates the operations and the bytes of the tables that the exact bound takes its sums over rows from, if they pay.
func (f *frame) tables(s *variational.Shape) (pay bool, flops, bytes float64) {
	backend := f.model(nil).backend().Name()
	if s.Q > 1 || s.Windows.Count() > 1 || backend != "cpu" && backend != "cpu on ranks" {
		return false, 0, 0
	}
	if pay, flops, bytes = rowspectrum.Expect(f.data.N, s.M(), s.D, f.grid.Band); !pay {
		return false, 0, 0
	}
	return pay, flops, bytes
}

// Fits refuses a shape whose fit needs more than Options.MemoryLimit, before its arrays are made.
func (f *frame) Fits(shape variational.Shape) error {
	rows, features := f.memory(&shape)
	limit, windows := f.o.MemoryLimit, shape.Windows.Count()
	if limit <= 0 || rows+features <= limit {
		return nil
	}
	if rows > features || rows > limit {
		return fmt.Errorf("vssgp: a fit of %d rows needs about %s of memory, most of it for the rows, but only %s may be used; want fewer rows: %w",
			f.data.N, heap.Size(rows+features), heap.Size(limit), ErrMemory)
	}
	each := float64(shape.L()) / float64(windows)
	most := max(1, int(each*math.Sqrt((limit-rows)/features))) // matrices grow with its square
	return fmt.Errorf("vssgp: a fit of %d rows in %d windows of %.3g components needs about %s of memory, most of it for the components, but only %s may be used; "+
		"want at most about %d components a window, shorter windows, or excerpts: %w", f.data.N, windows, each, heap.Size(rows+features), heap.Size(limit), most, ErrMemory)
}

// FitsStart refuses a start whose spectra need more than Options.MemoryLimit besides the rows.
func (f *frame) FitsStart(bytes float64) error {
	limit, need := f.o.MemoryLimit, heap.Factor*(f.rowBytes()+bytes)
	if limit <= 0 || need <= limit {
		return nil
	}
	return fmt.Errorf("vssgp: the spectrum of %d rows needs about %s of memory, but only %s may be used; want fewer rows, shorter windows, or start %q: %w",
		f.data.N, heap.Size(need), heap.Size(limit), InitPaper, ErrMemory)
}
