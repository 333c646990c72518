package gpu

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/backend/backendtest"
	"github.com/vssgp/vssgp/cuda"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
	"github.com/vssgp/vssgp/kernels"
	"github.com/vssgp/vssgp/ranks"
)

// usable returns the GPUs for the tests. If there is none, it skips the test, or fails it if
// VSSGP_REQUIRE_GPU is 1.
func usable(t testing.TB) (all []cuda.Device) {
	t.Helper()
	devices, err := Devices()
	for _, d := range devices {
		if d.Reason == "" {
			all = append(all, d)
		} else {
			err = fmt.Errorf("gpu: GPU %d (%s) cannot be used: %s: %w", d.Ordinal, d.Name, d.Reason, cuda.ErrNoDevice)
		}
	}
	if len(all) == 0 && (os.Getenv("VSSGP_REQUIRE_GPU") == "1" || !errors.Is(err, cuda.ErrNoDevice)) {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Skipf("%v; VSSGP_REQUIRE_GPU=1 makes this a failure", err)
	}
	return all
}

// open opens a backend that the test closes. Memory still allocated then fails the test.
func open(t testing.TB, o Options) *Backend {
	t.Helper()
	b := testkit.Must(Open(o))(t)
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return b
}

// onEach runs a test on each GPU; without the tag slow only on the last one, which is the newest of
// the emulated ones.
func onEach(t *testing.T, test func(t *testing.T, ordinal int)) {
	devices := usable(t)
	if !slow.Tests {
		devices = devices[len(devices)-1:]
	}
	for _, d := range devices {
		t.Run(d.Name, func(t *testing.T) { test(t, d.Ordinal) })
	}
}

// onEachCard runs a test on each GPU like onEach, with a backend.
func onEachCard(t *testing.T, test func(t *testing.T, b *Backend)) {
	onEach(t, func(t *testing.T, ordinal int) { test(t, open(t, Options{Ordinal: ordinal})) })
}

func TestBackendConformance(t *testing.T) {
	onEach(t, func(t *testing.T, ordinal int) {
		t.Parallel()
		backendtest.Run(t, func(t testing.TB) backend.Backend {
			return testkit.Must(Open(Options{Ordinal: ordinal}))(t)
		})
	})
}

// float64Bound returns the maximum difference from package cpu. A rotation over 64 rows loses at
// most 64 units in the last place, 7e-15, in each of at most 4000 terms near 1, 3e-11 in total.
// Measured: 2e-12.
func float64Bound(string) float64 { return 2e-11 }

// shapes are the shapes at the edges of tiles, pieces and rotations.
var shapes = []shape{
	{name: "63 features", n: 65, m: 63, q: 1, d: 1},
	{name: "64 features", n: 33, m: 64, q: 2, d: 2},
	{name: "65 features", n: 64, m: 65, q: 1, d: 1, even: true},
	{name: "127 features", n: 40, m: 127, q: 1, d: 1},
	{name: "128 features", n: 40, m: 128, q: 1, d: 5},
	{name: "129 features", n: 70, m: 129, q: 1, d: 1, even: true},
	{name: "193 features", n: 129, m: 193, q: 1, d: 1, even: true},
	{name: "257 features", n: 70, m: 257, q: 3, d: 1},
	{name: "nine outputs", n: 100, m: 20, q: 1, d: 9, even: true},
	{name: "five inputs", n: 150, m: 70, q: 5, d: 5},
	{name: "two inputs, large tiles", n: 300, m: 200, q: 2, d: 1},
	{name: "eight inputs, large tiles", n: 150, m: 200, q: 8, d: 3},
	{name: "sixteen inputs, large tiles", n: 140, m: 193, q: 16, d: 1},
	{name: "sixteen inputs", n: 70, m: 20, q: 16, d: 1},
	{name: "dense, even", n: 600, m: 300, q: 1, d: 1, even: true},
	{name: "dense, uneven", n: 600, m: 300, q: 1, d: 1},
	{name: "even but for a step", n: 300, m: 40, q: 1, d: 2, even: true, broken: 97},
	{name: "even but for a step, windows", n: 300, m: 60, q: 1, d: 1, even: true, broken: 97, windows: 4},
	{name: "even and shuffled", n: 300, m: 40, q: 1, d: 1, even: true, shuffled: true},
	{name: "even, steep decay", n: 300, m: 40, q: 1, d: 1, even: true, steep: true},
	{name: "windows without features", n: 300, m: 30, q: 1, d: 2, windows: 6, first: 3},
	{name: "several chunks", n: 1500, m: 10, q: 1, d: 1, even: true},
	{name: "several chunks, nine outputs", n: 1500, m: 10, q: 1, d: 9},
	{name: "several chunks, windows", n: 4000, m: 20, q: 1, d: 1, even: true, windows: 3},
}

func TestRowsMatchCPU(t *testing.T) {
	onEachCard(t, func(t *testing.T, b *Backend) {
		for _, s := range shapes {
			t.Run(s.name, func(t *testing.T) { newProblem(s).asCPU(t, b, float64Bound) })
		}
	})
}

