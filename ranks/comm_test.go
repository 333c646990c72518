package ranks_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/ranks"
)

// numbers returns numbers that differ between ranks.
func numbers(size, rank int) []float64 {
	return testkit.Numbers(size, func(i int) float64 { return float64(rank*size + i) })
}

// checkComm checks the contract of a Comm; it runs on all ranks and returns the error of this one.
// most is the length of the largest block.
func checkComm(c ranks.Comm, most int) error {
	r, n := c.Rank(), c.Size()
	for _, size := range []int{0, 1, 7, 255, 256, 257, most} {
		for from := range n {
			a := numbers(size, r)
			if c.Broadcast(a, from); !slices.Equal(a, numbers(size, from)) {
				return fmt.Errorf("broadcast of %d from %d: a different array", size, from)
			}
		}
		a := testkit.Numbers(size, func(i int) float64 { return float64((r+i)%n) - 0.5 })
		b := testkit.Numbers(size, func(i int) int64 { return int64(r+1)<<40 - int64(i) })
		c.Max(a)
		c.Sum(b)
		for i := range a {
			if a[i] != float64(n)-1.5 {
				return fmt.Errorf("max of %d: entry %d is %v", size, i, a[i])
			}
			if want := int64(n*(n+1)/2)<<40 - int64(n*i); r == 0 && b[i] != want {
				return fmt.Errorf("sum of %d: entry %d is %v, want %v", size, i, b[i], want)
			}
		}
		// A ring: each rank receives from its predecessor.
		to, from := (r+1)%n, (r+n-1)%n
		if n == 1 {
			continue
		}
		mine, got := numbers(size, r), make([]float64, size)
		if r%2 == 0 {
			c.Send(to, mine)
			c.Recv(from, got)
		} else {
			c.Recv(from, got)
			c.Send(to, mine)
		}
		if !slices.Equal(got, numbers(size, from)) {
			return fmt.Errorf("received %d from %d: a different array", size, from)
		}
		c.Barrier()
	}
	return nil
}

func TestGroupExchangesMessages(t *testing.T) {
	if all := ranks.Group(-1); all != nil {
		t.Errorf("a group of %d", len(all))
	}
	for _, n := range []int{1, 2, 3, 4, 7} {
		var all sync.WaitGroup
		for _, c := range ranks.Group(n) {
			all.Go(func() {
				if err := checkComm(c, 3000); err != nil {
					t.Errorf("%d ranks: rank %d: %v", n, c.Rank(), err)
				}
			})
		}
		all.Wait()
	}
}
