package vssgp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/lbfgs"
	"github.com/vssgp/vssgp/spectral"
)

// stopper is a backend that cancels in its n-th pass, as a signal would.
type stopper struct {
	spectral.Backend
	left   int
	cancel context.CancelFunc
}

type stopperRows struct {
	spectral.Rows
	b *stopper
}

func (b *stopper) Open(d spectral.Data) (spectral.Rows, error) {
	r, err := b.Backend.Open(d)
	return &stopperRows{r, b}, err
}

func (b *stopper) pass() {
	if b.left--; b.left == 0 {
		b.cancel()
	}
}

func (r *stopperRows) Moments(dst *spectral.Moments, f *spectral.Features) error {
	r.b.pass()
	return r.Rows.Moments(dst, f)
}

func (r *stopperRows) Pullback(dst, f *spectral.Features, m *spectral.Moments) error {
	r.b.pass()
	return r.Rows.Pullback(dst, f, m)
}

func (r *stopperRows) Factorised(dst *spectral.FactorisedSums, f *spectral.Features, w *spectral.Weights, rows []int) error {
	r.b.pass()
	return r.Rows.Factorised(dst, f, w, rows)
}

// fitStopped runs a fit that is cancelled in its n-th pass; n = 0 counts.
func fitStopped(data *Data, o Options, n int) (*Model, *Result, int, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	b := &stopper{Backend: cpu.New(), left: n, cancel: cancel}
	o.Backend = b
	m, r, err := Fit(ctx, data, o)
	return m, r, -b.left, err
}

// resumable are fits of every form of schedule and optimiser.
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
		"spectrum":   {wave(120, 0.1), Options{Components: 3, Features: 4, Iterations: 12, Window: 5}},
		"windows":    {wave(300, 0.1), Options{Components: 2, Features: 2, Iterations: 40, Window: 4, Optimiser: OptimiserWindows}},
		"restarts":   {two, Options{Init: InitPaper, Features: 5, Iterations: 6, Restarts: 2, UniformPhases: true}},
		"from":       {two, Options{From: from, Iterations: 9, Restarts: 1}},
		"warm-up":    {wave(80, 0.2), Options{Init: InitPaper, Features: 110, Iterations: 5, Restarts: 1, Batch: 7}},
		"factorised": {wave(50, 0.2), Options{Init: InitPaper, Inference: Factorised, Features: 6, Iterations: 8}},
		"stochastic": {wave(90, 0.2), Options{Init: InitPaper, Inference: Stochastic, Features: 6, Iterations: 120, Restarts: 1, Batch: 8}},
		"contiguous": {wave(200, 0.2), Options{Components: 2, Features: 4, Inference: Stochastic, Iterations: 220, Batch: 16, Contiguous: true, Window: 4}},
		"converged":  {wave(30, 0.2), Options{Init: InitPaper, Features: 2, Iterations: 900}},
		"segments":   {wave(300, 0.1), Options{Init: InitPaper, Components: 1, Features: 6, Iterations: 8, Window: 3, Segments: 4, Restarts: 1}},
		"shared":     {wave(200, 0.1), Options{Components: 2, Features: 4, Iterations: 8, Window: 4, Shared: true, Tie: []string{"kernel.lengthscale"}}},
		"ssgp":       {wave(60, 0.2), Options{Method: SSGP, Init: InitPaper, Features: 6, Iterations: 10}},
		"no steps":   {two, Options{Init: InitPaper, Features: 5, Iterations: NoIterations, Restarts: 2}},
	}
}

func mustStart(data *Data, o Options) *Model {
	m, err := New(data, o)
	if err != nil {
		panic(err)
	}
	return m
}

