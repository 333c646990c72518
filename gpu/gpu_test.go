package gpu

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/cuda"
	"github.com/vssgp/vssgp/internal/backendtest"
	"github.com/vssgp/vssgp/spectral"
)

// usable are the cards that tests run on. Without one the test is skipped, or
// fails where VSSGP_REQUIRE_GPU is 1.
func usable(t testing.TB) (all []cuda.Device) {
	t.Helper()
	devices, err := Devices()
	if err != nil && (!errors.Is(err, cuda.ErrNoDevice) || os.Getenv("VSSGP_REQUIRE_GPU") == "1") {
		t.Fatal(err)
	}
	if err != nil {
		t.Skip(err)
	}
	for _, d := range devices {
		if d.Reason == "" {
			all = append(all, d)
		}
	}
	if len(all) == 0 {
		t.Skipf("no card can be used: %s", devices[0].Reason)
	}
	return all
}

// open opens a backend that the test closes; what is held then fails it.
func open(t testing.TB, o Options) *Backend {
	t.Helper()
	b, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return b
}

// onEach runs a test on each card; under -short on the last only, which among
// emulated ones is the newest.
func onEach(t *testing.T, test func(t *testing.T, ordinal int)) {
	devices := usable(t)
	if testing.Short() {
		devices = devices[len(devices)-1:]
	}
	for _, d := range devices {
		t.Run(d.Name, func(t *testing.T) { test(t, d.Ordinal) })
	}
}

// mixedTolerance is that of mixed precision over problems as the suite has them.
//
//	value, gradient: a feature is off by 2e-7 at most (package kernels), some 3e-8
//	  as a rule, each of some hundreds by its own; float32 derivatives are off by
//	  as much. Measured 3.8e-7 and 6e-7.
//	difference: the value's error over a step of 2⁻¹¹ to 2⁻⁴. Measured 2.2e-4.
//	adds: sums of rounded features are exact, so float64's own.
var mixedTolerance = backendtest.Tolerance{Value: 1e-6, Gradient: 1e-6, Difference: 1e-3}

func TestBackend(t *testing.T) {
	onEach(t, func(t *testing.T, ordinal int) {
		with := func(p Precision) func(testing.TB) spectral.Backend {
			return func(t testing.TB) spectral.Backend {
				b, err := Open(Options{Ordinals: []int{ordinal}, Precision: p})
				if err != nil {
					t.Fatal(err)
				}
				return b
			}
		}
		t.Run("float64", func(t *testing.T) { backendtest.Run(t, with(Float64)) })
		t.Run("mixed", func(t *testing.T) {
			if !hasMixed() {
				t.Skip("this build has no kernels of mixed precision")
			}
			backendtest.RunWith(t, with(Mixed), mixedTolerance)
		})
	})
}

// float64Bound is how far float64 may be from package cpu: a rotation of 64 rows
// slips by 64 last places at most, 7e-15, in each of at most 4000 numbers near 1
// that are summed, 3e-11, and mostly far less. Measured 2e-12.
func float64Bound(string) float64 { return 2e-11 }

// shapes are those at which tiles, pieces and rotations begin and end.
var shapes = []shape{
	{name: "63 features", n: 65, m: 63, q: 1, d: 1},
	{name: "64 features", n: 33, m: 64, q: 2, d: 2},
	{name: "65 features", n: 64, m: 65, q: 1, d: 1, even: true},
	{name: "127 features", n: 40, m: 127, q: 1, d: 1},
	{name: "128 features", n: 40, m: 128, q: 1, d: 5},
	{name: "129 features", n: 70, m: 129, q: 1, d: 1, even: true},
	{name: "193 features", n: 129, m: 193, q: 1, d: 1, even: true},
	{name: "257 features", n: 70, m: 257, q: 3, d: 1},
	{name: "nine outputs", n: 100, m: 20, q: 1, d: 9, even: true},
	{name: "sixteen inputs", n: 70, m: 20, q: 16, d: 1},
	{name: "dense, even", n: 600, m: 300, q: 1, d: 1, even: true},
	{name: "dense, uneven", n: 600, m: 300, q: 1, d: 1},
	{name: "even but for a step", n: 300, m: 40, q: 1, d: 2, even: true, broken: 97},
	{name: "even but for a step, windows", n: 300, m: 60, q: 1, d: 1, even: true, broken: 97, windows: 4},
	{name: "even and shuffled", n: 300, m: 40, q: 1, d: 1, even: true, shuffled: true},
	{name: "windows without features", n: 300, m: 30, q: 1, d: 2, windows: 6, first: 3},
	{name: "several stretches", n: 1500, m: 10, q: 1, d: 1, even: true},
	{name: "several stretches, windows", n: 4000, m: 20, q: 1, d: 1, even: true, windows: 3},
}

