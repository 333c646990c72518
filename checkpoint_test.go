package vssgp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/backend/backendtest"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/fileio/safetensors"
	"github.com/vssgp/vssgp/internal/optimize/checkpoint"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

// checkpointed returns the data and options of a small fit and a checkpoint from its middle.
func checkpointed(t testing.TB) (*Data, Options, []byte) {
	t.Helper()
	data := wave(40, 0.2)
	o := Options{Init: InitPaper, Features: 3, Iterations: 30,
		Checkpoint: CheckpointOptions{Path: filepath.Join(t.TempDir(), "part"), Resume: true}}
	for n := 20; ; n += 20 {
		if _, _, _, err := fitStopped(data, o, n); !errors.Is(err, context.Canceled) {
			t.Fatalf("want an interruption, have %v", err)
		}
		if b, err := os.ReadFile(o.Checkpoint.Path); err == nil {
			return data, o, b
		}
	}
}

// TestForeignCheckpoint checks that a fit rejects a checkpoint of another fit, names the
// difference and does not change the file.
func TestForeignCheckpoint(t *testing.T) {
	data, o, was := checkpointed(t)
	other := *data
	other.Y = slices.Clone(data.Y)
	other.Y[7] = math.Nextafter(other.Y[7], 9)
	named := *data
	named.YNames = []string{"y"}
	for name, c := range map[string]struct {
		data   *Data
		change func(o *Options)
		want   string
	}{
		"data":    {&other, func(*Options) {}, "data: in the checkpoint 40 rows"},
		"names":   {&named, func(*Options) {}, "data: in the checkpoint 40 rows"},
		"option":  {data, func(o *Options) { o.Iterations = 31 }, "option iterations: in the checkpoint 30, here 31"},
		"options": {data, func(o *Options) { o.Fix = []string{"noise.precision"}; o.Seed = 1 }, "also option seed"},
		"from":    {data, func(o *Options) { o.From = mustStart(data, *o); o.Init, o.Features, o.Restarts = "", 0, 1 }, "restarts"},
		"kept":    {data, func(o *Options) { o.Checkpoint.Resume = false; o.Checkpoint.Path += ".csv" }, "is not a checkpoint"},
	} {
		o := o
		c.change(&o)
		content := was
		if name == "kept" {
			content = []byte("t,y\n1,2\n")
		}
		testkit.OK(t, os.WriteFile(o.Checkpoint.Path, content, 0o666))
		_, _, _, err := fitStopped(c.data, o, 0)
		testkit.Fails(t, err, ErrCheckpoint, c.want, name)
		testkit.Fails(t, err, ErrCheckpoint, o.Checkpoint.Path, name)
		testkit.Equal(t, testkit.Read(t, o.Checkpoint.Path), content, name, ": the rejected file")
	}
}

// TestDamagedCheckpoint checks that a fit rejects a truncated checkpoint and does not change it.
func TestDamagedCheckpoint(t *testing.T) {
	data, o, was := checkpointed(t)
	o.Backend = nil
	for _, n := range []int{0, 1, sealBytes, len(was) / 2, len(was) - 1} {
		testkit.OK(t, os.WriteFile(o.Checkpoint.Path, was[:n], 0o666))
		testkit.Fails(t, fitError(data, o), ErrCheckpoint, "", "cut to ", n)
		testkit.Equal(t, testkit.Read(t, o.Checkpoint.Path), was[:n], "cut to ", n)
	}
}

// TestCheckpointLock checks that a second fit cannot use a checkpoint while the first fit runs.
func TestCheckpointLock(t *testing.T) {
	o := Options{Init: InitPaper, Features: 3, Iterations: 3, Checkpoint: CheckpointOptions{Path: filepath.Join(t.TempDir(), "part")}}
	data, tried := wave(40, 0.2), 0
	o.Progress = func(Progress) {
		o := o
		o.Progress = nil
		tried++
		testkit.Fails(t, fitError(data, o), ErrCheckpoint, "in use by process", "a second fit")
	}
	mustFit(t, data, o)
	if tried == 0 {
		t.Error("the test made no attempt")
	}
	o.Progress = nil
	mustFit(t, data, o)
}

