//go:build cudaemu && cgo

package emu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/kernels"
)

// sink makes the allocations of room escape to the heap, because stacks move.
var sink atomic.Pointer[[]float64]

func room(n int) []float64 {
	v := make([]float64, n)
	sink.Store(&v)
	return v
}

func word(v []float64) uint64 { return uint64(uintptr(unsafe.Pointer(&v[0]))) }

// try launches one of the emulator's test kernels; keep references the memory that it uses.
func try(name string, blocks, threads, shared int, keep [][]float64, words ...uint64) error {
	args := []uint64{}
	for _, v := range keep {
		args = append(args, word(v))
	}
	err := table(selftest)[name].launch([3]int{blocks, 1, 1}, [3]int{threads, 1, 1}, shared, append(args, words...))
	runtime.KeepAlive(keep)
	return err
}

func TestBarrierOrdersThreads(t *testing.T) {
	const blocks = 50
	x, out := room(128*blocks), room(blocks)
	for i := range x {
		x[i] = float64(i)
	}
	testkit.OK(t, try("self_sum", blocks, 128, 128*8, [][]float64{x, out}))
	for b, sum := range out {
		if want := 128*128*float64(b) + 127*64; sum != want {
			t.Errorf("block %d: %v, want %v", b, sum, want)
		}
	}
}

// TestShuffleExchangesLanes checks that each lane receives the sum of its warp and, from self_shuffle, the number
// of the lane three positions ahead.
func TestShuffleExchangesLanes(t *testing.T) {
	for name, want := range map[string]func(i int) int{
		"self_shuffle": func(i int) int { return 31*16 + i/32*32*32 + 1e6*(i/32*32+(i+3)%32) },
		"self_gather":  func(i int) int { return 3 * (31*16 + i/32*32*32) },
	} {
		out := room(64)
		testkit.OK(t, try(name, 1, 64, 0, [][]float64{out}))
		for i, v := range out {
			if v != float64(want(i)) {
				t.Errorf("%s: lane %d: %v, want %v", name, i, v, want(i))
			}
		}
	}
}

func TestEarlyReturn(t *testing.T) {
	for _, n := range []int{96, 95, 64, 33, 32, 1, 0} {
		out := room(96)
		testkit.OK(t, try("self_early", 1, 96, 96*8, [][]float64{out}, uint64(n)), n, " live threads")
		for i := range n {
			if out[i] != float64(n-1-i) {
				t.Errorf("%d live threads: thread %d has %v", n, i, out[i])
			}
		}
	}
}

func TestSharedMemoryStartsAsNaN(t *testing.T) {
	out := room(8 * 32)
	for range 3 {
		testkit.OK(t, try("self_unset", 8, 32, 256, [][]float64{out}))
		if slices.Min(out) != 3 {
			t.Errorf("shared memory is not NaN before a block: %v", out)
		}
	}
}

// TestFaultsAreReported has one kernel for each fault. Each must return an error with the fault and its
// location, and leave the emulator in a usable state.
func TestFaultsAreReported(t *testing.T) {
	out := room(64)
	minus := func(n int64) uint64 { return uint64(-n) }
	cases := []struct {
		name                    string
		blocks, threads, shared int
		keep                    [][]float64
		words                   []uint64
		want                    []string
	}{
		{"self_divergent", 3, 64, 0, nil, []uint64{40}, []string{"block 0 of 3", "forever", "thread 0 is at a barrier of the block, selftest.cu:", "thread 40 is at a barrier of the warp"}},
		{"self_mixed", 1, 64, 0, nil, nil, []string{"different barriers", "thread 0", "thread 32", "selftest.cu:"}},
		{"self_outside", 1, 32, 100, nil, []uint64{100}, []string{"byte 100 of 100"}},
		{"self_outside", 1, 32, 100, nil, []uint64{4000}, []string{"byte 4000 of 100"}},
		{"self_outside", 1, 32, 100, nil, []uint64{minus(1)}, []string{"1 bytes before"}},
		{"self_outside", 1, 32, 0, nil, []uint64{0}, []string{"byte 0 of 0"}},
		{"self_throws", 40, 32, 0, nil, []uint64{11}, []string{"self_throws for sm_0, block 11 of 40", "thread 7 threw: on purpose"}},
		{"self_deep", 1, 32, 0, [][]float64{out}, nil, []string{"65536 bytes of stack"}},
		{"self_missing", 1, 64, 0, nil, []uint64{63}, []string{"warp_gather without", "thread 63 is missing"}},
		{"self_mixed", 1, 32, 0, nil, nil, []string{"32 threads", "64"}},
		{"self_mixed", 1, 64, 0, nil, []uint64{1}, []string{"1 arguments", "0"}},
		{"self_mixed", 1, 64, 1 << 20, nil, nil, []string{"shared memory"}},
	}
	for _, c := range cases {
		for range 2 {
			err := try(c.name, c.blocks, c.threads, c.shared, c.keep, c.words...)
			for _, part := range c.want {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("%s %v: %v: does not contain %q", c.name, c.words, err, part)
				}
			}
		}
		TestBarrierOrdersThreads(t)
	}
	if err := try("self_outside", 1, 32, 100, nil, 99); err != nil {
		t.Error("a write to the last byte of shared memory failed:", err)
	}
}