// TestSecondEvaluationAllocatesNothing checks that nothing is allocated on the GPU from the second evaluation on.
func TestSecondEvaluationAllocatesNothing(t *testing.T) {
	p := newProblem(shape{n: 600, m: 70, q: 1, d: 2, even: true, windows: 3})
	onEachCard(t, func(t *testing.T, b *Backend) {
		r := testkit.Must(b.Open(p.data))(t)
		defer r.Close()
		var before allocations
		for round := range 3 {
			for _, m := range p.methods() {
				testkit.Must(m.call(r))(t)
			}
			now := r.(*rows).allocations
			if round > 0 && now != before {
				t.Errorf("round %d: the allocations have changed", round)
			}
			before = now
		}
	})
}

// TestConcurrentRows uses several Rows of one backend from several goroutines.
func TestConcurrentRows(t *testing.T) {
	b := open(t, Options{Ordinal: usable(t)[0].Ordinal})
	var wg sync.WaitGroup
	for i := range 4 {
		p := newProblem(shape{n: 100 + i, m: 30, q: 1, d: 1, even: i%2 == 0})
		wg.Go(func() {
			for _, m := range p.methods() {
				first, err := p.run(b, m)
				if err != nil {
					t.Errorf("%s: %v", m.name, err)
					return
				}
				if again, err := p.run(b, m); err != nil || sameBits(first, again) != nil {
					t.Errorf("%s again: %v, %v", m.name, err, sameBits(first, again))
				}
			}
		})
	}
	wg.Wait()
}

// TestRanksOnSeveralGPUs runs one rank on each of several GPUs.
func TestRanksOnSeveralGPUs(t *testing.T) {
	devices := usable(t)
	all := ranks.Group(max(2, len(devices)))
	on := func(rank int) (backend.Backend, error) {
		return Open(Options{Ordinal: devices[rank%len(devices)].Ordinal})
	}
	var others sync.WaitGroup
	for i, c := range all[1:] {
		others.Go(func() {
			if err := ranks.Serve(c, func(string) (backend.Backend, error) { return on(i + 1) }); err != nil {
				t.Error(err)
			}
		})
	}
	first := testkit.Must(on(0))(t)
	b := testkit.Must(ranks.New(all[0], first, ""))(t)
	for _, s := range []shape{
		{name: "dense", n: 700, m: 40, q: 1, d: 2, even: true},
		{name: "windows", n: 500, m: 60, q: 1, d: 1, windows: 12},
		{name: "one row", n: 1, m: 5, q: 2, d: 1},
	} {
		t.Run(s.name, func(t *testing.T) { newProblem(s).asCPU(t, b, float64Bound) })
	}
	testkit.OK(t, b.Close())
	ranks.Quit(all[0])
	others.Wait()
}

// TestNameBeginsWithDevice checks that the name begins with the value for --device.
func TestNameBeginsWithDevice(t *testing.T) {
	d := usable(t)[0]
	name := open(t, Options{Ordinal: d.Ordinal}).Name()
	testkit.Equal(t, name, fmt.Sprintf("cuda:%d %s", d.Ordinal, d.Name), "the name")
}

// TestParseOrdinal checks that one GPU is accepted and that the error for several names the
// alternative.
func TestParseOrdinal(t *testing.T) {
	if n, err := ParseOrdinal("12"); n != 12 || err != nil {
		t.Errorf("12: %d, %v", n, err)
	}
	for _, s := range []string{"", "x", "-1", "0;1", "99999999999999999999", "0,1", "0,"} {
		_, err := ParseOrdinal(s)
		if err == nil || strings.Contains(s, ",") != strings.Contains(err.Error(), "mpirun -n 2") {
			t.Errorf("%q: %v", s, err)
		}
	}
}

// TestTimingsNameKernels checks that Timings contains each kernel if enabled.
func TestTimingsNameKernels(t *testing.T) {
	ordinal := usable(t)[0].Ordinal
	p := newProblem(shape{n: 100, m: 30, q: 1, d: 1, even: true})
	for _, timing := range []bool{false, true} {
		b := open(t, Options{Ordinal: ordinal, Timing: timing})
		for _, m := range p.methods() {
			testkit.Must(p.run(b, m))(t)
		}
		all := fmt.Sprint(b.Timings())
		if got := strings.Contains(all, "moments_gram_64"); got != timing {
			t.Errorf("timing %v: %s", timing, all)
		}
		if len(b.Timings()) != 0 {
			t.Error("timings are returned twice")
		}
		if b.Memory() == 0 {
			t.Error("no memory was used")
		}
	}
}

