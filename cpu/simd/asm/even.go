package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Rows of a panel's numbers for steps along evenly spaced rows.
const (
	stepCos   = iota // of 2ωδ
	stepSin          // of 2ωδ
	stepBend         // κ − 1, κ = exp(−4Pδ²)
	stepHalf         // √κ − 1
	stepSlope        // 4Pδ
	stepRows
)

// narrow bounds P·(x_last − x_first)² of a lane that is stepped.
const narrow = 100

// An evenly writes a kernel that steps along the rows: two chains, of the rows
// 0, 2, … and 1, 3, …, in each a product z·w of complex numbers (four
// operations) and w·κ (two).
type evenly struct {
	*keeper
	name                      string
	gated, fit                bool
	light                     bool         // writes no features, but where they start
	cos, sin, x, gate, acc, w reg.Register // ends of panels and arrays, but for x
	par, steps, starts        Mem
	index                     reg.Register // 8·(row − n)
}

// signature lists the parameters.
func (e *evenly) signature() string {
	list := "func(cos, sin, x"
	if e.light {
		list = "func(starts, x"
	}
	if e.gated {
		list += ", gate"
	}
	if e.fit {
		list += ", acc, w"
	}
	list += ", par, steps *float64, "
	if !e.light {
		list += "stride, "
	}
	return list + "n, panels int) int"
}

