package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The cosine and sine of 2π·turns and exp(−quad/2): with AVX2 by polynomials
// over half a turn and over a factor of 2,
//
//	turns = h/2 + r, h whole, |r| ≤ ¼:  cos 2πr = 1 + r²·C(r²), sin 2πr = r·S(r²), both times (−1)^h
//	quad = r − 2k·log 2, k whole, |r| ≤ log 2:  exp(−r/2) = 1 + r·E(r), times 2^k
//
// With AVX-512 r reaches a sixteenth as far, h and k count sixteenths, and tables
// of sixteen numbers in registers give their part: a seventh fewer operations
// in all.
type degrees struct{ sin, cos, exp int }

func (s isa) degrees() degrees {
	if s.width == 64 {
		return degrees{sin: 5, cos: 4, exp: 6}
	}
	return degrees{sin: 9, cos: 8, exp: 11}
}

// far is where exp(−quad/2) is cut off, at 1e-76: products of four such numbers
// are still normal, and numbers below the normal ones would cost a processor a
// hundred cycles each, in the sums that features meet as in the features.
const far = 350

func feature() {
	for _, s := range isas {
		c := numbers(s)
		featuresOne(s, c)
		featuresFit(s, c, true)
		featuresFit(s, c, false)
		features(s, c)
	}
}

// numbers are the constants of one set.
func numbers(s isa) *constants {
	c := newConstants("numbers"+s.name, s)
	half, n := 1/4., s.degrees()
	log2 := math.Ln2
	if s.width == 64 {
		half, log2 = half*2/parts, log2/parts
	}
	turn := exponential(mul(newFloat(2), float(piDigits)), 60)
	c.list("sin", turn.every(1).fit(0, half*half, n.sin))
	c.list("cos", turn.every(0)[1:].fit(0, half*half, n.cos))
	c.list("exp", exponential(newFloat(-0.5), 40)[1:].fit(-log2, log2, n.exp))
	hi, lo := split(mul(newFloat(2), float(ln2Digits)))
	c.put("2ln2hi", hi)
	c.put("2ln2lo", lo)
	c.put("-1/2ln2", -1/hi)
	c.put("1", 1)
	c.put("far", far)
	if s.width == 64 {
		// A sum with 3·2^51 is rounded to a whole number in its lowest bits;
		// with a sixteenth of that, to sixteenths.
		c.put("sixteenths", (3<<51)/parts)
		c.tables(turn)
		return c
	}
	c.put("half", 0.5)
	c.put("wholes", 3<<51)
	c.put("exponent", 3<<51+1023)
	return c
}

// keepers are the constants and tables that AVX-512 holds in registers.
var keepers = []string{"1", "far", "turnCos", "turnSin", "root", "sin0", "sin1", "sin2", "sin3", "cos0", "cos1", "cos2", "exp0", "exp1", "exp2", "sin4", "cos3", "exp3", "exp4", "2ln2hi", "2ln2lo", "-1/2ln2", "sixteenths"}

// Places of an input's numbers among a panel's parameters, by rows; the first
// row is the phases'.
const (
	parCenter = 1 + iota
	parDecay
	parFreq
	parInput = 3 // rows for each further input
)

// waves gives cos and sin, damped, from the phase in turns and quad, and times
// the gate, where there is one.
func (k *keeper) waves(turns, quad, gate reg.VecVirtual) (co, si reg.VecVirtual) {
	var e reg.VecVirtual
	if k.width == 64 {
		co, si = k.circleTable(turns)
		e = k.decayTable(quad)
	} else {
		var flip reg.VecVirtual
		co, si, flip = k.circle(turns)
		e = k.decay(quad)
		k.xor(flip, e)
	}
	if gate != nil {
		VMULPD(gate, e, e)
	}
	VMULPD(e, co, co)
	VMULPD(e, si, si)
	return co, si
}

