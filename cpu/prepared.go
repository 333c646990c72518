package cpu

import (
	"github.com/vssgp/vssgp/cpu/simd"
	"github.com/vssgp/vssgp/spectral"
)

// prepared are the data in the order of their layout, with what all passes need.
type prepared struct {
	data spectral.Data
	*spectral.Prepared
	inv    [2][]float64 // [N] inverse squares of the gates; empty where all are 1
	power  []float64    // [V] Σ_n g²
	chunks []chunk
}

// cut cuts the n rows into chunks, and computes what all passes need of their gates.
func (p *prepared) cut(n int) {
	p.chunks = cut(p.chunks[:0], p.Runs, n)
	windows := p.data.Windows.Count()
	p.power = simd.Resize(p.power, windows)
	clear(p.power)
	if windows == 1 {
		p.power[0] = float64(n)
		return
	}
	for i := range p.inv {
		p.inv[i] = simd.Resize(p.inv[i], n)
	}
	for _, run := range p.Runs {
		for v := run.First; v < run.End; v++ {
			gate := p.Gate[v-run.First][run.Lo:run.Hi]
			for _, g := range gate {
				p.power[v] += g * g
			}
			simd.InverseSquares(p.inv[v-run.First][run.Lo:run.Hi], gate)
		}
	}
}