// TestCheckpointWriteError checks that a failed checkpoint write ends the fit if Warn is nil.
// Otherwise the fit continues and keeps the previous file.
func TestCheckpointWriteError(t *testing.T) {
	data := wave(40, 0.2)
	dir := filepath.Join(t.TempDir(), "there")
	fit := func(warn func(error)) (*Model, *Result, error) {
		testkit.OK(t, os.MkdirAll(dir, 0o777))
		o := Options{Init: InitPaper, Features: 3, Iterations: 12,
			Checkpoint: CheckpointOptions{Path: filepath.Join(dir, "part"), Every: 1, Warn: warn}}
		o.Progress = func(Progress) { os.RemoveAll(dir) } // works for root, too
		return Fit(context.Background(), data, o)
	}
	if _, _, err := fit(nil); err == nil {
		t.Error("no error for a checkpoint that could not be written")
	}
	warned := 0
	m, r, err := fit(func(err error) {
		if warned++; !strings.Contains(err.Error(), "without a new checkpoint") {
			t.Error(err)
		}
	})
	if err != nil || m == nil || warned == 0 || r.Unsaved == nil {
		t.Errorf("warned %d times, unsaved %v, error %v; want a fit that continued", warned, r, err)
	}
}

// gpuNamed is a backend with the name of a GPU.
type gpuNamed struct{ backend.Backend }

func (gpuNamed) Name() string { return "cuda:0" }

// TestInstructionSetTrait checks that the fingerprint contains the CPU's instruction set for
// every device.
func TestInstructionSetTrait(t *testing.T) {
	data := &Data{N: 1, Q: 1, D: 1, X: []float64{0}, Y: []float64{0}}
	for _, b := range []backend.Backend{nil, cpu.New(), gpuNamed{cpu.New()}} {
		made := testkit.Must((&fit{problem: &problem{o: Options{Backend: b}, data: data}}).fingerprint())(t)
		if !slices.Contains(made, checkpoint.Trait{Name: "instruction set (VSSGP_SIMD)", Value: cpu.Instructions()}) {
			t.Errorf("device %v: traits %v", b, made)
		}
	}
}

// sealBytes is the length of the hash at the end of a checkpoint.
const sealBytes = 8 * sha256.Size / 4

// resealed replaces the hash at the end of a checkpoint by the correct one.
func resealed(b []byte) []byte {
	b = slices.Clone(b[:len(b)-sealBytes])
	sum := sha256.Sum256(b)
	for at := 0; at < len(sum); at += 4 {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(binary.BigEndian.Uint32(sum[at:]))))
	}
	return b
}

// FuzzResume checks that arbitrary bytes with a valid hash either resume a fit that completes
// or give an error.
func FuzzResume(f *testing.F) {
	data := wave(40, 0.2)
	for _, c := range []Options{
		{Init: InitPaper, Features: 2, Iterations: 6, Restarts: 1},
		{Init: InitPaper, Features: 2, Iterations: 9, Inference: Stochastic, Batch: BatchOptions{Rows: 5}},
		{Init: InitPaper, Features: 2, Iterations: 9, Windows: WindowOptions{Length: 1.5}, Optimizer: OptimizerWindows},
	} {
		path := filepath.Join(f.TempDir(), "part")
		c.Checkpoint.Path = path
		for n := 5; n < 40; n += 9 {
			if _, _, _, err := fitStopped(data, c, n); err == nil {
				break
			}
			if b, err := os.ReadFile(path); err == nil {
				f.Add(b)
			}
		}
	}
	options := []Options{{Init: InitPaper, Iterations: 9, Inference: Stochastic, Batch: BatchOptions{Rows: 5}},
		{Init: InitPaper, Iterations: 9, Restarts: 1}}
	var made [][]checkpoint.Trait
	for _, o := range options {
		traits := testkit.Must((&fit{problem: &problem{o: o, data: data}}).fingerprint())(f)
		made = append(made, traits)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) >= sealBytes {
			b = resealed(b)
		}
		path := filepath.Join(t.TempDir(), "part")
		for i, o := range options {
			if !takeOver(t, path, b, made[i]) {
				return
			}
			o.Checkpoint.Path, o.Checkpoint.Resume = path, true
			if m, _, err := Fit(context.Background(), data, o); err == nil && m.Params.Check() != nil {
				t.Fatalf("resumed to invalid parameters: %v", m.Params.Check())
			}
		}
	})
}