// TestParallelLaunches runs launches in parallel, some of them with faults.
func TestParallelLaunches(t *testing.T) {
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				TestBarrierOrdersThreads(t)
				TestShuffleExchangesLanes(t)
				if err := try("self_divergent", 2, 64, 0, nil, 5); err == nil {
					t.Error("a deadlock was not detected")
				}
			}
		})
	}
	all.Wait()
}

// TestArchitecturesHaveSameKernels checks that all architectures have the same kernels.
func TestArchitecturesHaveSameKernels(t *testing.T) {
	describe := func(arch int) string {
		lines := []string{}
		for _, k := range table(arch) {
			lines = append(lines, fmt.Sprintln(k.name, k.threads, k.words))
		}
		slices.Sort(lines)
		return strings.Join(lines, "")
	}
	for _, arch := range architectures {
		if describe(arch) != describe(80) || len(table(arch)) == 0 {
			t.Errorf("sm_%d has\n%ssm_80 has\n%s", arch, describe(arch), describe(80))
		}
	}
}

// TestVariantHasSameBits compares moments_gram with four and with eight terms of the sum in a tensor-core
// instruction.
func TestVariantHasSameBits(t *testing.T) {
	const n, m = 37, 24
	chunk, job, store := room(9), room(4), room(n*m)
	for i, v := range []uint64{0, n, 0, m, m} { // the rows and features of a chunk, in one window
		chunk[i] = math.Float64frombits(v)
	}
	r := rand.New(rand.NewPCG(3, 4))
	for i := range store {
		store[i] = r.NormFloat64()
	}
	var parts [2][]float64
	for i, arch := range []int{90, selftest} {
		part := room(64 * 64)
		k, one, threads := table(arch)["moments_gram_64"], [3]int{1, 1, 1}, [3]int{128, 1, 1}
		words := []uint64{word(chunk), word(job), 0, n, word(store), word(part)}
		testkit.OK(t, k.launch(one, threads, kernels.TileShared(kernels.SmallTile), words))
		parts[i] = part
	}
	runtime.KeepAlive([][]float64{chunk, job, store})
	if parts[0][0] <= 0 || !slices.Equal(parts[0], parts[1]) {
		t.Errorf("the first sums are %v and %v", parts[0][:4], parts[1][:4])
	}
}

// TestFeatureMatchesMath compares the functions of a feature with package math: sines to two units in the
// last place of 1, exponentials to two of their value plus the rounding of their argument. If the
// spacing of float64 at a number of turns is large, the angle is arbitrary, but sine and cosine
// must be on the unit circle.
func TestFeatureMatchesMath(t *testing.T) {
	const ulp = 0x1p-53
	turns := []float64{0, math.Copysign(0, -1), 0.125, 0.25, 0.375, 0.5, 0.625, -0.25, 1e-300, 0x1p51 + 0.5, math.Inf(1), math.NaN()}
	quads := []float64{0, 5e-324, 1e-300, 1400, 1416, 1418, 1e4, 1e15, 1e300, math.Inf(1), math.NaN()}
	r := rand.New(rand.NewPCG(1, 2))
	for e := -60; e <= 1023; e++ {
		scale := math.Ldexp(1, e)
		turns = append(turns, scale, -scale, scale*(r.Float64()-0.5), scale*(r.Float64()+0.5))
	}
	for range 4000 {
		turns = append(turns, 8*r.Float64()-4)
		quads = append(quads, 1500*r.Float64(), 4*r.Float64())
	}
	n := max(len(turns), len(quads))
	for len(turns) < n {
		turns = append(turns, r.Float64())
	}
	for len(quads) < n {
		quads = append(quads, r.Float64())
	}
	out := room(3 * n)
	testkit.OK(t, try("self_feature", 4, 32, 0, [][]float64{turns, quads, out}, uint64(n)))
	for i := range n {
		sin, cos, e := out[3*i], out[3*i+1], out[3*i+2]
		switch x := turns[i]; {
		case math.IsNaN(x) || math.IsInf(x, 0):
			if !math.IsNaN(sin) || !math.IsNaN(cos) {
				t.Errorf("%v turns: %v, %v, want NaN", x, sin, cos)
			}
		case math.Abs(x) >= 0x1p50:
			if !(math.Abs(math.Hypot(sin, cos)-1) <= 4*ulp) {
				t.Errorf("%v turns: %v, %v is not on the unit circle", x, sin, cos)
			}
		default:
			s, c := math.Sincos(2 * math.Pi * (x - math.RoundToEven(x)))
			if !(math.Abs(sin-s) <= 4*ulp && math.Abs(cos-c) <= 4*ulp) {
				t.Errorf("%v turns: errors of %.2g and %.2g ulps", x, (sin-s)/ulp, (cos-c)/ulp)
			}
		}
		q := quads[i]
		want, least := math.Exp(-q/2), 0.0
		if want < 0x1p-1022 {
			least = want
		}
		if err := math.Abs(e - want); err > (4+q)*ulp*want+least || math.IsNaN(e) != math.IsNaN(q) {
			t.Errorf("exp(−%v/2) = %v, want %v: error of %.2g ulps", q, e, want, err/ulp/want)
		}
	}
}
