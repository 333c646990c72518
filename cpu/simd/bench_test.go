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

// measure calls f and returns the shortest call's time, since other work on the
// machine can only add.
func measure(b *testing.B, f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	best := time.Duration(math.MaxInt64)
	for b.Loop() {
		from := clock()
		f()
		best = min(best, clock()-from)
	}
	return best
}

// rate says how fast calls of f are in operations, and how close to the peak.
func rate(b *testing.B, flops float64, f func()) {
	best := measure(b, f)
	rate := flops / best.Seconds()
	b.ReportMetric(rate/1e9, "GFLOP/s")
	b.ReportMetric(100*rate/Peak(), "%peak")
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
