package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/fileio/safetensors"
	"github.com/vssgp/vssgp/internal/optimize"
	"github.com/vssgp/vssgp/internal/optimize/lbfgs"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
	"github.com/vssgp/vssgp/variational"
)

// model returns the file of a small model.
func model(name string) *safetensors.File {
	p, _ := modeltest.Kind{Name: name, N: 1, L: 1, K: 3, Q: 1, D: 1}.Make()
	f := fileOf(p)
	f.Metadata["method"] = name
	return f
}

// fileOf returns a file with the tensors of parameters.
func fileOf(p *variational.Params) *safetensors.File {
	f := &safetensors.File{Tensors: map[string]safetensors.Tensor{}, Metadata: map[string]string{}}
	for _, t := range p.Tensors() {
		f.Tensors[t.Name] = safetensors.Tensor{Shape: t.Shape, Data: *t.Data}
	}
	return f
}

// samples returns snapshots of every kind, with numbers that test exact encoding.
func samples() map[string]*Snapshot {
	arrays := 0.0
	array := func() []float64 { arrays++; return []float64{arrays, math.Inf(1), math.Copysign(0, -1)} }
	running := func(s optimize.State) *Snapshot {
		s.Stage, s.Iterations = 2, 5
		return &Snapshot{
			Made: []Trait{{"a", "b"}}, Progress: Progress{
				Start: 1, Starts: 3, Elapsed: 6, Results: []Result{{7, Number(math.Inf(-1)), "ended"}}, Kept: 0, Failed: "failed",
				Best: &Best{Bad: "bad", Iterations: 8, At: variational.Evaluation{
					Bound: 1.0 / 3, Terms: []variational.Term{{Name: "term", Value: 1e-300}, {Name: "zero", Value: math.Copysign(0, -1)}}, Jitter: 0.3,
				}},
			},
			State: &s, Current: model("current"), Begun: model("begun"), BestModel: model("best"),
		}
	}
	ascent := func(b *lbfgs.PerBlock) optimize.State {
		s := [][]float64{array(), array()}
		return optimize.State{Ascent: &lbfgs.State{
			X: array(), G: array(), F: 9.1, S: s, Y: [][]float64{array(), array()}, Pairs: 2, Steps: 10, Iterations: 11, Stalled: 12, PerBlock: b,
		}}
	}
	return map[string]*Snapshot{
		"windows by themselves": running(ascent(&lbfgs.PerBlock{X: array(), G: array(), Radius: array(), Recent: array(), Failed: 2})),
		"windows together":      running(ascent(&lbfgs.PerBlock{Over: true})),
		"without windows":       running(ascent(nil)),
		"mini-batches": running(optimize.State{Descent: &optimize.Descent{
			RMSProp: optimize.RMSProp{Square: array(), Rate: array(), Last: array()}, X: array(), Steps: 13, Bound: 0.1, Stream: []byte{1, 2},
		}}),
		"before a stage":    running(optimize.State{}),
		"between starts":    {Progress: Progress{Start: 1, Starts: 2, Results: []Result{{0, Number(math.Nextafter(0.3, 1)), "no ascent"}}, Kept: -1}, Current: model("current")},
		"in the first":      {Progress: Progress{Starts: 1, Results: []Result{}, Kept: -1}, State: &optimize.State{}, Current: model("current"), Begun: model("begun")},
		"a failed start":    {Progress: Progress{Start: 1, Starts: 2, Results: []Result{{}}, Kept: -1, Failed: "failed"}, Current: model("current")},
		"a best one before": {Progress: Progress{Start: 1, Starts: 2, Results: []Result{{}}, Best: &Best{At: variational.Evaluation{Bound: -1}}}, Current: model("current"), BestModel: model("best")},
	}
}

// written returns the bytes of a snapshot's file, with its seal.
func written(t testing.TB, s *Snapshot) []byte {
	t.Helper()
	f := testkit.Must(s.file())(t)
	return writtenFile(t, f)
}

