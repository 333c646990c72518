package parallel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// TestForCallsEachIndexOnce checks that each index is called once for any number of goroutines.
func TestForCallsEachIndexOnce(t *testing.T) {
	for _, n := range []int{0, 1, 2, 7, 100} {
		for _, workers := range []int{0, 1, 2, 5, 200} {
			counts := make([]atomic.Int32, n)
			For(n, workers, func(i int) { counts[i].Add(1) })
			for i := range counts {
				if c := counts[i].Load(); c != 1 {
					t.Fatalf("n %d, %d workers: index %d was called %d times", n, workers, i, c)
				}
			}
		}
	}
}

// TestBlocks checks that each index is in one block for any GOMAXPROCS, and that sums have the same
// bits.
func TestBlocks(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, n := range []int{0, 1, 9, 10, 11, 1234} {
		sums := map[float64]bool{}
		for _, cores := range []int{1, 2, 3, 8} {
			runtime.GOMAXPROCS(cores)
			counts := make([]int, n)
			Blocks(n, 10, func(block, lo, hi int) {
				for i := lo; i < hi; i++ {
					counts[i]++
				}
				if lo != 10*block || hi > n || hi-lo > 10 {
					t.Errorf("n %d: block %d is [%d, %d)", n, block, lo, hi)
				}
			})
			if slices.ContainsFunc(counts, func(c int) bool { return c != 1 }) {
				t.Errorf("n %d on %d cores: visits %v, want one each", n, cores, counts)
			}
			sums[Sum(n, 10, func(lo, hi int) (s float64) {
				for i := lo; i < hi; i++ {
					s += 1 / float64(i+1)
				}
				return s
			})] = true
		}
		if len(sums) != 1 {
			t.Errorf("n %d: sums %v, want one for any number of cores", n, sums)
		}
	}
}

// TestSort checks slices of various lengths, with many equal elements.
func TestSort(t *testing.T) {
	for _, n := range []int{0, 1, 2, sortBlock, sortBlock + 1, 2 * sortBlock, 5*sortBlock - 7} {
		a := make([]int, n)
		for i := range a {
			a[i] = i * 7919 % 10007
		}
		want := slices.Sorted(slices.Values(a))
		if Sort(a, cmp.Compare); !slices.Equal(a, want) {
			t.Errorf("%d elements are not sorted", n)
		}
	}
}

// TestAwaitReturnsWhenContextEnds checks that Await returns before long work is done if the context ends, and waits for
// short work and for contexts that cannot end.
func TestAwaitReturnsWhenContextEnds(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	forever := make(chan struct{})
	defer close(forever)
	if err := Await(ended, awaitedFlops, func() { <-forever }); !errors.Is(err, context.Canceled) {
		t.Errorf("work without an end: %v, want it canceled", err)
	}
	for _, c := range []struct {
		name  string
		ctx   context.Context
		flops float64
		want  error
	}{
		{"short work", ended, awaitedFlops / 2, context.Canceled}, {"long work", t.Context(), awaitedFlops, nil},
		{"without an end", context.Background(), awaitedFlops, nil},
	} {
		done := false
		if err := Await(c.ctx, c.flops, func() { done = true }); !done || !errors.Is(err, c.want) {
			t.Errorf("%s: done %v, error %v, want %v", c.name, done, err, c.want)
		}
	}
}

// TestTryReturnsErrorOfLowestIndex checks that all calls are made and the error of the lowest index is returned.
func TestTryReturnsErrorOfLowestIndex(t *testing.T) {
	for _, workers := range []int{1, 3} {
		var calls atomic.Int32
		err := Try(10, workers, func(i int) error {
			calls.Add(1)
			if i == 4 || i == 7 {
				return fmt.Errorf("call %d", i)
			}
			return nil
		})
		if err == nil || err.Error() != "call 4" || calls.Load() != 10 {
			t.Errorf("%d workers: %d calls, error %v", workers, calls.Load(), err)
		}
	}
	if err := Try(3, 2, func(int) error { return nil }); err != nil {
		t.Error(err)
	}
}

// TestMachineCores compares with the C library's count.
func TestMachineCores(t *testing.T) {
	if got := MachineCores(); got < runtime.NumCPU() {
		t.Errorf("%d cores, fewer than the %d that this process may use", got, runtime.NumCPU())
	}
	if runtime.GOOS != "linux" {
		return // only Linux reports more
	}
	text, err := exec.Command("getconf", "_NPROCESSORS_ONLN").Output()
	if err != nil {
		if os.Getenv("VSSGP_REQUIRE_TOOLS") != "" {
			t.Fatal(err)
		}
		t.Skip("no getconf; VSSGP_REQUIRE_TOOLS=1 makes this a failure")
	}
	if want, err := strconv.Atoi(strings.TrimSpace(string(text))); err != nil || MachineCores() != want {
		t.Errorf("%d cores, getconf reports %q", MachineCores(), text)
	}
}
