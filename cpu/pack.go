package cpu

import (
	"sync"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/internal/simd"
)

// packs contains the part of a symmetric matrix for each run in the format of simd.Product. The first
// chunk of a run creates it, the last one frees it:
//
//	B_jk = 2·A1_j·G_jk for j ≠ k, 0 on the diagonal and in empty lanes
//
// so that cos·B is 2·Σ_{j≠k} φ̄_j·G_jk.
type packs struct {
	b     *featureParams
	g     *backend.Gram
	inner int // goroutines to pack with
	runs  []pack
	mu    sync.Mutex
	free  [][]float64
}

type pack struct {
	mu   sync.Mutex
	made bool
	left int // remaining chunks
	b    simd.Panels
}

// reset prepares for the features and matrix of a new call.
func (p *packs) reset(d *prepared, b *featureParams, g *backend.Gram) {
	p.b, p.g, p.inner = b, g, 1
	if len(d.Runs) == 1 {
		p.inner = workers()
	}
	if len(p.runs) != len(d.Runs) {
		p.runs = make([]pack, len(d.Runs))
	}
	for i := range p.runs {
		p.runs[i].made, p.runs[i].left = false, 0
	}
	for _, c := range d.chunks {
		p.runs[c.run].left++
	}
}

// get returns the matrix for run i.
func (p *packs) get(i int, r backend.Run) simd.Panels {
	k := &p.runs[i]
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.made {
		return k.b
	}
	lo, hi := p.b.over(r)
	n := (hi - lo) * simd.Lanes
	k.b = simd.Panels{Data: p.room(n * n), N: n, Stride: n, Count: hi - lo}
	if p.inner == 1 {
		for panel := range k.b.Count {
			p.fill(k.b.Panel(panel), r, lo+panel)
		}
	} else {
		p.share(k.b, r, lo)
	}
	k.made = true
	return k.b
}

// share fills all panels, of which lo is the first, in parallel.
func (p *packs) share(to simd.Panels, r backend.Run, lo int) {
	parallel.For(to.Count, p.inner, func(panel int) { p.fill(to.Panel(panel), r, lo+panel) })
}

// done must be called after each chunk of run i. After the last chunk, it releases the matrix.
func (p *packs) done(i int) {
	k := &p.runs[i]
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.left--; k.left > 0 {
		return
	}
	if len(p.runs) > 1 {
		p.mu.Lock()
		p.free = append(p.free, k.b.Data)
		p.mu.Unlock()
	}
	k.b = simd.Panels{}
}

// room returns a buffer of n numbers, which is the matrix's scratch memory if there is one run.
func (p *packs) room(n int) []float64 {
	if len(p.runs) == 1 && n > 0 {
		return simd.Align(p.g.Scratch(simd.Room(n)), n)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.free) - 1
	if last < 0 {
		return simd.Aligned(n)
	}
	a := p.free[last]
	p.free = p.free[:last]
	return simd.Resize(a, n)
}

// fill writes the eight columns of a panel for the features of a run. panel is an index over all
// windows.
func (p *packs) fill(to []float64, r backend.Run, panel int) {
	clear(to)
	b, v := p.b, r.First
	for panel >= b.first[v+1] {
		v++
	}
	at := (panel - b.first[v]) * simd.Lanes // first column within the window's block
	n := min(simd.Lanes, p.g.Size(v)-at)
	for u := r.First; u < r.End; u++ {
		rows := to[(b.first[u]-b.first[r.First])*simd.Lanes*simd.Lanes:]
		amp := b.f.Amp[b.offset[u]:b.offset[u+1]]
		switch {
		case len(amp) == 0: // the window has no features
		case u < v: // G_uv is Below[u] transposed
			for k := range n {
				for j, g := range p.g.Below[u][(at+k)*len(amp):][:len(amp)] {
					rows[j*simd.Lanes+k] = 2 * amp[j] * g
				}
			}
			continue
		case u == v:
			scale(rows, p.g.Diag[v][at:], p.g.Size(v), n, amp)
			for k := range n {
				rows[(at+k)*simd.Lanes+k] = 0
			}
		default:
			scale(rows, p.g.Below[v][at:], p.g.Size(v), n, amp)
		}
	}
}

// scale copies n columns of g, whose row stride is ld, times 2·amp.
func scale(to, g []float64, ld, n int, amp []float64) {
	for j, a := range amp {
		row := to[j*simd.Lanes:][:n]
		for k, v := range g[j*ld:][:n] {
			row[k] = 2 * a * v
		}
	}
}

// diagonal returns the address of entry (k, k) of g.
func diagonal(g *backend.Gram, b *featureParams, k int) *float64 {
	v := b.window(k)
	return &g.Diag[v][(k-g.Offset[v])*(g.Size(v)+1)]
}