func writtenFile(t testing.TB, f *safetensors.File) []byte {
	t.Helper()
	var b bytes.Buffer
	testkit.OK(t, f.Write(&b))
	return resealed(t, b.Bytes())
}

// resealed replaces the seal at the end of a file's bytes by the correct one.
func resealed(t testing.TB, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	testkit.OK(t, sealing(&out, func(w io.Writer) error { _, err := w.Write(b); return err }))
	return out.Bytes()
}

func readBytes(b []byte) (*Snapshot, error) { return read(bytes.NewReader(b), int64(len(b))) }

// text formats the content of a snapshot's file exactly, except for its models.
func text(t *testing.T, s *Snapshot) string {
	t.Helper()
	b := testkit.Must(json.Marshal(s))(t)
	if s.State != nil {
		arrays := testkit.Must(s.State.Arrays())(t)
		for _, name := range slices.Sorted(maps.Keys(arrays)) {
			b = fmt.Appendf(b, "\n%s %v", name, *arrays[name])
		}
	}
	return string(b)
}

// bare returns a snapshot without its model files.
func bare(s *Snapshot) Snapshot {
	b := *s
	b.Current, b.Begun, b.BestModel = nil, nil, nil
	return b
}

// TestSnapshotFile checks that reading a file restores everything in the snapshot.
func TestSnapshotFile(t *testing.T) {
	for name, s := range samples() {
		back, err := readBytes(written(t, s))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if is, want := text(t, back), text(t, s); is != want {
			t.Errorf("%s: read\n%s\nwrote\n%s", name, is, want)
		}
		if !reflect.DeepEqual(bare(back), bare(s)) {
			t.Errorf("%s: read %+v, wrote %+v", name, bare(back), bare(s))
		}
		same(t, name+": the current model", back.Current, model("current"))
		same(t, name+": the stage's beginning", back.Begun, s.Begun)
		same(t, name+": the best model", back.BestModel, s.BestModel)
	}
}

// same compares two model files, ignoring the tensors that a checkpoint adds.
func same(t *testing.T, what string, got, want *safetensors.File) {
	t.Helper()
	if (got == nil) != (want == nil) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
	if got == nil || want == nil {
		return
	}
	for name, tensor := range want.Tensors {
		if g := got.Tensors[name]; !slices.Equal(g.Data, tensor.Data) || !slices.Equal(g.Shape, tensor.Shape) {
			t.Errorf("%s: %s is %v, want %v", what, name, g, tensor)
		}
	}
	for k, v := range want.Metadata {
		if got.Metadata[k] != v {
			t.Errorf("%s: metadata %s is %q, want %q", what, k, got.Metadata[k], v)
		}
	}
}

// TestDamaged checks that a checkpoint is rejected if it is truncated to any length or any byte
// changes.
func TestDamaged(t *testing.T) {
	was := written(t, samples()["windows by themselves"])
	testkit.Must(readBytes(was))(t)
	try := func(what string, b []byte) {
		if s, err := readBytes(b); !errors.Is(err, Err) {
			t.Errorf("%s: %v, %v; want Err", what, s, err)
		}
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
}

// TestVersionBefore checks that a checkpoint of an earlier format is rejected with its version and
// advice.
func TestVersionBefore(t *testing.T) {
	f := model("current")
	f.Metadata[key] = `{"version":1,"made":[{"name":"a","value":"b"}],"start":0,"starts":1,"stage":0,"iterations":3,"bound":"-12.5","elapsed":6,` +
		`"results":[],"kept":-1,"ascent":{"value":"-12.5","pairs":0,"iterations":3,"turns":3,"slow":0}}`
	for name, tensor := range model("begun").Tensors {
		f.Tensors[prefix+"begun."+name] = tensor
	}
	for _, name := range []string{"ascent.x", "ascent.gradient"} {
		f.Tensors[prefix+name] = safetensors.Tensor{Shape: []int{2}, Data: []float64{1, 2}}
	}
	f.Tensors[sealName] = safetensors.Tensor{Shape: []int{sealBytes / 8}, Data: make([]float64, sealBytes/8)}
	s, err := readBytes(writtenFile(t, f))
	const want = "it has version 1 of the format, expected 3: use the version of vssgp that wrote it"
	if !errors.Is(err, Err) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v, %v; want one line that contains %q", s, err, want)
	}
}

