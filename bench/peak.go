package main

import (
	"runtime"
	"sync"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/cpu/simd"
)

// peakTime is how long all cores are kept busy to measure their peak.
const peakTime = 60 * time.Millisecond

// cpuPeak is what all cores together multiply and add in a second with the instruction set in use, in TFLOP/s. Each core goes on until all
// have had their time, so that none is measured while another rests; its best run counts, for what else the machine does only takes away.
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