// takeOver writes a checkpoint with the given traits. It reports whether the bytes are a
// checkpoint of a small model.
func takeOver(t *testing.T, path string, b []byte, made []checkpoint.Trait) bool {
	t.Helper()
	testkit.OK(t, os.WriteFile(path, b, 0o666))
	w, s, err := checkpoint.Open(checkpoint.Setting{Path: path, Resume: true, Made: made}, func(*checkpoint.Snapshot) error { return nil })
	if err != nil {
		if !errors.Is(err, ErrCheckpoint) {
			t.Fatalf("%v does not wrap ErrCheckpoint", err)
		}
		return false
	}
	defer w.Close()
	for _, model := range []*safetensors.File{s.Current, s.BestModel} {
		if model != nil && len(model.Tensors["phase.lower"].Data) > 100 {
			return false
		}
	}
	if err := w.Write(s); err != nil {
		t.Fatalf("cannot write a checkpoint that was read: %v", err)
	}
	return true
}

// TestCheckpointFolder checks that a checkpoint in a missing folder gives ErrCheckpoint before the fit.
func TestCheckpointFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "part")
	o := Options{Iterations: 2, Features: 4, Checkpoint: CheckpointOptions{Path: path}}
	testkit.Fails(t, fitError(wave(30, 0.1), o), ErrCheckpoint, path)
}

// eachPass returns a backend that calls before at the beginning of each pass over the rows and returns its error.
func eachPass(before func() error) backend.Backend {
	return &backendtest.Spy{Backend: cpu.New(), Before: func(method string, _ *backend.Features) error {
		if method == "Open" || method == "Close" {
			return nil
		}
		return before()
	}}
}

// fitStopped runs a fit that is canceled in its n-th pass. With n = 0 it only counts the passes.
func fitStopped(data *Data, o Options, n int) (*Model, *Result, int, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	passes := 0
	o.Backend = eachPass(func() error {
		if passes++; passes == n {
			cancel()
		}
		return nil
	})
	m, r, err := Fit(ctx, data, o)
	return m, r, passes - n, err
}

// resumable returns fits with every form of schedule and optimizer.
func resumable() map[string]struct {
	data *Data
	o    Options
} {
	type c = struct {
		data *Data
		o    Options
	}
	two := wave(60, 0.2)
	two.D = 2
	two.Y = slices.Concat(two.Y, two.Y)
	two.XNames, two.YNames = []string{"t"}, []string{"a", "b"}
	from := mustStart(two, Options{Init: InitPaper, Features: 6, Seed: 9})
	return map[string]c{
		"spectrum": {wave(120, 0.1), Options{Components: 3, Features: 4, Iterations: 12, Windows: WindowOptions{Length: 5}}},
		"windows": {wave(300, 0.1), Options{Components: 2, Features: 2, Iterations: 40, Windows: WindowOptions{Length: 4},
			Optimizer: OptimizerWindows}},
		"restarts":   {two, Options{Init: InitPaper, Features: 5, Iterations: 6, Restarts: 2, UniformPhases: true}},
		"from":       {two, Options{From: from, Iterations: 9, Restarts: 1}},
		"warm-up":    {wave(80, 0.2), Options{Init: InitPaper, Features: 110, Iterations: 5, Restarts: 1, Batch: BatchOptions{Rows: 7}}},
		"factorized": {wave(50, 0.2), Options{Init: InitPaper, Inference: Factorized, Features: 6, Iterations: 8}},
		"stochastic": {wave(90, 0.2), Options{Init: InitPaper, Inference: Stochastic, Features: 6, Iterations: 120, Restarts: 1,
			Batch: BatchOptions{Rows: 8}}},
		"contiguous": {wave(200, 0.2), Options{Components: 2, Features: 4, Inference: Stochastic, Iterations: 100,
			Batch: BatchOptions{Rows: 16, Contiguous: true}, Windows: WindowOptions{Length: 4}}},
		"converged": {wave(30, 0.2), Options{Init: InitPaper, Features: 2, Iterations: 900}},
		"segments": {wave(300, 0.1), Options{Init: InitPaper, Components: 1, Features: 6, Iterations: 8,
			Windows: WindowOptions{Length: 3, Segments: 4}, Restarts: 1}},
		"shared": {wave(200, 0.1), Options{Components: 2, Features: 4, Iterations: 8, Windows: WindowOptions{Length: 4, Shared: true},
			Tie: []string{"kernel.lengthscale"}}},
		"ssgp":     {wave(60, 0.2), Options{Method: SSGP, Init: InitPaper, Features: 6, Iterations: 10}},
		"no steps": {two, Options{Init: InitPaper, Features: 5, Iterations: NoIterations, Restarts: 2}},
	}
}