// TestResume: a fit that is interrupted, wherever that may be, and gone on with,
// again and again, ends at the same model and the same results to the bit.
func TestResume(t *testing.T) {
	for name, c := range resumable() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, want, passes, err := fitStopped(c.data, c.o, 0)
			if err != nil {
				t.Fatal(err)
			}
			whole := encoded(t, m)
			stops := []int{1, 2, 3, passes / 3, passes / 2, passes - 3, passes - 2, passes - 1}
			if !testing.Short() {
				for n := 4; n < passes; n += 1 + passes/60 {
					stops = append(stops, n)
				}
			}
			for _, n := range stops {
				o := c.o
				o.Checkpoint, o.Resume = filepath.Join(t.TempDir(), "part"), true
				m, r, cut, err := fitUntilDone(t, c.data, o, n)
				if err != nil {
					t.Fatalf("stopped every %d passes: %v", n, err)
				}
				if !bytes.Equal(encoded(t, m), whole) {
					t.Errorf("stopped %d times, every %d of %d passes: another model, bound %v, without a break %v", cut, n, passes, r.Bound, want.Bound)
				}
				r.Elapsed, r.Resumed, want.Elapsed, want.Resumed = 0, 0, 0, 0
				if a, b := fmt.Sprint(*r), fmt.Sprint(*want); a != b {
					t.Errorf("stopped every %d passes: results %s, without a break %s", n, a, b)
				}
				left, err := os.ReadDir(filepath.Dir(o.Checkpoint))
				if err != nil || len(left) > 1 || cut > 0 && len(left) == 1 && left[0].Name() != "part" {
					t.Errorf("left %v, %v", left, err)
				}
			}
		})
	}
}

// fitUntilDone runs a fit that is cancelled in its n-th pass, then in its 2n-th,
// 3n-th and so on, each time going on from the checkpoint.
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

// TestCheckpointsOnTheWay: the checkpoints that a fit writes by time, with a
// process that then dies, are gone on from to the same bits.
func TestCheckpointsOnTheWay(t *testing.T) {
	for name, c := range resumable() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "part")
			seen := map[string][]byte{}
			o := c.o
			o.Checkpoint, o.CheckpointEvery = path, 1
			o.Progress = func(Progress) {
				if b, err := os.ReadFile(path); err == nil {
					seen[string(b[len(b)-sealBytes:])] = b
				}
			}
			m, _, _, err := fitStopped(c.data, o, 0)
			if err != nil {
				t.Fatal(err)
			}
			whole := encoded(t, m)
			if name != "no steps" && len(seen) == 0 {
				t.Error("no checkpoint was written")
			}
			o.Progress, o.Resume, o.CheckpointEvery = nil, true, 0
			tried := 0
			for _, b := range seen {
				if err := os.WriteFile(path, b, 0o666); err != nil {
					t.Fatal(err)
				}
				m, r, _, err := fitStopped(c.data, o, 0)
				if err != nil {
					t.Fatal(err)
				}
				if r.Resumed < 0 {
					t.Error("a checkpoint that was there was not gone on from")
				}
				if !bytes.Equal(encoded(t, m), whole) {
					t.Errorf("after %d iterations: another model", r.Resumed)
				}
				if tried++; tried == 12 {
					break
				}
			}
		})
	}
}

// checkpointed is a small fit's options and the checkpoint of its middle.
func checkpointed(t testing.TB) (*Data, Options, []byte) {
	t.Helper()
	data := wave(40, 0.2)
	o := Options{Init: InitPaper, Features: 3, Iterations: 30, Checkpoint: filepath.Join(t.TempDir(), "part"), Resume: true}
	for n := 20; ; n += 20 {
		if _, _, _, err := fitStopped(data, o, n); !errors.Is(err, context.Canceled) {
			t.Fatalf("want an interruption, have %v", err)
		}
		if b, err := os.ReadFile(o.Checkpoint); err == nil {
			return data, o, b
		}
	}
}

