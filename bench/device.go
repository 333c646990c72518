package main

import (
	"crypto/sha256"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/cuda"
	"github.com/vssgp/vssgp/gpu"
	"github.com/vssgp/vssgp/internal/simd"
	"github.com/vssgp/vssgp/kernels"
	"gonum.org/v1/gonum/floats"
)

// parseDevice parses cpu, cuda or cuda:n, where cuda means cuda:0. It rejects auto because a measurement must specify
// its device.
func parseDevice(s string) (kind string, ordinal int, err error) {
	kind, number, numbered := strings.Cut(s, ":")
	if kind != "cpu" && kind != "cuda" || numbered && kind == "cpu" {
		return "", 0, fmt.Errorf("-device %q: must be cpu, cuda or cuda:n", s)
	}
	if numbered {
		if ordinal, err = gpu.ParseOrdinal(number); err != nil {
			return "", 0, fmt.Errorf("-device %q: %w", s, err)
		}
	}
	return kind, ordinal, nil
}

// openDevice opens the CPU or a GPU.
func openDevice(kind string, o gpu.Options) (backend.Backend, error) {
	if kind == "cpu" {
		return cpu.New(), nil
	}
	return gpu.Open(o)
}

// withCard returns m with the name of a GPU and the hash of its kernels, if they can be determined.
func withCard(m machine.Machine, ordinal int) machine.Machine {
	list, _ := cuda.Devices() // if this fails, the line has no GPU
	for _, d := range list {
		if d.Ordinal != ordinal {
			continue
		}
		m.GPU = d.Name
		if ptx, err := kernels.PTX(d.Major, d.Minor); err == nil {
			m.PTX = fmt.Sprintf("%x", sha256.Sum256(ptx))
		}
	}
	return m
}

// peakTime is the duration of the measurement in cpuPeak.
const peakTime = 60 * time.Millisecond

// cpuPeak measures the peak rate of all cores in TFLOP/s, with the instruction set in use. All cores run until the same
// deadline, so that none is measured while another is idle. The best run of each core counts, because other processes
// can only slow it down.
func cpuPeak() float64 {
	best := make([]float64, runtime.GOMAXPROCS(0))
	deadline := time.Now().Add(peakTime)
	var wg sync.WaitGroup
	for i := range best {
		wg.Go(func() {
			for first := true; first || time.Now().Before(deadline); first = false {
				best[i] = max(best[i], simd.Peak())
			}
		})
	}
	wg.Wait()
	return floats.Sum(best) / 1e12
}
