package gpu

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/cuda"
	"github.com/vssgp/vssgp/kernels"
	"github.com/vssgp/vssgp/spectral"
)

func TestTileFor(t *testing.T) {
	for m, want := range map[int]int{1: 64, 64: 64, 192: 64, 193: 128, 4096: 128} {
		if got := tileFor(m); got != want {
			t.Errorf("%d features have a tile of %d, want %d", m, got, want)
		}
	}
}

// TestGramOffsets: blocks stand where spectral.NewGram puts them.
func TestGramOffsets(t *testing.T) {
	for _, offset := range [][]int{{0, 5}, {0, 2, 5}, {0, 0, 3, 3, 7, 8}, {0, 4, 4}} {
		diag, below, size := gramOffsets(offset)
		g := spectral.NewGram(offset)
		n := 0.0
		number := func(b []float64) {
			for i := range b {
				b[i] = n
				n++
			}
		}
		for v, b := range g.Diag {
			number(b)
			if v < len(g.Below) {
				number(g.Below[v])
			}
		}
		if int(n) != int(size) {
			t.Errorf("%v: %d numbers, want %v", offset, size, n)
		}
		for v, b := range g.Diag {
			if len(b) > 0 && b[0] != float64(diag[v]) {
				t.Errorf("%v: block %d at %d, want %v", offset, v, diag[v], b[0])
			}
			if v < len(g.Below) && len(g.Below[v]) > 0 && g.Below[v][0] != float64(below[v]) {
				t.Errorf("%v: block below %d at %d, want %v", offset, v, below[v], g.Below[v][0])
			}
		}
	}
}

// TestStretches: rows are covered once and in order, and shapes give the number
// of blocks that a card can use.
func TestStretches(t *testing.T) {
	one := func(n, m int) []run { return []run{{hi: n, m: m, split: m}} }
	var many []run
	for v := range 200 {
		many = append(many, run{cell: v, lo: 1000 * v, hi: 1000 * (v + 1), f0: 100 * v, m: 200, split: 100})
	}
	for _, c := range []struct {
		name      string
		runs      []run
		lo, hi    int // blocks
		stretches int // 0: any
	}{
		{"dense", one(100_000, 1024), 300, 500, 0},
		{"dense, few features", one(1_000_000, 50), 300, 500, 0},
		{"dense, many features", one(100_000, 8192), 2080, 2080, 1},
		{"few rows", one(300, 100), 3, 3, 1},
		{"one row", one(1, 1), 1, 1, 1},
		{"windows", many, 600, 600, 200},
		{"very many rows", one(3_000_000, 8192), 12 * 2080, 12 * 2080, 12},
	} {
		count := func(r run) int { return pairs(r.m, tileFor(widest(c.runs))) }
		all := gramCut.stretches(c.runs, count)
		blocks, at := 0, map[int]int{}
		for _, s := range all {
			r := c.runs[s.run]
			blocks += count(r)
			if s.lo != r.lo+at[s.run] || s.hi <= s.lo || s.hi > r.hi || s.hi-s.lo > longest {
				t.Fatalf("%s: stretch %+v of run %+v after %d rows", c.name, s, r, at[s.run])
			}
			if s.hi < r.hi && (s.hi-s.lo)%stretchUnit != 0 {
				t.Errorf("%s: stretch of %d rows, want a multiple of %d", c.name, s.hi-s.lo, stretchUnit)
			}
			at[s.run] += s.hi - s.lo
		}
		for i, r := range c.runs {
			if at[i] != r.hi-r.lo {
				t.Errorf("%s: %d rows of run %d covered, want %d", c.name, at[i], i, r.hi-r.lo)
			}
		}
		if blocks < c.lo || blocks > c.hi || c.stretches > 0 && len(all) != c.stretches {
			t.Errorf("%s: %d stretches, %d blocks, want %d to %d", c.name, len(all), blocks, c.lo, c.hi)
		}
	}
}

// someRuns are runs of a layout over windows of random sizes.
func someRuns(rng *rand.Rand) []run {
	n, windows := 1+rng.IntN(20_000), 1+rng.IntN(6)
	w := spectral.Windows{Length: 2}
	for v := range windows {
		w.Center = append(w.Center, float64(v))
	}
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.Float64() * float64(windows)
	}
	offset := []int{0}
	for range windows {
		offset = append(offset, offset[len(offset)-1]+rng.IntN(300))
	}
	return runsOver(w.NewLayout(x, n, 1).Runs, offset)
}

