package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tileKernels are the micro-kernels of both products. The whole tile of C remains in registers
// during the sum. Each row of it uses one number broadcast from the left, each panel of columns a
// row of vectors from the right.
var tileKernels = []kernel{
	{
		name: "outer", doc: "adds α·Σ_n l[n][i]·r[p][n][j] to c[i][p][j] for all i, p and j.", body: product,
		params: "c *float64; cRow, cPanel int; l, r *float64; rPanel, n, panels int; alpha float64", variants: tiles(lanes),
	},
	{
		name: "inner", doc: "adds α·Σ_qk l[q][i][k]·r[p][8q+k][j] to c[i][p][j] for all i, p and j, q < n, k < 8.", body: product,
		params:   "c *float64; cRow, cPanel int; l *float64; lRow, lPanel int; r *float64; rPanel, rows, panels, n int; alpha float64",
		variants: tiles(8, 4, 2, 1),
	},
}

// tiles returns the variants with the given numbers of rows and one to three panels.
func tiles(rows ...int) (all []variant) {
	for _, r := range rows {
		for panels := 3; panels > 0; panels-- {
			when := fmt.Sprintf("panels == %d", panels)
			if len(rows) > 1 {
				when = fmt.Sprintf("rows == %d && ", r) + when
			}
			all = append(all, variant{when: when, suffix: fmt.Sprintf("%dx%d", r, panels), without: "rows panels", rows: r, panels: panels})
		}
	}
	return all
}

// product writes C += α·LᵀR for a panel L and panels R, summed over their rows, or C += α·L·R,
// summed over the columns of L. In the second case the left is read along the rows of a tile's
// panels (or of a matrix), eight columns at a time.
func product(p *pass) {
	for _, b := range p.blocks() {
		b.walk(func(_, _ int, m Mem) {
			if m.Disp == 0 {
				PREFETCHT0(m)
			}
		})
		acc := make([][]reg.VecVirtual, b.end-b.first)
		for i := range acc {
			acc[i] = p.zeros(len(b.cols))
		}
		l, columns, next := Load(Param("l"), GP64()), 1, Op(U32(row))
		var lRow reg.Register
		if p.has("lRow") {
			lRow, columns, next = inBytes("lRow"), lanes, inBytes("lPanel")
		}
		r, rPanel := Load(Param("r"), GP64()), inBytes("rPanel")
		left := func(i, _ int) Mem { return Mem{Base: l, Disp: 8 * i} }
		if lRow != nil {
			if b.first != 0 { // rows 4 to 7
				LEAQ(Mem{Base: l, Index: lRow, Scale: 4}, l)
			}
			odd := multiples(lRow, b.end-b.first)
			left = func(i, column int) Mem { return leftRow(l, lRow, odd, i-b.first, 8*column) }
		}
		repeat(b.name, Load(Param("n"), GP64()), func() {
			for column := range columns {
				b.step(acc, Mem{Base: r, Disp: row * column}, rPanel, func(i int) Mem { return left(i, column) })
			}
			ADDQ(next, l)
			ADDQ(U32(row*columns), r)
		})
		alpha := p.broadcast(at("alpha"))
		b.walk(func(i, j int, m Mem) {
			VFMADD213PD(m, alpha, acc[i][j])
			VMOVUPD(acc[i][j], m)
		})
	}
}

// repeat writes body n times in a loop, which decrements n.
func repeat(name string, n reg.Register, body func()) {
	TESTQ(n, n)
	JZ(LabelRef("done" + name))
	Label("loop" + name)
	body()
	DECQ(n)
	JNZ(LabelRef("loop" + name))
	Label("done" + name)
}

var peakKernels = []kernel{{name: "peak", variants: always, doc: "does n times 12 multiply-adds of vectors.", params: "n int", body: peak}}

// chains is the number of independent multiply-add chains in peak. It exceeds latency times
// throughput of current processors.
const chains = 12

// peak only multiplies and adds in registers.
func peak(p *pass) {
	n := Load(Param("n"), GP64())
	acc := p.zeros(chains)
	x := p.zeros(1)[0]
	repeat("", n, func() {
		for _, a := range acc {
			VFMADD231PD(x, x, a)
		}
	})
}

// multiples computes 3, 5 and 7 times stride, as needed for n rows.
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

// leftRow returns the address disp bytes into row i of the left.
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

// inPanel advances m by up to two panels.
func inPanel(m Mem, stride reg.Register, panel int) Mem {
	if panel > 0 {
		m.Index, m.Scale = stride, uint8(panel)
	}
	return m
}

// A block is the part of a tile whose sums fit into the registers: the whole tile with AVX-512 (8
// rows by 3 vectors: 24 sums, 3 vectors, 1 broadcast), 4 rows by 3 half panel rows with AVX2 (12
// sums, 3 vectors, 1 broadcast: all 16 registers, and 7 loads for 12 multiply-adds, fewer than with
// 8×4 or 24×2).
type block struct {
	isa
	name       string
	first, end int   // rows
	cols       []int // vectors, counted through the panels
}

func (p *pass) blocks() (all []block) {
	high, wide := p.rows, p.panels*p.vectors()
	if p.width == 32 {
		high, wide = min(p.rows, 4), 2+p.panels/3
	}
	for j := 0; j < p.panels*p.vectors(); j += wide {
		for i := 0; i < p.rows; i += high {
			b := block{isa: p.isa, name: fmt.Sprintf("_%d_%d", i, j), first: i, end: i + high}
			for c := j; c < j+wide; c++ {
				b.cols = append(b.cols, c)
			}
			all = append(all, b)
		}
	}
	return all
}

// step adds one product to every sum: right is its row of the first panel.
func (b block) step(acc [][]reg.VecVirtual, right Mem, rPanel reg.Register, left func(i int) Mem) {
	v := make([]reg.VecVirtual, len(b.cols))
	for j, c := range b.cols {
		v[j] = b.load(inPanel(right.Offset(c%b.vectors()*b.width), rPanel, c/b.vectors()))
	}
	for i := range acc {
		x := b.broadcast(left(b.first + i))
		for j := range v {
			VFMADD231PD(v[j], x, acc[i][j])
		}
	}
}

// walk visits the block's vectors of C by rows.
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
