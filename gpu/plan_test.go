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

// runsOf returns runs with the given numbers of features.
func runsOf(features ...int64) (runs []run) {
	for _, m := range features {
		runs = append(runs, run{Chunk: kernels.Chunk{M: m}})
	}
	return runs
}

func TestTileForWidestRun(t *testing.T) {
	for m, want := range map[int64]int64{1: 64, 64: 64, 192: 64, 193: 128, 4096: 128} {
		if got := tileFor(runsOf(1, m)); got != want {
			t.Errorf("%d features have a tile of %d, want %d", m, got, want)
		}
	}
}

// TestChunksCoverRowsOnce checks that chunks cover the rows once and in order, and that the number of blocks
// matches the GPU.
func TestChunksCoverRowsOnce(t *testing.T) {
	one := func(n, m int64) []run { return []run{{Chunk: kernels.Chunk{Hi: n, M: m, Split: m}}} }
	var many []run
	for v := range int64(200) {
		many = append(many, run{kernels.Chunk{Lo: 1000 * v, Hi: 1000 * (v + 1), F0: 100 * v, M: 200, Split: 100}, int(v)})
	}
	for _, c := range []struct {
		name   string
		runs   []run
		lo, hi int64 // blocks
		chunks int   // 0: any
	}{
		{"dense", one(100_000, 1024), 100, 396, 0},
		{"dense, few features", one(1_000_000, 50), 100, 396, 0},
		{"dense, many features", one(100_000, 8192), 2080, 2080, 1},
		{"few rows", one(300, 100), 3, 3, 1},
		{"one row", one(1, 1), 1, 1, 1},
		{"windows", many, 600, 600, 200},
		{"very many rows", one(3_000_000, 8192), 12 * 2080, 12 * 2080, 12},
	} {
		count := func(m int64) int64 { return pairs(m, tileFor(c.runs)) }
		all, of := gramCut.chunks(c.runs, count)
		blocks := int64(0)
		for i, r := range c.runs {
			at := r.Lo
			for _, got := range all[of[i].lo:of[i].hi] {
				blocks += count(r.M)
				want := r.Chunk
				want.Lo, want.Hi = at, got.Hi
				if got != want || got.Rows() < 1 || got.Hi > r.Hi || got.Rows() > longest {
					t.Fatalf("%s: chunk %+v of run %+v, want begin %d", c.name, got, r, at)
				}
				if got.Hi < r.Hi && got.Rows()%chunkUnit != 0 {
					t.Errorf("%s: chunk of %d rows, want a multiple of %d", c.name, got.Rows(), chunkUnit)
				}
				at = got.Hi
			}
			if at != r.Hi {
				t.Errorf("%s: run %d is covered up to row %d, want %d", c.name, i, at, r.Hi)
			}
		}
		if blocks < c.lo || blocks > c.hi || c.chunks > 0 && len(all) != c.chunks {
			t.Errorf("%s: %d chunks, %d blocks, want %d to %d", c.name, len(all), blocks, c.lo, c.hi)
		}
	}
}

// someRuns returns runs of a layout over windows of random sizes.
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

