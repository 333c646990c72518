package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// latticeKernels run Burg's recursion and Levinson's.
var latticeKernels = []kernel{
	{
		name: "lattice", variants: always, body: lattice, params: "sums, f, b, w, k, old *float64; n int",
		doc: "is stage.plain for n samples, a multiple of Lanes. *old is the number before b's first, which is updated; sums are per lane.",
	},
	{
		name: "reflect", variants: always, body: reflect, params: "sums, a, s, r, k *float64; n int",
		doc: "is Reflect for n coefficients, a multiple of two panel rows; sums are per lane.",
	},
	{name: "dot", variants: always, body: dot, params: "sums, a, b *float64; n int",
		doc: "is Dot for n numbers, a multiple of four panel rows; sums are per lane."},
}

// lattice writes a stage of the lattice. b is needed one sample earlier, which is shifted in from
// the previous vectors.
func lattice(p *pass) {
	f, b, w := Load(Param("f"), GP64()), Load(Param("b"), GP64()), Load(Param("w"), GP64())
	k := p.broadcast(Mem{Base: Load(Param("k"), GP64())})
	was := p.broadcast(Mem{Base: Load(Param("old"), GP64())})
	is := p.broadcast(Mem{Base: b, Disp: -8})
	n := inBytes("n")
	sums := p.zeros(3) // products, squares of f, squares of b
	for _, r := range []reg.Register{f, b, w} {
		ADDQ(n, r)
	}
	NEGQ(n)
	at := func(base reg.Register) Mem { return Mem{Base: base, Index: n, Scale: 1} }
	Label("samples")
	x, y := p.load(at(f)), p.load(at(b))
	earlier := p.earlier(was, y)
	VMOVUPD(y, was)
	VMOVUPD(earlier, y)
	VFMADD231PD(k, x, y)
	VFMADD231PD(k, earlier, x)
	VMOVUPD(x, at(f))
	VMOVUPD(y, at(b))
	earlier = p.earlier(is, y)
	VMOVUPD(y, is)
	weights, weighted := p.load(at(w)), p.reg()
	VMULPD(x, weights, weighted)
	VFMADD231PD(earlier, weighted, sums[0])
	VFMADD231PD(x, weighted, sums[1])
	VMULPD(earlier, weights, weights)
	VFMADD231PD(earlier, weights, sums[2])
	ADDQ(U8(p.width), n)
	JNZ(LabelRef("samples"))
	VADDPD(sums[1], sums[2], sums[1])
	to := Load(Param("sums"), GP64())
	VMOVUPD(sums[0], Mem{Base: to})
	VMOVUPD(sums[1], Mem{Base: to, Disp: row})
}

// earlier returns the numbers one index before the numbers of v, which follows the vector before.
func (s isa) earlier(before, v reg.VecVirtual) reg.VecVirtual {
	out := s.reg()
	if s.width == 64 {
		VALIGNQ(U8(7), before, v, out)
		return out
	}
	VPERM2F128(U8(0x21), v, before, out) // the upper half of before, the lower of v
	VSHUFPD(U8(0b0101), v, out, out)
	return out
}

// reflect writes a step of Levinson's recursion. Both arrays may be unaligned.
func reflect(p *pass) {
	a, s, r := Load(Param("a"), GP64()), Load(Param("s"), GP64()), Load(Param("r"), GP64())
	k := p.broadcast(Mem{Base: Load(Param("k"), GP64())})
	n := inBytes("n")
	sums := p.zeros(2)
	for _, base := range []reg.Register{a, s, r} {
		ADDQ(n, base)
	}
	NEGQ(n)
	Label("coefficients")
	for i := range 2 {
		at := func(base reg.Register) Mem { return Mem{Base: base, Index: n, Scale: 1, Disp: i * p.width} }
		x, y := p.load(at(a)), p.load(at(s))
		old := p.reg()
		VMOVUPD(x, old)
		VFMADD231PD(k, y, x)
		VFMADD231PD(k, old, y)
		VMOVUPD(x, at(a))
		VMOVUPD(y, at(s))
		VFMADD231PD(at(r), x, sums[i])
	}
	ADDQ(U32(2*p.width), n)
	JNZ(LabelRef("coefficients"))
	VADDPD(sums[0], sums[1], sums[0])
	VMOVUPD(sums[0], Mem{Base: Load(Param("sums"), GP64())})
}

// dot writes the dot product of two arrays, which may be unaligned.
func dot(p *pass) {
	a, b := Load(Param("a"), GP64()), Load(Param("b"), GP64())
	n := inBytes("n")
	const chains = 4
	sums := p.zeros(chains)
	ADDQ(n, a)
	ADDQ(n, b)
	NEGQ(n)
	Label("numbers")
	for i, s := range sums {
		VFMADD231PD(Mem{Base: b, Index: n, Scale: 1, Disp: i * p.width}, p.load(Mem{Base: a, Index: n, Scale: 1, Disp: i * p.width}), s)
	}
	ADDQ(U32(chains*p.width), n)
	JNZ(LabelRef("numbers"))
	VADDPD(sums[1], sums[0], sums[0])
	VADDPD(sums[3], sums[2], sums[2])
	VADDPD(sums[2], sums[0], sums[0])
	VMOVUPD(sums[0], Mem{Base: Load(Param("sums"), GP64())})
}
