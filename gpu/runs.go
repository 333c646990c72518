package gpu

import (
	"slices"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/kernels"
)

// The shapes of data and features alone determine how rows are cut, never the GPU or the free
// memory, so that the order of all sums is the same everywhere.
const (
	// multiprocessors is the number of multiprocessors that the cuts assume.
	multiprocessors = 132
	// largeFrom is the minimum number of features over a run for which the large tile is faster.
	largeFrom = 193
	// chunkUnit divides the number of rows of each chunk except the last of a run.
	chunkUnit = kernels.LargeTile
	// slabUnit divides the number of rows of a slab. A tile of rows is then in one slab, and the
	// recurrence of a wave restarts at the same rows in slabs of any size.
	slabUnit = kernels.LargeTile
	// longest is the maximum number of rows of a chunk. They are added sequentially, so the
	// rounding error grows with it.
	longest = 1 << 18
)

// outputGroup is the number of outputs that a column kernel processes at a time, and columnBlock
// the number of features of a block.
const outputGroup = kernels.OutputGroup

var columnBlock = int64(kernels.MomentsColumns{}.Block())

// A cut defines the target number of blocks of a pass, the minimum number of rows of a block, and
// the maximum number of rows of a chunk. Large blocks, of which a multiprocessor runs one at a
// time, run in waves.
type cut struct {
	blocks, least, longest int64
	large                  bool
}

var (
	gramCut     = cut{3 * multiprocessors, 512, longest, true}
	pullbackCut = cut{4 * multiprocessors, 256, longest, true}
	columnCut   = cut{8 * multiprocessors, 128, longest, false}
	quadCut     = cut{4 * multiprocessors, 256, kernels.QuadRows, false}
	uncut       = cut{1, longest, longest, false} // as long as possible
)

// blockRows is the overhead of starting and ending a block, in rows.
const blockRows = 64

// tileFor returns the tile size for these runs.
func tileFor(runs []run) int64 {
	if widest(runs) >= largeFrom {
		return kernels.LargeTile
	}
	return kernels.SmallTile
}

// A run is a run of a layout, with the features over it, as one chunk.
type run struct {
	kernels.Chunk
	cell int
}

// gramOffsets returns the positions of the diagonal blocks and of the blocks below them in an array
// in the order of backend.NewGram, and the array's length.
func gramOffsets(offset []int) (diag, below []int64, size int64) {
	for v := 0; v+1 < len(offset); v++ {
		m := int64(offset[v+1] - offset[v])
		diag = append(diag, size)
		size += m * m
		below = append(below, size)
		if v+2 < len(offset) {
			size += m * int64(offset[v+2]-offset[v+1])
		}
	}
	return diag, below, size
}

// gramBytes returns the size of that array.
func gramBytes(offset []int) int64 {
	_, _, size := gramOffsets(offset)
	return 8 * size
}

// runsOver returns a layout's runs with their features, without the runs that have none.
func runsOver(layout []backend.Run, offset []int) []run {
	return slices.DeleteFunc(allRuns(layout, offset), func(r run) bool { return r.M == 0 })
}

// allRuns returns a layout's runs with their features.
func allRuns(layout []backend.Run, offset []int) (runs []run) {
	diag, below, _ := gramOffsets(offset)
	for _, l := range layout {
		v := l.First
		c := kernels.Chunk{
			Lo: int64(l.Lo), Hi: int64(l.Hi),
			F0: int64(offset[v]), M: int64(offset[l.End] - offset[v]), Split: int64(offset[v+1] - offset[v]), Diag0: diag[v],
		}
		if l.End > v+1 {
			c.Below, c.Diag1 = below[v], diag[v+1]
		}
		runs = append(runs, run{c, l.Cell})
	}
	return runs
}

// widest returns the maximum number of features of a run.
func widest(runs []run) (m int64) {
	for _, r := range runs {
		m = max(m, r.M)
	}
	return m
}

// parts returns ⌈n/size⌉.
func parts[N int | int64](n, size N) N { return (n + size - 1) / size }

// pairs returns the number of tiles in the lower triangle of m features.
func pairs[N int | int64](m, tile N) N { t := parts(m, tile); return t * (t + 1) / 2 }

// triangle returns the n'th pair (i, j), i ≥ j, counted row by row.
func triangle(n int64) (i, j int64) {
	for (i+1)*(i+2)/2 <= n {
		i++
	}
	return i, n - i*(i+1)/2
}

// chunks cuts runs into chunks; of[i] are the chunks of run i. count returns the number of blocks
// over a chunk of m features.
func (c cut) chunks(runs []run, count func(m int64) int64) (all []kernels.Chunk, of []span) {
	work := int64(0)
	for _, r := range runs {
		work += r.Rows() * count(r.M)
	}
	most := min(max(c.least, parts(work, c.blocks)), c.longest)
	for _, r := range runs {
		n, first := r.Rows(), len(all)
		length := chunkLength(n, parts(n, most))
		if len(runs) == 1 && c.large {
			length = c.inWaves(n, parts(n, most), count(r.M))
		}
		for lo := r.Lo; lo < r.Hi; lo += length {
			part := r.Chunk
			part.Lo, part.Hi = lo, min(r.Hi, lo+length)
			all = append(all, part)
		}
		of = append(of, span{first, len(all)})
	}
	return all, of
}

// chunkLength returns the chunk length if n rows are cut into the given number of chunks.
func chunkLength(n, stretches int64) int64 { return parts(parts(n, stretches), chunkUnit) * chunkUnit }

// inWaves returns the chunk length for n rows, with count blocks over each chunk, that minimizes
// the time in waves of one block per multiprocessor. A last wave of a few blocks takes as long as a
// full one. There are at most most chunks.
func (c cut) inWaves(n, most, count int64) (length int64) {
	least := int64(0)
	for stretches := parts(n, c.longest); stretches <= most; stretches++ {
		l := chunkLength(n, stretches)
		if l > c.longest {
			continue
		}
		if time := parts(parts(n, l)*count, multiprocessors) * (l + blockRows); length == 0 || time < least {
			length, least = l, time
		}
	}
	return length
}

// rowJobs cuts the chunks' rows into jobs of at most kernels.JobRows each.
func rowJobs(chunks []kernels.Chunk) (jobs []kernels.Job) {
	for i, c := range chunks {
		for block := range parts(c.Rows(), kernels.JobRows) {
			jobs = append(jobs, kernels.Job{Chunk: int64(i), Block: block})
		}
	}
	return jobs
}
