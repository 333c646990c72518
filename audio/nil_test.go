package audio

import (
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/modeltest"
)

// TestNilArgumentsAreErrors calls the exported functions with nil, empty or invalid arguments. No call may panic, and each error must wrap its sentinel. A
// nil sentinel means that the call returns no error.
func TestNilArgumentsAreErrors(t *testing.T) {
	whole := wavOf(t, 8000, PCM16, [][]float64{{0, 0.5, 0.25}})
	rec := Recording{File: *whole}
	float := mustOpen(t, riff("fmt ", fmtBody(3, 1, 8000, 32), "data", "\x00\x00\x00\x00"))
	stereo := mustOpen(t, riff("fmt ", fmtBody(1, 2, 8000, 16), "data", strings.Repeat("abcd", 20)))
	both := func(v ...float64) [][]float64 { return [][]float64{v, v} }
	patch := func(changes ...Change) func() error {
		return func() error { _, _, err := stereo.Patch(changes); return err }
	}
	var noFile *File
	var noPatch *Patch
	isNaN := func(v float64) {
		if !math.IsNaN(v) {
			t.Errorf("score %v of nothing, want NaN", v)
		}
	}
	modeltest.CheckCalls(t, []modeltest.Call{
		{"Open nothing", func() error { return testkit.Error(Open("")) }, fs.ErrNotExist},
		{"Open a folder", func() error { return testkit.Error(Open(t.TempDir())) }, ErrFormat},
		{"Open no file", func() error { return testkit.Error(Open(filepath.Join(t.TempDir(), "a.wav"))) }, fs.ErrNotExist},
		{"Decode junk", func() error { return testkit.Error(Decode([]byte("no audio, whatever its name"))) }, ErrFormat},
		{"Decode nil", func() error { return testkit.Error(Decode(nil)) }, ErrFormat},
		{"NewFile nil", func() error { return testkit.Error(NewFile(nil, 100)) }, ErrArgument},
		{"NewFile of no size", func() error { return testkit.Error(NewFile(whole.src, 0)) }, ErrFormat},
		{"NewFile of less than no size", func() error { return testkit.Error(NewFile(whole.src, -5)) }, ErrFormat},
		{"NewWriter of nothing", func() error { return testkit.Error(NewWriter(io.Discard, 8000, PCM16, 0, 0)) }, ErrArgument},
		{"NewWriter without a rate", func() error { return testkit.Error(NewWriter(io.Discard, 0, PCM16, 1, 1)) }, ErrArgument},
		{"NewWriter of no encoding", func() error { return testkit.Error(NewWriter(io.Discard, 8000, Encoding{}, 1, 1)) }, ErrArgument},
		{"ContainerOf", func() error { return testkit.Error(ContainerOf("")) }, ErrFormat},
		{"Recording's properties", modeltest.Does(func() {
			for _, r := range []*Recording{{}, {Rate: 8000, Samples: [][]float64{{1}}}} {
				_, _, _, _ = r.Channels(), r.Len(), r.Container(), r.Encoding()
			}
		}), nil},
		{"Recording.Write to nil", func() error { return rec.Write(nil, WAV) }, ErrArgument},
		{"Recording.Write of no container", func() error { return rec.Write(io.Discard, 0) }, ErrFormat},
		{"File's properties", modeltest.Does(func() {
			f := &File{}
			_, _, _, _, _ = f.Rate(), f.Channels(), f.Len(), f.Container(), f.Encoding()
		}), nil},
		{"File.Read of nil", func() error { return testkit.Error(noFile.Read(0, 0)) }, ErrArgument},
		{"File.Read of nothing", func() error { return testkit.Error((&File{}).Read(0, 0)) }, ErrArgument},
		{"File.Read past the end", func() error { return testkit.Error(whole.Read(0, 9)) }, ErrArgument},
		{"File.Read before the beginning", func() error { return testkit.Error(whole.Read(-1, 2)) }, ErrArgument},
		{"File.Read backwards", func() error { return testkit.Error(whole.Read(2, 1)) }, ErrArgument},
		{"CheckWrite of nil", func() error { return noFile.CheckWrite(WAV) }, ErrArgument},
		{"CheckWrite of another container", func() error { return whole.CheckWrite(9) }, ErrFormat},
		{"CheckWrite of floats", func() error { return float.CheckWrite(SPHERE) }, ErrFormat},
		{"CheckWrite of floats as WAV", func() error { return float.CheckWrite(WAV) }, nil},
		{"File.Patch of nil", func() error { _, _, err := noFile.Patch(nil); return err }, ErrArgument},
		{"File.Patch of nothing", func() error { _, _, err := (&File{}).Patch([]Change{{}}); return err }, ErrArgument},
		{"File.Patch with nil", func() error { _, _, err := whole.Patch([]Change{{}}); return err }, ErrArgument},
		{"File.Patch with ragged channels", patch(Change{0, [][]float64{{1}, {1, 2}}}), ErrArgument},
		{"File.Patch of one channel of two", patch(Change{0, [][]float64{{1}}}), ErrArgument},
		{"File.Patch with NaN", patch(Change{5, both(0, math.NaN())}), ErrArgument},
		{"File.Patch before the beginning", patch(Change{-1, both(0)}), ErrGaps},
		{"File.Patch past the end", patch(Change{19, both(0, 0)}), ErrGaps},
		{"File.Patch of samples twice", patch(Change{5, both(0, 0)}, Change{4, both(0, 0)}), ErrGaps},
		{"File.Patch of a channel's samples twice", patch(Change{5, both(0, 0)}, Change{4, [][]float64{nil, {0, 0}}}), ErrGaps},
		{"Patch.Write of nil", func() error { return noPatch.Write(io.Discard, WAV) }, ErrArgument},
		{"Patch.Write of nothing", func() error { return (&Patch{}).Write(io.Discard, WAV) }, ErrArgument},
		{"ParseGap without a rate", func() error { return testkit.Error(ParseGap("1:2", 0)) }, ErrArgument},
		{"CheckGaps of nothing", func() error { return testkit.Error(CheckGaps([]Gap{{}}, 0, 1)) }, ErrGaps},
		{"WriteLabelsCSV nil", func() error { return WriteLabelsCSV(nil, nil) }, ErrArgument},
		{"ReadGaps nil", func() error { return testkit.Error(ReadGaps(nil, 8000)) }, ErrArgument},
		{"simple fills", modeltest.Does(func() {
			FillLinear(nil, nil)
			for _, g := range []Gap{{Start: 0, End: 1}, {Start: -3, End: -1}, {Start: -2, End: 2}, {Start: 5, End: 9}, {Start: 0, End: 0}} {
				FillLinear(nil, []Gap{g})
				FillLinear([]float64{1, 2, 3}, []Gap{g})
			}
			Mask(nil, -1)
			Missing(nil)
		}), nil},
		{"scores", modeltest.Does(func() {
			for _, est := range [][]float64{nil, {1}} {
				isNaN(RMSE(est, nil, nil))
				isNaN(SNR(est, nil, nil))
				isNaN(STFTRMSE(est, nil, nil, 0))
			}
			for _, r := range []*Residual{{}, NewResidual(0, 0)} {
				r.Add(0, nil, nil, nil)
				isNaN(r.RMSE())
				isNaN(r.STFTRMSE())
			}
		}), nil},
		{"names", modeltest.Does(func() { _, _, _ = Encoding{}.String(), Container(0).String(), Gap{}.String() }), nil},
	})
}