func mustStart(data *Data, o Options) *Model {
	m, err := New(context.Background(), data, o)
	if err != nil {
		panic(err)
	}
	return m
}

// TestResume checks that a fit that is interrupted at any pass and resumed repeatedly has
// bit-identical results.
func TestResume(t *testing.T) {
	for name, c := range resumable() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, want, passes, err := fitStopped(c.data, c.o, 0)
			testkit.OK(t, err)
			whole := encoded(t, m)
			stops := []int{passes / 3, passes - 1}
			if slow.Tests {
				stops = append(stops, 1, 2, 3, passes-2, passes/2, passes-3)
				for n := 4; n < passes; n += 1 + passes/30 {
					stops = append(stops, n)
				}
			}
			for _, n := range stops {
				o := c.o
				o.Checkpoint.Path, o.Checkpoint.Resume = filepath.Join(t.TempDir(), "part"), true
				m, r, cut, err := fitUntilDone(t, c.data, o, n)
				if err != nil {
					t.Fatalf("stopped every %d passes: %v", n, err)
				}
				if !bytes.Equal(encoded(t, m), whole) {
					t.Errorf("stopped %d times, every %d of %d passes: a different model, bound %v, without interruptions %v", cut, n, passes,
						r.Bound, want.Bound)
				}
				r.Elapsed, r.Resumed, want.Elapsed, want.Resumed = 0, 0, 0, 0
				if a, b := fmt.Sprint(*r), fmt.Sprint(*want); a != b {
					t.Errorf("stopped every %d passes: results %s, without interruptions %s", n, a, b)
				}
				left, err := os.ReadDir(filepath.Dir(o.Checkpoint.Path))
				if err != nil || len(left) > 1 || cut > 0 && len(left) == 1 && left[0].Name() != "part" {
					t.Errorf("remaining files %v, %v", left, err)
				}
			}
		})
	}
}

// fitUntilDone runs a fit that is canceled in passes n, 2n, 3n and so on, and resumes it from
// the checkpoint each time.
func fitUntilDone(t *testing.T, data *Data, o Options, n int) (m *Model, r *Result, cut int, err error) {
	t.Helper()
	for at := n; ; at += n {
		m, r, _, err = fitStopped(data, o, at)
		if err == nil || !errors.Is(err, context.Canceled) {
			return m, r, cut, err
		}
		cut++
		if m != nil && r.Unsaved != nil {
			return m, r, cut, r.Unsaved
		}
	}
}

// TestPeriodicCheckpoints checks that a fit resumes from each periodic checkpoint with
// bit-identical results, as after a crash.
func TestPeriodicCheckpoints(t *testing.T) {
	for name, c := range resumable() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "part")
			seen := map[[sha256.Size]byte][]byte{}
			o := c.o
			o.Checkpoint.Path, o.Checkpoint.Every = path, 1
			o.Progress = func(Progress) {
				if b, err := os.ReadFile(path); err == nil {
					seen[sha256.Sum256(b)] = b
				}
			}
			m, _, _, err := fitStopped(c.data, o, 0)
			testkit.OK(t, err)
			whole := encoded(t, m)
			if name != "no steps" && len(seen) == 0 {
				t.Error("no checkpoint was written")
			}
			o.Progress, o.Checkpoint.Resume, o.Checkpoint.Every = nil, true, 0
			tried := 0
			for _, b := range seen {
				testkit.OK(t, os.WriteFile(path, b, 0o666))
				m, r, _, err := fitStopped(c.data, o, 0)
				testkit.OK(t, err)
				if r.Resumed < 0 {
					t.Error("the fit did not resume from the checkpoint")
				}
				if !bytes.Equal(encoded(t, m), whole) {
					t.Errorf("after %d iterations: a different model", r.Resumed)
				}
				if tried++; tried == 12 {
					break
				}
			}
		})
	}
}

// injector returns a backend that writes value, which is not finite, into the result of every
// n-th pass of a kind, starting at the given pass. calls counts the passes.
func injector(what string, value float64, every, from int, calls *int) backend.Backend {
	plant := func(is string, a []float64) {
		if is != what {
			return
		}
		if *calls++; *calls > from && *calls%every == 0 {
			a[0] = value
		}
	}
	return &backendtest.Spy{
		Backend:    cpu.New(),
		Moments:    func(m *backend.Moments) { plant("C", m.C); plant("G", m.Gram.Diag[0]) },
		Pullback:   func(bar *backend.Features) { plant("gradient", bar.Fields()[0].Data) },
		Factorized: func(s *backend.FactorizedSums) { plant("factorized gradient", s.Features.Fields()[0].Data) },
	}
}

