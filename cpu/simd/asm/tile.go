package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tile writes the micro-kernels of both products. All of C's tile stays in
// registers while the sum runs; each row of it gets one number broadcast from
// the left, each panel of columns a row of vectors from the right.
func tile() {
	for _, s := range isas {
		for panels := 3; panels >= 1; panels-- {
			outer(s, panels)
		}
		for rows := lanes; rows >= 1; rows /= 2 {
			for panels := 3; panels >= 1; panels-- {
				inner(s, rows, panels)
			}
		}
	}
}

// outer writes C += α·LᵀR for a panel L and panels R, summed over their rows.
func outer(s isa, panels int) {
	name := fmt.Sprintf("outer%d%s", panels, s.name)
	TEXT(name, NOSPLIT, "func(c *float64, cRow, cPanel int, l, r *float64, rPanel, n int, alpha float64)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s adds α·Σ_n l[n][i]·r[p][n][j] to c[i][p][j], i < 8, p < %d.", name, panels))
	for _, b := range s.blocks(lanes, panels) {
		b.prefetch()
		acc := b.accumulators()
		l, r, rPanel := Load(Param("l"), GP64()), Load(Param("r"), GP64()), inBytes("rPanel")
		b.loop(func() {
			b.step(acc, rightRow(r, rPanel, 0), func(i int) Mem { return Mem{Base: l, Disp: 8 * i} })
			ADDQ(U32(row), l)
			ADDQ(U32(row), r)
		})
		b.store(acc)
	}
	VZEROUPPER()
	RET()
}

// inner writes C += α·L·R, summed over the columns of L: the left is read
// along the rows of a tile's panels (or of a matrix), eight columns at a time.
func inner(s isa, rows, panels int) {
	name := fmt.Sprintf("inner%dx%d%s", rows, panels, s.name)
	TEXT(name, NOSPLIT, "func(c *float64, cRow, cPanel int, l *float64, lRow, lPanel int, r *float64, rPanel, n int, alpha float64)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s adds α·Σ_qk l[q][i][k]·r[p][8q+k][j] to c[i][p][j], i < %d, p < %d, q < n, k < 8.", name, rows, panels))
	for _, b := range s.blocks(rows, panels) {
		b.prefetch()
		acc := b.accumulators()
		l, lRow, lPanel := Load(Param("l"), GP64()), inBytes("lRow"), inBytes("lPanel")
		r, rPanel := Load(Param("r"), GP64()), inBytes("rPanel")
		odd := multiples(lRow, b.end)
		if b.first != 0 { // rows 4 to 7
			LEAQ(Mem{Base: l, Index: lRow, Scale: 4}, l)
			odd = multiples(lRow, b.end-b.first)
		}
		b.loop(func() {
			for k := range lanes {
				b.step(acc, rightRow(r, rPanel, k), func(i int) Mem {
					return leftRow(l, lRow, odd, i-b.first, 8*k)
				})
			}
			ADDQ(lPanel, l)
			ADDQ(U32(row*lanes), r)
		})
		b.store(acc)
	}
	VZEROUPPER()
	RET()
}

// multiples makes 3, 5 and 7 times stride, as far as n rows need them.
func multiples(stride reg.Register, n int) map[int]reg.Register {
	odd := map[int]reg.Register{}
	for i := 3; i < n; i += 2 {
		r := GP64()
		if i == 7 {
			LEAQ(Mem{Base: odd[3], Index: stride, Scale: 4}, r)
		} else {
			LEAQ(Mem{Base: stride, Index: stride, Scale: uint8(i - 1)}, r)
		}
		odd[i] = r
	}
	return odd
}

// leftRow is the place disp bytes into row i of the left.
func leftRow(l, stride reg.Register, odd map[int]reg.Register, i, disp int) Mem {
	m := Mem{Base: l, Disp: disp}
	switch i {
	case 0:
	case 1, 2, 4:
		m.Index, m.Scale = stride, uint8(i)
	case 6:
		m.Index, m.Scale = odd[3], 2
	default:
		m.Index, m.Scale = odd[i], 1
	}
	return m
}