// TestPasses: whatever the limit, every stretch has all its blocks' jobs once,
// in slots of their own, and every block of a run is reduced once, over its
// stretches' slots in order, among runs of one parity.
func TestPasses(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		runs := someRuns(rng)
		k := columnKind(runs, cut{blocks: 40, least: 64}, 64)
		least, all := k.limits(runs)
		l := limit{slots: least.slots + rng.IntN(all+1), rows: least.rows + rng.IntN(20_000)}
		p := k.plan(runs, l)
		if p.slots > l.slots {
			t.Errorf("seed %d: %d slots, limit %d", seed, p.slots, l.slots)
		}
		if err := checkPass(k, runs, p, l); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

func checkPass(k kind, runs []run, p *pass, l limit) error {
	job := 0
	reduced := map[[2]int64]bool{}
	for _, b := range p.batches {
		slot := map[[2]int64][]int64{} // of a run's first feature and a block: the stretches'
		used := map[int64]bool{}
		for _, c := range b.chunks {
			if c.jobs.lo != job || c.rows.len() > l.rows {
				return fmt.Errorf("chunk %+v after job %d, limit %d rows", c, job, l.rows)
			}
			for ; job < c.jobs.hi; job++ {
				j := p.jobs[3*job:][:3]
				s := p.stretches[j[0]]
				if s.lo < c.rows.lo || s.hi > c.rows.hi || used[j[2]] || int(j[2]) >= p.slots {
					return fmt.Errorf("job %v over %+v in chunk %+v: its rows or its slot are not its own", j, s, c)
				}
				used[j[2]] = true
				key := [2]int64{int64(s.run), j[1]}
				slot[key] = append(slot[key], j[2])
			}
		}
		if err := checkReductions(runs, p, b, slot, reduced); err != nil {
			return err
		}
	}
	want := 0
	for i, r := range runs {
		want += k.count(r)
		for b := range k.count(r) {
			if !reduced[[2]int64{int64(i), int64(b)}] {
				return fmt.Errorf("block %d of run %d is not reduced", b, i)
			}
		}
	}
	if job != len(p.jobs)/3 || len(reduced) != want {
		return fmt.Errorf("%d jobs of %d in chunks, %d blocks reduced, want %d", job, len(p.jobs)/3, len(reduced), want)
	}
	return nil
}

// checkReductions checks those of a batch, given the slots of its runs' blocks,
// stretch by stretch, and adds the blocks to those reduced.
func checkReductions(runs []run, p *pass, b batch, slot map[[2]int64][]int64, reduced map[[2]int64]bool) error {
	for parity, span := range b.reduce {
		for i := span.lo; i < span.hi; i++ {
			row := p.reduce[5*i:][:5]
			run := slices.IndexFunc(runs, func(r run) bool {
				return int(row[0]) >= r.f0 && int(row[0]) < r.f0+r.m && r.cell&1 == parity
			})
			if run < 0 {
				return fmt.Errorf("reduction %v among cells of parity %d", row, parity)
			}
			block := (int(row[0]) - runs[run].f0) / p.tile
			key := [2]int64{int64(run), int64(block)}
			if int(row[1]) != min(p.tile, runs[run].m-block*p.tile) || reduced[key] {
				return fmt.Errorf("reduction %v of block %d of %+v", row, block, runs[run])
			}
			reduced[key] = true
			for s := range row[3] {
				if at := row[2] + s*row[4]; int(s) >= len(slot[key]) || slot[key][s] != at {
					return fmt.Errorf("reduction %v adds slot %d, its stretches' are %v", row, at, slot[key])
				}
			}
			if len(slot[key]) != int(row[3]) {
				return fmt.Errorf("reduction %v of %d stretches", row, len(slot[key]))
			}
		}
	}
	return nil
}

// TestGramRuns: the table's slots are those of the jobs.
func TestGramRuns(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 2))
		runs := someRuns(rng)
		k := gramKind(64)
		least, all := k.limits(runs)
		p := k.plan(runs, limit{slots: least.slots + rng.IntN(all+1), rows: 1 << 20})
		table := gramRuns(runs, p)
		seen := make([]int64, len(runs))
		for job := 0; job < len(p.jobs)/4; job++ {
			j := p.jobs[4*job:][:4]
			run := p.stretches[j[0]].run
			row := table[8*run:][:8]
			pair := j[1]*(j[1]+1)/2 + j[2]
			if want := row[5] + seen[run]/row[7]*row[7] + pair; j[1] < j[2] || j[3] != want {
				t.Fatalf("seed %d: job %v of run %v, want slot %d", seed, j, row, want)
			}
			seen[run]++
		}
		for i := range runs {
			row := table[8*i:][:8]
			if row[6]*row[7] != seen[i] || row[0] != int64(runs[i].m) {
				t.Errorf("seed %d: run %v has %d jobs", seed, row, seen[i])
			}
		}
	}
}

