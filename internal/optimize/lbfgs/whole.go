package lbfgs

import "github.com/vssgp/vssgp/internal/parallel"

// If the two-loop recursion over all coordinates takes one inner product after the other, it reads
// every pair from memory four times. If the inner products s_i·y_j of the pairs are known, the
// products of g with all s_i take one pass, and the recursion's coefficients are known before q is
// changed:
//
//	α_i = (s_i·g − Σ_{j>i} α_j s_i·y_j) / s_i·y_i          q = Γ(g − Σ_j α_j y_j)
//	δ_i = α_i − (y_i·q + Σ_{j<i} δ_j s_j·y_i) / s_i·y_i   H·g = q + Σ_i δ_i s_i
//
// Γ is the initial inverse curvature. There are two passes, over the s and over the y, and a third
// one for H·g.

// gram contains the inner products of pairs over all coordinates. It is kept for the next step.
type gram struct {
	id    []int
	curve [Memory][Memory]float64 // [i][j], i ≤ j: s_i·y_j
	yy    [Memory]float64         // y_i·y_i
}

// sums computes k sums over n numbers. add computes the partial sums of a chunk, and sums adds
// them in the order of the chunks.
func sums(n, k int, add func(lo, hi int, sums []float64)) []float64 {
	parts := make([]float64, (n+chunk-1)/chunk*k)
	parallel.Blocks(n, chunk, func(block, lo, hi int) { add(lo, hi, parts[block*k:][:k]) })
	total := parts[:k]
	for at := k; at < len(parts); at += k {
		for i, v := range parts[at : at+k] {
			total[i] += v
		}
	}
	return total
}

// update computes the inner products of new pairs and returns the products of g with all s_i, in
// one pass.
func (m *gram) update(p pairs, g []float64) []float64 {
	known, n := m.keep(p.ids), len(p.ids)
	fresh := n - known
	// The sums are, for each i, s_i·g and s_i·y_j for each new pair j, followed by y_j·y_j for
	// each new pair j.
	width := 1 + fresh
	all := sums(len(g), n*width+fresh, func(lo, hi int, sums []float64) {
		for i := range n {
			step := p.s[i][lo:hi]
			sums[i*width] = dotChunk(step, g[lo:hi])
			for j := max(i, known); j < n; j++ {
				sums[i*width+1+j-known] = dotChunk(step, p.y[j][lo:hi])
			}
		}
		for j := known; j < n; j++ {
			sums[n*width+j-known] = dotChunk(p.y[j][lo:hi], p.y[j][lo:hi])
		}
	})
	along := make([]float64, n)
	for i := range n {
		along[i] = all[i*width]
		copy(m.curve[i][known:n], all[i*width+1:][:fresh])
	}
	copy(m.yy[known:n], all[n*width:])
	return along
}

// keep moves the inner products of pairs that still exist to their new indexes. It returns their
// number; new pairs come after them.
func (m *gram) keep(ids []int) (known int) {
	was := *m
	var from [Memory]int
	at := 0
	for ; known < len(ids); known++ {
		for at < len(was.id) && was.id[at] < ids[known] {
			at++
		}
		if at == len(was.id) {
			break
		}
		from[known] = at
	}
	for i := range known {
		m.yy[i] = was.yy[from[i]]
		for j := i; j < known; j++ {
			m.curve[i][j] = was.curve[from[i]][from[j]]
		}
	}
	m.id = append([]int(nil), ids...)
	return known
}

// An ascent contains the terms of H·g = q + Σ_i step_i s_i.
type ascent struct {
	q    []float64
	step [Memory]float64 // δ_i, 0 for pairs without positive curvature
}

// ascent computes H·g except for the last pass and stores q in the given vector. With blocks, each
// block has a separate initial inverse curvature, which is stored in the vector each.
func (m *gram) ascent(q, g []float64, p pairs, blocks []Block, each []float64) ascent {
	n, along := len(p.ids), m.update(p, g)
	positive := func(i int) bool { return products{m.curve[i][i], m.yy[i]}.positive() }
	a := ascent{q: q}
	var alpha [Memory]float64
	last := -1
	for i := n - 1; i >= 0; i-- {
		if !positive(i) {
			continue
		}
		last = max(last, i)
		for j := i + 1; j < n; j++ {
			if alpha[j] != 0 {
				along[i] -= alpha[j] * m.curve[i][j]
			}
		}
		alpha[i] = along[i] / m.curve[i][i]
	}
	if last < 0 {
		copyAll(q, g)
		whole := Ranges{{0, len(q)}}
		whole.scale(q, firstStep/max(whole.largest(q), smallest))
		return a
	}
	scales := scales{all: m.curve[last][last] / m.yy[last]}
	if len(blocks) > 1 {
		scales.set(each, p.s[last], p.y[last], blocks)
	}
	turned := sums(len(q), n, func(lo, hi int, sums []float64) {
		part := q[lo:hi]
		copy(part, g[lo:hi])
		for j := range n {
			if alpha[j] != 0 {
				addDotChunk(part, -alpha[j], p.y[j][lo:hi], nil)
			}
		}
		scales.apply(part, lo)
		for i := range n {
			if positive(i) {
				sums[i] = dotChunk(p.y[i][lo:hi], part)
			}
		}
	})
	for i := range n {
		if !positive(i) {
			continue
		}
		for j := range i {
			if a.step[j] != 0 {
				turned[i] += a.step[j] * m.curve[j][i]
			}
		}
		a.step[i] = alpha[i] - turned[i]/m.curve[i][i]
	}
	return a
}

// add adds Σ_i step_i s_i to the ranges of q, which then contain H·g.
func (a *ascent) add(r Ranges, p pairs) {
	for _, x := range r {
		eachChunk(x.Hi-x.Lo, func(lo, hi int) {
			for i, step := range a.step[:len(p.s)] {
				if step != 0 {
					addDotChunk(a.q[x.Lo+lo:x.Lo+hi], step, p.s[i][x.Lo+lo:x.Lo+hi], nil)
				}
			}
		})
	}
}

// scales contains the initial inverse curvatures of all coordinates.
type scales struct {
	all  float64
	each []float64 // per coordinate; nil: all
}

// set computes each block's scale from a pair, within a factor scaleClamp of the common scale.
func (c *scales) set(each, step, y []float64, blocks []Block) {
	c.each = each
	eachOf(len(blocks), func(i int) {
		b, own := blocks[i], c.all
		if p := b.Own.products(step, y); p.curve > 0 {
			own = min(max(p.curve/p.square, c.all/scaleClamp), c.all*scaleClamp)
		}
		for _, x := range b.Own {
			for k := x.Lo; k < x.Hi; k++ {
				each[k] = own
			}
		}
	})
}

// apply scales the coordinates from lo on.
func (c *scales) apply(q []float64, lo int) {
	if c.each == nil {
		for i := range q {
			q[i] *= c.all
		}
		return
	}
	for i, scale := range c.each[lo : lo+len(q)] {
		q[i] *= scale
	}
}
