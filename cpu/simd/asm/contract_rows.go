package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/reg"
)

// Rows of the lanes' own numbers.
const (
	laneAmp    = iota // A1
	laneRipple        // 4·A2·∂/∂E[φ²]
	laneCenter        // z
	laneSquare        // α: A1·∂/∂E[φ] = α·cos + β·residual
	laneWeight        // β
)

// A damped is what a row of a panel says of its features: cos, sin, e², cos² −
// sin² and cos².
type damped struct{ co, si, e2, diff, cc reg.VecVirtual }

// damped reads the row.
func (p *pass) damped() damped {
	d := damped{co: p.load(p.row("cos")), si: p.load(p.row("sin")), e2: p.reg(), diff: p.reg(), cc: p.reg()}
	ss := p.reg()
	VMULPD(d.co, d.co, d.cc)
	VMULPD(d.si, d.si, ss)
	VADDPD(ss, d.cc, d.e2)
	VSUBPD(ss, d.cc, d.diff)
	if _, gated := p.numbers["inv"]; gated {
		VMULPD(p.number("inv"), d.e2, d.e2)
	}
	return d
}

// adjoint gives −θ̄ and −q̄ for u = A1·∂/∂E[φ], which it uses up:
//
//	−θ̄ = sin·(u + a2·e²·cos),  −q̄ = u·cos + a2·e²·(cos² − sin²)
func (p *pass) adjoint(d damped, u reg.VecVirtual) (theta, quad reg.VecVirtual) {
	VMULPD(p.of(laneRipple), d.e2, d.e2)
	quad = p.reg()
	VMULPD(u, d.co, quad)
	VFMADD231PD(d.e2, d.diff, quad)
	VFMADD231PD(d.e2, d.co, u)
	VMULPD(d.si, u, u)
	return u, quad
}

// moments adds −θ̄, −θ̄·d, −q̄·d and −q̄·d² to four sums, negatively.
func (p *pass) moments(sums []reg.VecVirtual, theta, quad reg.VecVirtual) {
	d := p.number("x")
	VSUBPD(p.of(laneCenter), d, d)
	VFNMADD231PD(theta, d, sums[0])
	VMULPD(d, quad, quad)
	VSUBPD(quad, sums[1], sums[1])
	VFNMADD231PD(d, quad, sums[2])
}

// laneRows is how many rows of numbers a panel's lanes have in contractions.
const laneRows = laneWeight + 1

// contractOne: one input.
func contractOne(s isa) {
	loop{
		name: "contract", doc: "is contractRowsPlain for one input.", addTo: 6,
		rows: []string{"cos", "sin", "bar"}, numbers: []string{"x", "inv"},
		lane: "lane", laneRows: laneRows, keepLanes: 3,
		each: func(p *pass) {
			theta, quad := p.adjoint(p.given())
			VSUBPD(theta, p.sums[2], p.sums[2])
			p.moments(p.sums[3:], theta, quad)
		},
	}.write(s)
}

// contractRows: what does not depend on the inputs; bar becomes −θ̄.
func contractRows(s isa) {
	loop{
		name: "contractRows", doc: "is contractRowsPlain for several inputs.", addTo: 3,
		rows: []string{"cos", "sin", "bar", "quad"}, numbers: []string{"inv"},
		lane: "lane", laneRows: laneRows, keepLanes: 2,
		each: func(p *pass) {
			theta, quad := p.adjoint(p.given())
			VSUBPD(theta, p.sums[2], p.sums[2])
			VMOVUPD(theta, p.row("bar"))
			VMOVUPD(quad, p.row("quad"))
		},
	}.write(s)
}

// contractInput: one of several inputs.
func contractInput(s isa) {
	loop{
		name: "contractInput", doc: "is contractInputPlain.", addTo: 3,
		rows: []string{"theta", "quad"}, numbers: []string{"x"}, strides: map[string]string{"x": "q"}, more: "q, ",
		lane: "lane", laneRows: laneRows, keepLanes: 3,
		each: func(p *pass) { p.moments(p.sums, p.load(p.row("theta")), p.load(p.row("quad"))) },
	}.write(s)
}

