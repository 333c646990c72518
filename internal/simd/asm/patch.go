package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// patchKernels sum a patch of a table of complex numbers with weights for its rows and columns.
var patchKernels = []kernel{{
	name: "sumPatch", doc: "is SumPatch.", body: sumPatch,
	variants: []variant{{when: "!twisted", suffix: "Real", without: "twisted"}, {without: "twisted"}},
	params:   "sums, table *float64; width, rows int; v *float64; heights int; w *float64; columns int; work *float64; twisted bool",
}}

// patchSums is the number of sums: real and imaginary parts for 1, x, x², y and y².
const patchSums = 10

// A patchPass is the state of the kernel.
type patchPass struct {
	*pass
	twisted         bool
	group           int                 // vectors of a strip of columns
	across          reg.Register        // bytes from real to imaginary parts of the table, half of those to the next row
	rowsV, columnsW reg.Register        // bytes of a part of the weights
	sums            reg.Register        // accumulators, [patchSums] vectors
	columns         [][2]reg.VecVirtual // sums b of a strip
}

// sumPatch sums strips of columns for all rows: the rows' sums a_i = Σ_j E_ij w_j go to memory, the columns' sums b_j =
// Σ_i v_i E_ij are in registers. It then sums v_i a_i times powers of x_i.
func sumPatch(p *pass) {
	k := &patchPass{pass: p, twisted: p.suffix == "", group: 4}
	if p.width == 32 {
		k.group = 2
	}
	for range k.group {
		k.columns = append(k.columns, [2]reg.VecVirtual{p.reg(), p.reg()})
	}
	k.across, k.rowsV, k.columnsW = inBytes("width"), inBytes("heights"), inBytes("columns")
	k.sums = Load(Param("work"), GP64())
	w, table, left := Load(Param("w"), GP64()), Load(Param("table"), GP64()), Load(Param("columns"), GP64())
	strips := func(group int) {
		again, end := fmt.Sprint("strip", group), fmt.Sprint("end", group)
		Label(again)
		CMPQ(left, U8(group*p.width/8))
		JL(LabelRef(end))
		k.strip(w, table, group, false)
		k.next(w, table, left, group)
		JMP(LabelRef(again))
		Label(end)
	}
	k.strip(w, table, k.group, true)
	k.next(w, table, left, k.group)
	strips(k.group)
	if p.width == 64 {
		strips(1)
	}
	k.alongRows()
	k.reduce()
}

// next advances to the next strip.
func (k *patchPass) next(w, table, left reg.Register, group int) {
	ADDQ(U32(group*k.width), w)
	ADDQ(U32(group*k.width), table)
	SUBQ(U8(group*k.width/8), left)
}

// sum returns accumulator i. The rows' sums follow the accumulators.
func (k *patchPass) sum(i int) Mem { return Mem{Base: k.sums, Disp: i * k.width} }

// partial returns the address of the first row's sum.
func (k *patchPass) partial() reg.GPVirtual {
	r := GP64()
	LEAQ(k.sum(patchSums), r)
	return r
}

// multiplied adds a·b to to, for complex numbers, or with a real a.
func (k *patchPass) multiplied(ar, ai Op, b, to [2]reg.VecVirtual) {
	VFMADD231PD(ar, b[0], to[0])
	VFMADD231PD(ar, b[1], to[1])
	if k.twisted {
		VFNMADD231PD(ai, b[1], to[0])
		VFMADD231PD(ai, b[0], to[1])
	}
}

// product returns a·b, for complex numbers, or with a real a.
func (k *patchPass) product(ar, ai Op, b [2]reg.VecVirtual) [2]reg.VecVirtual {
	z := [2]reg.VecVirtual{k.reg(), k.reg()}
	VMULPD(ar, b[0], z[0])
	VMULPD(ar, b[1], z[1])
	if k.twisted {
		VFNMADD231PD(ai, b[1], z[0])
		VFMADD231PD(ai, b[0], z[1])
	}
	return z
}

// strip processes a strip of columns, of group vectors. The first one does not add to previous sums.
func (k *patchPass) strip(w, table reg.Register, group int, first bool) {
	p := k.pass
	at := func(i int) (re, im Op) {
		re, im = Mem{Base: w, Disp: i * p.width}, Mem{Base: w, Index: k.columnsW, Scale: 1, Disp: i * p.width}
		return re, im
	}
	weights := make([][2]Op, group)
	b := k.columns[:group]
	for i := range b {
		weights[i][0], weights[i][1] = at(i)
		if p.width == 64 { // there are enough registers
			weights[i][0] = p.load(weights[i][0])
			if k.twisted {
				weights[i][1] = p.load(weights[i][1])
			}
		}
		for _, v := range b[i] {
			p.xor(v, v)
		}
	}
	v, e, partial, left := Load(Param("v"), GP64()), GP64(), k.partial(), Load(Param("rows"), GP64())
	MOVQ(table, e)
	again := fmt.Sprintf("row%d%v", group, first)
	Label(again)
	vr := p.broadcast(Mem{Base: v})
	var vi reg.VecVirtual
	if k.twisted {
		vi = p.broadcast(Mem{Base: v, Index: k.rowsV, Scale: 1})
	}
	var a [2]reg.VecVirtual
	if !first {
		a = [2]reg.VecVirtual{p.load(Mem{Base: partial}), p.load(Mem{Base: partial, Disp: p.width})}
	}
	for i := range b {
		entry := [2]reg.VecVirtual{p.load(Mem{Base: e, Disp: i * p.width}), p.load(Mem{Base: e, Index: k.across, Scale: 1, Disp: i * p.width})}
		k.multiplied(vr, vi, entry, b[i])
		if first && i == 0 {
			a = k.product(weights[i][0], weights[i][1], entry)
		} else {
			k.multiplied(weights[i][0], weights[i][1], entry, a)
		}
	}
	VMOVUPD(a[0], Mem{Base: partial})
	VMOVUPD(a[1], Mem{Base: partial, Disp: p.width})
	ADDQ(U8(8), v)
	LEAQ(Mem{Base: e, Index: k.across, Scale: 2}, e)
	ADDQ(U32(2*p.width), partial)
	DECQ(left)
	JNZ(LabelRef(again))
	k.alongColumns(w, weights, b, first)
}

