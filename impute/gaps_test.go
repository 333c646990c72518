package impute

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/slow"
)

// TestMethods: auto is the mixture unless an option says otherwise, and what a method cannot use is refused.
func TestMethods(t *testing.T) {
	for _, c := range []struct {
		name string
		o    Options
		want Method // "": refused
	}{
		{"nothing said", Options{}, Mixture},
		{"a seed and draws", Options{Draws: 3, Model: vssgp.Options{Seed: 4}}, Mixture},
		{"a checkpoint", Options{Model: vssgp.Options{Checkpoint: "x", CheckpointEvery: 1, Resume: true}}, Mixture},
		{"workers and memory", Options{Workers: 2, Forget: true, Model: vssgp.Options{MemoryLimit: 1e9}}, Mixture},
		{"a window", Options{Model: vssgp.Options{Window: 0.05}}, VSSGP},
		{"all", Options{All: true}, VSSGP},
		{"a context", Options{Context: time.Second}, VSSGP},
		{"ar", Options{Method: AR}, AR},
		{"vssgp", Options{Method: VSSGP}, VSSGP},
		{"ar with a window", Options{Method: AR, Model: vssgp.Options{Window: 0.05}}, ""},
		{"the mixture of all", Options{Method: Mixture, All: true}, ""},
		{"unknown", Options{Method: "spline"}, ""},
	} {
		if c.want != "" {
			if got := c.o.Resolved(); got != c.want || c.o.checkMethod() != nil {
				t.Errorf("%s: method %q, %v; want %q", c.name, got, c.o.checkMethod(), c.want)
			}
			continue
		}
		if _, err := Fill(context.Background(), tones(1000, 1, 0.01), rate, []Gap{{Start: 400, End: 420}}, c.o); !errors.Is(err, vssgp.ErrOptions) {
			t.Errorf("%s: error %v, want one that wraps ErrOptions", c.name, err)
		}
		if _, err := NewPlan(1, 1000, rate, []Gap{{Start: 400, End: 420}}, c.o); !errors.Is(err, vssgp.ErrOptions) {
			t.Errorf("%s: plan: error %v, want one that wraps ErrOptions", c.name, err)
		}
	}
}

// TestMixture: gaps come back far better than a line's, observed samples to the bit and certain; what stood in the gaps is not looked
// at, and the bits depend on neither workers nor other draws.
func TestMixture(t *testing.T) {
	clean := tones(9000, 2, 0.005)
	gaps := []Gap{{Start: 0, End: 12}, {Start: 3000, End: 3080}, {Start: 3100, End: 3110}, {Start: 6000, End: 6200}, {Start: 8990, End: 9000}}
	for _, m := range []Method{Mixture, AR} {
		r := mustFill(t, damage(clean, gaps, math.NaN()), gaps, Options{Method: m, Draws: 2, Workers: 1})
		if r.Method != m || r.Bound != 0 || r.Excerpts[0].Model != nil {
			t.Errorf("%s: method %s, bound %v, model %v", m, r.Method, r.Bound, r.Excerpts[0].Model)
		}
		if e := gapError(r.Filled, clean, gaps[1:4]); e > 0.02 {
			t.Errorf("%s: error %v in tones of rms 0.08, want 0.02 at most", m, e)
		}
		missing := audio.Mask(gaps, 9000)
		for c := range clean {
			for i, v := range clean[c] {
				switch inside := !math.IsNaN(r.Fit[c][i]); {
				case missing[i] && !(r.SD[c][i] > 0):
					t.Fatalf("%s: sample %d is missing and certain: sd %v", m, i, r.SD[c][i])
				case !missing[i] && (r.Filled[c][i] != v || r.Draws[1][c][i] != v || inside && (r.Fit[c][i] != v || r.SD[c][i] != 0)):
					t.Fatalf("%s: sample %d is observed, and filled with %v ± %v", m, i, r.Filled[c][i], r.SD[c][i])
				}
			}
		}
		again := mustFill(t, damage(clean, gaps, 1e6), gaps, Options{Method: m, Draws: 1, Workers: 3})
		if !sameBits(again.Filled, r.Filled) || !sameBits(again.SD, r.SD) || !sameBits(again.Draws[0], r.Draws[0]) {
			t.Errorf("%s: other bits with three workers and other samples in the gaps", m)
		}
		other := mustFill(t, damage(clean, gaps, 0), gaps, Options{Method: m, Draws: 1, Model: vssgp.Options{Seed: 9}})
		if sameBits(other.Draws[0], r.Draws[0]) || !sameBits(other.Filled, r.Filled) {
			t.Errorf("%s: another seed is to make other draws of the same fill", m)
		}
	}
}