// given reads the row and u = ∂/∂E[φ], and sums u·cos and the ripple.
func (p *pass) given() (damped, reg.VecVirtual) {
	d := p.damped()
	VFMADD231PD(d.e2, d.diff, p.sums[1])
	u := p.load(p.row("bar"))
	VFMADD231PD(u, d.co, p.sums[0])
	VMULPD(p.of(laneAmp), u, u)
	return d, u
}

// factorised: one input and one output, with gates or where all are 1.
func factorised(s isa, gated bool) {
	name, numbers := "factorisedOpen", []string{"res", "x"}
	if gated {
		name, numbers = "factorised", append(numbers, "inv")
	}
	loop{
		name: name, doc: "is factorisedPlain.", addTo: 7,
		rows: []string{"cos", "sin"}, numbers: numbers,
		lane: "lane", laneRows: laneRows, keepLanes: 5,
		each: func(p *pass) {
			d := p.damped()
			VFMADD231PD(d.e2, d.diff, p.sums[2])
			VADDPD(d.cc, p.sums[1], p.sums[1])
			res, u := p.number("res"), p.reg()
			VFMADD231PD(res, d.co, p.sums[0])
			VMULPD(p.of(laneSquare), d.co, u)
			VFMADD231PD(p.of(laneWeight), res, u)
			theta, quad := p.adjoint(d, u)
			VSUBPD(theta, p.sums[3], p.sums[3])
			p.moments(p.sums[4:], theta, quad)
		},
	}.write(s)
}

// second: the second moments' sums.
func second(s isa) {
	loop{
		name: "second", doc: "is secondPlain.", addTo: 2,
		rows: []string{"cos", "sin"}, numbers: []string{"inv"},
		each: func(p *pass) {
			d := p.damped()
			VFMADD231PD(d.e2, d.diff, p.sums[0])
			VADDPD(d.cc, p.sums[1], p.sums[1])
		},
	}.write(s)
}

// fit: the panels' shares of Σ_k φ̄_nk·m_k, lane by lane.
func fit(s isa) {
	loop{
		name: "fit", doc: "is fitPlain.",
		rows: []string{"cos"}, shared: "acc", lane: "w", laneRows: 1, keepLanes: 1,
		each: func(p *pass) {
			acc, c := p.load(p.row("acc")), p.load(p.row("cos"))
			VFMADD231PD(p.of(0), c, acc)
			VMOVUPD(acc, p.row("acc"))
		},
	}.write(s)
}

// along: Σ_n y_n·φ_n for one of d outputs.
func along(s isa) {
	loop{
		name: "along", doc: "is alongPlain.", addTo: 1,
		rows: []string{"cos"}, numbers: []string{"y"}, strides: map[string]string{"y": "d"}, more: "d, ",
		each: func(p *pass) { VFMADD231PD(p.row("cos"), p.number("y"), p.sums[0]) },
	}.write(s)
}

// outputs: bar + y·β for one of d outputs.
func outputs(s isa) {
	loop{
		name: "output", doc: "is outputPlain.",
		rows: []string{"bar"}, numbers: []string{"y"}, strides: map[string]string{"y": "d"}, more: "d, ",
		lane: "w", laneRows: 1, keepLanes: 1,
		each: func(p *pass) {
			bar := p.load(p.row("bar"))
			VFMADD231PD(p.of(0), p.number("y"), bar)
			VMOVUPD(bar, p.row("bar"))
		},
	}.write(s)
}

// contract writes the kernels that sum over the rows of one panel.
func contract() {
	for _, s := range isas {
		contractOne(s)
		contractRows(s)
		contractInput(s)
		factorised(s, true)
		factorised(s, false)
		second(s)
		fit(s)
		along(s)
		outputs(s)
	}
}
