// Package mma measures the rate of a GPU's float64 tensor cores by the kernels of mma.cu, which need
// compute capability 9.0.
package mma

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/vssgp/vssgp/cuda"
)

// A Result is the rate of a kernel.
type Result struct {
	Terms    int     `json:"terms"`    // of the sum in an instruction
	Warps    int     `json:"warps"`    // on each partition of a multiprocessor
	Operands string  `json:"operands"` // registers or shared
	Seconds  float64 `json:"seconds"`
	TFLOPS   float64 `json:"tflops"`
}

// kernel returns the name of the kernel.
func (r Result) kernel() string {
	name := fmt.Sprintf("mma_k%d_w%d", r.Terms, r.Warps)
	if r.Operands == "shared" {
		name += "_shared"
	}
	return name
}

// variants lists the kernels.
func variants() (all []Result) {
	for _, operands := range []string{"registers", "shared"} {
		for _, terms := range []int{4, 8, 16} {
			for _, warps := range []int{1, 2, 4} {
				if terms*warps < 64 { // more do not fit into registers
					all = append(all, Result{Terms: terms, Warps: warps, Operands: operands})
				}
			}
		}
	}
	return all
}

// flops is the number of operations of a multiprocessor in a launch, for some milliseconds.
const flops = 1 << 31

// Run measures all kernels of an image, compiled from mma.cu, on a GPU. It takes about a second.
func Run(image []byte, ordinal int) (all []Result, err error) {
	c, err := cuda.Open(ordinal, 1<<20)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, c.Close()) }()
	m, err := c.Load(image)
	if err != nil {
		return nil, err
	}
	var took time.Duration
	s, err := c.NewStream(func(_ string, d time.Duration) { took = d })
	if err != nil {
		return nil, err
	}
	out, err := c.Alloc(int64(8 * 512 * c.Device().SMs))
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	defer func() { err = errors.Join(err, out.Free(), s.Close()) }()
	for _, r := range variants() {
		f, err := m.Function(r.kernel())
		if err != nil {
			return nil, err
		}
		columns := 64
		if r.Warps == 4 {
			columns = 32
		}
		rounds := flops / (2 * 4 * r.Warps * 32 * columns * r.Terms)
		g := cuda.Geometry{Grid: [3]int{c.Device().SMs, 1, 1}, Block: [3]int{128 * r.Warps, 1, 1}}
		for range 3 { // the last one counts: the clock rises during the first
			if err := f.Launch(g, s, []uint64{out.Address(), uint64(rounds)}); err != nil {
				return nil, err
			}
			if err := s.Synchronize(); err != nil {
				return nil, err
			}
		}
		r.Seconds = took.Seconds()
		r.TFLOPS = float64(flops) * float64(c.Device().SMs) / r.Seconds / 1e12
		all = append(all, r)
	}
	return all, nil
}