// TestSnapshotFile: everything in a snapshot comes back from its file.
func TestSnapshotFile(t *testing.T) {
	arrays := 0.0
	array := func() []float64 { arrays++; return []float64{arrays, math.Inf(1), math.Copysign(0, -1)} }
	m := mustStart(wave(30, 0.2), Options{Init: InitPaper, Features: 3})
	begun := mustStart(wave(30, 0.2), Options{Init: InitPaper, Features: 3, Seed: 4})
	apart := &lbfgs.Apart{X: array(), G: array(), Radius: array(), Recent: array(), Failed: 2}
	first := &snapshot{
		place: place{
			Version: checkpointVersion, Made: []trait{{"a", "b"}}, Start: 1, Starts: 3, Stage: 2, Iterations: 5, Bound: float(math.Inf(-1)), Elapsed: 6,
			Results: []startRecord{{7, 0.1, "ended"}}, Kept: 0, Failed: "failed",
			Best: &bestRecord{"bad", 8, []termRecord{{"term", 1e-300}}, 0.3, 1.0 / 3},
		},
		current: m, begun: begun.Params, best: begun,
		ascent: &lbfgs.State{X: array(), G: array(), F: 9.1, S: [][]float64{array(), array()}, Y: [][]float64{array(), array()}, Iterations: 10, Turns: 11, Slow: 12, Apart: apart},
	}
	first.Ascent = ascentOf(first.ascent)
	over := *first
	over.ascent = &lbfgs.State{X: array(), G: array(), F: 1, S: [][]float64{}, Y: [][]float64{}, Iterations: 1, Turns: 1, Slow: 1, Apart: &lbfgs.Apart{Over: true}}
	over.Ascent = ascentOf(over.ascent)
	mini := *first
	mini.place.Ascent, mini.ascent = nil, nil
	mini.place.Descent, mini.descent, mini.v = &descentRecord{13, []byte{1, 2}}, &rmsProp{array(), array(), array()}, array()
	between := snapshot{place: place{Version: checkpointVersion, Starts: 1, Stage: noStage, Results: []startRecord{}, Kept: -1}, current: m}
	for name, s := range map[string]*snapshot{"apart": first, "over": &over, "mini-batches": &mini, "between": &between} {
		f, err := s.file()
		if err != nil {
			t.Fatal(err)
		}
		back := &snapshot{}
		if err := back.read(f); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for what, pair := range map[string][2]any{
			"place": {s.place, back.place}, "L-BFGS": {s.ascent, back.ascent}, "RMSPROP": {s.descent, back.descent}, "coordinates": {s.v, back.v},
			"parameters": {s.current.Params, back.current.Params}, "the stage's": {s.begun, back.begun},
		} {
			if a, b := fmt.Sprintf("%#v", pair[0]), fmt.Sprintf("%#v", pair[1]); !reflect.DeepEqual(pair[0], pair[1]) {
				t.Errorf("%s: %s: wrote %s, read %s", name, what, a, b)
			}
		}
		if s.best != nil && !bytes.Equal(encoded(t, s.best), encoded(t, back.best)) {
			t.Errorf("%s: another best model", name)
		}
	}
}

// TestForeignCheckpoint: another fit's checkpoint is refused with what differs,
// and stays.
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
		"from":    {data, func(o *Options) { o.From = mustStart(data, *o); o.Restarts = 1 }, "restarts"},
		"kept":    {data, func(o *Options) { o.Resume = false; o.Checkpoint += ".csv" }, "is no checkpoint"},
	} {
		o := o
		c.change(&o)
		content := was
		if name == "kept" {
			content = []byte("t,y\n1,2\n")
		}
		if err := os.WriteFile(o.Checkpoint, content, 0o666); err != nil {
			t.Fatal(err)
		}
		_, _, _, err := fitStopped(c.data, o, 0)
		if !errors.Is(err, ErrCheckpoint) || !strings.Contains(fmt.Sprint(err), c.want) || !strings.Contains(fmt.Sprint(err), o.Checkpoint) {
			t.Errorf("%s: %v; want ErrCheckpoint, the path and %q", name, err, c.want)
		}
		if now, err := os.ReadFile(o.Checkpoint); err != nil || !bytes.Equal(now, content) {
			t.Errorf("%s: the file that was refused has changed (%v)", name, err)
		}
	}
}

