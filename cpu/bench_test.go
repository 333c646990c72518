package cpu_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/testkit/cputime"
)

// BenchmarkPasses times a pass over the rows, as `bench speed` has them: a
// core's nanoseconds for each pair of a row and a feature over it, and the
// GFLOP/s of a core in all, counting the products alone where there are any.
func BenchmarkPasses(b *testing.B) {
	for _, c := range []struct {
		name   string
		n, m   int
		window float64
	}{
		{"dense", 8000, 800, 0},
		{"ragged", 8000, 801, 0},
		{"windows", 40000, 40, 512},
		{"wide", 5000, 2000, 0},
	} {
		over := float64(c.m) // features over a row
		if c.window > 0 {
			over *= 2
		}
		pairs := float64(c.n) * over
		p := newPasses(b, c.n, c.m, c.window)
		for i, name := range []string{"moments", "pullback", "factorised", "third", "predict"} { // a third of the rows
			flops := []float64{over, 2 * over, 0, 0, 2 * over}[i] // of the products, for each pair
			b.Run(c.name+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				from := cputime.Now()
				for b.Loop() {
					if err := p.calls[i](); err != nil {
						b.Fatal(err)
					}
				}
				t := (cputime.Now() - from).Seconds() / float64(b.N)
				b.ReportMetric(t/pairs*1e9, "core-ns/pair")
				if flops > 0 {
					b.ReportMetric(flops*pairs/t/1e9, "GFLOP/s/core")
				}
			})
		}
	}
}

// made are rows of noise and features that are somewhat sure, m in every
// window.
func made(n, m int, window float64) (backend.Data, *backend.Features) {
	rng := rand.New(rand.NewPCG(1, 2))
	d := backend.Data{N: n, Q: 1, D: 1, X: make([]float64, n), Y: make([]float64, n)}
	for i := range n {
		d.X[i], d.Y[i] = float64(i), rng.NormFloat64()
	}
	var windows []int
	if window > 0 {
		d.Windows.Length = window
		for at := 0.0; at < float64(n); at += window / 2 {
			d.Windows.Center = append(d.Windows.Center, at)
		}
		for v := range d.Windows.Center {
			for range m {
				windows = append(windows, v)
			}
		}
		m = len(windows)
	}
	f := backend.NewFeatures(m, 1)
	f.Window, f.Windows = windows, d.Windows
	for k := range m {
		f.Center[k] = float64(n) * rng.Float64()
		if window > 0 {
			f.Center[k] = d.Windows.Center[windows[k]]
		}
		f.Decay[k], f.Freq[k], f.Phase[k] = 1e-4*rng.Float64(), rng.Float64(), 2*math.Pi*rng.Float64()
		f.Amp[k], f.Power[k], f.Ripple[k] = 1.2, 1, 0.8
	}
	return d, f
}
