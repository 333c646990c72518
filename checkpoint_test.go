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
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/fileio/safetensors"
	"github.com/vssgp/vssgp/internal/optimize/checkpoint"
)

// checkpointed is a small fit's options and the checkpoint of its middle.
func checkpointed(t testing.TB) (*Data, Options, []byte) {
	t.Helper()
	data := wave(40, 0.2)
	o := Options{Init: InitPaper, Features: 3, Iterations: 30, Checkpoint: CheckpointOptions{Path: filepath.Join(t.TempDir(), "part"), Resume: true}}
	for n := 20; ; n += 20 {
		if _, _, _, err := fitStopped(data, o, n); !errors.Is(err, context.Canceled) {
			t.Fatalf("want an interruption, have %v", err)
		}
		if b, err := os.ReadFile(o.Checkpoint.Path); err == nil {
			return data, o, b
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
		"kept":    {data, func(o *Options) { o.Checkpoint.Resume = false; o.Checkpoint.Path += ".csv" }, "is no checkpoint"},
	} {
		o := o
		c.change(&o)
		content := was
		if name == "kept" {
			content = []byte("t,y\n1,2\n")
		}
		if err := os.WriteFile(o.Checkpoint.Path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		_, _, _, err := fitStopped(c.data, o, 0)
		if !errors.Is(err, ErrCheckpoint) || !strings.Contains(fmt.Sprint(err), c.want) || !strings.Contains(fmt.Sprint(err), o.Checkpoint.Path) {
			t.Errorf("%s: %v; want ErrCheckpoint, the path and %q", name, err, c.want)
		}
		if now, err := os.ReadFile(o.Checkpoint.Path); err != nil || !bytes.Equal(now, content) {
			t.Errorf("%s: the file that was refused has changed (%v)", name, err)
		}
	}
}

// TestDamagedCheckpoint: a checkpoint that is cut short is refused and stays.
func TestDamagedCheckpoint(t *testing.T) {
	data, o, was := checkpointed(t)
	o.Backend = nil
	for _, n := range []int{0, 1, sealBytes, len(was) / 2, len(was) - 1} {
		if err := os.WriteFile(o.Checkpoint.Path, was[:n], 0o666); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Fit(context.Background(), data, o); !errors.Is(err, ErrCheckpoint) {
			t.Errorf("cut to %d: %v", n, err)
		}
		if now, err := os.ReadFile(o.Checkpoint.Path); err != nil || !bytes.Equal(now, was[:n]) {
			t.Errorf("cut to %d: the file has changed (%v)", n, err)
		}
	}
}

// TestCheckpointLock: a second fit with the same checkpoint is refused while the
// first runs, and left alone after.
func TestCheckpointLock(t *testing.T) {
	o := Options{Init: InitPaper, Features: 3, Iterations: 3, Checkpoint: CheckpointOptions{Path: filepath.Join(t.TempDir(), "part")}}
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
	for _, o := range []Options{{Checkpoint: CheckpointOptions{Resume: true}}, {Checkpoint: CheckpointOptions{Path: "part", Every: -1}}} {
		if _, _, err := Fit(context.Background(), wave(40, 0.2), o); !errors.Is(err, ErrOptions) {
			t.Errorf("%q every %v: %v, want ErrOptions", o.Checkpoint.Path, o.Checkpoint.Every, err)
		}
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
		o := Options{Init: InitPaper, Features: 3, Iterations: 12, Checkpoint: CheckpointOptions{Path: filepath.Join(dir, "part"), Every: 1, Warn: warn}}
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

// aCard is a backend under the name of a GPU.
type aCard struct{ backend.Backend }

func (aCard) Name() string { return "cuda:0" }

// TestInstructionSetTrait: a fit depends on the processor's instruction set,
// whatever the device.
func TestInstructionSetTrait(t *testing.T) {
	data := &Data{N: 1, Q: 1, D: 1, X: []float64{0}, Y: []float64{0}}
	for _, b := range []backend.Backend{nil, cpu.New(), aCard{cpu.New()}} {
		made, err := (&fit{problem: &problem{o: Options{Backend: b}, data: data}}).fingerprint()
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(made, checkpoint.Trait{Name: "instruction set (VSSGP_SIMD)", Value: cpu.Instructions()}) {
			t.Errorf("device %v: made of %v", b, made)
		}
	}
}

// sealBytes end a checkpoint: the words of a hash of all before.
const sealBytes = 8 * sha256.Size / 4

// resealed puts the right seal at the end of a checkpoint's bytes.
func resealed(b []byte) []byte {
	b = slices.Clone(b[:len(b)-sealBytes])
	sum := sha256.Sum256(b)
	for at := 0; at < len(sum); at += 4 {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(binary.BigEndian.Uint32(sum[at:]))))
	}
	return b
}

// FuzzResume: any bytes, under a seal of their own, are a checkpoint that a
// fit goes on from to its end, or an error that says why not.
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
	options := []Options{{Init: InitPaper, Iterations: 9, Inference: Stochastic, Batch: BatchOptions{Rows: 5}}, {Init: InitPaper, Iterations: 9, Restarts: 1}}
	var made [][]checkpoint.Trait
	for _, o := range options {
		traits, err := (&fit{problem: &problem{o: o, data: data}}).fingerprint()
		if err != nil {
			f.Fatal(err)
		}
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
				t.Fatalf("gone on with to %v", m.Params.Check())
			}
		}
	})
}

// takeOver writes a checkpoint as one of a fit with the given traits. It reports
// whether the bytes are a checkpoint, and of a model that does not take long.
func takeOver(t *testing.T, path string, b []byte, made []checkpoint.Trait) bool {
	t.Helper()
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
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
		t.Fatalf("read and not to be written: %v", err)
	}
	return true
}

// TestCheckpointFolder: a checkpoint in no folder is an error about a checkpoint, before the fit.
func TestCheckpointFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "part")
	if _, _, err := Fit(t.Context(), wave(30, 0.1), Options{Iterations: 2, Features: 4, Checkpoint: CheckpointOptions{Path: path}}); !errors.Is(err, ErrCheckpoint) || !strings.Contains(err.Error(), path) {
		t.Errorf("%v; want ErrCheckpoint with %s", err, path)
	}
}