// TestDamagedCheckpoint: cut to every length and with each byte flipped, a
// checkpoint is refused.
func TestDamagedCheckpoint(t *testing.T) {
	data, o, was := checkpointed(t)
	made, err := traits(data, &o)
	if err != nil {
		t.Fatal(err)
	}
	o.Backend = nil
	try := func(what string, b []byte) {
		s, err := readCheckpoint(bytes.NewReader(b), int64(len(b)))
		if !errors.Is(err, ErrCheckpoint) {
			t.Errorf("%s: %v, %v; want ErrCheckpoint", what, s, err)
		}
	}
	if s, err := readCheckpoint(bytes.NewReader(was), int64(len(was))); err != nil || len(made) == 0 {
		t.Fatal(s, err)
	}
	for n := range was {
		try(fmt.Sprint("cut to ", n), was[:n])
	}
	try("longer", append(slices.Clone(was), 0))
	for i := range was {
		b := slices.Clone(was)
		b[i] ^= 1 << (i % 8)
		try(fmt.Sprint("byte ", i), b)
	}
	for _, n := range []int{0, 1, sealBytes, len(was) / 2, len(was) - 1} {
		if err := os.WriteFile(o.Checkpoint, was[:n], 0o666); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Fit(context.Background(), data, o); !errors.Is(err, ErrCheckpoint) {
			t.Errorf("cut to %d: %v", n, err)
		}
		if now, err := os.ReadFile(o.Checkpoint); err != nil || !bytes.Equal(now, was[:n]) {
			t.Errorf("cut to %d: the file has changed (%v)", n, err)
		}
	}
}

// TestCheckpointLock: a second fit with the same checkpoint is refused while the
// first runs, and left alone after.
func TestCheckpointLock(t *testing.T) {
	o := Options{Init: InitPaper, Features: 3, Iterations: 3, Checkpoint: filepath.Join(t.TempDir(), "part")}
	data, tried := wave(40, 0.2), 0
	o.Progress = func(Progress) {
		o := o
		o.Progress = nil
		tried++
		if _, _, err := Fit(context.Background(), data, o); !errors.Is(err, ErrCheckpoint) || !strings.Contains(err.Error(), "in use by process") {
			t.Errorf("a second fit: %v; want ErrCheckpoint and who has it", err)
		}
	}
	mustFit(t, data, o)
	if tried == 0 {
		t.Error("nothing was tried")
	}
	o.Progress = nil
	mustFit(t, data, o)
}

// TestCheckpointPace: writes come by the interval and take a twentieth of the
// time at most; a clock that is set has no say in it.
func TestCheckpointPace(t *testing.T) {
	var now time.Duration
	p := newPace(10 * time.Second)
	p.now = func() time.Duration { return now }
	if now = 9 * time.Second; p.due() {
		t.Error("due before the interval")
	}
	if now = 10 * time.Second; !p.due() {
		t.Error("not due after it")
	}
	now = 11 * time.Second
	p.wrote(10 * time.Second) // a second's write
	at := func(seconds time.Duration) bool { now = seconds * time.Second; return p.due() }
	if at(29) || !at(30) {
		t.Error("after a write from 10 s to 11 s, not due from 30 s on")
	}
	p.wrote(30 * time.Second) // in no time
	if at(39) || !at(40) {
		t.Error("after a write in no time at 30 s, not due from 40 s on")
	}
	// time.Since of a time that has a monotonic reading, which String shows,
	// does not look at the clock on the wall.
	if began := time.Now(); !strings.Contains(began.String(), "m=+") {
		t.Errorf("%v has no monotonic reading", began)
	}
}

// TestCheckpointFails: without somebody to warn, a checkpoint that cannot be
// written ends the fit; with one the fit goes on, and the file before it stays.
func TestCheckpointFails(t *testing.T) {
	data := wave(40, 0.2)
	dir := filepath.Join(t.TempDir(), "there")
	fit := func(warn func(error)) (*Model, *Result, error) {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		o := Options{Init: InitPaper, Features: 3, Iterations: 12, Checkpoint: filepath.Join(dir, "part"), CheckpointEvery: 1, Warn: warn}
		o.Progress = func(Progress) { os.RemoveAll(dir) } // the folder goes, under root's hands too
		return Fit(context.Background(), data, o)
	}
	if _, _, err := fit(nil); err == nil {
		t.Error("a checkpoint that could not be written, and no word of it")
	}
	warned := 0
	m, r, err := fit(func(err error) {
		if warned++; !strings.Contains(err.Error(), "without a new checkpoint") {
			t.Error(err)
		}
	})
	if err != nil || m == nil || warned == 0 || r.Unsaved == nil {
		t.Errorf("warned %d times, unsaved %v, error %v; want a fit that went on", warned, r, err)
	}
}

