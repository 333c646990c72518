package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Rows of Factorised's sums, and those of t, t² and q̄ in their places while a
// kernel of even rows goes through them.
const (
	sumAlong = iota
	sumSquare
	sumRipple
	sumTheta
	sumThetaD
	sumQuadD
	sumQuadD2
	sumRows
)

// A stepper is a kernel that steps through rows and contracts them as it goes,
// so that features need not be written. Distances are counted in steps from a
// row in the middle, the same number t for all lanes and from memory:
//
//	d = h + t·δ,  h = x_mid − z
//
// so that sums with d and d² follow from those with t and t² at the end, and
// Σq̄ from Σcos², Σr·cos and Σe²(cos² − sin²).
type stepper struct {
	isa
	gated                                          bool
	res, gate, inv, t, t2, starts, steps, lane, to reg.Register
	index                                          reg.Register
	ripple, square, weight, bend                   reg.VecVirtual
	sums                                           []reg.VecVirtual
}

func evenFactorised(s isa, gated bool) {
	name, params := "evenFactorisedOpen", "res"
	if gated {
		name, params = "evenFactorised", "res, gate, inv"
	}
	TEXT(name+s.name, NOSPLIT, "func(sums, starts, "+params+", t, t2, steps, lane *float64, mid, delta float64, n, panels int)")
	Pragma("noescape")
	Doc(name + s.name + " is evenPlain from where its chains start, and factorisedPlain.")
	p := &stepper{isa: s, gated: gated}
	p.open()
	left := Load(Param("panels"), GP64())
	Label("panel")
	p.rows()
	p.close()
	ADDQ(U32(startRows*row), p.starts)
	ADDQ(U32(stepRows*row), p.steps)
	ADDQ(U32(laneRows*row), p.lane)
	ADDQ(U32(sumRows*row), p.to)
	DECQ(left)
	JNZ(LabelRef("panel"))
	VZEROUPPER()
	RET()
}

// open loads the parameters.
func (p *stepper) open() {
	p.index = inBytes("n")
	end := func(name string) reg.Register {
		r := Load(Param(name), GP64())
		ADDQ(p.index, r)
		return r
	}
	p.res, p.t, p.t2 = end("res"), end("t"), end("t2")
	if p.gated {
		p.gate, p.inv = end("gate"), end("inv")
	}
	p.starts, p.steps, p.lane, p.to = Load(Param("starts"), GP64()), Load(Param("steps"), GP64()), Load(Param("lane"), GP64()), Load(Param("sums"), GP64())
}

// ofLane is row i of the lanes' numbers.
func (p *stepper) ofLane(i int) Mem { return Mem{Base: p.lane, Disp: i * row} }

// number is the number of an array for the row i rows on.
func (p *stepper) number(base reg.Register, i int) Mem {
	return Mem{Base: base, Index: p.index, Scale: 1, Disp: 8 * i}
}

// rows goes through the rows of a panel.
func (p *stepper) rows() {
	var chains [2]chain
	for i := range chains {
		at := func(j int) reg.VecVirtual { return p.load(Mem{Base: p.starts, Disp: (4*i + j) * row}) }
		chains[i] = chain{at(0), at(1), at(2), at(3)}
	}
	p.ripple, p.square, p.weight = p.load(p.ofLane(laneRipple)), p.load(p.ofLane(laneSquare)), p.load(p.ofLane(laneWeight))
	p.bend = p.load(Mem{Base: p.steps, Disp: stepBend * row})
	p.sums = p.zeros(sumRows)
	MOVQ(at("n"), p.index)
	SHLQ(U8(3), p.index)
	NEGQ(p.index)
	Label("pair")
	for i, c := range chains {
		p.contract(c, i)
		c.step(p.isa, p.bend)
	}
	ADDQ(U8(16), p.index)
	CMPQ(p.index, I8(-8))
	JLT(LabelRef("pair"))
	JNE(LabelRef("done"))
	p.contract(chains[0], 0)
	Label("done")
}

