//go:build cudaemu

package main

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/cuda"
	"github.com/vssgp/vssgp/internal/testkit"
)

// TestMMA runs the command with kernels in Go that take a millisecond.
func TestMMA(t *testing.T) {
	launches := 0
	for _, k := range []string{"k4_w1", "k4_w2", "k4_w4", "k8_w1", "k8_w2", "k8_w4", "k16_w1", "k16_w2"} {
		for _, operands := range []string{"", "_shared"} {
			cuda.RegisterEmulated(90, fmt.Sprintf("mma_%s%s", k, operands), func(cuda.Geometry, []uint64) error {
				launches++
				time.Sleep(time.Millisecond)
				return nil
			})
		}
	}
	dir := t.TempDir()
	image, out := testkit.Put(t, dir, "image", "any"), filepath.Join(dir, "lines.jsonl")
	testkit.OK(t, bench("mma", "-image", image, "-device", "cuda:1", "-out", out))
	lines := testkit.Must(jsonl.Read[mmaLine](out, nil))(t)
	testkit.Equal(t, len(lines), 16, "lines")
	testkit.Equal(t, launches, 3*16, "launches")
	for _, l := range lines {
		if l.Seconds < 1e-3 || !(l.TFLOPS > 0) || l.Machine.GPU == "" {
			t.Errorf("%+v", l)
		}
	}
	if bench("mma", "-image", image, "-device", "cuda:0") == nil {
		t.Error("no error from a device without the kernels")
	}
}