// FuzzCheckpoint: any bytes, under a seal of their own, are a checkpoint that a
// fit goes on from to its end, or an error that says why not.
func FuzzCheckpoint(f *testing.F) {
	data := wave(40, 0.2)
	for _, c := range []Options{
		{Init: InitPaper, Features: 2, Iterations: 6, Restarts: 1},
		{Init: InitPaper, Features: 2, Iterations: 9, Inference: Stochastic, Batch: 5},
		{Init: InitPaper, Features: 2, Iterations: 9, Window: 1.5, Optimiser: OptimiserWindows},
	} {
		path := filepath.Join(f.TempDir(), "part")
		c.Checkpoint = path
		for n := 5; n < 40; n += 9 {
			if _, _, _, err := fitStopped(data, c, n); err == nil {
				break
			}
			if b, err := os.ReadFile(path); err == nil {
				f.Add(b)
			}
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) >= sealBytes {
			out := bytes.NewBuffer(nil)
			s := &sealer{w: out, hash: sha256.New()}
			s.Write(b)
			if err := s.seal(); err != nil {
				t.Fatal(err)
			}
			b = out.Bytes()
		}
		s, err := readCheckpoint(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			if !errors.Is(err, ErrCheckpoint) {
				t.Fatalf("%v does not wrap ErrCheckpoint", err)
			}
			return
		}
		again, err := s.file()
		if err != nil {
			t.Fatalf("read and not to be written: %v", err)
		}
		if err := new(snapshot).read(again); err != nil {
			t.Fatalf("written and read again: %v", err)
		}
		for _, o := range []Options{{Init: InitPaper, Iterations: 9, Inference: Stochastic, Batch: 5}, {Init: InitPaper, Iterations: 9, Restarts: 1}} {
			if s.current.Params.M() > 100 || s.best != nil && s.best.Params.M() > 100 {
				return // time, not memory
			}
			// The traits are those of whoever reads it.
			made, err := traits(data, &o)
			if err != nil {
				t.Fatal(err)
			}
			s, _ := readCheckpoint(bytes.NewReader(b), int64(len(b)))
			s.Made = made
			r := &restarts{ctx: context.Background(), data: data, o: o, began: time.Now(), starts: 1 + o.Restarts, res: &Result{Kept: -1}}
			if s.check(made, &o) != nil || r.goOn(s) != nil {
				continue
			}
			if err := r.all(s); err == nil && r.best != nil && r.best.model.Params.Check() != nil {
				t.Fatalf("gone on with to %v", r.best.model.Params.Check())
			}
		}
	})
}

// BenchmarkCheckpoint writes and reads the checkpoint of a fit of 40 000
// features with all of its pairs.
func BenchmarkCheckpoint(b *testing.B) {
	const m, pairs = 40_000, lbfgs.Memory
	p := NewParams(m/2, 2, 1, 1)
	for _, t := range p.Tensors() {
		for i := range *t.Data {
			(*t.Data)[i] = 1 + float64(i%7)/8
		}
	}
	p.CoefMean, p.CoefVar = nil, nil
	model, err := NewModel(p)
	if err != nil {
		b.Fatal(err)
	}
	array := func() []float64 { return make([]float64, 11*m/2) }
	st := &lbfgs.State{X: array(), G: array()}
	for range pairs {
		st.S, st.Y = append(st.S, array()), append(st.Y, array())
	}
	path := filepath.Join(b.TempDir(), "part")
	c := &checkpointer{path: path, pace: newPace(0)}
	s := &snapshot{place: place{Starts: 1, Kept: -1, Ascent: ascentOf(st)}, current: model, begun: p, ascent: st}
	write := func(b *testing.B) {
		if err := c.write(s); err != nil {
			b.Fatal(err)
		}
	}
	write(b)
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("write", func(b *testing.B) {
		b.SetBytes(info.Size())
		b.ReportAllocs()
		for b.Loop() {
			write(b)
		}
	})
	b.Run("read", func(b *testing.B) {
		b.SetBytes(info.Size())
		for b.Loop() {
			f, err := os.Open(path)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := readCheckpoint(f, info.Size()); err != nil {
				b.Fatal(err)
			}
			f.Close()
		}
	})
}
