package gpu

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cuda"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/kernels"
)

func TestTileFor(t *testing.T) {
	for m, want := range map[int]int{1: 64, 64: 64, 192: 64, 193: 128, 4096: 128} {
		if got := tileFor([]run{{m: 1}, {m: m}}); got != want {
			t.Errorf("%d features have a tile of %d, want %d", m, got, want)
		}
	}
}

// TestChunks: rows are covered once and in order, and shapes give the number
// of blocks that a card can use.
func TestChunks(t *testing.T) {
	one := func(n, m int) []run { return []run{{hi: n, m: m, split: m}} }
	var many []run
	for v := range 200 {
		many = append(many, run{cell: v, lo: 1000 * v, hi: 1000 * (v + 1), f0: 100 * v, m: 200, split: 100})
	}
	for _, c := range []struct {
		name   string
		runs   []run
		lo, hi int // blocks
		chunks int // 0: any
	}{
		{"dense", one(100_000, 1024), 100, 396, 0},
		{"dense, few features", one(1_000_000, 50), 100, 396, 0},
		{"dense, many features", one(100_000, 8192), 2080, 2080, 1},
		{"few rows", one(300, 100), 3, 3, 1},
		{"one row", one(1, 1), 1, 1, 1},
		{"windows", many, 600, 600, 200},
		{"very many rows", one(3_000_000, 8192), 12 * 2080, 12 * 2080, 12},
	} {
		count := func(r run) int { return pairs(r.m, tileFor(c.runs)) }
		all := gramCut.chunks(c.runs, count)
		blocks, at := 0, map[int]int{}
		for _, s := range all {
			r := c.runs[s.run]
			blocks += count(r)
			if s.lo != r.lo+at[s.run] || s.hi <= s.lo || s.hi > r.hi || s.hi-s.lo > longest {
				t.Fatalf("%s: chunk %+v of run %+v after %d rows", c.name, s, r, at[s.run])
			}
			if s.hi < r.hi && (s.hi-s.lo)%chunkUnit != 0 {
				t.Errorf("%s: chunk of %d rows, want a multiple of %d", c.name, s.hi-s.lo, chunkUnit)
			}
			at[s.run] += s.hi - s.lo
		}
		for i, r := range c.runs {
			if at[i] != r.hi-r.lo {
				t.Errorf("%s: %d rows of run %d covered, want %d", c.name, at[i], i, r.hi-r.lo)
			}
		}
		if blocks < c.lo || blocks > c.hi || c.chunks > 0 && len(all) != c.chunks {
			t.Errorf("%s: %d chunks, %d blocks, want %d to %d", c.name, len(all), blocks, c.lo, c.hi)
		}
	}
}

// someRuns are runs of a layout over windows of random sizes.
func someRuns(rng *rand.Rand) []run {
	n, windows := 1+rng.IntN(20_000), 1+rng.IntN(6)
	w := backend.Windows{Length: 2}
	w.Center = testkit.Numbers(windows, func(v int) float64 { return float64(v) })
	x := testkit.Numbers(n, func(int) float64 { return rng.Float64() * float64(windows) })
	offset := []int{0}
	for range windows {
		offset = append(offset, offset[len(offset)-1]+rng.IntN(300))
	}
	return runsOver(w.NewLayout(x, n, 1).Runs, offset)
}

