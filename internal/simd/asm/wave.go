package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// circle returns cos 2πr and sin 2πr and, with AVX2, the sign bit of (−1)^h. Infinite turns give
// NaN.
func (k *keeper) circle(turns reg.VecVirtual) (co, si, flip reg.VecVirtual) {
	if k.width == 64 {
		co, si = k.circleTable(turns)
		return co, si, nil
	}
	flip = k.reg()
	h := k.reg()
	VADDPD(turns, turns, h)
	VROUNDPD(U8(8), h, h) // to nearest even
	k.with("wholes", VADDPD, VADDPD_BCST, h, flip)
	VPSLLQ(U8(63), flip, flip)
	VFNMADD231PD(k.at("half"), h, turns) // r
	co, si = k.smallTurn(turns)
	return co, si, flip
}

// smallTurn returns the cosine and sine of r turns, by the polynomials.
func (k *keeper) smallTurn(r reg.VecVirtual) (co, si reg.VecVirtual) {
	z := k.reg()
	VMULPD(r, r, z)
	p := k.polynomials(z, "cos", "sin")
	co, si = p[0], p[1]
	k.horner(co, z, "1")
	VMULPD(r, si, si)
	return co, si
}

// circleTable is circle with the table's rotation by h/16 turns. It would treat infinite turns as
// 0.
func (k *keeper) circleTable(turns reg.VecVirtual) (co, si reg.VecVirtual) {
	co, si = k.reg(), k.reg()
	k.with("sixteenths", VADDPD, VADDPD_BCST, turns, co)
	VMOVAPD(co, si)
	VREDUCEPD(U8(4<<4), turns, turns)
	k.look("turnCos", co)
	k.look("turnSin", si)
	turned, s := k.smallTurn(turns)
	c, d := k.reg(), k.reg() // 512-bit moves cost as much as products
	VMULPD(si, s, c)
	VMULPD(co, s, d)
	VFMSUB231PD(turned, co, c)
	VFMADD231PD(turned, si, d)
	return c, d
}

// Predicates of comparisons. Only the second is true for NaN.
const (
	greater    = 0x1e
	notGreater = 0x1a
	notAbove   = 0x12 // ≤
)

// decay returns exp(−quad/2), 0 beyond far, and overwrites quad. Intermediate values for large
// numbers are arbitrary; NaN gives NaN.
func (k *keeper) decay(quad reg.VecVirtual) reg.VecVirtual {
	if k.width == 64 {
		return k.decayTable(quad)
	}
	beyond := k.reg()
	VCMPPD(U8(greater), k.at("far"), quad, beyond)
	power, _ := k.reduce(quad, "exponent")
	VPSLLQ(U8(52), power, power)
	e := k.polynomials(quad, "exp")[0]
	k.horner(e, quad, "1")
	VMULPD(power, e, e)
	VANDNPD(e, beyond, e)
	return e
}

// decayTable is decay with the table's power of 2. If quad is so large that r's fifth power
// overflows, the result is NaN.
func (k *keeper) decayTable(quad reg.VecVirtual) reg.VecVirtual {
	within := reg.Register(K())
	VCMPPD(U8(notGreater), k.kept["far"], quad, within)
	root, whole := k.reduce(quad, "sixteenths")
	k.look("root", root)
	p := k.polynomials(quad, "exp")[0]
	VSCALEFPD_Z(whole, root, within, root) // times 2^⌊k⌋, before the sum: it makes 0 of NaN·2^−∞
	VMULPD(root, quad, quad)
	VFMADD231PD(p, quad, root)
	return root
}

// reduce computes r from quad and returns a sum with magic that has k in its lowest bits, and k.
func (k *keeper) reduce(quad reg.VecVirtual, magic string) (sum, whole reg.VecVirtual) {
	sum, whole = k.value(magic), k.reg()
	k.fma(sum, quad, "-1/2ln2")
	k.with(magic, VSUBPD, VSUBPD_BCST, sum, whole)
	k.fma(quad, whole, "2ln2hi")
	k.fma(quad, whole, "2ln2lo")
	return sum, whole
}

// polynomials evaluates polynomials of z down to their first terms, interleaved.
func (k *keeper) polynomials(z reg.VecVirtual, names ...string) []reg.VecVirtual {
	acc, terms := make([]reg.VecVirtual, len(names)), 0
	for i, name := range names {
		acc[i] = k.value(fmt.Sprint(name, k.terms[name]-1))
		terms = max(terms, k.terms[name])
	}
	for term := terms - 2; term >= 0; term-- {
		for i, name := range names {
			if term < k.terms[name]-1 {
				k.horner(acc[i], z, fmt.Sprint(name, term))
			}
		}
	}
	return acc
}
