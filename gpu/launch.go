package gpu

import (
	"cmp"
	"slices"
	"time"

	"github.com/vssgp/vssgp/cuda"
	"github.com/vssgp/vssgp/kernels"
)

// A kernel is one of package kernels with its arguments.
type kernel interface {
	Name() string
	Block() int
	Words() []uint64
}

// outputGroup is how many outputs a column kernel takes at a time, and columnBlock how
// many features a block of it has.
const outputGroup = kernels.OutputGroup

var columnBlock = kernels.MomentsColumns{}.Block()

// groups is how many launches a kernel that sums outputGroup outputs at a time needs for
// d outputs; at least one, because the kernel has other sums too.
func groups(d int) int { return max(1, parts(d, outputGroup)) }

// jobShared and gradientShared are the shared memory, in bytes, of kernels that
// stage x and two gates of each row there: jobs of JobRows rows with a number for
// each thread (rows.cuh), and factorised_gradient with outputs of each row.
func jobShared(q, threads int) int { return 8 * (threads + kernels.JobRows*(q+2)) }
func gradientShared(q int) int     { return 8 * kernels.GradientRows * (q + 2 + outputGroup) }

// A queue is a stream of a card with arrays there. It keeps the first error since it
// was last finished; after an error nothing more is queued.
type queue struct {
	card   *Backend
	stream *cuda.Stream
	holdings
	host [arrays][]float64 // copies of arrays, on their way up or down
	err  error
}

func (b *Backend) newQueue() (*queue, error) {
	var took func(kernel string, d time.Duration)
	if b.timings != nil {
		took = b.timings.add
	}
	s, err := b.context.NewStream(took)
	return &queue{card: b, stream: s}, err
}

// launch queues so many blocks of a kernel, with shared bytes of memory each. It does
// nothing for 0 blocks.
func (q *queue) launch(k kernel, blocks, shared int) {
	if blocks == 0 || q.err != nil {
		return
	}
	f, err := q.card.function(k.Name())
	if err == nil {
		g := cuda.Geometry{Grid: [3]int{blocks, 1, 1}, Block: [3]int{k.Block(), 1, 1}, Shared: shared}
		err = f.Launch(g, q.stream, k.Words())
	}
	q.err = err
}

// launchTile launches the kernel of a tile; its block holds two stages of panels.
func (q *queue) launchTile(tile int, small, large kernel, blocks int) {
	if tile == kernels.LargeTile {
		small = large
	}
	q.launch(small, blocks, kernels.TileShared(tile))
}

// function finds a kernel by its name, once.
func (b *Backend) function(name string) (f *cuda.Function, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if f = b.functions[name]; f == nil {
		if f, err = b.module.Function(name); err == nil {
			b.functions[name] = f
		}
	}
	return f, err
}

// send copies bytes to the beginning of an array.
func (q *queue) send(a array, b []byte) {
	if len(b) > 0 && q.err == nil {
		q.err = q.mem[a].Upload(q.stream, 0, b)
	}
}

// upload copies numbers to the beginning of an array, one slice behind the other.
func (q *queue) upload(a array, all ...[]float64) {
	v := all[0]
	if len(all) > 1 {
		v = q.host[a][:0]
		for _, part := range all {
			v = append(v, part...)
		}
		q.host[a] = v
	}
	q.send(a, cuda.Bytes(v))
}

// zero clears what a plan wants of an array.
func (q *queue) zero(p *plan, a array) {
	if n := p.wants[a]; n > 0 && q.err == nil {
		q.err = q.mem[a].Zero(q.stream, 0, n)
	}
}

// download fetches what a plan wants of an array to host.
func (q *queue) download(p *plan, a array) {
	n := int(p.wants[a] / 8)
	q.host[a] = slices.Grow(q.host[a][:0], n)[:n]
	if n > 0 && q.err == nil {
		q.err = q.mem[a].Download(q.stream, cuda.Bytes(q.host[a]), 0)
	}
}

// finish waits for everything queued. It returns the first error, which is err if that
// is not nil.
func (q *queue) finish(err error) error {
	err = cmp.Or(err, q.err, q.stream.Synchronize())
	q.err = nil
	return err
}