// TestPasses: whatever the limit, every chunk has all its blocks' jobs once,
// in slots of their own, and every block of a run is reduced once, over its
// chunks' slots in order, among runs of one parity.
func TestPasses(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		runs := someRuns(rng)
		k := columnKind(runs, cut{40, 64, longest, false}, 64, 1, 1)
		whole := k.plan(runs, math.MaxInt, 0)
		most := whole.least + rng.IntN(whole.slots+1)
		p := k.plan(runs, most, 0)
		if p.slots > most {
			t.Errorf("seed %d: %d slots, limit %d", seed, p.slots, most)
		}
		if err := checkPass(k, runs, p); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

func checkPass(k kind, runs []run, p *pass) error {
	job := 0
	reduced := map[[2]int64]bool{}
	for _, b := range p.batches {
		slot := map[[2]int64][]int64{} // of a run's first feature and a block: the chunks'
		used := map[int64]bool{}
		if b.jobs.lo != job {
			return fmt.Errorf("batch %+v after job %d", b, job)
		}
		for ; job < b.jobs.hi; job++ {
			j := p.jobs[3*job:][:3]
			s := p.chunks[j[0]]
			if used[j[2]] || int(j[2]) >= p.slots {
				return fmt.Errorf("job %v over %+v in batch %+v: its slot is not its own", j, s, b)
			}
			used[j[2]] = true
			key := [2]int64{int64(s.run), j[1]}
			slot[key] = append(slot[key], j[2])
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
		return fmt.Errorf("%d jobs of %d in batches, %d blocks reduced, want %d", job, len(p.jobs)/3, len(reduced), want)
	}
	return nil
}

// checkReductions checks those of a batch, given the slots of its runs' blocks,
// chunk by chunk, and adds the blocks to those reduced.
func checkReductions(runs []run, p *pass, b batch, slot map[[2]int64][]int64, reduced map[[2]int64]bool) error {
	for parity, span := range b.reduce {
		for i := span.lo; i < span.hi; i++ {
			row := p.reduction[5*i:][:5]
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
					return fmt.Errorf("reduction %v adds slot %d, its chunks' are %v", row, at, slot[key])
				}
			}
			if len(slot[key]) != int(row[3]) {
				return fmt.Errorf("reduction %v of %d chunks", row, len(slot[key]))
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
		whole := k.plan(runs, math.MaxInt, math.MaxInt64)
		p := k.plan(runs, whole.least+rng.IntN(whole.slots+1), math.MaxInt64)
		table := gramRuns(runs, p)
		seen := make([]int64, len(runs))
		for job := 0; job < len(p.jobs)/4; job++ {
			j := p.jobs[4*job:][:4]
			run := p.chunks[j[0]].run
			row := table[kernels.ChunkFields*run:][:kernels.ChunkFields]
			pair := j[1]*(j[1]+1)/2 + j[2]
			if want := row[5] + seen[run]/row[7]*row[7] + pair; j[1] < j[2] || j[3] != want {
				t.Fatalf("seed %d: job %v of run %v, want slot %d", seed, j, row, want)
			}
			seen[run]++
		}
		for i := range runs {
			row := table[kernels.ChunkFields*i:][:kernels.ChunkFields]
			if row[6]*row[7] != seen[i] || row[0] != int64(runs[i].m) {
				t.Errorf("seed %d: run %v has %d jobs", seed, row, seen[i])
			}
		}
	}
}

// planRows are rows without a card, of which each takes 10 bytes.
func planRows(n int, w backend.Windows) *rows {
	return &rows{data: backend.Data{N: n, Q: 1, D: 1, Windows: w}, own: wants{arrayX: int64(10 * n)}}
}

// TestPredictPlan: pieces and jobs cover the same rows, and the slots of a piece's
// tiles lie behind each other.
func TestPredictPlan(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 4))
		n, windows := 1+rng.IntN(20_000), 2+rng.IntN(6)
		r := planRows(n, backend.Windows{})
		p := &plan{op: opPredictShared, d: 1, n: n, offset: []int{0}, free: 1 << 40}
		for v := range windows {
			p.offset = append(p.offset, p.offset[v]+1+rng.IntN(300))
			p.runs = append(p.runs, backend.Run{Cell: v, Lo: v * n / windows, Hi: (v + 1) * n / windows, First: v, End: min(v+2, windows)})
		}
		p.m = p.offset[windows]
		testkit.OK(t, r.layPredict(p))
		quad, covered := p.passes[0], 0
		for reduce := quad.reduction; len(reduce) > 0; reduce = reduce[5:] {
			at := slices.IndexFunc(quad.chunks, func(c chunk) bool { return c.lo == int(reduce[0]) })
			if at < 0 || quad.chunks[at].rows() != int(reduce[1]) || reduce[1] > kernels.QuadRows {
				t.Fatalf("seed %d: no piece of rows %v", seed, reduce[:5])
			}
			for tile := range reduce[3] {
				if j := quad.jobs[3*(reduce[2]+tile):][:3]; !slices.Equal(j, []int64{int64(at), tile, reduce[2] + tile}) {
					t.Fatalf("seed %d: job %v for tile %d of %v", seed, j, tile, reduce[:5])
				}
			}
			covered += int(reduce[1])
		}
		if covered != n {
			t.Errorf("seed %d: pieces cover %d rows of %d", seed, covered, n)
		}
		for jobs := p.table[p.rowJobs.begin:][:3*p.rowJobs.rows]; len(jobs) > 0; jobs = jobs[3:] {
			covered -= int(jobs[2] - jobs[1])
		}
		if covered != 0 {
			t.Errorf("seed %d: jobs and pieces differ by %d rows", seed, covered)
		}
	}
}

