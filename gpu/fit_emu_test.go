//go:build cudaemu

package gpu_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"path/filepath"
	"testing"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/cuda"
	"github.com/vssgp/vssgp/gpu"
)

// TestFitAllocationRefused: whichever allocation a card refuses, the fit ends
// and says so, and goes on from its checkpoint, or starts anew, to the same
// bits.
func TestFitAllocationRefused(t *testing.T) {
	data := &vssgp.Data{N: 60, Q: 1, D: 1}
	for i := range data.N {
		data.X, data.Y = append(data.X, float64(i)), append(data.Y, math.Sin(float64(i)/3)+0.1*math.Cos(7*float64(i*i)))
	}
	fit := func(o vssgp.Options, fail int) ([]byte, int, error) {
		b, err := gpu.Open(gpu.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		}()
		o.Backend, o.Init, o.Features, o.Iterations = b, vssgp.InitPaper, 5, 6
		cuda.FailEmulated("alloc", fail)
		defer cuda.FailEmulated("alloc", 0)
		m, r, err := vssgp.Fit(context.Background(), data, o)
		if err != nil {
			return nil, 0, err
		}
		var out bytes.Buffer
		if err := m.Write(&out); err != nil {
			t.Fatal(err)
		}
		return out.Bytes(), r.Resumed, nil
	}
	want, _, err := fit(vssgp.Options{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	resumed, refused := 0, 0
	for n := 1; n < 2000; n += 1 + n/8 {
		o := vssgp.Options{Checkpoint: vssgp.CheckpointOptions{Path: filepath.Join(t.TempDir(), "part"), Every: 1, Resume: true}}
		_, _, err := fit(o, n)
		if err == nil {
			break
		}
		if refused++; !errors.Is(err, cuda.ErrOutOfMemory) {
			t.Errorf("allocation %d: %v, want ErrOutOfMemory", n, err)
		}
		again, at, err := fit(o, 0)
		if err != nil || !bytes.Equal(again, want) {
			t.Errorf("allocation %d: gone on with to another model (%v)", n, err)
		}
		if at >= 0 {
			resumed++
		}
	}
	if refused < 5 || resumed == 0 {
		t.Errorf("%d allocations refused, %d fits gone on with; want more of both", refused, resumed)
	}
}
