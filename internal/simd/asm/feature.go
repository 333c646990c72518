package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// far is the value of quad above which exp(−quad/2), 1e-76, is set to 0. Products of four such
// numbers are still normal, and subnormal numbers would cost a processor a hundred cycles each, in
// the features and in their sums.
const far = 350

// narrow bounds P·(x_last − x_first)² of a lane that is stepped.
const narrow = 100

// waveNumbers returns the constants of an instruction set for the cosine and sine of 2π·turns and
// exp(−quad/2). AVX2 uses polynomials over half a turn and over a factor of 2,
//
//	turns = h/2 + r, h whole, |r| ≤ ¼:  cos 2πr = 1 + r²·C(r²), sin 2πr = r·S(r²), both times (−1)^h
//	quad = r − 2k·log 2, k whole, |r| ≤ log 2:  exp(−r/2) = 1 + r·E(r), times 2^k
//
// With AVX-512 the range of r is a sixteenth of this, h and k count sixteenths, and tables of
// sixteen numbers in registers contain their factors. This saves a seventh of all operations.
func waveNumbers(s isa) *constants {
	c := newConstants("numbers"+s.name, s)
	half, log2, sin, cos, exp := 1/4., math.Ln2, 9, 8, 11
	if s.width == 64 {
		half, log2, sin, cos, exp = half*2/parts, log2/parts, 5, 4, 6
	}
	turn := exponential(mul(newFloat(2), pi), 60)
	c.list("sin", turn.every(1).fit(0, half*half, sin))
	c.list("cos", turn.every(0)[1:].fit(0, half*half, cos))
	c.list("exp", exponential(newFloat(-0.5), 40)[1:].fit(-log2, log2, exp))
	twice := mul(newFloat(2), ln2)
	hi, _ := twice.Float64()
	lo, _ := sub(twice, newFloat(hi)).Float64()
	c.put("2ln2hi", hi)
	c.put("2ln2lo", lo)
	c.put("-1/2ln2", -1/hi)
	c.put("1", 1)
	c.put("far", far)
	c.put("narrow", narrow)
	c.put("0", 0)
	if s.width == 64 {
		// A sum with 3·2^51 is rounded to an integer in its lowest bits; with a sixteenth of it, to
		// sixteenths.
		c.put("sixteenths", (3<<51)/parts)
		c.tables(turn)
		return c
	}
	c.put("half", 0.5)
	c.put("wholes", 3<<51)
	c.put("exponent", 3<<51+1023)
	return c
}

// keepers are the constants and tables that AVX-512 keeps in registers.
var keepers = []string{"1", "far", "turnCos", "turnSin", "root", "sin0", "sin1", "sin2", "sin3", "cos0", "cos1", "cos2", "exp0", "exp1",
	"exp2", "sin4", "cos3", "exp3", "exp4", "2ln2hi", "2ln2lo", "-1/2ln2", "sixteenths"}

// featureKernels write damped cosines: for one input, with a fit in the same pass, or for any
// number of inputs.
var featureKernels = []kernel{{
	name: "feature", doc: "is featurePlain, and with a fit fitPlain.", body: features,
	params: "cos, sin, x, gate, acc, par, w *float64; q, stride, n, panels int",
	variants: []variant{
		{when: "q == 1 && acc == nil", suffix: "One", without: "q acc w"},
		{when: "q == 1 && gate == nil", suffix: "FitOpen", without: "q gate"},
		{when: "q == 1", suffix: "Fit", without: "q"}, {without: "acc w"},
	},
}}

// features writes the damped cosines row by row.
func features(p *pass) {
	p.keep(keepers...)
	p.loop(0, nil, func() { p.write(p.wave("gate")) })
}

// wave returns a row's damped cos and sin, times the gate if the kernel has a parameter of that
// name.
func (p *pass) wave(gate string) (co, si reg.VecVirtual) {
	quad := p.zeros(1)[0]
	turns := p.load(p.own("par", 0))
	if p.has("q") {
		p.inputs(turns, quad)
	} else {
		p.input(p.number("x"), turns, quad, p.own("par", 0))
	}
	co, si, flip := p.circle(turns)
	e := p.decay(quad)
	if flip != nil {
		p.xor(flip, e)
	}
	if p.has(gate) {
		p.by(gate, VMULPD, VMULPD_BCST, e, e)
	}
	VMULPD(e, co, co)
	VMULPD(e, si, si)
	return co, si
}

// input adds an input's contribution to turns and quad; par is a row before its numbers.
func (p *pass) input(x, turns, quad reg.VecVirtual, par Mem) {
	pd := p.reg()
	VSUBPD(par.Offset(parCenter*row), x, x)
	VMULPD(par.Offset(parDecay*row), x, pd)
	VFMADD231PD(par.Offset(parFreq*row), x, turns)
	VFMADD231PD(pd, x, quad)
}

// inputs adds the contributions of all inputs.
func (p *pass) inputs(turns, quad reg.VecVirtual) {
	x, par, end := GP64(), GP64(), GP64()
	MOVQ(p.base["x"], x)
	LEAQ(Mem{Base: x, Index: p.step["x"], Scale: 1}, end)
	LEAQ(p.own("par", 0), par)
	again := fmt.Sprint("input", p.place)
	Label(again)
	p.input(p.broadcast(Mem{Base: x}), turns, quad, Mem{Base: par})
	ADDQ(U32(8), x)
	ADDQ(U32(parInput*row), par)
	CMPQ(x, end)
	JNE(LabelRef(again))
}
