package rowspectrum

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/vssgp/vssgp/backend"
)

// BenchmarkPairs takes all sums of features such as bench's made problem has.
func BenchmarkPairs(b *testing.B) {
	const n, m = 16000, 400
	rng := rand.New(rand.NewPCG(1, 2))
	d := &backend.Data{N: n, Q: 1, D: 1, X: make([]float64, n), Y: make([]float64, n)}
	for i := range d.X {
		d.X[i], d.Y[i] = float64(i), rng.NormFloat64()
	}
	f := featuresOf(d, m, stretch{n / 4, n, 0}, rng)
	for k := range f.Decay {
		f.Decay[k] = max(f.Decay[k], 1./n/n)
		f.Freq[k] = 0.8 * math.Pi * rng.Float64()
	}
	r := &Rows{data: *d, force: true}
	if !r.pays(f) {
		b.Fatal("no tables")
	}
	for b.Loop() {
		if err := r.take(f); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(m*(m+1)/2), "ns/pair")
}
