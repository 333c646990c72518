package gpu

import (
	"errors"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cuda"
	"github.com/vssgp/vssgp/internal/testkit"
)

// TestSameBitsInAnyBudget checks that each method gives the same bits for any budget of at least the bytes
// that BudgetError reports, and fails with one byte less.
func TestSameBitsInAnyBudget(t *testing.T) {
	for _, s := range []shape{
		{name: "dense", n: 1700, m: 70, q: 1, d: 5, even: true},
		{name: "windows", n: 2300, m: 200, q: 1, d: 1, windows: 5},
		{name: "windows without features", n: 900, m: 40, q: 1, d: 1, windows: 6, first: 3},
		{name: "two inputs", n: 900, m: 30, q: 2, d: 2},
	} {
		p := newProblem(s)
		t.Run(s.name, func(t *testing.T) {
			ordinal := usable(t)[len(usable(t))-1].Ordinal
			for _, m := range p.methods() {
				t.Run(m.name, func(t *testing.T) { p.budgets(t, m, Options{Ordinal: ordinal}) })
			}
		})
	}
}

func (p *problem) budgets(t *testing.T, m method, o Options) {
	within := func(bytes int64) ([]answer, int64, error) {
		o.Budget = bytes
		b := open(t, o)
		all, err := p.run(b, m)
		return all, b.Memory(), err
	}
	whole, most, err := within(0)
	testkit.OK(t, err)
	needed := p.needed(t, m, o)
	if _, _, err := within(needed - 1); !errors.Is(err, cuda.ErrBudget) {
		t.Errorf("with one byte less than needed: %v, want %v", err, cuda.ErrBudget)
	}
	if needed > most {
		t.Errorf("%d bytes were reported as needed, %d were used", needed, most)
	}
	for _, bytes := range []int64{needed, (3*needed + most) / 4, (needed + most) / 2, most - 1, most} {
		if bytes < needed {
			continue
		}
		got, used, err := within(bytes)
		if err == nil {
			err = sameBits(whole, got)
		}
		if err != nil || used > bytes {
			t.Errorf("in %d bytes (needed %d, most %d): used %d: %v", bytes, needed, most, used, err)
		}
	}
}

// needed returns the smallest budget for a method, taken from its last BudgetError.
func (p *problem) needed(t *testing.T, m method, o Options) int64 {
	t.Helper()
	o.Budget = 1
	for refusals := 0; ; refusals++ {
		b := open(t, o)
		_, err := p.run(b, m)
		var refused *BudgetError
		if err == nil && refusals > 0 {
			return o.Budget
		}
		if !errors.As(err, &refused) || refused.Needed <= o.Budget {
			t.Fatalf("%s in %d bytes: %v", m.name, o.Budget, err)
		}
		o.Budget = refused.Needed
	}
}

// TestAllMethodsInOneBudget runs all methods in turn on one Rows with the budget that the largest needs. Some
// methods then fit all partial sums, others only a few.
func TestAllMethodsInOneBudget(t *testing.T) {
	ordinal := usable(t)[0].Ordinal
	for _, s := range []shape{
		{name: "windows", n: 900, m: 80, q: 1, d: 2, windows: 3},
		{name: "dense", n: 1700, m: 40, q: 1, d: 5, even: true},
	} {
		t.Run(s.name, func(t *testing.T) {
			p := newProblem(s)
			var largest int64
			for _, m := range p.methods() {
				largest = max(largest, p.needed(t, m, Options{Ordinal: ordinal}))
			}
			b, free := open(t, Options{Ordinal: ordinal, Budget: largest}), open(t, Options{Ordinal: ordinal})
			r := testkit.Must(b.Open(p.data))(t)
			defer r.Close()
			for range 2 {
				for _, m := range p.methods() {
					p.sameAs(t, free, r, m)
				}
			}
		})
	}
}

// sameAs compares a method's answers with the answers of newly opened rows.
func (p *problem) sameAs(t *testing.T, free *Backend, r backend.Rows, m method) {
	t.Helper()
	want := testkit.Must(p.run(free, m))(t)
	if err := sameBits(want, testkit.Must(m.call(r))(t)); err != nil {
		t.Errorf("%s: %v", m.name, err)
	}
}

// TestRoomThatGrows checks that Rows with space for only some partial sums get space for all when
// other Rows are closed.
func TestRoomThatGrows(t *testing.T) {
	ordinal := usable(t)[0].Ordinal
	p := newProblem(shape{n: 2300, m: 200, q: 1, d: 1, windows: 5})
	moments, pullback := p.methods()[0], p.methods()[1]
	free := open(t, Options{Ordinal: ordinal})
	testkit.Must(p.run(free, moments))(t)
	b := open(t, Options{Ordinal: ordinal, Budget: free.Memory() + p.needed(t, moments, Options{Ordinal: ordinal})})
	var both [2]backend.Rows
	for i := range both {
		r := testkit.Must(b.Open(p.data))(t)
		defer r.Close()
		p.sameAs(t, free, r, moments)
		both[i] = r
	}
	mine := both[1].(*rows)
	if !mine.plans[opMoments].limited {
		t.Fatal("the second rows have space for all partial sums, want less")
	}
	testkit.OK(t, both[0].Close())
	for range 2 {
		p.sameAs(t, free, both[1], pullback)
		p.sameAs(t, free, both[1], moments)
	}
	if mine.plans[opMoments].limited {
		t.Error("the partial sums are still computed in several batches")
	}
}
