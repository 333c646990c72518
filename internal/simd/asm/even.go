package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// evenKernels compute features along even rows in two chains, of the rows 0, 2, … and 1, 3, …. Each
// step has a product z·w of complex numbers (four operations) and w·κ (two).
var evenKernels = []kernel{
	{
		name: "even", doc: "is evenPlain, and with a fit fitPlain," + steppedPanels, steps: true, body: even,
		params: "cos, sin, x, gate, acc, w, par, steps *float64; stride, n, panels int",
		variants: []variant{{when: "acc == nil", without: "acc w"}, {when: "gate == nil", suffix: "FitOpen", without: "gate"},
			{suffix: "Fit"}},
	},
	{
		name: "evenStart", doc: "makes the first two rows and factors of evenPlain, and fitPlain's sums," + steppedPanels, steps: true,
		widest: true, body: even,
		params: "starts, x, gate, acc, w, par, steps *float64; n, panels int", variants: openGate("gate"),
	},
	{
		name: "evenFactorized", doc: "is evenPlain from the start of its chains, and factorizedPlain.", widest: true, body: evenFactorized,
		params:   "sums, starts, res, gate, inv, t, t2, steps, lane *float64; mid, delta float64; n, panels int",
		variants: openGate("gate inv"),
	},
}

const steppedPanels = " for consecutive panels until one cannot be stepped; it returns the number of stepped panels."

// A chain is a damped wave z at a row and the factor w that advances it by two rows.
type chain struct{ co, si, wc, ws reg.VecVirtual }

// step advances by two rows.
func (c chain) step(s isa, bend reg.VecVirtual) {
	a, b := s.reg(), s.reg()
	VMULPD(c.ws, c.si, a)
	VMULPD(c.ws, c.co, b)
	VFMSUB213PD(a, c.wc, c.co)
	VFMADD213PD(b, c.wc, c.si)
	VFMADD231PD(bend, c.wc, c.wc)
	VFMADD231PD(bend, c.ws, c.ws)
}

// eachPair visits the rows of both chains, two by two.
func (p *pass) eachPair(chains [2]chain, visit func(co, si reg.VecVirtual)) {
	bend := p.load(p.own("steps", stepBend))
	pair, done := fmt.Sprint("pair", p.place), fmt.Sprint("done", p.place)
	gated := func(c chain) {
		co, si := c.co, c.si
		if p.has("gate") {
			gate := p.number("gate")
			co, si = p.reg(), gate
			VMULPD(gate, c.co, co)
			if p.has("sin") || p.has("sums") {
				VMULPD(gate, c.si, si)
			}
		}
		visit(co, si)
	}
	Label(pair)
	for p.ahead = range chains {
		gated(chains[p.ahead])
		chains[p.ahead].step(p.isa, bend)
	}
	p.ahead = 0
	ADDQ(U8(16), p.index)
	CMPQ(p.index, I8(-8))
	JLT(LabelRef(pair))
	JNE(LabelRef(done))
	gated(chains[0])
	Label(done)
}

// even writes features, or the start of their chains, until a panel cannot be stepped.
func even(p *pass) {
	p.open()
	left := p.eachPanel(func() {
		p.first()
		live := p.check()
		p.halves(func() {
			p.first()
			chains := p.start(live)
			if p.has("starts") {
				for i, c := range chains {
					for j, v := range []reg.VecVirtual{c.co, c.si, c.wc, c.ws} {
						VMOVUPD(v, p.own("starts", 4*i+j))
					}
				}
			}
			if p.has("w") {
				p.preload("w", 0)
			}
			p.eachPair(chains, p.write)
		})
	})
	Label("out")
	done := Load(Param("panels"), GP64())
	SUBQ(left, done)
	Store(done, ReturnIndex(0))
}

// check exits the kernel unless each lane is either alive at both ends of the rows and not narrow,
// or beyond far from the first row to the last. With AVX-512 it returns the mask of lanes that are
// alive; AVX2 has no register for it.
func (p *pass) check() (live reg.Register) {
	p.halves(func() {
		var gone reg.Register
		live, gone = p.ends()
		if p.width == 64 {
			KORTESTB(gone, live)
			JCC(LabelRef("out"))
			return
		}
		VORPD(gone, live, live)
		bits := GP64()
		VMOVMSKPD(live, bits.As32())
		CMPQ(bits, U8(0xf))
		JNE(LabelRef("out"))
	})
	return live
}

// ends returns masks of the lanes that are alive and gone, from the first and the last row.
func (p *pass) ends() (live, gone reg.Register) {
	first, last := p.number("x"), p.broadcast(Mem{Base: p.base["x"], Disp: -8})
	span, side, quad, quadLast := p.reg(), p.reg(), p.reg(), p.reg()
	VSUBPD(first, last, span)
	VMULPD(span, span, span)
	center, decay := p.own("par", parCenter), p.own("par", parDecay)
	VMULPD(decay, span, span)
	VSUBPD(center, first, first)
	VSUBPD(center, last, last)
	VMULPD(first, last, side)
	VMULPD(decay, first, quad)
	VMULPD(first, quad, quad)
	VMULPD(decay, last, quadLast)
	VMULPD(last, quadLast, quadLast)
	live = p.all(p.compare(notAbove, "far", quad), p.compare(notAbove, "far", quadLast), p.compare(notAbove, "narrow", span))
	gone = p.all(p.compare(greater, "far", quad), p.compare(greater, "far", quadLast), p.compare(greater, "0", side))
	return live, gone
}

