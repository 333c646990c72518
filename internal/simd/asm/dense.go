package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// denseKernels are the kernels of the factorization other than the products.
var denseKernels = []kernel{
	{name: "solve", variants: always, doc: "is solvePlain.",
		params: "x *float64; xPanel int; l *float64; lRow int; inv *float64; panels int", body: solve},
	{name: "transpose", variants: always, doc: "is transposePlain.",
		params: "dst *float64; dstRow, dstStep int; src *float64; srcRow, srcStep, n int", body: transpose},
}

// solve writes forward substitution through eight rows of panels. Each row is subtracted from the
// rows below it as soon as it is known; panels are interleaved.
func solve(p *pass) {
	x, xPanel := Load(Param("x"), GP64()), inBytes("xPanel")
	l, lRow, inv := Load(Param("l"), GP64()), inBytes("lRow"), Load(Param("inv"), GP64())
	odd := multiples(lRow, lanes)
	p.eachPanel(func() {
		p.halves(func() {
			at := func(j int) Mem { return Mem{Base: x, Disp: j*row + p.place} }
			rows := make([]reg.VecVirtual, lanes)
			for j := range rows {
				rows[j] = p.load(at(j))
			}
			for j, r := range rows {
				VMULPD(p.broadcast(Mem{Base: inv, Disp: 8 * j}), r, r)
				VMOVUPD(r, at(j))
				for i := j + 1; i < lanes; i++ {
					VFNMADD231PD(p.broadcast(leftRow(l, lRow, odd, i, 8*j)), r, rows[i])
				}
			}
		})
		ADDQ(xPanel, x)
	})
}

// transpose writes the transposition of 8×8 blocks.
func transpose(p *pass) {
	dst, dstRow, dstStep := Load(Param("dst"), GP64()), inBytes("dstRow"), inBytes("dstStep")
	src, srcRow, srcStep := Load(Param("src"), GP64()), inBytes("srcRow"), inBytes("srcStep")
	n := Load(Param("n"), GP64())
	from, to := GP64(), GP64()
	side, transposed := p.width/8, transposed8
	if side == 4 {
		transposed = transposed4
	}
	Label("block")
	for down := 0; down < lanes; down += side { // first row read
		for across := 0; across < lanes; across += side { // first column read
			MOVQ(src, from)
			if down > 0 {
				LEAQ(Mem{Base: src, Index: srcRow, Scale: 4}, from)
			}
			rows := make([]reg.VecVirtual, side)
			for i := range rows {
				rows[i] = p.load(Mem{Base: from, Disp: 8 * across})
				ADDQ(srcRow, from)
			}
			MOVQ(dst, to)
			if across > 0 {
				LEAQ(Mem{Base: dst, Index: dstRow, Scale: 4}, to)
			}
			for _, r := range transposed(p.isa, rows) {
				VMOVUPD(r, Mem{Base: to, Disp: 8 * down})
				ADDQ(dstRow, to)
			}
		}
	}
	ADDQ(srcStep, src)
	ADDQ(dstStep, dst)
	DECQ(n)
	JNZ(LabelRef("block"))
}

// pairs exchanges odd entries of even rows with even entries of odd rows.
func pairs(s isa, r []reg.VecVirtual) []reg.VecVirtual {
	out := make([]reg.VecVirtual, len(r))
	for i := 0; i < len(r); i += 2 {
		out[i], out[i+1] = s.reg(), s.reg()
		VUNPCKLPD(r[i+1], r[i], out[i])
		VUNPCKHPD(r[i+1], r[i], out[i+1])
	}
	return out
}

// transposed4 transposes four vectors of four numbers.
func transposed4(s isa, r []reg.VecVirtual) []reg.VecVirtual {
	p := pairs(s, r)
	out := make([]reg.VecVirtual, 4)
	for i := range out {
		out[i] = s.reg()
		VPERM2F128(U8(0x20+0x11*(i/2)), p[i%2+2], p[i%2], out[i])
	}
	return out
}

// transposed8 transposes eight vectors of eight numbers.
func transposed8(s isa, r []reg.VecVirtual) []reg.VecVirtual {
	p := pairs(s, r)
	var quads [2][2][2]reg.VecVirtual // rows 0–3 or 4–7, odd columns, blocks 1 and 3 of two columns
	for i := range 8 {
		upper, odd, high, q := i/4, i/2%2, i%2, s.reg()
		VSHUFF64X2(U8(0x88+0x55*high), p[4*upper+2+odd], p[4*upper+odd], q)
		quads[upper][odd][high] = q
	}
	out := make([]reg.VecVirtual, lanes)
	for c := range out { // column c is in block c/2
		out[c] = s.reg()
		q, block := c%2, c/2
		VSHUFF64X2(U8(0x88+0x55*(block/2)), quads[1][q][block%2], quads[0][q][block%2], out[c])
	}
	return out
}
