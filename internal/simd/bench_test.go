package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"
)

// eachSet runs f once for each set that the processor has.
func eachSet[T interface {
	testing.TB
	Run(string, func(T)) bool
}](t T, f func(t T)) {
	was := use
	defer func() { use = was }()
	for _, s := range Sets() {
		t.Run(s.String(), func(t T) {
			if err := Use(s.String()); err != nil {
				t.Fatal(err)
			}
			f(t)
		})
	}
}

// random fills panels with numbers in [−1, 1).
func random(r *rand.Rand, count, n int) Panels {
	p := NewPanels(count, n)
	for i := range p.Data {
		p.Data[i] = 2*r.Float64() - 1
	}
	return p
}

// measure calls f and returns the shortest time of a call, since other work on
// the machine can only add, and the peak in operations a second, taken in
// turns with f because the processor's frequency follows what runs. Calls are
// timed in batches of some 50 µs: to ask the clock takes a good part of one.
func measure(b *testing.B, f func()) (seconds, peak float64) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	batch := 1
	seconds = math.Inf(1)
	for b.Loop() {
		from := clock()
		for range batch {
			f()
		}
		took := clock() - from
		seconds = min(seconds, took.Seconds()/float64(batch))
		if took < 50*time.Microsecond {
			batch *= 2
		}
		from = clock()
		flops := peakFlops(5000)
		peak = max(peak, flops/(clock()-from).Seconds())
	}
	return seconds, peak
}

// rate says how fast calls of f are in operations, and how close to the peak.
func rate(b *testing.B, flops float64, f func()) {
	seconds, peak := measure(b, f)
	b.ReportMetric(flops/seconds/1e9, "GFLOP/s")
	b.ReportMetric(100*flops/seconds/peak, "%peak")
}

func BenchmarkGram(b *testing.B) {
	for _, size := range [][2]int{{10, 128}, {10, 256}, {100, 128}, {100, 256}} {
		count, n := size[0], size[1]
		b.Run(fmt.Sprintf("M=%d,n=%d", count*Lanes, n), func(b *testing.B) {
			eachSet(b, func(b *testing.B) {
				a := random(rand.New(rand.NewPCG(1, 2)), count, n)
				c := make([]float64, a.Count*a.Count*Lanes*Lanes)
				m := float64(count * Lanes)
				rate(b, m*(m+1)*float64(n), func() { Gram(c, count*Lanes, a, 0, count) })
			})
		})
	}
}

func BenchmarkProduct(b *testing.B) {
	for _, size := range [][2]int{{10, 256}, {100, 128}, {100, 256}} {
		count, n := size[0], size[1]
		b.Run(fmt.Sprintf("M=%d,n=%d", count*Lanes, n), func(b *testing.B) {
			eachSet(b, func(b *testing.B) {
				r := rand.New(rand.NewPCG(1, 2))
				a, g, s := random(r, count, n), random(r, count, count*Lanes), NewPanels(count, n)
				m := float64(count * Lanes)
				rate(b, 2*m*m*float64(n), func() { Product(s, a, g, 0, count) })
			})
		})
	}
}

// perFeature reports the time for each of n features, and how many vectors of
// eight the core could have multiplied and added in the time for eight.
func perFeature(b *testing.B, n int, f func()) {
	seconds, peak := measure(b, f)
	b.ReportMetric(seconds*1e9/float64(n), "ns/feature")
	b.ReportMetric(seconds/float64(n)*peak/2, "fma/row")
}

// bank makes random features over inputs in [0, n).
func randomBank(r *rand.Rand, count, q, n int) Bank {
	b := newBank(count, q)
	for k := range count * Lanes {
		z, p, w := make([]float64, q), make([]float64, q), make([]float64, q)
		for i := range q {
			z[i], p[i], w[i] = float64(n)*r.Float64(), 4/float64(n)/float64(n)*r.Float64(), 3*r.Float64()
		}
		b.Set(k, z, p, w, 6*r.Float64())
	}
	return b
}

// inputs are rows of q numbers in [0, n), and gates of 1.
func inputs(r *rand.Rand, n, q int) (x, gate []float64) {
	x, gate = make([]float64, n*q), make([]float64, n)
	for i := range x {
		x[i] = float64(n) * r.Float64()
	}
	for i := range gate {
		gate[i] = 1
	}
	return x, gate
}

func BenchmarkFeatures(b *testing.B) {
	for _, q := range []int{1, 3} {
		b.Run(fmt.Sprintf("Q=%d", q), func(b *testing.B) {
			eachSet(b, func(b *testing.B) {
				const n = 128
				r := rand.New(rand.NewPCG(1, 2))
				bank := randomBank(r, 1, q, n)
				x, gate := inputs(r, n, q)
				cos, sin := NewPanels(1, n), NewPanels(1, n)
				perFeature(b, n*Lanes, func() { (&Tile{Cos: cos, Sin: sin, Bank: bank, X: x, Gate: gate}).Features() })
			})
		})
	}
}

func BenchmarkContract(b *testing.B) {
	for _, q := range []int{1, 3} {
		b.Run(fmt.Sprintf("Q=%d", q), func(b *testing.B) {
			eachSet(b, func(b *testing.B) {
				const n = 128
				r := rand.New(rand.NewPCG(1, 2))
				bank := randomBank(r, 1, q, n)
				x, gate := inputs(r, n, q)
				cos, sin, bar, scratch := NewPanels(1, n), NewPanels(1, n), NewPanels(1, n), Aligned(n*Lanes)
				(&Tile{Cos: cos, Sin: sin, Bank: bank, X: x, Gate: gate}).Features()
				sums := make([]float64, SumRows(q)*Lanes)
				lanes := []Lane{{Amp: [Lanes]float64{1, 2, 3}}}
				perFeature(b, n*Lanes, func() { (&Tile{Cos: cos, Sin: sin, Bank: bank, X: x, Inv: gate}).Contract(sums, bar, scratch, lanes) })
			})
		})
	}
}

// BenchmarkFactorized is value and gradient together: features, fit, residuals
// and contraction, tile by tile.
func BenchmarkFactorized(b *testing.B) {
	for _, m := range []int{80, 800, 2000} {
		for _, n := range []int{16, 32, 64, 128} {
			b.Run(fmt.Sprintf("M=%d,n=%d", m, n), func(b *testing.B) {
				eachSet(b, func(b *testing.B) {
					r := rand.New(rand.NewPCG(1, 2))
					count := m / Lanes
					bank := randomBank(r, count, 1, n)
					x, _ := inputs(r, n, 1)
					cos, sin := NewPanels(count, n), NewPanels(count, n)
					acc, res := Aligned(n*Lanes), make([]float64, n)
					sums := make([]float64, FactorizedRows*Lanes*count)
					lanes, w := make([]Lane, count), make([]float64, m)
					perFeature(b, n*m, func() {
						clear(acc)
						(&Tile{Cos: cos, Sin: sin, Bank: bank, X: x, Acc: acc, W: w}).Features()
						SumLanes(res, acc)
						(&Tile{Cos: cos, Sin: sin, Bank: bank, X: x}).Factorized(sums, res, lanes)
					})
				})
			})
		}
	}
}