// TestKept: an interrupted fill ends with the same bits when it is resumed, without filling again what was finished; of another
// recording nothing is taken.
func TestKept(t *testing.T) {
	clean := tones(12_000, 2, 0.005)
	var gaps []Gap
	for at := 500; at < 11_500; at += 2000 {
		gaps = append(gaps, Gap{Start: at, End: at + 1 + at/100})
	}
	want := mustFill(t, clean, gaps, Options{Draws: 1})
	path := filepath.Join(t.TempDir(), "fills")
	ctx, stop := context.WithCancel(context.Background())
	o := Options{Draws: 1, Workers: 2, Model: vssgp.Options{Checkpoint: path, Resume: true}}
	o.Progress = func(p Progress) {
		if p.Excerpts != len(gaps) {
			t.Errorf("%d gaps, want %d", p.Excerpts, len(gaps))
		}
		if p.Excerpt == 2 {
			stop()
		}
	}
	if _, err := Fill(ctx, clean, rate, gaps, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want %v", err, context.Canceled)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	o.Progress = nil
	k := newKept(&o, Mixture)
	if err := k.open(true); err != nil || len(k.known) < 4 || len(k.known) > 10 {
		t.Fatalf("the checkpoint of an interrupted fill: %d fills, %v", len(k.known), err)
	}
	if _, err := Fill(context.Background(), clean, rate, gaps, o); runtime.GOOS != "windows" && !errors.Is(err, vssgp.ErrCheckpoint) {
		t.Errorf("a checkpoint that another fill has: error %v, want one that wraps ErrCheckpoint", err)
	}
	k.release()
	for _, c := range []struct {
		name    string
		samples [][]float64
		want    *Result
	}{{"resumed", clean, want}, {"resumed when finished", clean, want}, {"another recording", tones(12_000, 2, 0.01), nil}} {
		r, err := Fill(context.Background(), c.samples, rate, gaps, o)
		if err != nil {
			t.Fatal(c.name, err)
		}
		if c.want == nil {
			c.want = mustFill(t, c.samples, gaps, Options{Draws: 1})
		}
		if !sameBits(r.Filled, c.want.Filled) || !sameBits(r.SD, c.want.SD) || !sameBits(r.Draws[0], c.want.Draws[0]) {
			t.Errorf("%s: other bits than without interruption", c.name)
		}
	}
	for name, bad := range map[string][]byte{"text": []byte("fills"), "of an older version": bytes.Replace(before, []byte(keptFormat), []byte("vssgp-fills/1"), 1)} {
		if err := os.WriteFile(path, bad, 0o666); err != nil {
			t.Fatal(err)
		}
		for _, o.Model.Resume = range []bool{true, false} {
			_, err := Fill(context.Background(), clean, rate, gaps, o)
			if !errors.Is(err, vssgp.ErrCheckpoint) || !strings.Contains(err.Error(), path) {
				t.Errorf("a checkpoint that is %s: error %v, want one that names it and wraps ErrCheckpoint", name, err)
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, bad) {
				t.Errorf("a checkpoint that is %s did not stay as it was: %v", name, err)
			}
		}
	}
}

// TestKeptTorn: of a checkpoint that is cut anywhere, or has a byte changed, what comes before is used and the fill ends with the same bits.
func TestKeptTorn(t *testing.T) {
	clean, gaps := tones(3000, 1, 0.005), []Gap{{Start: 500, End: 510}, {Start: 1500, End: 1501}, {Start: 2500, End: 2510}}
	want := mustFill(t, clean, gaps, Options{})
	path := filepath.Join(t.TempDir(), "fills")
	o := Options{Workers: 1, Model: vssgp.Options{Checkpoint: path, Resume: true}}
	mustFill(t, clean, gaps, o)
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	step := slow.Pick(1, 37)
	for at := 0; at < len(file); at += step {
		changed := bytes.Clone(file)
		changed[at] ^= 0x41
		for _, torn := range [][]byte{file[:at], changed} {
			if at < len(keptFormat) && len(torn) == len(file) {
				continue // it is no checkpoint any more
			}
			if err := os.WriteFile(path, torn, 0o666); err != nil {
				t.Fatal(err)
			}
			k := newKept(&o, Mixture)
			if err := k.open(true); err != nil || len(k.known) == 3 || k.file.size > int64(at)+int64(len(keptFormat)) {
				t.Fatalf("damaged at %d: %v, %d fills in %d bytes", at, err, len(k.known), k.file.size)
			}
			k.release()
		}
		if at%(11*step) == 0 {
			if r := mustFill(t, clean, gaps, o); !sameBits(r.Filled, want.Filled) || !sameBits(r.SD, want.SD) {
				t.Fatalf("damaged at %d: other bits", at)
			}
		}
	}
}

// TestKeptFails: a fill goes on where its finished gaps cannot be kept, if there is somebody to warn.
func TestKeptFails(t *testing.T) {
	for _, warned := range []bool{true, false} {
		var warnings []error
		o := Options{Workers: 1, Model: vssgp.Options{Checkpoint: filepath.Join(t.TempDir(), "fills"), CheckpointEvery: 1}}
		if warned {
			o.Model.Warn = func(err error) { warnings = append(warnings, err) }
		}
		k := newKept(&o, Mixture)
		if err := k.open(false); err != nil {
			t.Fatal(err)
		}
		s := &single{mean: []float64{1, 2}, sd: []float64{3, 4}}
		k.file.file.Close() // as good as a full disk
		at, err := k.keep(key{1}, s)
		if (err == nil) != warned || warned != (len(warnings) == 1) {
			t.Errorf("somebody to warn %v: error %v, warnings %v", warned, err, warnings)
		}
		if !warned {
			continue
		}
		at2, err := k.keep(key{2}, s)
		if err != nil || len(warnings) != 1 {
			t.Errorf("the next fill: error %v, warnings %v", err, warnings)
		}
		for _, p := range []place{at, at2} {
			if got, err := p.in.get(p.at); err != nil || !slices.Equal(got.mean, s.mean) || !slices.Equal(got.sd, s.sd) {
				t.Errorf("a fill that could not be kept in the file: %v, %v", got, err)
			}
		}
	}
}

// TestKeptKey: whatever a fill depends on is in its key.
func TestKeptKey(t *testing.T) {
	type inputs struct {
		m             Method
		draws         int
		seed          uint64
		z             []float64
		gaps          [][2]int
		gap           Gap
		channel, rate int
		others        []int
	}
	of := func(change func(in *inputs)) key {
		in := inputs{Mixture, 1, 2, []float64{1, 2, 0, 3}, [][2]int{{2, 3}}, Gap{Start: 12, End: 13}, 0, rate, nil}
		change(&in)
		k := newKept(&Options{Draws: in.draws, Model: vssgp.Options{Seed: in.seed, Checkpoint: "fills"}}, in.m)
		return k.key([][]float64{in.z}, [][][2]int{in.gaps}, in.gap, in.channel, in.rate, in.others)
	}
	same := of(func(*inputs) {})
	if again := of(func(*inputs) {}); again != same {
		t.Errorf("one fill has two keys, %x and %x", same, again)
	}
	for name, change := range map[string]func(in *inputs){
		"method":       func(in *inputs) { in.m = AR },
		"draws":        func(in *inputs) { in.draws = 2 },
		"seed":         func(in *inputs) { in.seed = 1 },
		"a sample":     func(in *inputs) { in.z[3] = math.Nextafter(3, 4) },
		"the gaps":     func(in *inputs) { in.gaps = [][2]int{{1, 3}} },
		"a gap beside": func(in *inputs) { in.gaps = append([][2]int{{0, 1}}, in.gaps...) },
		"the place":    func(in *inputs) { in.gap.Start-- },
		"the channel":  func(in *inputs) { in.channel = 1 },
		"the rate":     func(in *inputs) { in.rate++ },
		"the others":   func(in *inputs) { in.others = []int{1} },
	} {
		if of(change) == same {
			t.Errorf("%s is not in the key", name)
		}
	}
}

// FuzzKept: no file of fills makes more than an error of the reader.
func FuzzKept(f *testing.F) {
	path := filepath.Join(f.TempDir(), "fills")
	o := Options{Model: vssgp.Options{Checkpoint: path}}
	if _, err := Fill(context.Background(), tones(1000, 1, 0.01), rate, []Gap{{Start: 500, End: 501}, {Start: 700, End: 710}}, o); err != nil {
		f.Fatal(err)
	}
	seed, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, file []byte) {
		if err := os.WriteFile(path, file, 0o666); err != nil {
			t.Fatal(err)
		}
		k := newKept(&o, Mixture)
		err := k.open(true)
		defer k.release()
		if err != nil {
			if !errors.Is(err, vssgp.ErrCheckpoint) {
				t.Errorf("error %v, want one that wraps ErrCheckpoint", err)
			}
			return
		}
		for key, at := range k.known {
			s, err := k.file.get(at)
			if err != nil {
				t.Fatalf("the fill %x: %v", key, err)
			}
			if _, found := k.find(key, len(s.mean), len(s.draws)); found == nil {
				t.Errorf("the fill %x cannot be found", key)
			}
		}
	})
}