func TestAsCPU(t *testing.T) {
	onEach(t, func(t *testing.T, ordinal int) {
		b := open(t, Options{Ordinals: []int{ordinal}})
		for _, s := range shapes {
			t.Run(s.name, func(t *testing.T) { newProblem(s).asCPU(t, b, float64Bound) })
		}
	})
}

// TestMixed: the mixed precision on evenly spaced rows too, near package cpu, in
// any budget and in several shares.
func TestMixed(t *testing.T) {
	if !hasMixed() {
		t.Skip("this build has no kernels of mixed precision")
	}
	onEach(t, func(t *testing.T, ordinal int) {
		o := Options{Ordinals: []int{ordinal}, Precision: Mixed}
		b := open(t, o)
		if !strings.HasSuffix(b.Name(), " mixed") {
			t.Errorf("name %q", b.Name())
		}
		for _, s := range []shape{
			{name: "dense, even", n: 600, m: 150, q: 1, d: 1, even: true},
			{name: "dense, uneven", n: 300, m: 65, q: 1, d: 5},
			{name: "two inputs", n: 300, m: 40, q: 2, d: 2},
			{name: "even but for a step, windows", n: 1800, m: 60, q: 1, d: 1, even: true, broken: 97, windows: 4},
			{name: "windows without features", n: 300, m: 30, q: 1, d: 2, windows: 6, first: 3},
		} {
			t.Run(s.name, func(t *testing.T) {
				p := newProblem(s)
				// Sums of up to 1800 rows of either sign: twice those of mixedTolerance
				// at the root of it. Measured 3.1e-6.
				p.asCPU(t, b, func(string) float64 { return 1e-5 })
				for _, m := range p.methods()[:2] {
					p.budgets(t, m, o)
				}
			})
		}
	})
}

// TestRepeat: the same bits again, on the same Rows and on others, with other
// methods in between.
func TestRepeat(t *testing.T) {
	p := newProblem(shape{n: 1500, m: 70, q: 1, d: 2, even: true, broken: 700, windows: 3})
	onEach(t, func(t *testing.T, ordinal int) {
		b := open(t, Options{Ordinals: []int{ordinal}})
		r, err := b.Open(p.data)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for _, m := range p.methods() {
			first, err := p.run(b, m)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				again, err := m.call(r)
				if err == nil {
					err = sameBits(first, again)
				}
				if err != nil {
					t.Errorf("%s: %v", m.name, err)
				}
			}
		}
	})
}

// TestSteady: from the second evaluation on nothing is allocated on the card.
func TestSteady(t *testing.T) {
	p := newProblem(shape{n: 600, m: 70, q: 1, d: 2, even: true, windows: 3})
	onEach(t, func(t *testing.T, ordinal int) {
		b := open(t, Options{Ordinals: []int{ordinal}})
		r, err := b.Open(p.data)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		var held holdings
		for round := range 3 {
			for _, m := range p.methods() {
				if _, err := m.call(r); err != nil {
					t.Fatalf("%s: %v", m.name, err)
				}
			}
			now := r.(*rows).shares[0].holdings
			if round > 0 && now != held {
				t.Errorf("round %d: other memory is held than before", round)
			}
			held = now
		}
	})
}