// TestNumbersThatDoNotFit checks that a checkpoint with a correct seal but impossible numbers is
// rejected with a reason.
func TestNumbersThatDoNotFit(t *testing.T) {
	for what, c := range map[string]struct {
		change func(s *Snapshot)
		want   string
	}{
		"start":            {func(s *Snapshot) { s.Start = 3 }, "attempt 3 of 3"},
		"negative start":   {func(s *Snapshot) { s.Start, s.Results = -1, nil }, "attempt -1 of 3"},
		"results":          {func(s *Snapshot) { s.Results = nil }, "with 0 results"},
		"kept":             {func(s *Snapshot) { s.Kept = 1 }, "the best is number 1"},
		"nothing kept":     {func(s *Snapshot) { s.Kept = -1 }, "the best is number -1"},
		"elapsed":          {func(s *Snapshot) { s.Elapsed = -1 }, "after -1ns"},
		"best iterations":  {func(s *Snapshot) { s.Best.Iterations = -1 }, "has -1 iterations"},
		"no best model":    {func(s *Snapshot) { s.BestModel = nil }, "a model is missing"},
		"no stage's model": {func(s *Snapshot) { s.Begun = nil }, "a model is missing"},
		"no state":         {func(s *Snapshot) { s.State = nil }, "a model is missing"},
		"pairs":            {func(s *Snapshot) { s.State.Ascent.Pairs, s.State.Ascent.S = -1, nil }, "-1 pairs"},
		"more pairs":       {func(s *Snapshot) { s.State.Ascent.Pairs = lbfgs.Memory + 1 }, "21 pairs"},
	} {
		s := samples()["windows by themselves"]
		c.change(s)
		f := testkit.Must(s.file())(t)
		if _, err := readBytes(writtenFile(t, f)); !errors.Is(err, Err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want Err and %q", what, err, c.want)
		}
	}
	for want, change := range map[string]func(f *safetensors.File){
		"is not a checkpoint":                  func(f *safetensors.File) { delete(f.Metadata, key) },
		"no tensor checkpoint.ascent.step.01":  func(f *safetensors.File) { delete(f.Tensors, prefix+"ascent.step.01") },
		"metadata checkpoint: invalid":         func(f *safetensors.File) { f.Metadata[key] = "{" + f.Metadata[key] },
		"metadata checkpoint: unexpected end":  func(f *safetensors.File) { f.Metadata[key] = "" },
		"metadata checkpoint: json: cannot un": func(f *safetensors.File) { f.Metadata[key] = `{"version":3,"start":"first"}` },
	} {
		f := testkit.Must(samples()["windows together"].file())(t)
		change(f)
		if _, err := readBytes(writtenFile(t, f)); !errors.Is(err, Err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want Err and %q", err, want)
		}
	}
}

// FuzzRead checks that bytes with a valid seal either are a checkpoint that can be written and read
// again or give an error that wraps Err.
func FuzzRead(f *testing.F) {
	for _, s := range samples() {
		f.Add(written(f, s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) >= sealBytes {
			b = resealed(t, b)
		}
		s, err := readBytes(b)
		if err != nil {
			if !errors.Is(err, Err) {
				t.Fatalf("%v does not wrap Err", err)
			}
			return
		}
		was := text(t, s)
		again, err := s.file()
		if err != nil {
			t.Fatalf("read but not written: %v", err)
		}
		back := new(Snapshot)
		if err := back.read(again); err != nil {
			t.Fatalf("written and read again: %v", err)
		}
		if is := text(t, back); is != was {
			t.Fatalf("written and read again it is\n%s\nwas\n%s", is, was)
		}
	})
}
