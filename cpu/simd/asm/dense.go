package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// dense writes what the factor needs beside the products.
func dense() {
	for _, s := range isas {
		solve(s)
		transpose(s)
	}
}

// solve writes forward substitution through eight rows of panels. Each row is
// taken from those below as soon as it is known; panels overlap.
func solve(s isa) {
	TEXT("solve"+s.name, NOSPLIT, "func(x *float64, xPanel int, l *float64, lRow int, inv *float64, panels int)")
	Pragma("noescape")
	Doc("solve" + s.name + " is solvePlain.")
	for v := range s.vectors() {
		x, xPanel := Load(Param("x"), GP64()), inBytes("xPanel")
		l, lRow := Load(Param("l"), GP64()), inBytes("lRow")
		inv, panels := Load(Param("inv"), GP64()), Load(Param("panels"), GP64())
		odd := multiples(lRow, lanes)
		again := "panel" + s.name
		if v > 0 {
			again += "High"
		}
		Label(again)
		rows := make([]reg.VecVirtual, lanes)
		for j := range rows {
			rows[j] = s.load(Mem{Base: x, Disp: j*row + v*s.width})
		}
		for j, r := range rows {
			VMULPD(s.broadcast(Mem{Base: inv, Disp: 8 * j}), r, r)
			VMOVUPD(r, Mem{Base: x, Disp: j*row + v*s.width})
			for i := j + 1; i < lanes; i++ {
				VFNMADD231PD(s.broadcast(leftRow(l, lRow, odd, i, 8*j)), r, rows[i])
			}
		}
		ADDQ(xPanel, x)
		DECQ(panels)
		JNZ(LabelRef(again))
	}
	VZEROUPPER()
	RET()
}

// transpose writes the transposition of 8×8 blocks.
func transpose(s isa) {
	TEXT("transpose"+s.name, NOSPLIT, "func(dst *float64, dstRow, dstStep int, src *float64, srcRow, srcStep, n int)")
	Pragma("noescape")
	Doc("transpose" + s.name + " is transposePlain.")
	dst, dstRow, dstStep := Load(Param("dst"), GP64()), inBytes("dstRow"), inBytes("dstStep")
	src, srcRow, srcStep := Load(Param("src"), GP64()), inBytes("srcRow"), inBytes("srcStep")
	n := Load(Param("n"), GP64())
	from, to := GP64(), GP64()
	Label("block")
	if s.width == 64 {
		rows := make([]reg.VecVirtual, lanes)
		MOVQ(src, from)
		for i := range rows {
			rows[i] = s.load(Mem{Base: from})
			ADDQ(srcRow, from)
		}
		MOVQ(dst, to)
		for _, r := range transposed8(s, rows) {
			VMOVUPD(r, Mem{Base: to})
			ADDQ(dstRow, to)
		}
	} else {
		for half := range 2 { // of the rows read
			for part := range 2 { // of the columns read
				rows := make([]reg.VecVirtual, 4)
				MOVQ(src, from)
				if half > 0 {
					LEAQ(Mem{Base: src, Index: srcRow, Scale: 4}, from)
				}
				for i := range rows {
					rows[i] = s.load(Mem{Base: from, Disp: part * s.width})
					ADDQ(srcRow, from)
				}
				MOVQ(dst, to)
				if part > 0 {
					LEAQ(Mem{Base: dst, Index: dstRow, Scale: 4}, to)
				}
				for _, r := range transposed4(s, rows) {
					VMOVUPD(r, Mem{Base: to, Disp: half * s.width})
					ADDQ(dstRow, to)
				}
			}
		}
	}
	ADDQ(srcStep, src)
	ADDQ(dstStep, dst)
	DECQ(n)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
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
	for upper := range 2 {
		for odd := range 2 {
			for high := range 2 {
				q := s.reg()
				VSHUFF64X2(U8(0x88+0x55*high), p[4*upper+2+odd], p[4*upper+odd], q)
				quads[upper][odd][high] = q
			}
		}
	}
	out := make([]reg.VecVirtual, lanes)
	for c := range out { // column c lies in block c/2
		out[c] = s.reg()
		q, block := c%2, c/2
		VSHUFF64X2(U8(0x88+0x55*(block/2)), quads[1][q][block%2], quads[0][q][block%2], out[c])
	}
	return out
}