// TestBudget: every method works in any budget from the one that its refusal
// names on, with the same bits, and is refused one byte below.
func TestBudget(t *testing.T) {
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
				t.Run(m.name, func(t *testing.T) { p.budgets(t, m, Options{Ordinals: []int{ordinal}}) })
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
	if err != nil {
		t.Fatal(err)
	}
	needed := p.needed(t, m, o)
	if _, _, err := within(needed - 1); !errors.Is(err, cuda.ErrBudget) {
		t.Errorf("in one byte less than needed: %v, want %v", err, cuda.ErrBudget)
	}
	if needed > most {
		t.Errorf("%d bytes are said to be needed, %d were used", needed, most)
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

// needed is the smallest budget for a method.
func (p *problem) needed(t *testing.T, m method, o Options) int64 {
	t.Helper()
	o.Budget = 1
	b := open(t, o)
	var refused *BudgetError
	if _, err := p.run(b, m); !errors.As(err, &refused) {
		t.Fatalf("%s in 1 byte: %v", m.name, err)
	}
	return refused.Needed
}

// TestBudgetOfAll: one Rows does all methods after each other in what the
// largest of them needs: some have all rows on the card, some stream them.
func TestBudgetOfAll(t *testing.T) {
	ordinal := usable(t)[0].Ordinal
	for _, s := range []shape{
		{name: "windows", n: 900, m: 80, q: 1, d: 2, windows: 3},
		{name: "dense", n: 1700, m: 40, q: 1, d: 5, even: true},
	} {
		t.Run(s.name, func(t *testing.T) {
			p := newProblem(s)
			var largest int64
			for _, m := range p.methods() {
				largest = max(largest, p.needed(t, m, Options{Ordinals: []int{ordinal}}))
			}
			b, free := open(t, Options{Ordinals: []int{ordinal}, Budget: largest}), open(t, Options{Ordinals: []int{ordinal}})
			r, err := b.Open(p.data)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			for range 2 {
				for _, m := range p.methods() {
					p.sameAs(t, free, r, m)
				}
			}
		})
	}
}

// sameAs compares a method's answers with those on rows opened anew.
func (p *problem) sameAs(t *testing.T, free *Backend, r spectral.Rows, m method) {
	t.Helper()
	want, err := p.run(free, m)
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.call(r)
	if err == nil {
		err = sameBits(want, got)
	}
	if err != nil {
		t.Errorf("%s: %v", m.name, err)
	}
}

// TestRoomThatGrows: Rows that had to stream beside others have all their rows on
// the card when the others are closed.
func TestRoomThatGrows(t *testing.T) {
	ordinal := usable(t)[0].Ordinal
	p := newProblem(shape{n: 1700, m: 40, q: 1, d: 5, even: true})
	moments, pullback := p.methods()[0], p.methods()[1]
	free := open(t, Options{Ordinals: []int{ordinal}})
	if _, err := p.run(free, moments); err != nil {
		t.Fatal(err)
	}
	b := open(t, Options{Ordinals: []int{ordinal}, Budget: free.Memory() + p.needed(t, moments, Options{Ordinals: []int{ordinal}})})
	var both [2]spectral.Rows
	for i := range both {
		r, err := b.Open(p.data)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		p.sameAs(t, free, r, moments)
		both[i] = r
	}
	mine := both[1].(*rows).shares[0]
	if mine.resident {
		t.Fatal("the second rows are all on the card: there was to be no room")
	}
	if err := both[0].Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		p.sameAs(t, free, both[1], pullback)
		p.sameAs(t, free, both[1], moments)
	}
	if !mine.resident {
		t.Error("the rows are still streamed")
	}
}

// TestSideBySide: Rows of one backend used by goroutines at once.
func TestSideBySide(t *testing.T) {
	b := open(t, Options{Ordinals: []int{usable(t)[0].Ordinal}})
	var wg sync.WaitGroup
	for i := range 4 {
		p := newProblem(shape{n: 100 + i, m: 30, q: 1, d: 1, even: i%2 == 0})
		wg.Go(func() {
			for _, m := range p.methods() {
				first, err := p.run(b, m)
				if err != nil {
					t.Errorf("%s: %v", m.name, err)
					return
				}
				if again, err := p.run(b, m); err != nil || sameBits(first, again) != nil {
					t.Errorf("%s again: %v, %v", m.name, err, sameBits(first, again))
				}
			}
		})
	}
	wg.Wait()
}

// TestSeveralCards: rows shared out over all cards, more of them than rows too.
func TestSeveralCards(t *testing.T) {
	devices := usable(t)
	if len(devices) < 2 {
		t.Skip("one card")
	}
	var ordinals []int
	for _, d := range devices {
		ordinals = append(ordinals, d.Ordinal)
	}
	b := open(t, Options{Ordinals: ordinals})
	if !strings.HasPrefix(b.Name(), "cuda:0,1") {
		t.Errorf("name %q", b.Name())
	}
	for _, s := range []shape{
		{name: "dense", n: 700, m: 40, q: 1, d: 2, even: true},
		{name: "windows", n: 500, m: 60, q: 1, d: 1, windows: 4},
		{name: "one row", n: 1, m: 5, q: 2, d: 1},
	} {
		t.Run(s.name, func(t *testing.T) {
			p := newProblem(s)
			p.asCPU(t, b, float64Bound)
			for _, m := range p.methods() {
				first, err := p.run(b, m)
				if err != nil {
					t.Fatal(err)
				}
				if again, err := p.run(b, m); err != nil || sameBits(first, again) != nil {
					t.Errorf("%s again: %v, %v", m.name, err, sameBits(first, again))
				}
			}
		})
	}
}

// TestTimings: each kernel's time is there, where asked for.
func TestTimings(t *testing.T) {
	ordinal := usable(t)[0].Ordinal
	p := newProblem(shape{n: 100, m: 30, q: 1, d: 1, even: true})
	for _, timing := range []bool{false, true} {
		b := open(t, Options{Ordinals: []int{ordinal}, Timing: timing})
		for _, m := range p.methods() {
			if _, err := p.run(b, m); err != nil {
				t.Fatal(err)
			}
		}
		all := fmt.Sprint(b.Timings())
		if got := strings.Contains(all, "moments_gram_64"); got != timing {
			t.Errorf("timing %v: %s", timing, all)
		}
		if len(b.Timings()) != 0 {
			t.Error("timings are given twice")
		}
		if b.Memory() == 0 {
			t.Error("no memory was used")
		}
	}
}

// TestMisuse: what cannot be is an error that says so.
func TestMisuse(t *testing.T) {
	devices := usable(t)
	for _, o := range []Options{
		{Ordinals: []int{len(devices) + 100}},
		{Ordinals: []int{devices[0].Ordinal, devices[0].Ordinal}},
		{Ordinals: []int{-1}},
	} {
		if _, err := Open(o); !errors.Is(err, cuda.ErrNoDevice) {
			t.Errorf("%+v: %v, want %v", o, err, cuda.ErrNoDevice)
		}
	}
	if _, err := Open(Options{Precision: 7}); !errors.Is(err, ErrPrecision) {
		t.Errorf("precision 7: %v", err)
	}
	b, err := Open(Options{Ordinals: []int{devices[0].Ordinal}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Open(spectral.Data{N: 1, Q: 17, X: make([]float64, 17)}); !errors.Is(err, spectral.ErrShape) {
		t.Errorf("17 inputs: %v", err)
	}
	p := newProblem(shape{n: 20, m: 3, q: 1, d: 1})
	r, err := b.Open(p.data)
	if err != nil {
		t.Fatal(err)
	}
	m := p.methods()[0]
	if _, err := m.call(r); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err == nil || !strings.Contains(err.Error(), "bytes") {
		t.Errorf("close with rows open: %v, want what is held", err)
	}
	r.Close()
	if _, err := m.call(r); !errors.Is(err, errClosed) {
		t.Errorf("closed rows: %v", err)
	}
	if _, err := b.Open(p.data); !errors.Is(err, errClosed) {
		t.Errorf("closed backend: %v", err)
	}
}

// TestWithoutOutputs: rows that have none still have second moments.
func TestWithoutOutputs(t *testing.T) {
	b := open(t, Options{Ordinals: []int{usable(t)[0].Ordinal}})
	p := newProblem(shape{n: 90, m: 20, q: 1, d: 0, windows: 3})
	for _, m := range p.methods()[:4] {
		want, err := p.run(cpu.New(), m)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.run(b, m)
		if err == nil {
			err = near(got, want, float64Bound(m.name))
		}
		if err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
	}
}