// input adds an input's share to turns and quad; par gives the places of its
// numbers.
func (s isa) input(x, turns, quad reg.VecVirtual, par func(row int) Op) {
	pd := s.reg()
	VSUBPD(par(parCenter), x, x)
	VMULPD(par(parDecay), x, pd)
	VFMADD231PD(par(parFreq), x, turns)
	VFMADD231PD(pd, x, quad)
}

// featuresOne writes the damped cosines for one input.
func featuresOne(s isa, c *constants) {
	k := newKeeper(s, c)
	loop{
		name: "featureOne", doc: "is featurePlain for one input.",
		rows: []string{"cos", "sin"}, numbers: []string{"x", "gate"},
		lane: "par", laneRows: parInput + 1,
		keep: func(p *pass) { k.keep(keepers...) },
		each: func(p *pass) { k.one(p) },
	}.write(s)
}

// one writes a row for one input and returns the cosines.
func (k *keeper) one(p *pass) reg.VecVirtual {
	quad := p.zeros(1)[0]
	turns := p.load(p.perLane)
	p.input(p.number("x"), turns, quad, func(i int) Op { return p.perLane.Offset(i * row) })
	var gate reg.VecVirtual
	if _, gated := p.numbers["gate"]; gated {
		gate = p.number("gate")
	}
	co, si := k.waves(turns, quad, gate)
	VMOVUPD(co, p.row("cos"))
	VMOVUPD(si, p.row("sin"))
	return co
}

// featuresFit writes the damped cosines for one input and adds their share of
// a fit, with gates or where all are 1.
func featuresFit(s isa, c *constants, gated bool) {
	k := newKeeper(s, c)
	name, numbers := "featureFitOpen", []string{"x"}
	if gated {
		name, numbers = "featureFit", append(numbers, "gate")
	}
	var w reg.Register
	loop{
		name: name, doc: "is featurePlain for one input, and fitPlain.", more: "w *float64, ",
		rows: []string{"cos", "sin"}, numbers: numbers, shared: "acc",
		lane: "par", laneRows: parInput + 1,
		keep: func(p *pass) {
			k.keep(keepers...)
			w = Load(Param("w"), GP64())
		},
		each: func(p *pass) {
			co, acc := k.one(p), p.load(p.row("acc"))
			VFMADD231PD(Mem{Base: w, Disp: p.at}, co, acc)
			VMOVUPD(acc, p.row("acc"))
		},
		next: func(p *pass) { ADDQ(U32(row), w) },
	}.write(s)
}

// features writes the damped cosines for any number of inputs.
func features(s isa, c *constants) {
	k := newKeeper(s, c)
	loop{
		name: "feature", doc: "is featurePlain.",
		rows: []string{"cos", "sin"}, numbers: []string{"x", "gate"}, strides: map[string]string{"x": "q"}, more: "q, ",
		lane: "par", laneRows: 1,
		keep: func(p *pass) { k.keep(keepers...) },
		each: func(p *pass) {
			quad := s.zeros(1)[0]
			turns := s.load(p.perLane)
			x, par, end := GP64(), GP64(), GP64()
			MOVQ(p.numbers["x"], x)
			LEAQ(Mem{Base: x, Index: p.step["x"], Scale: 1}, end)
			LEAQ(p.perLane, par)
			again := fmt.Sprint("input", p.at)
			Label(again)
			s.input(s.broadcast(Mem{Base: x}), turns, quad, func(i int) Op { return Mem{Base: par, Disp: i * row} })
			ADDQ(U32(8), x)
			ADDQ(U32(parInput*row), par)
			CMPQ(x, end)
			JNE(LabelRef(again))
			co, si := k.waves(turns, quad, p.number("gate"))
			VMOVUPD(co, p.row("cos"))
			VMOVUPD(si, p.row("sin"))
		},
		next: func(p *pass) { // q more inputs' rows
			q := Load(Param("q"), GP64())
			IMUL3Q(U32(parInput*row), q, q)
			ADDQ(q, p.perLane.Base)
		},
	}.write(s)
}
