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

	"github.com/vssgp/vssgp/internal/lbfgs"
)

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

func TestCheckpointOptions(t *testing.T) {
	for _, o := range []Options{{Resume: true}, {Checkpoint: "part", CheckpointEvery: -1}} {
		if _, _, err := Fit(context.Background(), wave(40, 0.2), o); !errors.Is(err, ErrOptions) {
			t.Errorf("%q every %v: %v, want ErrOptions", o.Checkpoint, o.CheckpointEvery, err)
		}
	}
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
