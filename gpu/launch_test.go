package gpu

import (
	"errors"
	"slices"
	"testing"

	"github.com/vssgp/vssgp/cuda"
	"github.com/vssgp/vssgp/internal/testkit"
)

// TestRoom: numbers on their way up are not changed before they are there, and those
// on their way down are there when the queue is finished. The memory is kept, and
// freed with the rows.
func TestRoom(t *testing.T) {
	b := open(t, Options{Ordinal: usable(t)[0].Ordinal})
	p := newProblem(shape{n: 20, m: 3, q: 1, d: 1})
	opened := testkit.Must(b.Open(p.data))(t)
	testkit.Must(p.methods()[0].call(opened))(t)
	r := opened.(*rows)
	plan := r.plans[opMoments]
	n := int(plan.wants[arraySums] / 8)
	want := testkit.Numbers(n, func(i int) float64 { return float64(i + 1) })
	before := r.locked[arraySums]
	r.upload(arraySums, want[:1], want[1:])
	clear(r.room(arraySums, n))
	got := make([]float64, n)
	if err := errors.Join(r.mem[arraySums].Download(r.stream, cuda.Bytes(got), 0), r.finish(nil)); err != nil || !slices.Equal(got, want) {
		t.Errorf("the card has %v, want %v (%v)", got, want, err)
	}
	r.download(plan, arraySums)
	r.download(plan, arrayGram)
	if err := r.finish(nil); err != nil || !slices.Equal(r.host[arraySums], want) {
		t.Errorf("down came %v, want %v (%v)", r.host[arraySums], want, err)
	}
	if r.locked[arraySums] != before {
		t.Error("page-locked memory was not used again")
	}
	testkit.OK(t, opened.Close())
	if bytes, pieces := b.context.HeldHost(); bytes != 0 || pieces != 0 {
		t.Errorf("%d bytes in %d pieces of the host are held after Close", bytes, pieces)
	}
}