// TestOccasionalNaN checks that an occasional non-finite sum or gradient does not end a fit
// and does not reach its model or its checkpoint.
func TestOccasionalNaN(t *testing.T) {
	data := wave(60, 0.2)
	for _, what := range []string{"C", "G", "gradient", "factorized gradient"} {
		for _, value := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			const every = 3
			calls := 0
			o := Options{Init: InitPaper, Features: 6, Iterations: 40, Backend: injector(what, value, every, 4, &calls),
				Checkpoint: CheckpointOptions{Path: filepath.Join(t.TempDir(), "part"), Every: 1, Resume: true}}
			if what == "factorized gradient" {
				o.Inference = Stochastic
				o.Iterations = 120
			}
			for range 2 { // the second fit resumes from the last checkpoint of the first
				m, r, err := Fit(context.Background(), data, o)
				if err != nil && errors.Is(err, ErrBound) && calls%every == 0 {
					calls++ // the final evaluation was not finite: an error and no model
					m, r, err = Fit(context.Background(), data, o)
				}
				if err != nil {
					t.Fatalf("%v in %s: %v", value, what, err)
				}
				if err := m.Params.Check(); err != nil || math.IsNaN(r.Bound) || math.IsInf(r.Bound, 0) {
					t.Errorf("%v in %s: bound %v, %v", value, what, r.Bound, err)
				}
			}
			if calls < 20 {
				t.Errorf("%s: %d passes", what, calls)
			}
		}
	}
}

// TestAlwaysNaN checks that a fit returns ErrBound if no evaluation is finite.
func TestAlwaysNaN(t *testing.T) {
	for _, what := range []string{"C", "G"} {
		calls := 0
		m, _, err := Fit(context.Background(), wave(40, 0.2), Options{Init: InitPaper, Features: 4, Iterations: 5,
			Backend: injector(what, math.NaN(), 1, 0, &calls)})
		if !errors.Is(err, ErrBound) || m != nil {
			t.Errorf("%s: model %v, error %v; want ErrBound", what, m, err)
		}
	}
}

var errBroken = errors.New("the card has no memory left")

// TestBrokenDevice checks that a device error ends the fit, that Fit returns this error, and
// that the checkpoint resumes with bit-identical results.
func TestBrokenDevice(t *testing.T) {
	for name, c := range map[string]struct {
		data *Data
		o    Options
	}{
		"exact": {wave(60, 0.2), Options{Init: InitPaper, Features: 6, Iterations: 20}},
		"windows": {wave(300, 0.1), Options{Components: 2, Features: 2, Iterations: 20, Windows: WindowOptions{Length: 4},
			Optimizer: OptimizerWindows}},
		"stochastic": {wave(60, 0.2), Options{Init: InitPaper, Features: 6, Iterations: 60, Inference: Stochastic}},
	} {
		m, _ := mustFit(t, c.data, c.o)
		want := encoded(t, m)
		for _, at := range slow.Pick([]int{1, -1, 2, -2, 21, -21}, []int{1, -2, 21}) {
			lost := at < 0
			o := c.o
			o.Checkpoint.Path, o.Checkpoint.Every, o.Checkpoint.Resume = filepath.Join(t.TempDir(), "part"), 1, true
			passes := 0
			o.Backend = eachPass(func() error { // pass at fails and, if the device is lost, all later passes
				if passes++; passes == max(at, -at) || lost && passes > -at {
					return errBroken
				}
				return nil
			})
			if m, _, err := Fit(context.Background(), c.data, o); !errors.Is(err, errBroken) || lost && m != nil {
				t.Errorf("%s, pass %d: model %v, error %v; want the device's error", name, at, m, err)
			}
			o.Backend = cpu.New()
			m, r := mustFit(t, c.data, o)
			if !bytes.Equal(encoded(t, m), want) || r.Resumed < 1 && at*at > 4 {
				t.Errorf("%s, pass %d: resumed at %d to another model, or not at all", name, at, r.Resumed)
			}
		}
	}
}