// TestPassesReduceEveryBlockOnce checks for various limits that each chunk has one job for each of its blocks, in a
// slot used by no other job, and that each block of a run is reduced once, over the slots of its
// chunks in order, among runs of one parity.
func TestPassesReduceEveryBlockOnce(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		runs := someRuns(rng)
		k := []kind{columnKind(cut{40, 64, longest, false}, 64, 1, 1), gramKind(64)}[seed%2]
		p := &plan{}
		whole := p.addPass(k, runs, math.MaxInt64, math.MaxInt64)
		most := whole.least + rng.Int64N(whole.slots+1)
		s := p.addPass(k, runs, most, math.MaxInt64)
		if s.slots > most {
			t.Errorf("seed %d: %d slots, limit %d", seed, s.slots, most)
		}
		if err := checkPass(runs, p, s); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

// rowsOf returns the rows of a section of a plan's table.
func rowsOf[Row any](p *plan, s section) []Row {
	rows := make([]Row, s.rows)
	copy(cuda.Bytes(rows), p.table[s.begin:])
	return rows
}

func checkPass(runs []run, p *plan, s *pass) error {
	type part struct {
		run   int
		block int64
	}
	var runOf []int      // of each chunk
	jobs, blocks := 0, 0 // expected: a job for each block over each chunk
	_, of := s.cut.chunks(runs, s.count)
	for i, r := range runs {
		blocks += int(s.count(r.M))
		jobs += int(s.count(r.M)) * of[i].len()
		for range of[i].len() {
			runOf = append(runOf, i)
		}
	}
	reduced := map[part]bool{}
	for _, b := range s.batches {
		slots := map[part][]int64{} // of the chunks
		used := map[int64]bool{}
		jobs -= b.jobs.rows
		for _, j := range rowsOf[kernels.Job](p, b.jobs) {
			if used[j.Slot] || j.Slot >= s.slots || j.Other > j.Block {
				return fmt.Errorf("job %+v in batch %+v: its slot is used twice, or its tile is above the diagonal", j, b)
			}
			used[j.Slot] = true
			if s.pairs {
				j.Block = j.Block*(j.Block+1)/2 + j.Other
			}
			of := part{runOf[j.Chunk], j.Block}
			slots[of] = append(slots[of], j.Slot)
		}
		for parity, which := range b.reductions {
			for _, r := range rowsOf[kernels.Reduction](p, which) {
				of := part{runOf[r.Chunk], r.Block}
				var added []int64
				for i := range r.Slots {
					added = append(added, r.Slot+i*r.Apart)
				}
				if reduced[of] || runs[of.run].cell&1 != parity || !slices.Equal(added, slots[of]) {
					return fmt.Errorf("reduction %+v of %+v adds slots %v among cells of parity %d, want %v", r, of, added, parity, slots[of])
				}
				reduced[of] = true
			}
		}
	}
	if jobs != 0 || len(reduced) != blocks {
		return fmt.Errorf("%d jobs are missing, %d blocks reduced, want %d", jobs, len(reduced), blocks)
	}
	return nil
}

// planRows returns rows without a GPU, 10 bytes each.
func planRows(n int, w backend.Windows) *rows {
	return &rows{data: backend.Data{N: n, Q: 1, D: 1, Windows: w}, own: arraySizes{arrayX: int64(10 * n)}}
}

// TestPredictPlanCoversRows checks that pieces and jobs cover the same rows, and that the slots of a piece's
// tiles are contiguous.
func TestPredictPlanCoversRows(t *testing.T) {
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
		testkit.OK(t, r.planPredict(p))
		quad, covered := p.passes[0], int64(0)
		jobs := make(map[int64]kernels.Job) // by slot
		for _, j := range rowsOf[kernels.Job](p, quad.batches[0].jobs) {
			jobs[j.Slot] = j
		}
		for _, reduce := range rowsOf[kernels.Reduction](p, quad.batches[0].reductions[0]) {
			piece := quad.chunks[reduce.Chunk]
			if piece.Lo != covered || piece.Rows() > kernels.QuadRows || reduce.Slots != quad.count(piece.M) || reduce.Apart != 1 {
				t.Fatalf("seed %d: reduction %+v of %+v after row %d", seed, reduce, piece, covered)
			}
			for tile := range reduce.Slots {
				want := kernels.Job{Chunk: reduce.Chunk, Block: tile, Slot: reduce.Slot + tile}
				if j := jobs[want.Slot]; j != want {
					t.Fatalf("seed %d: job %+v for tile %d of %+v", seed, j, tile, reduce)
				}
			}
			covered = piece.Hi
		}
		if covered != int64(n) {
			t.Errorf("seed %d: pieces cover %d rows of %d", seed, covered, n)
		}
		chunks := rowsOf[kernels.Chunk](p, p.chunks)
		for _, j := range rowsOf[kernels.Job](p, p.rowJobs) {
			covered -= min(chunks[j.Chunk].Rows()-kernels.JobRows*j.Block, kernels.JobRows)
		}
		if covered != 0 {
			t.Errorf("seed %d: jobs and pieces differ by %d rows", seed, covered)
		}
	}
}

// TestGramOffsets checks that the blocks on the device are in the order of backend.NewGram.
func TestGramOffsets(t *testing.T) {
	offset := []int{0, 2, 5, 5, 9}
	g := backend.NewGram(offset)
	diag, below, size := gramOffsets(offset)
	at := int64(0)
	for v := range g.Diag {
		if diag[v] != at || below[v] != at+int64(len(g.Diag[v])) {
			t.Errorf("window %d: blocks at %d and %d, want %d and %d", v, diag[v], below[v], at, at+int64(len(g.Diag[v])))
		}
		if at += int64(len(g.Diag[v])); v < len(g.Below) {
			at += int64(len(g.Below[v]))
		}
	}
	testkit.Equal(t, size, at, "numbers")
}

// TestWholeWavesAreNotSlower checks that cutting into whole waves is never slower than cutting into the maximum
// number of chunks.
func TestWholeWavesAreNotSlower(t *testing.T) {
	testkit.Equal(t, pullbackCut.inWaves(longest, 1, 1), longest, "rows of the longest chunk")
	time := func(n, l, count int64) int64 { return parts(parts(n, l)*count, multiprocessors) * (l + blockRows) }
	for _, c := range []struct{ n, count, atMost int64 }{
		{1_000_000, 8, 61_500}, {1_000_000, 32, 250_000}, {16_000, 7, 960}, {16_000, 28, 3650}, {300, 1, 448}, {1, 1, 192},
	} {
		l := pullbackCut.inWaves(c.n, parts(c.n, 256), c.count)
		if got := time(c.n, l, c.count); got > c.atMost || got > time(c.n, 256, c.count) {
			t.Errorf("%d rows, %d blocks over each chunk: chunks of %d rows take %d, want at most %d", c.n, c.count, l, got, c.atMost)
		}
	}
}