// TestInWaves: the time of chunks in whole waves is never above that of as many as
// there may be.
func TestInWaves(t *testing.T) {
	time := func(n, l, count int) int { return parts(parts(n, l)*count, multiprocessors) * (l + blockRows) }
	for _, c := range []struct{ n, count, atMost int }{
		{1_000_000, 8, 61_500}, {1_000_000, 32, 250_000}, {16_000, 7, 960}, {16_000, 28, 3650}, {300, 1, 448}, {1, 1, 192},
	} {
		l := pullbackCut.inWaves(c.n, parts(c.n, 256), c.count)
		if got := time(c.n, l, c.count); got > c.atMost || got > time(c.n, 256, c.count) {
			t.Errorf("%d rows, %d blocks over each chunk: chunks of %d rows take %d, want at most %d", c.n, c.count, l, got, c.atMost)
		}
	}
}

// TestLayOut: all partial sums at once, some of them, and one byte less than the
// least, which is refused with what would fit.
func TestLayOut(t *testing.T) {
	r := planRows(4000, backend.Windows{})
	var runs []run
	for v := range 4 {
		runs = append(runs, run{cell: v, lo: 1000 * v, hi: 1000 * (v + 1), m: 64, split: 64})
	}
	k := columnKind(runs, cut{1, 1000, longest, false}, 64, 1, 1)
	lay := func(free int64) (*plan, error) {
		p := &plan{wants: r.own, free: free}
		return p, r.layOut(p, runs, k)
	}
	fixed := int64(40_000 + 8*4*(kernels.ChunkFields+k.width+k.reduceWidth))
	for _, c := range []struct {
		slots   int // that there is room for
		cramped bool
		batches int
	}{{4, false, 1}, {3, true, 2}, {1, true, 4}} {
		p := testkit.Must(lay(fixed + int64(c.slots)*k.slotBytes))(t)
		if p.cramped != c.cramped || len(p.passes[0].batches) != c.batches || p.wants[arrayPart] != int64(c.slots)*k.slotBytes {
			t.Errorf("room for %d slots: cramped %v, %d batches, %d bytes", c.slots, p.cramped, len(p.passes[0].batches), p.wants[arrayPart])
		}
	}
	_, err := lay(fixed + k.slotBytes - 1)
	var budget *BudgetError
	switch {
	case !errors.As(err, &budget) || !errors.Is(err, cuda.ErrBudget):
		t.Errorf("one byte too few: %v", err)
	case budget.Needed != fixed+k.slotBytes || budget.Free != budget.Needed-1 || budget.Fit != 3999:
		t.Errorf("one byte too few: %+v", budget)
	}
}

// TestBudgetError: it names bytes needed, bytes free, and what would fit.
func TestBudgetError(t *testing.T) {
	r := planRows(4000, backend.Windows{})
	for _, c := range []struct {
		free int64
		want string
	}{
		{41_000 - 10*1000, "needs 41000 bytes of device memory, 31000 are free, enough for about 3000 of the 4000 rows; " +
			"want fewer rows, or more ranks (mpirun) with a card each"},
		{1000 + 10, "enough for about 1 of the 4000 rows"},
		{999, "999 are free, too few for any number of rows; want fewer features, or a card with more memory"},
	} {
		err := r.refused(41_000, c.free, 10)
		if !strings.Contains(err.Error(), c.want) || !errors.Is(err, cuda.ErrBudget) {
			t.Errorf("%d bytes free: %v, want %q", c.free, err, c.want)
		}
	}
}
