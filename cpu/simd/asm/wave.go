package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// circle gives cos 2πr and sin 2πr and the sign bit of (−1)^h. Of infinite
// turns it makes NaN.
func (k *keeper) circle(turns reg.VecVirtual) (co, si, flip reg.VecVirtual) {
	flip = k.reg()
	h := k.reg()
	VADDPD(turns, turns, h)
	VROUNDPD(U8(8), h, h) // to nearest even
	k.plus(h, flip, "wholes")
	VPSLLQ(U8(63), flip, flip)
	VFNMADD231PD(k.at("half"), h, turns) // now r
	z := k.reg()
	VMULPD(turns, turns, z)
	co, si = k.last("cos"), k.last("sin")
	k.polynomials(z, map[string]reg.VecVirtual{"cos": co, "sin": si})
	k.horner(co, z, "1")
	VMULPD(turns, si, si)
	return co, si, flip
}

// circleTable is circle with the table's turn of h/16 put in. It would take
// infinite turns for 0.
func (k *keeper) circleTable(turns reg.VecVirtual) (co, si reg.VecVirtual) {
	co, si = k.reg(), k.reg()
	k.plus(turns, co, "sixteenths")
	VMOVAPD(co, si)
	VREDUCEPD(U8(4<<4), turns, turns)
	k.look("turnCos", co)
	k.look("turnSin", si)
	z := k.reg()
	VMULPD(turns, turns, z)
	turned, s := k.last("cos"), k.last("sin")
	k.polynomials(z, map[string]reg.VecVirtual{"cos": turned, "sin": s})
	k.horner(turned, z, "1") // cos 2πr
	VMULPD(turns, s, s)      // sin 2πr
	c, d := k.reg(), k.reg() // moves of 512 bits cost as much as products
	VMULPD(si, s, c)
	VMULPD(co, s, d)
	VFMSUB231PD(turned, co, c)
	VFMADD231PD(turned, si, d)
	return c, d
}

// decay gives exp(−quad/2), 0 beyond far, and uses quad up. What it makes of
// large numbers before they are cut off does not matter; NaN stays.
func (k *keeper) decay(quad reg.VecVirtual) reg.VecVirtual {
	beyond := k.reg()
	VCMPPD(U8(greater), k.at("far"), quad, beyond)
	whole := k.whole(quad, "exponent")
	power := k.reg()
	VPSLLQ(U8(52), whole, power)
	k.minus(whole, whole, "exponent")
	k.remainder(quad, whole)
	e := k.last("exp")
	k.polynomials(quad, map[string]reg.VecVirtual{"exp": e})
	k.horner(e, quad, "1")
	VMULPD(power, e, e)
	VANDNPD(e, beyond, e)
	return e
}

// decayTable is decay with the table's part of the factor of 2. Numbers so
// large that r's fifth power is none give NaN.
func (k *keeper) decayTable(quad reg.VecVirtual) reg.VecVirtual {
	within := reg.Register(K())
	VCMPPD(U8(notGreater), k.kept["far"], quad, within)
	root := k.whole(quad, "sixteenths")
	whole := k.reg()
	k.minus(root, whole, "sixteenths")
	k.remainder(quad, whole)
	k.look("root", root)
	p := k.last("exp")
	k.polynomials(quad, map[string]reg.VecVirtual{"exp": p})
	VSCALEFPD_Z(whole, root, within, root) // times 2^⌊k⌋, before the sum: it makes 0 of NaN·2^−∞
	VMULPD(root, quad, quad)
	VFMADD231PD(p, quad, root)
	return root
}

// Predicates of comparisons, of which the second is true for NaN.
const (
	greater    = 0x1e
	notGreater = 0x1a
)

// whole is k in the lowest bits of a sum with magic.
func (k *keeper) whole(quad reg.VecVirtual, magic string) reg.VecVirtual {
	whole := k.value(magic)
	k.fma(whole, quad, "-1/2ln2")
	return whole
}

// remainder makes r of quad.
func (k *keeper) remainder(quad, whole reg.VecVirtual) {
	k.fma(quad, whole, "2ln2hi")
	k.fma(quad, whole, "2ln2lo")
}

// last begins a polynomial with its last term.
func (k *keeper) last(name string) reg.VecVirtual {
	return k.value(fmt.Sprint(name, k.count(name)-1))
}

// polynomials takes polynomials of z to their first terms, side by side.
func (k *keeper) polynomials(z reg.VecVirtual, acc map[string]reg.VecVirtual) {
	for i := k.count("sin") + k.count("exp"); i >= 0; i-- {
		for _, name := range []string{"cos", "sin", "exp"} {
			if v, ok := acc[name]; ok && i < k.count(name)-1 {
				k.horner(v, z, fmt.Sprint(name, i))
			}
		}
	}
}