// contract adds the row i rows on to the sums.
func (p *stepper) contract(c chain, i int) {
	co, si := c.co, c.si
	if p.gated {
		gate := p.broadcast(p.number(p.gate, i))
		co, si = p.reg(), p.reg()
		VMULPD(gate, c.co, co)
		VMULPD(gate, c.si, si)
	}
	cc, ss, e2 := p.reg(), p.reg(), p.reg()
	VMULPD(co, co, cc)
	VMULPD(si, si, ss)
	VADDPD(ss, cc, e2)
	VSUBPD(ss, cc, ss) // cos² − sin²
	if p.gated {
		VMULPD_BCST(p.number(p.inv, i), e2, e2)
	}
	VADDPD(cc, p.sums[sumSquare], p.sums[sumSquare])
	VFMADD231PD_BCST(p.number(p.res, i), co, p.sums[sumAlong])
	VFMADD231PD(e2, ss, p.sums[sumRipple])
	VMULPD(p.ripple, e2, e2)
	u, quad := p.reg(), p.reg()
	VMULPD(p.square, co, u)
	VFMADD231PD_BCST(p.number(p.res, i), p.weight, u)
	VMULPD(u, co, quad)
	VFMADD231PD(e2, ss, quad)
	VFMADD231PD(e2, co, u)
	VMULPD(si, u, u) // −θ̄
	VADDPD(u, p.sums[sumTheta], p.sums[sumTheta])
	VFMADD231PD_BCST(p.number(p.t, i), u, p.sums[sumThetaD])
	VFMADD231PD_BCST(p.number(p.t, i), quad, p.sums[sumQuadD])
	VFMADD231PD_BCST(p.number(p.t2, i), quad, p.sums[sumQuadD2])
}

// close makes sums with d of those with t, signs and all, and adds them to
// memory.
func (p *stepper) close() {
	s := p.sums
	sumQ := p.reg()
	VMULPD(p.square, s[sumSquare], sumQ)
	VFMADD231PD(p.weight, s[sumAlong], sumQ)
	VFMADD231PD(p.ripple, s[sumRipple], sumQ)
	h, delta := p.broadcast(at("mid")), p.broadcast(at("delta"))
	VSUBPD(p.ofLane(laneCenter), h, h)
	VMULPD(delta, s[sumThetaD], s[sumThetaD])
	VFMADD231PD(h, s[sumTheta], s[sumThetaD])
	q2 := p.reg()
	VMULPD(delta, s[sumQuadD2], q2)
	VFMADD231PD(h, s[sumQuadD], q2) // Σ q̄·t·d
	VMULPD(delta, q2, q2)
	VMULPD(delta, s[sumQuadD], s[sumQuadD])
	VFMADD231PD(h, sumQ, s[sumQuadD])
	VFMADD231PD(h, s[sumQuadD], q2)
	s[sumQuadD2] = q2
	for i, v := range s {
		m := Mem{Base: p.to, Disp: i * row}
		sum := p.load(m)
		if i >= sumTheta {
			VSUBPD(v, sum, sum)
		} else {
			VADDPD(v, sum, sum)
		}
		VMOVUPD(sum, m)
	}
}

// even writes the kernels that step along even rows.
func even() {
	for _, s := range isas {
		c := numbers(s)
		c.put("narrow", narrow)
		kernels := []evenly{{name: "even", gated: true}, {name: "evenFit", gated: true, fit: true}, {name: "evenFitOpen", fit: true}}
		if s.width == 64 {
			kernels = append(kernels, evenly{name: "evenStart", gated: true, fit: true, light: true}, evenly{name: "evenStartOpen", fit: true, light: true})
		}
		for _, e := range kernels {
			e.keeper = newKeeper(s, c)
			e.write()
		}
		if s.width == 64 { // AVX2 has not the registers
			evenFactorised(s, true)
			evenFactorised(s, false)
		}
	}
}
