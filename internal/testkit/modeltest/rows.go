package modeltest

import (
	"math"
	"math/rand/v2"

	"github.com/vssgp/vssgp/backend"
)

// Tones returns n rows with unit spacing, two tones in noise, of which a random fraction is
// missing.
func Tones(n int, missing float64) *backend.Data {
	rng := rand.New(rand.NewPCG(4, 4))
	d := &backend.Data{Q: 1, D: 1}
	for i := range n {
		if i > 1 && i < n-1 && rng.Float64() < missing {
			continue
		}
		x := float64(i)
		d.N++
		d.X = append(d.X, x)
		d.Y = append(d.Y, math.Sin(0.0131*x)+0.5*math.Sin(0.31*x+1)+0.1*rng.NormFloat64())
	}
	return d
}

// ChangingTones returns n rows with unit spacing: four tones with a little noise, whose
// frequencies change after the given number of rows.
func ChangingTones(n, every int) *backend.Data {
	rng := NewRNG(uint64(n + every))
	d := &backend.Data{N: n, Q: 1, D: 1, X: make([]float64, n), Y: make([]float64, n)}
	var freq, phase [4]float64
	for i := range n {
		if i%every == 0 {
			for j := range freq {
				freq[j] = 0.05 + 0.35*rng.Float64()
			}
		}
		d.X[i] = float64(i)
		for j := range phase {
			phase[j] += 2 * math.Pi * freq[j]
			d.Y[i] += math.Sin(phase[j])
		}
		d.Y[i] += 0.05 * rng.NormFloat64()
	}
	return d
}

// Walk returns a random walk of n steps, which a few spectral lines cannot represent.
func Walk(n int) *backend.Data {
	rng := NewRNG(6)
	d, y := &backend.Data{N: n, Q: 1, D: 1}, 0.0
	for i := range n {
		y += rng.NormFloat64()
		d.X, d.Y = append(d.X, float64(i)), append(d.Y, y)
	}
	return d
}
