package simd

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// bestOf reports operations a second of the quickest call and the share of all
// workers' peak: by this thread's processor time if it does all the work, else
// by the clock on the wall, which others on the machine slow down. prepare
// makes the input anew.
func bestOf(b *testing.B, workers int, flops float64, prepare, f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := time.Now()
	now := func() time.Duration { return time.Since(began) }
	if workers == 1 {
		now = clock
	}
	best, peak := time.Duration(1<<60), 0.0
	for b.Loop() {
		prepare()
		from := now()
		f()
		best = min(best, now()-from)
		for range 10 {
			from = clock()
			done := peakFlops(5000)
			peak = max(peak, done/(clock()-from).Seconds())
		}
	}
	rate := flops / best.Seconds()
	b.ReportMetric(best.Seconds()*1e3, "ms")
	b.ReportMetric(rate/1e9, "GFLOP/s")
	b.ReportMetric(100*rate/peak/float64(workers), "%peak")
}

// diagonally makes a positive definite matrix cheaply.
func diagonally(n int) []float64 {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	a := make([]float64, n*n)
	for i := range n {
		for j := range i {
			a[i*n+j] = r.Float64() - 0.5
			a[j*n+i] = a[i*n+j]
		}
		a[i*n+i] = float64(n)
	}
	return a
}

func BenchmarkCholesky(b *testing.B) {
	for _, n := range []int{40, 80, 800, 1024, 2000, 2048, 4096} {
		from := diagonally(n)
		a := make([]float64, n*n)
		flops := float64(n) * float64(n) * float64(n) / 3
		for workers := 1; workers <= 2; workers++ {
			d := NewDense(workers)
			b.Run(fmt.Sprintf("n=%d/workers=%d", n, workers), func(b *testing.B) {
				bestOf(b, workers, flops, func() { copy(a, from) }, func() { d.Cholesky(a, n, n) })
			})
			if n < 4096 {
				b.Run(fmt.Sprintf("n=%d/inverse/workers=%d", n, workers), func(b *testing.B) {
					bestOf(b, workers, 2*flops, func() { copy(a, from); d.Cholesky(a, n, n) }, func() { d.Inverse(a, n, n) })
				})
			}
		}
		if n < 2000 {
			b.Run(fmt.Sprintf("n=%d/gonum", n), func(b *testing.B) {
				bestOf(b, 1, flops, func() { copy(a, from) }, func() {
					lapack64.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: n, Data: a, Stride: n})
				})
			})
		}
	}
}
