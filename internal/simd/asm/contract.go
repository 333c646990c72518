package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/reg"
)

// contractKernels sum over the rows of panels.
var contractKernels = []kernel{
	{
		name: "contract", doc: "is contractPlain.", body: contract,
		params:   "sums, cos, sin, bar, quad, x, inv, lane *float64; stride, n, panels int",
		variants: []variant{{when: "quad == nil", suffix: "One", without: "quad"}, {without: "x"}},
	},
	{
		name: "contractInput", variants: always, doc: "is contractInputPlain.",
		params: "sums, theta, quad, x, lane *float64; q, stride, n, panels int",
		body: func(p *pass) {
			p.loop(3, func() { p.preload("lane", laneCenter) }, func() { p.moments(p.sums, p.read("theta"), p.read("quad")) })
		},
	},
	{
		name: "factorized", doc: "is factorizedPlain.", body: factorized,
		params:   "sums, cos, sin, res, x, inv, lane *float64; stride, n, panels int",
		variants: openGate("inv"),
	},
	{
		name: "second", variants: always, doc: "is secondPlain.", params: "sums, cos, sin, inv *float64; stride, n, panels int",
		body: func(p *pass) {
			p.loop(2, nil, func() {
				d := p.damped(p.read("cos"), p.read("sin"))
				VFMADD231PD(d.e2, d.diff, p.sums[0])
				VADDPD(d.cc, p.sums[1], p.sums[1])
			})
		},
	},
	{
		name: "fit", variants: always, doc: "is fitPlain.", params: "cos, acc, w *float64; stride, n, panels int",
		body: func(p *pass) { p.loop(0, func() { p.preload("w", 0) }, func() { p.update("acc", p.read("cos")) }) },
	},
	{
		name: "along", variants: always, doc: "is alongPlain.", params: "sums, cos, y *float64; d, stride, n, panels int",
		body: func(p *pass) {
			p.loop(1, nil, func() { VFMADD231PD(p.row("cos"), p.number("y"), p.sums[0]) })
		},
	},
	{
		name: "output", variants: always, doc: "is outputPlain.", params: "bar, y, w *float64; d, stride, n, panels int",
		body: func(p *pass) {
			p.loop(0, func() { p.preload("w", 0) }, func() { p.update("bar", p.number("y")) })
		},
	},
}

// Rows of factorized's sums.
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

// damped contains a row's cos and sin, e², cos² − sin² and cos².
type damped struct{ co, si, e2, diff, cc reg.VecVirtual }

// damped computes the products of cos and sin.
func (p *pass) damped(co, si reg.VecVirtual) damped {
	d := damped{co, si, p.reg(), p.reg(), p.reg()}
	VMULPD(co, co, d.cc)
	VMULPD(si, si, d.diff)
	VADDPD(d.diff, d.cc, d.e2)
	VSUBPD(d.diff, d.cc, d.diff)
	if p.has("inv") {
		p.by("inv", VMULPD, VMULPD_BCST, d.e2, d.e2)
	}
	return d
}

// adjoint returns −θ̄ and −q̄ for u = A1·∂/∂E[φ], which it overwrites:
//
//	−θ̄ = sin·(u + a2·e²·cos),  −q̄ = u·cos + a2·e²·(cos² − sin²)
func (p *pass) adjoint(d damped, u reg.VecVirtual) (theta, quad reg.VecVirtual) {
	VMULPD(p.of("lane", laneRipple), d.e2, d.e2)
	quad = p.reg()
	VMULPD(u, d.co, quad)
	VFMADD231PD(d.e2, d.diff, quad)
	VFMADD231PD(d.e2, d.co, u)
	VMULPD(d.si, u, u)
	return u, quad
}

// moments adds θ̄·d, q̄·d and q̄·d² to three sums.
func (p *pass) moments(sums []reg.VecVirtual, theta, quad reg.VecVirtual) {
	d := p.number("x")
	VSUBPD(p.of("lane", laneCenter), d, d)
	VFNMADD231PD(theta, d, sums[0])
	VMULPD(d, quad, quad)
	VSUBPD(quad, sums[1], sums[1])
	VFNMADD231PD(d, quad, sums[2])
}

// contract sums over rows of one input. With several inputs it computes the sums that do not depend
// on them, and writes −θ̄ to bar and −q̄ to quad.
func contract(p *pass) {
	one, sums := p.has("x"), 3
	if one {
		sums = 6
	}
	p.loop(sums, func() { p.preload("lane", laneAmp, laneRipple, laneCenter) }, func() {
		d := p.damped(p.read("cos"), p.read("sin"))
		VFMADD231PD(d.e2, d.diff, p.sums[1])
		u := p.read("bar")
		VFMADD231PD(u, d.co, p.sums[0])
		VMULPD(p.of("lane", laneAmp), u, u)
		theta, quad := p.adjoint(d, u)
		VSUBPD(theta, p.sums[2], p.sums[2])
		if one {
			p.moments(p.sums[3:], theta, quad)
			return
		}
		VMOVUPD(theta, p.row("bar"))
		VMOVUPD(quad, p.row("quad"))
	})
}

// factorized sums over rows of one input and one output.
func factorized(p *pass) {
	p.loop(sumRows, func() { p.preload("lane", laneRipple, laneCenter, laneSquare, laneWeight) }, func() {
		theta, quad := p.residual(p.read("cos"), p.read("sin"))
		p.moments(p.sums[sumThetaD:], theta, quad)
	})
}

// residual adds to the first four sums of factorized and returns −θ̄ and −q̄.
func (p *pass) residual(co, si reg.VecVirtual) (theta, quad reg.VecVirtual) {
	d := p.damped(co, si)
	VFMADD231PD(d.e2, d.diff, p.sums[sumRipple])
	VADDPD(d.cc, p.sums[sumSquare], p.sums[sumSquare])
	res, u := p.number("res"), p.reg()
	VFMADD231PD(res, d.co, p.sums[sumAlong])
	VMULPD(p.of("lane", laneSquare), d.co, u)
	VFMADD231PD(p.of("lane", laneWeight), res, u)
	theta, quad = p.adjoint(d, u)
	VSUBPD(theta, p.sums[sumTheta], p.sums[sumTheta])
	return theta, quad
}

// update adds w·v to a row of a panel.
func (p *pass) update(name string, v reg.VecVirtual) {
	sum := p.read(name)
	VFMADD231PD(p.of("w", 0), v, sum)
	VMOVUPD(sum, p.row(name))
}

// write writes a row of the features, and adds their contribution to a fit.
func (p *pass) write(co, si reg.VecVirtual) {
	if p.has("cos") {
		VMOVUPD(co, p.row("cos"))
		VMOVUPD(si, p.row("sin"))
	}
	if p.has("acc") {
		p.update("acc", co)
	}
}