// write writes the kernel: panel after panel, until one cannot be stepped.
func (e *evenly) write() {
	doc := "is evenPlain"
	if e.fit {
		doc += " and fitPlain"
	}
	if e.light {
		doc = "makes the first two rows and factors of evenPlain, and fitPlain's sums,"
	}
	TEXT(e.name+e.isa.name, NOSPLIT, e.signature())
	Pragma("noescape")
	Doc(e.name+e.isa.name+" "+doc+" for panel after panel until one cannot be stepped,", "and returns how many could.")
	e.open()
	left := Load(Param("panels"), GP64())
	Label("panel")
	live := e.check()
	for v := range e.vectors() {
		e.panel(v*e.width, live)
	}
	e.nextPanel()
	DECQ(left)
	JNZ(LabelRef("panel"))
	Label("out")
	done := Load(Param("panels"), GP64())
	SUBQ(left, done)
	Store(done, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// open loads the parameters.
func (e *evenly) open() {
	e.index = inBytes("n")
	rows := func(name string) reg.Register {
		r := Load(Param(name), GP64())
		LEAQ(Mem{Base: r, Index: e.index, Scale: 8}, r)
		return r
	}
	if e.light {
		e.starts = Mem{Base: Load(Param("starts"), GP64())}
	} else {
		e.cos, e.sin = rows("cos"), rows("sin")
	}
	e.x = Load(Param("x"), GP64())
	if e.gated {
		e.gate = Load(Param("gate"), GP64())
		ADDQ(e.index, e.gate)
	}
	if e.fit {
		e.acc, e.w = rows("acc"), Load(Param("w"), GP64())
	}
	e.par, e.steps = Mem{Base: Load(Param("par"), GP64())}, Mem{Base: Load(Param("steps"), GP64())}
}

// nextPanel moves on.
func (e *evenly) nextPanel() {
	if e.light {
		ADDQ(U32(startRows*row), e.starts.Base)
	} else {
		stride := Load(Param("stride"), GP64())
		SHLQ(U8(6), stride)
		ADDQ(stride, e.cos)
		ADDQ(stride, e.sin)
	}
	ADDQ(U32((parInput+1)*row), e.par.Base)
	ADDQ(U32(stepRows*row), e.steps.Base)
	if e.fit {
		ADDQ(U32(row), e.w)
	}
}

// Predicates of comparisons that are false for NaN.
const notAbove = 0x12 // ≤

// check leaves the kernel unless every lane either lives at both ends of the
// rows, and is not narrow, or is beyond far from the first row to the last. With
// AVX-512 it returns the lanes that live; AVX2 has no room to keep them.
func (e *evenly) check() (live reg.Register) {
	if e.width == 64 {
		live, gone := e.ends(0)
		KORTESTB(gone, live)
		JCC(LabelRef("out"))
		return live
	}
	all := GP64()
	for v := range e.vectors() {
		live, gone := e.ends(v * e.width)
		VORPD(gone, live, live)
		bits := GP64()
		VMOVMSKPD(live, bits.As32())
		if v == 0 {
			MOVQ(bits, all)
		} else {
			ANDQ(bits, all)
		}
	}
	CMPQ(all, U8(0xf))
	JNE(LabelRef("out"))
	return nil
}

// last is where x of the last row lies.
func (e *evenly) last() Mem {
	n := inBytes("n")
	return Mem{Base: e.x, Index: n, Scale: 1, Disp: -8}
}

// ends tells which lanes live and which are gone.
func (e *evenly) ends(at int) (live, gone reg.Register) {
	first, last := e.broadcast(Mem{Base: e.x}), e.broadcast(e.last())
	span := e.reg()
	VSUBPD(first, last, span)
	VMULPD(span, span, span)
	center, decay := e.par.Offset(parCenter*row+at), e.par.Offset(parDecay*row+at)
	VMULPD(decay, span, span)
	VSUBPD(center, first, first)
	VSUBPD(center, last, last)
	side, quad, quadLast := e.reg(), e.reg(), e.reg()
	VMULPD(first, last, side)
	VMULPD(decay, first, quad)
	VMULPD(first, quad, quad)
	VMULPD(decay, last, quadLast)
	VMULPD(last, quadLast, quadLast)
	zero := e.zeros(1)[0]
	if e.width == 64 {
		far := e.broadcast(e.at("far"))
		live, gone = reg.Register(K()), reg.Register(K())
		VCMPPD(U8(notAbove), far, quad, live)
		VCMPPD(U8(notAbove), far, quadLast, live, live)
		VCMPPD_BCST(U8(notAbove), e.at("narrow"), span, live, live)
		VCMPPD(U8(greater), far, quad, gone)
		VCMPPD(U8(greater), far, quadLast, gone, gone)
		VCMPPD(U8(greater), zero, side, gone, gone)
		return live, gone
	}
	both := func(predicate uint64) reg.Register {
		a, b := e.reg(), e.reg()
		VCMPPD(U8(predicate), e.at("far"), quad, a)
		VCMPPD(U8(predicate), e.at("far"), quadLast, b)
		VANDPD(b, a, a)
		return a
	}
	live, gone = both(notAbove), both(greater)
	VCMPPD(U8(notAbove), e.at("narrow"), span, span)
	VANDPD(span, live, live)
	VCMPPD(U8(greater), zero, side, side)
	VANDPD(side, gone, gone)
	return live, gone
}

// A chain is a damped wave z at a row and the factor w that makes it that of
// two rows on.
type chain struct{ co, si, wc, ws reg.VecVirtual }

// startRows is how many rows of numbers the start of a panel's two chains has.
const startRows = 8

// step moves on by two rows.
func (c chain) step(s isa, bend reg.VecVirtual) {
	a, b := s.reg(), s.reg()
	VMULPD(c.ws, c.si, a)
	VMULPD(c.ws, c.co, b)
	VFMSUB213PD(a, c.wc, c.co)
	VFMADD213PD(b, c.wc, c.si)
	VFMADD231PD(bend, c.wc, c.wc)
	VFMADD231PD(bend, c.ws, c.ws)
}

// panel writes the vector at a place of a panel's row, for all rows.
func (e *evenly) panel(place int, live reg.Register) {
	chains, bend := e.start(place, live)
	if e.light {
		for i, c := range chains {
			for j, v := range []reg.VecVirtual{c.co, c.si, c.wc, c.ws} {
				VMOVUPD(v, e.starts.Offset((4*i+j)*row))
			}
		}
	}
	var weight reg.VecVirtual
	if e.fit {
		weight = e.load(Mem{Base: e.w, Disp: place})
	}
	MOVQ(at("n"), e.index)
	SHLQ(U8(3), e.index)
	NEGQ(e.index)
	pair, done := fmt.Sprint("pair", place), fmt.Sprint("done", place)
	Label(pair)
	for i, c := range chains {
		e.store(c, weight, place, i)
		c.step(e.isa, bend)
	}
	ADDQ(U8(16), e.index)
	CMPQ(e.index, I8(-8))
	JLT(LabelRef(pair))
	JNE(LabelRef(done))
	e.store(chains[0], weight, place, 0)
	Label(done)
}

// store writes the row i rows on.
func (e *evenly) store(c chain, weight reg.VecVirtual, at, i int) {
	of := func(base reg.Register) Mem { return Mem{Base: base, Index: e.index, Scale: 8, Disp: at + i*row} }
	co, si := c.co, c.si
	if e.gated {
		gate := e.broadcast(Mem{Base: e.gate, Index: e.index, Scale: 1, Disp: 8 * i})
		co, si = e.reg(), gate
		VMULPD(gate, c.co, co)
		if !e.light {
			VMULPD(gate, c.si, si)
		}
	}
	if !e.light {
		VMOVUPD(co, of(e.cos))
		VMOVUPD(si, of(e.sin))
	}
	if e.fit {
		acc := e.load(of(e.acc))
		VFMADD231PD(weight, co, acc)
		VMOVUPD(acc, of(e.acc))
	}
}

// start makes the first two rows by the formula, and the factors:
//
//	w_0 = exp(−2Pδ·d_1)·exp(2iωδ),  w_1 = w_0·√κ
//
// 0 in lanes that are gone.
func (e *evenly) start(at int, live reg.Register) (chains [2]chain, bend reg.VecVirtual) {
	e.keep("far", "turnCos", "turnSin", "root")
	step := func(i int) Mem { return e.steps.Offset(i*row + at) }
	for i := range chains {
		quad := e.zeros(1)[0]
		turns := e.load(e.par.Offset(at))
		e.input(e.broadcast(Mem{Base: e.x, Disp: 8 * i}), turns, quad, func(i int) Op { return e.par.Offset(i*row + at) })
		chains[i].co, chains[i].si = e.waves(turns, quad, nil)
	}
	d := e.broadcast(Mem{Base: e.x, Disp: 8})
	VSUBPD(e.par.Offset(parCenter*row+at), d, d)
	VMULPD(step(stepSlope), d, d)
	var ratio reg.VecVirtual
	a, b := &chains[0], &chains[1]
	a.wc, a.ws = e.reg(), e.reg()
	if e.width == 64 {
		ratio = e.decayTable(d)
		VMULPD_Z(step(stepCos), ratio, live, a.wc)
		VMULPD_Z(step(stepSin), ratio, live, a.ws)
	} else {
		live, _ = e.ends(at)
		ratio = e.decay(d)
		VANDPD(live, ratio, ratio)
		VMULPD(step(stepCos), ratio, a.wc)
		VMULPD(step(stepSin), ratio, a.ws)
	}
	b.wc, b.ws = e.load(step(stepHalf)), e.load(step(stepHalf))
	VFMADD213PD(a.wc, a.wc, b.wc)
	VFMADD213PD(a.ws, a.ws, b.ws)
	return chains, e.load(step(stepBend))
}