// TestResidualJobs: pieces cover each stretch once.
func TestResidualJobs(t *testing.T) {
	runs := someRuns(rand.New(rand.NewPCG(1, 3)))
	k := columnKind(runs, cut{blocks: 40, least: 64}, 64)
	least, all := k.limits(runs)
	p := k.plan(runs, limit{slots: all, rows: least.rows})
	jobs, of := residualJobs(p)
	next := 0
	for _, b := range p.batches {
		for _, c := range b.chunks {
			span := of[c.rows]
			if span.lo != next {
				t.Fatalf("chunk %+v has pieces %+v after %d", c, span, next)
			}
			next = span.hi
		}
	}
	if next != len(jobs)/3 {
		t.Errorf("%d pieces in chunks, want %d", next, len(jobs)/3)
	}
	at := 0
	for _, s := range p.stretches {
		for lo := s.lo; lo < s.hi; at++ {
			j := jobs[3*at:][:3]
			if int(j[1]) != lo || int(j[2]) > s.hi || j[2]-j[1] > kernels.ResidualRows || j[2] <= j[1] || p.stretches[j[0]] != s {
				t.Fatalf("piece %v of stretch %+v, want row %d", j, s, lo)
			}
			lo = int(j[2])
		}
	}
}

// TestPredictPlan: every piece once, batches within their rows, slots of a
// row's tiles behind each other.
func TestPredictPlan(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 4))
		runs := someRuns(rng)
		rows := 64 * (1 + rng.IntN(30))
		p := newPredictPlan(runs, 64, rows, true)
		covered := 0
		for _, b := range p.batches {
			if b.rows.len() > rows {
				t.Errorf("seed %d: batch of %d rows, want at most %d", seed, b.rows.len(), rows)
			}
			quad := p.quad[5*b.quad.lo : 5*b.quad.hi]
			for i := b.reduce.lo; i < b.reduce.hi; i++ {
				r := p.reduce[5*i:][:5]
				for tile := range r[3] {
					j := quad[5*(r[2]+tile):][:5]
					if j[4] != r[2]+tile || j[3] != tile || j[1] != r[0] || j[2] != r[0]+r[1] {
						t.Fatalf("seed %d: job %v for tile %d of %v", seed, j, tile, r)
					}
				}
				covered += int(r[1])
			}
			for i := b.pieces.lo; i < b.pieces.hi; i++ {
				j := p.pieces[3*i:][:3]
				covered -= int(j[2] - j[1])
			}
		}
		if covered != 0 {
			t.Errorf("seed %d: pieces and tiles differ by %d rows", seed, covered)
		}
	}
}

// TestDecide: the three ways to fit, and one byte less.
func TestDecide(t *testing.T) {
	n := needs{fixed: 1000, rows: 100, rowBytes: 10, passes: []passNeeds{
		{all: 50, least: limit{slots: 5, rows: 20}, slotBytes: 8},
		{all: 7, least: limit{slots: 2, rows: 30}, slotBytes: 16},
	}}
	for _, c := range []struct {
		room     int64
		resident bool
		slots    []int
	}{
		{1 << 30, true, []int{50, 7}},
		{1000 + 1000 + 400, true, []int{50, 7}},
		{1000 + 1000 + 399, true, []int{49, 7}},
		{1000 + 1000 + 40, true, []int{5, 2}},
		{1000 + 1000 + 39, false, nil},
		{1000 + 300 + 40, false, []int{5, 2}},
	} {
		f, err := n.decide(c.room)
		if err != nil {
			t.Errorf("%d bytes: %v", c.room, err)
			continue
		}
		if f.resident != c.resident || c.slots != nil && !slices.Equal(f.slots, c.slots) || f.bytes > c.room {
			t.Errorf("%d bytes: %+v, want resident %v, slots %v", c.room, f, c.resident, c.slots)
		}
		if f.rows < 30 || f.slots[0] < 5 || f.slots[1] < 2 {
			t.Errorf("%d bytes: %+v is less than the passes can do with", c.room, f)
		}
	}
	_, err := n.decide(1000 + 300 + 39)
	var budget *BudgetError
	if !errors.As(err, &budget) || budget.Needed != 1340 || budget.Free != 1339 || !errors.Is(err, cuda.ErrBudget) {
		t.Errorf("one byte too few: %v", err)
	}
}
