package gpu

import (
	"fmt"

	"github.com/vssgp/vssgp/cuda"
)

// A BudgetError says that an operation cannot be done in the device memory that
// is left to it, however it is cut.
type BudgetError struct {
	Needed, Free int64 // bytes
}

// Error says how many bytes are missing where.
func (e *BudgetError) Error() string {
	return fmt.Sprintf("needs at least %d bytes of device memory, %d are free: %v", e.Needed, e.Free, cuda.ErrBudget)
}

// Unwrap is cuda.ErrBudget.
func (e *BudgetError) Unwrap() error { return cuda.ErrBudget }

// Needs are what an operation needs on the device, before it is decided how
// much of it at once.
type needs struct {
	fixed    int64 // bytes whatever is decided
	rows     int   // all rows
	rowBytes int64 // of each row that is on the device
	passes   []passNeeds
}

// passNeeds are a pass's: all slots, the least limit and a slot's bytes. The
// passes of an operation use one room for partial sums, one after the other.
type passNeeds struct {
	all       int
	least     limit
	slotBytes int64
}

// A fit is what was decided: how many rows are on the device at once, and each
// pass's slots.
type fit struct {
	resident bool // all rows
	rows     int
	slots    []int
	part     int64 // bytes for partial sums
	bytes    int64 // all that is needed
}

// decide takes the first that there is room for: everything at once; all rows
// and some of the partial sums; some rows and some partial sums.
func (n *needs) decide(room int64) (fit, error) {
	var all, least int64
	chunk := 0
	for _, p := range n.passes {
		all = max(all, int64(p.all)*p.slotBytes)
		least = max(least, int64(p.least.slots)*p.slotBytes)
		chunk = max(chunk, p.least.rows)
	}
	rows := int64(n.rows) * n.rowBytes
	if spare := room - n.fixed - rows; spare >= least {
		return n.settle(n.rows, min(all, spare)), nil
	}
	needed := n.fixed + int64(chunk)*n.rowBytes + least
	if needed > room {
		return fit{}, &BudgetError{Needed: needed, Free: room}
	}
	// Half of what is left goes to rows, the other half to partial sums.
	spare := room - needed
	if n.rowBytes > 0 {
		chunk = min(n.rows, chunk+int(spare/2/n.rowBytes))
	}
	return n.settle(chunk, min(all, room-n.fixed-int64(chunk)*n.rowBytes)), nil
}

func (n *needs) settle(rows int, part int64) fit {
	f := fit{resident: rows == n.rows, rows: rows}
	for _, p := range n.passes {
		slots := p.all
		if p.slotBytes > 0 {
			slots = min(p.all, int(part/p.slotBytes))
		}
		f.slots = append(f.slots, slots)
		f.part = max(f.part, int64(slots)*p.slotBytes)
	}
	f.bytes = n.fixed + int64(rows)*n.rowBytes + f.part
	return f
}

// limit is that of pass i.
func (f *fit) limit(i int) limit { return limit{slots: f.slots[i], rows: f.rows} }

// The arrays that a share keeps on the device. Each is one allocation, kept
// from one evaluation to the next and grown where it is too small.
type array int

const (
	arrayX array = iota
	arrayY
	arrayGate
	arrayEven
	arrayBank   // the features, as bankOf lays them out
	arrayRot    // [M,6] rotations
	arrayCoef   // adjoints of C, or means and variances of coefficients
	arrayGram   // in the order of spectral.NewGram
	arraySums   // sums of each feature
	arrayPart   // partial sums
	arrayRes    // residuals
	arrayValue  // squared residuals
	arrayRoom   // levels of a chain; digits of an adjoint, in mixed precision
	arraySolved // [2,M,D] right-hand sides and then solutions; C and then its adjoint
	arrayStats  // [3,V] traces of G's blocks, logarithms of determinants, traces of A⁻¹
	arrayOut    // predictions
	arrayQuad   // their quadratic parts
	arrayIndex  // rows of a mini-batch
	arrayPickX
	arrayPickY
	arrayPickGate
	arrayTable // the first operation's tables; the others' follow
	arrays     = arrayTable + array(operations)
)

// wants are bytes of each array.
type wants [arrays]int64

func (w *wants) total() (sum int64) {
	for _, n := range w {
		sum += n
	}
	return sum
}

// holdings are the arrays there are.
type holdings struct {
	mem  [arrays]*cuda.Memory
	size wants
}

// address is an array's, 0 where there is none.
func (h *holdings) address(a array) uint64 {
	if h.mem[a] == nil {
		return 0
	}
	return h.mem[a].Address()
}

// release frees an array.
func (h *holdings) release(a array) error {
	m := h.mem[a]
	if m == nil {
		return nil
	}
	h.mem[a], h.size[a] = nil, 0
	return m.Free()
}

// releaseAll frees every array and returns the first error.
func (h *holdings) releaseAll() (first error) {
	for a := range arrays {
		if err := h.release(a); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// fit makes room for what is wanted within the bytes there is room for, this
// holdings' own included, and tells which arrays have lost their contents. What
// is not wanted stays where it does not stand in the way.
func (h *holdings) fit(c *cuda.Context, w *wants, room int64) (lost [arrays]bool, err error) {
	both := int64(0)
	for a := range arrays {
		both += max(h.size[a], w[a])
	}
	for a := range arrays {
		short := h.size[a] < w[a]
		if h.mem[a] != nil && (short || both > room && h.size[a] > w[a]) {
			lost[a] = true
			if err := h.release(a); err != nil {
				return lost, err
			}
		}
	}
	for a := range arrays {
		if w[a] == 0 || h.mem[a] != nil {
			continue
		}
		lost[a] = true
		m, err := c.Alloc(w[a])
		if err != nil {
			return lost, err
		}
		h.mem[a], h.size[a] = m, w[a]
	}
	return lost, nil
}