// TestPassesInBudget tests space for all partial sums, for some of them, and one byte less than the
// minimum, which must return a BudgetError.
func TestPassesInBudget(t *testing.T) {
	r := planRows(4000, backend.Windows{})
	var runs []run
	for v := range int64(4) {
		runs = append(runs, run{kernels.Chunk{Lo: 1000 * v, Hi: 1000 * (v + 1), M: 64, Split: 64}, int(v)})
	}
	k := columnKind(cut{1, 1000, longest, false}, 64, 1, 1)
	within := func(free int64) (*plan, error) {
		p := &plan{needs: r.own, free: free}
		return p, r.addPasses(p, runs, k)
	}
	unlimited := testkit.Must(within(math.MaxInt64))(t)
	fixed := 40_000 + int64(len(unlimited.table))
	for _, c := range []struct {
		slots   int // that fit
		limited bool
		batches int
	}{{4, false, 1}, {3, true, 2}, {1, true, 4}} {
		p := testkit.Must(within(fixed + int64(c.slots)*k.slotBytes))(t)
		if p.limited != c.limited || len(p.passes[0].batches) != c.batches || p.needs[arrayPart] != int64(c.slots)*k.slotBytes {
			t.Errorf("space for %d slots: limited %v, %d batches, %d bytes", c.slots, p.limited, len(p.passes[0].batches), p.needs[arrayPart])
		}
	}
	_, err := within(fixed + k.slotBytes - 1)
	var budget *BudgetError
	switch {
	case !errors.As(err, &budget) || !errors.Is(err, cuda.ErrBudget):
		t.Errorf("one byte too few: %v", err)
	case budget.Needed != fixed+k.slotBytes || budget.Free != budget.Needed-1 || budget.Fit != 3999:
		t.Errorf("one byte too few: %+v", budget)
	}
}

// TestBudgetError checks that the error names the bytes needed, the bytes free and the rows that
// fit.
func TestBudgetError(t *testing.T) {
	r := planRows(4000, backend.Windows{})
	for _, c := range []struct {
		free int64
		want string
	}{
		{41_000 - 10*1000, "needs 41000 bytes of device memory but only 31000 are free, which fits about 3000 of the 4000 rows; " +
			"use fewer rows, or more ranks (mpirun) with one GPU each"},
		{1000 + 10, "which fits about 1 of the 4000 rows"},
		{999, "only 999 are free, too little even for one row; use fewer features or a GPU with more memory"},
	} {
		err := r.refused(41_000, c.free, 10)
		if !strings.Contains(err.Error(), c.want) || !errors.Is(err, cuda.ErrBudget) {
			t.Errorf("%d bytes free: %v, want %q", c.free, err, c.want)
		}
	}
}

// TestBlocksPerReduction checks that the blocks of a reduction suffice for all multiprocessors if
// there are few rows, and that none is without results.
func TestBlocksPerReduction(t *testing.T) {
	for _, c := range []struct {
		rows, results, threads, want int
	}{
		{28, 128 * 128, 256, 18}, {7, 128 * 7, 128, 7}, {36, 64 * 64, 256, 14},
		{10_000, 128 * 7, 128, 1}, {0, 1, 128, 1},
	} {
		got := blocksPerReduction(c.rows, int64(c.results), c.threads)
		testkit.Equal(t, got, c.want, fmt.Sprintf("blocks for each of %d rows", c.rows))
	}
}

// TestQuadJobsFinishTogether checks that multiprocessors that take the jobs of predict_quad in order
// are busy until the last one has finished.
func TestQuadJobsFinishTogether(t *testing.T) {
	for _, c := range []struct{ n, m int }{{16_000, 800}, {100_000, 1024}, {1_000_000, 512}, {100_000, 200}} {
		r := planRows(c.n, backend.Windows{})
		p := &plan{op: opPredictShared, d: 1, m: c.m, n: c.n, offset: []int{0, c.m}, free: 1 << 40}
		p.runs = []backend.Run{{Hi: c.n, End: 1}}
		testkit.OK(t, r.planPredict(p))
		quad := p.passes[0]
		var until [multiprocessors]int64 // when each has finished
		work := int64(0)
		for _, j := range rowsOf[kernels.Job](p, quad.batches[0].jobs) {
			length := quad.chunks[j.Chunk].Rows() * (j.Block + 1)
			i := slices.Index(until[:], slices.Min(until[:]))
			until[i] += length
			work += length
		}
		if got := 100 * multiprocessors * slices.Max(until[:]) / work; got > 106 {
			t.Errorf("%d rows, %d features: %d %% of the time if all finished at once, want at most 106", c.n, c.m, got)
		}
	}
}