// TestMisuseIsRefused checks the errors for invalid use.
func TestMisuseIsRefused(t *testing.T) {
	devices := usable(t)
	for _, o := range []Options{
		{Ordinal: len(devices) + 100},
		{Ordinal: -1},
	} {
		if _, err := Open(o); !errors.Is(err, cuda.ErrNoDevice) {
			t.Errorf("%+v: %v, want %v", o, err, cuda.ErrNoDevice)
		}
	}
	b := testkit.Must(Open(Options{Ordinal: devices[0].Ordinal}))(t)
	if _, err := b.Open(backend.Data{N: 1, Q: 17, X: make([]float64, 17)}); !errors.Is(err, backend.ErrShape) {
		t.Errorf("17 inputs: %v", err)
	}
	p := newProblem(shape{n: 20, m: 3, q: 1, d: 1})
	r := testkit.Must(b.Open(p.data))(t)
	m := p.methods()[0]
	testkit.Must(m.call(r))(t)
	if err := b.Close(); err == nil || !strings.Contains(err.Error(), "bytes") {
		t.Errorf("close with rows open: %v, want the memory in use", err)
	}
	r.Close()
	if _, err := m.call(r); !errors.Is(err, errClosed) {
		t.Errorf("closed rows: %v", err)
	}
	if _, err := b.Open(p.data); !errors.Is(err, errClosed) {
		t.Errorf("closed backend: %v", err)
	}
}

// noKernel has a name that no module contains.
type noKernel struct{ kernels.FeaturesPrepare }

func (noKernel) Name() string { return "no_such_kernel" }

// TestQueueStopsAfterError checks that nothing is queued after an error, that finish returns the error once, and
// that the rows can be used again.
func TestQueueStopsAfterError(t *testing.T) {
	b := open(t, Options{Ordinal: usable(t)[0].Ordinal})
	problem := newProblem(shape{n: 20, m: 3, q: 1, d: 1})
	opened := testkit.Must(b.Open(problem.data))(t)
	defer opened.Close()
	moments := problem.methods()[0]
	want := testkit.Must(moments.call(opened))(t)
	r := opened.(*rows)
	p, before := r.plans[opMoments], slices.Clone(r.host[arraySums])
	for _, after := range []func(){
		func() { r.launch(&kernels.FeaturesPrepare{}, 1, 0) }, func() { r.upload(arraySums, make([]float64, len(before))) },
		func() { r.zero(p, arraySums) }, func() { r.download(p, arraySums) },
	} {
		r.launch(&noKernel{}, 1, 0)
		after()
		if err := r.finish(nil); err == nil || !strings.Contains(err.Error(), "no_such_kernel") {
			t.Errorf("finish: %v, want the error of the first launch", err)
		}
	}
	r.download(p, arraySums)
	if err := r.finish(nil); err != nil || !slices.Equal(r.host[arraySums], before) {
		t.Errorf("the sums are %v, were %v (%v)", r.host[arraySums], before, err)
	}
	testkit.OK(t, sameBits(want, testkit.Must(moments.call(opened))(t)))
}

// TestCopiesOfHostMemoryAreComplete checks that data being uploaded is not changed before the copy is complete, that
// downloaded data is complete when the queue is finished, and that the memory is reused and freed
// with the rows.
func TestCopiesOfHostMemoryAreComplete(t *testing.T) {
	b := open(t, Options{Ordinal: usable(t)[0].Ordinal})
	p := newProblem(shape{n: 20, m: 3, q: 1, d: 1})
	opened := testkit.Must(b.Open(p.data))(t)
	testkit.Must(p.methods()[0].call(opened))(t)
	r := opened.(*rows)
	plan := r.plans[opMoments]
	n := int(plan.needs[arraySums] / 8)
	want := testkit.Numbers(n, func(i int) float64 { return float64(i + 1) })
	before := r.locked[arraySums]
	r.upload(arraySums, want[:1], want[1:])
	clear(r.room(arraySums, n))
	got := make([]float64, n)
	if err := errors.Join(r.mem[arraySums].Download(r.stream, cuda.Bytes(got), 0), r.finish(nil)); err != nil || !slices.Equal(got, want) {
		t.Errorf("the GPU has %v, want %v (%v)", got, want, err)
	}
	r.download(plan, arraySums)
	r.download(plan, arrayGram)
	if err := r.finish(nil); err != nil || !slices.Equal(r.host[arraySums], want) {
		t.Errorf("downloaded %v, want %v (%v)", r.host[arraySums], want, err)
	}
	if r.locked[arraySums] != before {
		t.Error("page-locked memory was not used again")
	}
	testkit.OK(t, opened.Close())
	if bytes, pieces := b.context.AllocatedHost(); bytes != 0 || pieces != 0 {
		t.Errorf("%d bytes in %d host allocations are not freed after Close", bytes, pieces)
	}
}

// TestMirrorFillsBothTriangles checks both triangles at sizes around multiples of the squares.
func TestMirrorFillsBothTriangles(t *testing.T) {
	for _, m := range []int{0, 1, 2, 31, 32, 33, 64, 65, 700} {
		a, b := make([]float64, m*m), make([]float64, m*m)
		for i := range a {
			a[i] = float64(i + 1)
		}
		mirror(b, a, m)
		for i := range m {
			for j := range m {
				want := a[max(i, j)*m+min(i, j)]
				if i == j {
					want = 0
				}
				if b[i*m+j] != want {
					t.Fatalf("%d: entry (%d, %d) is %v, want %v", m, i, j, b[i*m+j], want)
				}
			}
		}
	}
}
