package gpu

import (
	"errors"
	"fmt"

	"github.com/vssgp/vssgp/cuda"
	"github.com/vssgp/vssgp/kernels"
)

// A kernel is one of package kernels with its arguments.
type kernel interface {
	Name() string
	Block() int
	Words() []uint64
}

// outputGroup is how many outputs a column kernel takes at a time, and
// columnBlock how many features a block of it.
const outputGroup = kernels.OutputGroup

var columnBlock = kernels.MomentsColumns{}.Block()

// groups is how many launches d outputs take by a kernel that sums outputGroup of them;
// at least one, because the kernel has other sums too.
func groups(d int) int { return max(1, parts(d, outputGroup)) }

// jobShared and gradientShared are the shared memory, in bytes, of kernels that
// stage x and two gates of each row there: jobs of JobRows rows with a number for
// each thread (rows.cuh), and factorised_gradient with outputs of each row.
func jobShared(q, threads int) int { return 8 * (threads + kernels.JobRows*(q+2)) }
func gradientShared(q int) int     { return 8 * kernels.GradientRows * (q + 2 + outputGroup) }

// A queue is a stream of a card with the events of its timed launches.
type queue struct {
	card   *Backend
	stream *cuda.Stream
	marks  marks
}

func (b *Backend) newQueue() (*queue, error) {
	s, err := b.context.NewStream()
	if err != nil {
		return nil, err
	}
	return &queue{card: b, stream: s}, nil
}

// launch puts blocks of a kernel, with bytes of shared memory each, into the queue. It
// does nothing for 0 blocks.
func (q *queue) launch(k kernel, blocks, shared int) error {
	if blocks == 0 {
		return nil
	}
	f, err := q.card.function(k.Name())
	if err != nil {
		return err
	}
	g := cuda.Geometry{Grid: [3]int{blocks, 1, 1}, Block: [3]int{k.Block(), 1, 1}, Shared: shared}
	launch := func() error { return f.Launch(g, q.stream, k.Words()) }
	if q.card.timings == nil {
		err = launch()
	} else {
		err = q.marks.time(q.card.context, q.stream, k.Name(), launch)
	}
	if err != nil {
		return fmt.Errorf("%d blocks: %w", blocks, err)
	}
	return nil
}

// launchTile launches the kernel of a tile; its block holds two stages of panels.
func (q *queue) launchTile(tile int, small, large kernel, blocks int) error {
	if tile == kernels.LargeTile {
		small = large
	}
	return q.launch(small, blocks, kernels.TileShared(tile))
}

// function finds a kernel by its name, once.
func (b *Backend) function(name string) (*cuda.Function, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if f := b.functions[name]; f != nil {
		return f, nil
	}
	f, err := b.module.Function(name)
	if err != nil {
		return nil, err
	}
	b.functions[name] = f
	return f, nil
}

// finish waits for all that is in the queue and takes the times.
func (q *queue) finish() error {
	if err := q.stream.Synchronize(); err != nil {
		return err
	}
	return q.marks.collect(q.card.timings)
}

func (q *queue) close() error {
	return errors.Join(q.marks.close(), q.stream.Close())
}