// TestDoubts: noise cannot be filled and is said to be in doubt, tones are not, and a long gap is known at its ends only.
func TestDoubts(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	noise := make([]float64, 12_000)
	for i := range noise {
		noise[i] = rng.NormFloat64()
	}
	x := [][]float64{tones(12_000, 1, 0.001)[0], noise}
	gap, long := Gap{Start: 2000, End: 2080}, Gap{Start: 6000, End: 6000 + rate/2}
	r := mustFill(t, x, []Gap{gap, long}, Options{Draws: 1})
	if len(r.Doubts) != 3 {
		t.Fatalf("doubts %+v, want noise and the long gap of both channels", r.Doubts)
	}
	for i, want := range []Doubt{{gap, 1, "% of the level"}, {long, 0, "too long"}, {long, 1, "too long"}} {
		if d := r.Doubts[i]; d.Gap != want.Gap || d.Channel != want.Channel || !strings.Contains(d.Reason, want.Reason) {
			t.Errorf("doubt %d is %+v, want %+v", i, d, want)
		}
	}
	if e := gapError(r.Filled[:1], x[:1], []Gap{{Start: 6000, End: 6050}, {Start: long.End - 50, End: long.End}}); e > 0.03 {
		t.Errorf("at its ends a long gap in tones has error %v", e)
	}
	level := math.Sqrt(0.5*0.01 + 0.5*0.0025)
	for c, level := range []float64{level, 1} {
		if sd := r.SD[c][6000+rate/4]; c == 1 && (sd < 0.7*level || sd > 1.3*level) || !(sd > 0) {
			t.Errorf("channel %d: sd %v in the middle of a long gap in a sound of rms %v", c, sd, level)
		}
	}
	if s := mustFill(t, [][]float64{make([]float64, 3000)}, []Gap{{Start: 1000, End: 1100}}, Options{}); s.Doubts != nil || slices.Max(s.Filled[0]) != 0 {
		t.Errorf("silence: doubts %+v, filled with %v", s.Doubts, slices.Max(s.Filled[0]))
	}
}

// TestDense: where a fifth of the samples is missing the mixture leaves less than Janssen's fill, which solves for them together.
func TestDense(t *testing.T) {
	r, err := audio.Open("../testdata/speech.wav")
	if err != nil {
		t.Fatal(err)
	}
	x := r.Samples[0][8000:slow.Pick(14_000, 10_000)]
	var gaps []Gap
	for at := 100; at+40 <= len(x); at += 200 {
		gaps = append(gaps, Gap{Start: at, End: at + 40})
	}
	janssen, err := audio.FillAR(x, gaps, audio.DefaultAR(r.Rate))
	if err != nil {
		t.Fatal(err)
	}
	f, err := Fill(context.Background(), [][]float64{x}, r.Rate, gaps, Options{})
	if err != nil {
		t.Fatal(err)
	}
	mask := audio.Mask(gaps, len(x))
	if got, other := audio.RMSE(x, f.Filled[0], mask), audio.RMSE(x, janssen, mask); got > other {
		t.Errorf("RMSE %v, Janssen's %v", got, other)
	}
}
