package cpu

import (
	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/simd"
)

// prepared contains data in layout order and values that all passes need.
type prepared struct {
	data backend.Data
	*backend.Prepared
	inv    [2][]float64 // [N] inverse squares of the gates; empty if all are 1
	power  []float64    // [V] Σ_n g²
	chunks []chunk
}

// cut divides the n rows into chunks, and computes powers and inverse squares of gates.
func (d *prepared) cut(n int) {
	d.chunks = cut(d.chunks[:0], d.Runs, n)
	windows := d.data.Windows.Count()
	d.power = simd.Resize(d.power, windows)
	clear(d.power)
	if windows == 1 {
		d.power[0] = float64(n)
		return
	}
	for i := range d.inv {
		d.inv[i] = simd.Resize(d.inv[i], n)
	}
	for _, run := range d.Runs {
		for v := run.First; v < run.End; v++ {
			gate := d.Gate[v-run.First][run.Lo:run.Hi]
			for _, g := range gate {
				d.power[v] += g * g
			}
			simd.InverseSquares(d.inv[v-run.First][run.Lo:run.Hi], gate)
		}
	}
}
