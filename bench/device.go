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

// parseDevice reads cpu, cuda or cuda:n; cuda is card 0. It takes no auto: a measurement names its device.
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

// openDevice opens the CPU, or a card.
func openDevice(kind string, o gpu.Options) (backend.Backend, error) {
	if kind == "cpu" {
		return cpu.New(), nil
	}
	return gpu.Open(o)
}

// withCard adds the GPU with that number and its driver to a machine, if known.
func withCard(m machine.Machine, ordinal int) machine.Machine {
	list, _ := cuda.Devices() // where they cannot be listed, the line has no card
	for _, d := range list {
		if d.Ordinal != ordinal {
			continue
		}
		m.GPU = d.Name
		if image, err := kernels.Image(d.Major, d.Minor); err == nil {
			m.PTX = fmt.Sprintf("%x", sha256.Sum256(image))
		}
	}
	return m
}

// peakTime is how long cpuPeak keeps all cores busy.
const peakTime = 60 * time.Millisecond

// cpuPeak is the multiplications and additions of all cores in a second with the instruction set in use, in TFLOP/s. Each core goes on
// until all have had their time, so that none is measured while another rests. Its best run counts, because other work only slows it.
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
