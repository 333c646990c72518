package gpu

import (
	"cmp"
	"errors"
	"time"

	"github.com/vssgp/vssgp/cuda"
	"github.com/vssgp/vssgp/kernels"
)

// groups returns the number of launches for d outputs of a kernel that sums outputGroup outputs at
// a time. It is at least one, because the kernel computes other sums too.
func groups(d int) int { return max(1, parts(d, outputGroup)) }

// jobShared returns the shared memory, in bytes, of a kernel with jobs of JobRows rows (rows.cuh):
// x and two gates of each row, and for each thread one number and its numbers of KeptRows rows.
func jobShared(q, threads, kept int) int {
	return 8 * (threads*(1+kernels.KeptRows*kept) + kernels.JobRows*(q+2))
}

// gradientShared returns the shared memory of factorized_gradient: x, two gates and outputs of each
// row and, with several inputs, the RowAdjoints.
func gradientShared(q, threads int) int {
	if q > 1 {
		return 8*kernels.Adjoints/threads*(q+2+outputGroup) + 16*kernels.Adjoints
	}
	return 8 * kernels.GradientRows * (q + 2 + outputGroup)
}

// A kernel is the arguments of a kernel in package kernels.
type kernel interface {
	Name() string
	Block() int
	Words() []uint64
}

// A queue is a stream of a GPU with its arrays. It keeps the first error since it was last
// finished; after an error nothing more is queued.
//
// Copies between the host and the device are queued too. Downloaded data in host[a] is valid once
// the queue is finished, and data to upload may only be changed through room.
type queue struct {
	card   *Backend
	stream *cuda.Stream
	allocations
	host   [arrays][]float64        // copies of arrays, being uploaded or downloaded
	locked [arrays]*cuda.HostMemory // their page-locked memory, reused by later evaluations
	moving [arrays]bool             // whether a copy may be in progress
	err    error
}

func (b *Backend) newQueue() (*queue, error) {
	var took func(kernel string, d time.Duration)
	if b.timings != nil {
		took = b.timings.add
	}
	s, err := b.context.NewStream(took)
	return &queue{card: b, stream: s}, err
}

// launch queues a kernel with the given number of blocks and bytes of shared memory. It does
// nothing for 0 blocks.
func (q *queue) launch(k kernel, blocks, shared int) { q.launchGrid(k, blocks, 1, shared) }

// launchGrid queues a two-dimensional grid of blocks.
func (q *queue) launchGrid(k kernel, across, down, shared int) {
	if across*down == 0 || q.err != nil {
		return
	}
	f, err := q.card.function(k.Name())
	if err == nil {
		g := cuda.Geometry{Grid: [3]int{across, down, 1}, Block: [3]int{k.Block(), 1, 1}, Shared: shared}
		err = f.Launch(g, q.stream, k.Words())
	}
	q.err = err
}

// reductionBlocks is the number of blocks to which a reduction grows if its table has fewer rows.
const reductionBlocks = 4 * multiprocessors

// launchReduction queues a kernel of reduce.cu over a table's rows, each with the given number of
// results. Several blocks share a row if there are few. A thread computes whole results, so their
// bits do not depend on the number of blocks.
func (q *queue) launchReduction(k kernel, rows int, results int64) {
	q.launchGrid(k, rows, blocksPerReduction(rows, results, k.Block()), 0)
}

// blocksPerReduction returns the number of blocks that share a row.
func blocksPerReduction(rows int, results int64, threads int) int {
	return max(1, min(reductionBlocks/max(1, rows), int(parts(results, int64(threads)))))
}

// launchTile launches the kernel for a tile size, with shared bytes of memory for each block.
func (q *queue) launchTile(tile int64, small, large kernel, blocks, shared int) {
	if tile == kernels.LargeTile {
		small = large
	}
	q.launch(small, blocks, shared)
}

// send copies bytes to the beginning of an array.
func (q *queue) send(a array, b []byte) {
	if len(b) > 0 && q.err == nil {
		q.err = q.mem[a].Upload(q.stream, 0, b)
	}
}

// room resizes host[a] to n numbers and returns it for the caller to fill. It waits for a copy in
// progress there. After an error, the numbers are never uploaded.
func (q *queue) room(a array, n int) []float64 {
	if q.err == nil && q.moving[a] {
		q.err = q.wait()
	}
	if q.err == nil && n > 0 && (q.locked[a] == nil || len(q.locked[a].Float64s()) < n) {
		q.err = q.grow(a, n)
	}
	if q.err != nil || n == 0 {
		q.host[a] = make([]float64, n)
	} else {
		q.host[a] = q.locked[a].Float64s()[:n]
	}
	return q.host[a]
}

// grow allocates page-locked memory for n numbers of an array without a copy in progress.
func (q *queue) grow(a array, n int) (err error) {
	if err := q.freeHost(a); err != nil {
		return err
	}
	q.locked[a], err = q.card.context.AllocHost(int64(8 * n))
	return err
}

// freeHost frees host[a].
func (q *queue) freeHost(a array) error {
	m := q.locked[a]
	q.host[a], q.locked[a] = nil, nil
	if m == nil {
		return nil
	}
	return m.Free()
}

// push queues the copy of host[a] to the beginning of an array.
func (q *queue) push(a array) {
	if n := len(q.host[a]); n > 0 && q.err == nil {
		q.moving[a] = true
		q.err = q.mem[a].UploadAsync(q.stream, 0, q.locked[a], int64(8*n))
	}
}

// upload copies the concatenated slices to the beginning of an array.
func (q *queue) upload(a array, all ...[]float64) {
	n := 0
	for _, part := range all {
		n += len(part)
	}
	v := q.room(a, n)[:0]
	for _, part := range all {
		v = append(v, part...)
	}
	q.push(a)
}

// zero clears the part of an array that a plan uses.
func (q *queue) zero(p *plan, a array) {
	if n := p.needs[a]; n > 0 && q.err == nil {
		q.err = q.mem[a].Zero(q.stream, 0, n)
	}
}

// download queues the copy of the part of an array that a plan uses to host[a].
func (q *queue) download(p *plan, a array) {
	n := p.needs[a]
	q.room(a, int(n/8))
	if n > 0 && q.err == nil {
		q.moving[a] = true
		q.err = q.mem[a].DownloadAsync(q.stream, q.locked[a], 0, n)
	}
}

// wait waits for everything queued.
func (q *queue) wait() error {
	q.moving = [arrays]bool{}
	return q.stream.Synchronize()
}

// finish waits for everything queued. It returns err if that is not nil, and otherwise the first
// error of the queue.
func (q *queue) finish(err error) error {
	err = cmp.Or(err, q.err, q.wait())
	q.err = nil
	return err
}

// close waits for everything queued and frees the memory of the queue.
func (q *queue) close() error {
	err := errors.Join(q.wait(), q.releaseAll())
	for a := range arrays {
		err = errors.Join(err, q.freeHost(a))
	}
	return errors.Join(err, q.stream.Close())
}