// alongColumns adds w_j b_j times y_j and y_j².
func (k *patchPass) alongColumns(w reg.Register, weights [][2]Op, b [][2]reg.VecVirtual, first bool) {
	p := k.pass
	third := GP64()
	LEAQ(Mem{Base: w, Index: k.columnsW, Scale: 2}, third)
	var acc [4]reg.VecVirtual
	for i := range b {
		z := k.product(weights[i][0], weights[i][1], b[i])
		y := p.load(Mem{Base: third, Disp: i * p.width})
		for to := range acc {
			v := z[to%2]
			VMULPD(y, v, v)
			if i > 0 {
				VADDPD(v, acc[to], acc[to])
				continue
			}
			acc[to] = p.reg()
			if first {
				VMOVAPD(v, acc[to])
			} else {
				VADDPD(k.sum(6+to), v, acc[to])
			}
		}
	}
	for to, v := range acc {
		VMOVUPD(v, k.sum(6+to))
	}
}

// alongRows adds v_i a_i times 1, x_i and x_i², for as many rows at a time as a vector has lanes.
func (k *patchPass) alongRows() {
	p := k.pass
	acc := p.zeros(6)
	v, partial, left := Load(Param("v"), GP64()), k.partial(), Load(Param("rows"), GP64())
	third, side := GP64(), p.width/8
	LEAQ(Mem{Base: v, Index: k.rowsV, Scale: 2}, third)
	Label("moment")
	var a [2]reg.VecVirtual
	for part := range a {
		rows := make([]reg.VecVirtual, side)
		for i := range rows {
			rows[i] = p.load(Mem{Base: partial, Disp: (2*i + part) * p.width})
		}
		a[part] = merged(p.isa, rows)
	}
	vr := p.load(Mem{Base: v})
	var vi reg.VecVirtual
	if k.twisted {
		vi = p.load(Mem{Base: v, Index: k.rowsV, Scale: 1})
	}
	x := p.load(Mem{Base: third})
	z := k.product(vr, vi, a)
	for power := range 3 {
		for part, v := range z {
			VADDPD(v, acc[2*power+part], acc[2*power+part])
			if power < 2 {
				VMULPD(x, v, v)
			}
		}
	}
	ADDQ(U8(p.width), v)
	ADDQ(U8(p.width), third)
	ADDQ(U32(2*side*p.width), partial)
	SUBQ(U8(side), left)
	JG(LabelRef("moment"))
	for i, v := range acc {
		VMOVUPD(v, k.sum(i))
	}
}

// reduce writes the sums of the accumulators' lanes.
func (k *patchPass) reduce() {
	side, sums := k.width/8, Load(Param("sums"), GP64())
	for first := 0; first < patchSums; first += side {
		rows := make([]reg.VecVirtual, side)
		for i := range rows {
			rows[i] = k.load(k.sum(min(first+i, patchSums-1)))
		}
		VMOVUPD(merged(k.isa, rows), Mem{Base: sums, Disp: 8 * first})
	}
}

// merged returns a vector with the sums of the lanes of as many vectors as it has lanes.
func merged(s isa, v []reg.VecVirtual) reg.VecVirtual {
	half := func(n int, low, high func(a, b, to reg.VecVirtual)) {
		for i := range n {
			t := s.reg()
			low(v[2*i], v[2*i+1], t)
			high(v[2*i], v[2*i+1], v[2*i])
			VADDPD(t, v[2*i], v[2*i])
			v[i] = v[2*i]
		}
	}
	half(len(v)/2, func(a, b, to reg.VecVirtual) { VUNPCKLPD(b, a, to) }, func(a, b, to reg.VecVirtual) { VUNPCKHPD(b, a, to) })
	if s.width == 32 {
		half(1, func(a, b, to reg.VecVirtual) { VPERM2F128(U8(0x20), b, a, to) },
			func(a, b, to reg.VecVirtual) { VPERM2F128(U8(0x31), b, a, to) })
		return v[0]
	}
	for n := 2; n > 0; n-- {
		half(n, func(a, b, to reg.VecVirtual) { VSHUFF64X2(U8(0x88), b, a, to) },
			func(a, b, to reg.VecVirtual) { VSHUFF64X2(U8(0xdd), b, a, to) })
	}
	return v[0]
}