// compare compares v with a constant: a mask of AVX-512, or a vector of bits.
func (p *pass) compare(predicate uint64, name string, v reg.VecVirtual) reg.Register {
	if p.width == 64 {
		out := reg.Register(K())
		VCMPPD_BCST(U8(predicate), p.at(name), v, out)
		return out
	}
	out := p.reg()
	VCMPPD(U8(predicate), p.at(name), v, out)
	return out
}

// all returns the conjunction of three comparisons; it overwrites the first.
func (p *pass) all(a, b, c reg.Register) reg.Register {
	for _, m := range []reg.Register{b, c} {
		if p.width == 64 {
			KANDB(m, a, a)
		} else {
			VANDPD(m, a, a)
		}
	}
	return a
}

// start computes the first two rows by the formula, and the factors:
//
//	w_0 = exp(−2Pδ·d_1)·exp(2iωδ),  w_1 = w_0·√κ
//
// 0 in lanes that are gone.
func (p *pass) start(live reg.Register) (chains [2]chain) {
	p.keep("far", "turnCos", "turnSin", "root")
	a, b := &chains[0], &chains[1]
	a.co, a.si = p.wave("")
	p.ahead = 1
	b.co, b.si = p.wave("")
	d := p.number("x")
	p.ahead = 0
	VSUBPD(p.own("par", parCenter), d, d)
	VMULPD(p.own("steps", stepSlope), d, d)
	a.wc, a.ws = p.reg(), p.reg()
	ratio := p.decay(d)
	if p.width == 64 {
		VMULPD_Z(p.own("steps", stepCos), ratio, live, a.wc)
		VMULPD_Z(p.own("steps", stepSin), ratio, live, a.ws)
	} else {
		live, _ = p.ends()
		VANDPD(live, ratio, ratio)
		VMULPD(p.own("steps", stepCos), ratio, a.wc)
		VMULPD(p.own("steps", stepSin), ratio, a.ws)
	}
	b.wc, b.ws = p.load(p.own("steps", stepHalf)), p.load(p.own("steps", stepHalf))
	VFMADD213PD(a.wc, a.wc, b.wc)
	VFMADD213PD(a.ws, a.ws, b.ws)
	return chains
}

// evenFactorized steps through rows and contracts them at once, so that features need not be
// written. Distances are counted in steps from a row in the middle, the same number t for all
// lanes, read from memory:
//
//	d = h + t·δ,  h = x_mid − z
//
// so that sums with d and d² follow at the end from sums with t and t², which use the same
// registers, and Σq̄ from Σcos², Σr·cos and Σe²(cos² − sin²).
func evenFactorized(p *pass) {
	p.open()
	p.eachPanel(func() {
		var chains [2]chain
		for i := range chains {
			at := func(j int) reg.VecVirtual { return p.load(p.own("starts", 4*i+j)) }
			chains[i] = chain{at(0), at(1), at(2), at(3)}
		}
		p.preload("lane", laneRipple, laneSquare, laneWeight)
		p.sums = p.zeros(sumRows)
		p.first()
		p.eachPair(chains, func(co, si reg.VecVirtual) {
			theta, quad := p.residual(co, si)
			VFNMADD231PD_BCST(p.item("t"), theta, p.sums[sumThetaD])
			VFNMADD231PD_BCST(p.item("t"), quad, p.sums[sumQuadD])
			VFNMADD231PD_BCST(p.item("t2"), quad, p.sums[sumQuadD2])
		})
		p.fromSteps()
		p.addSums()
	})
}

// fromSteps converts sums with t to sums with d.
func (p *pass) fromSteps() {
	s, q := p.sums, p.reg()
	VMULPD(p.of("lane", laneSquare), s[sumSquare], q)
	VFMADD231PD(p.of("lane", laneWeight), s[sumAlong], q)
	VFMADD231PD(p.of("lane", laneRipple), s[sumRipple], q) // −Σq̄
	h, delta := p.broadcast(at("mid")), p.broadcast(at("delta"))
	VSUBPD(p.own("lane", laneCenter), h, h)
	VMULPD(delta, s[sumThetaD], s[sumThetaD])
	VFMADD231PD(h, s[sumTheta], s[sumThetaD])
	VMULPD(delta, s[sumQuadD2], s[sumQuadD2])
	VFMADD231PD(h, s[sumQuadD], s[sumQuadD2]) // Σ q̄·t·d
	VMULPD(delta, s[sumQuadD2], s[sumQuadD2])
	VMULPD(delta, s[sumQuadD], s[sumQuadD])
	VFNMADD231PD(h, q, s[sumQuadD])
	VFMADD231PD(h, s[sumQuadD], s[sumQuadD2])
}