// rightRow gives the places of the right panels' row k.
func rightRow(r, stride reg.Register, k int) func(panel, at int) Mem {
	return func(panel, at int) Mem { return inPanel(Mem{Base: r, Disp: row*k + at}, stride, panel) }
}

// inPanel moves m on by some panels, two at most.
func inPanel(m Mem, stride reg.Register, panel int) Mem {
	if panel > 0 {
		m.Index, m.Scale = stride, uint8(panel)
	}
	return m
}

// A block is the part of a tile whose sums fit into the registers: all of it
// with AVX-512 (8 rows by 3 vectors: 24 sums, 3 vectors, 1 broadcast), 4 rows
// by 3 half rows of panels with AVX2 (12 sums, 3 vectors, 1 broadcast: all 16
// registers, and 7 loads to 12 multiply-adds, fewer than 8×4 or 24×2 have).
type block struct {
	isa
	name       string
	first, end int   // rows
	cols       []int // vectors, counted through the panels
}

func (s isa) blocks(rows, panels int) []block {
	var all []block
	high, wide := rows, panels*s.vectors()
	if s.width == 32 {
		high, wide = min(rows, 4), 2
		if panels == 3 {
			wide = 3
		}
	}
	for j := 0; j < panels*s.vectors(); j += wide {
		for i := 0; i < rows; i += high {
			b := block{isa: s, name: fmt.Sprintf("_%d_%d", i, j), first: i, end: i + high}
			for c := j; c < j+wide; c++ {
				b.cols = append(b.cols, c)
			}
			all = append(all, b)
		}
	}
	return all
}

// accumulators are a cleared vector for each row and column of the block.
func (b block) accumulators() [][]reg.VecVirtual {
	acc := make([][]reg.VecVirtual, b.end-b.first)
	for i := range acc {
		acc[i] = b.zeros(len(b.cols))
	}
	return acc
}

// loop repeats body n times.
func (b block) loop(body func()) {
	n := Load(Param("n"), GP64())
	TESTQ(n, n)
	JZ(LabelRef("done" + b.name))
	Label("loop" + b.name)
	body()
	DECQ(n)
	JNZ(LabelRef("loop" + b.name))
	Label("done" + b.name)
}

// step adds one product to every sum.
func (b block) step(acc [][]reg.VecVirtual, right func(panel, at int) Mem, left func(i int) Mem) {
	v := make([]reg.VecVirtual, len(b.cols))
	for j, c := range b.cols {
		v[j] = b.load(right(c/b.vectors(), c%b.vectors()*b.width))
	}
	for i := range acc {
		x := b.broadcast(left(b.first + i))
		for j := range v {
			VFMADD231PD(v[j], x, acc[i][j])
		}
	}
}

// walk visits the block's vectors of C row by row.
func (b block) walk(visit func(i, j int, m Mem)) {
	c, cRow, cPanel := Load(Param("c"), GP64()), inBytes("cRow"), inBytes("cPanel")
	if b.first == 4 {
		LEAQ(Mem{Base: c, Index: cRow, Scale: 4}, c)
	}
	for i := range b.end - b.first {
		for j, col := range b.cols {
			visit(i, j, inPanel(Mem{Base: c, Disp: col % b.vectors() * b.width}, cPanel, col/b.vectors()))
		}
		if i+1 < b.end-b.first {
			ADDQ(cRow, c)
		}
	}
}

// prefetch asks for C while the sum runs.
func (b block) prefetch() {
	b.walk(func(_, _ int, m Mem) {
		if m.Disp == 0 {
			PREFETCHT0(m)
		}
	})
}

// store adds α times the sums to C.
func (b block) store(acc [][]reg.VecVirtual) {
	alpha := b.broadcast(at("alpha"))
	b.walk(func(i, j int, m Mem) {
		VFMADD213PD(m, alpha, acc[i][j])
		VMOVUPD(acc[i][j], m)
	})
}
