package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// pairWavesKernels prepare the jobs of sumWaves.
var pairWavesKernels = []kernel{{
	name: "pairWaves", variants: always, body: pairWaves, doc: "is PairWaves for panels of waves.",
	params: "jobs *float64; places *int64; about, one, waves, grid *float64; panels int",
}}

// Rows of a panel of waves, and indices of the same numbers of one wave.
const (
	pairDecay  = iota // P
	pairCenter        // Z
	pairLow           // rounding error of Z
	pairCycles
	pairPart
	pairPhase
	pairRows
)

// Numbers of the grid.
const (
	gridDecay   = iota // P₀
	gridStep           // h
	gridDensity        // √(2π)/T
	gridHigh           // half the span
	gridLow            // less than 0
	gridLength         // 0: the frequencies are not periodic
	gridPerLength
	gridMargin  // and 2^52
	gridWholes  // 1.5·2^52: adding it rounds to an integer
	gridPerTurn // 1/2π
	gridSquare  // span²
	gridReach   // digits/h
	gridLeast   // smallest divisor
	gridSign    // −0
	gridInteger // 2^52
	gridOne     // 1
)

// Rows of the results for Go, in rows that sumWaves overwrites.
const (
	jobExtent = jobBend // P·span² − 2·log
	jobReach  = jobWave // digits·√Q/h
)

// pairWaves writes the jobs of ψ_jψ_k and ψ_jψ_k* for eight k at a time.
func pairWaves(p *pass) {
	jobs, places, about := Load(Param("jobs"), GP64()), Load(Param("places"), GP64()), Load(Param("about"), GP64())
	one, waves, grid := Load(Param("one"), GP64()), Load(Param("waves"), GP64()), Load(Param("grid"), GP64())
	number := func(i int) reg.VecVirtual { return p.broadcast(Mem{Base: grid, Disp: 8 * i}) }
	of := func(i int) reg.VecVirtual { return p.broadcast(Mem{Base: one, Disp: 8 * i}) }
	Label("pairs")
	p.halves(func() {
		wave := func(i int) Mem { return Mem{Base: waves, Disp: i*row + p.place} }
		both := func(v reg.VecVirtual, i int) {
			for sign := range 2 {
				VMOVUPD(v, Mem{Base: jobs, Disp: (sign*jobRows+i)*row + p.place})
			}
		}
		p.pairShape(wave, of, number, both, Mem{Base: about, Disp: p.place})
		for sign := range 2 {
			job := func(i int) Mem { return Mem{Base: jobs, Disp: (sign*jobRows+i)*row + p.place} }
			p.pairCarrier(wave, of, number, job, Mem{Base: places, Disp: sign*row + p.place}, sign)
		}
	})
	ADDQ(U32(2*jobRows*row), jobs)
	ADDQ(U32(2*row), places)
	ADDQ(U32(8*row), about)
	ADDQ(U32(pairRows*row), waves)
	DECQ(at("panels"))
	JNZ(LabelRef("pairs"))
}

// pairShape writes the numbers that both products share.
func (p *pass) pairShape(wave func(int) Mem, of, number func(int) reg.VecVirtual, both func(reg.VecVirtual, int), about Mem) {
	t := p.reg()
	// P, Z = Z_j + (Z_k − Z_j)·P_k/P and −2·log
	decay, share := of(pairDecay), p.load(wave(pairDecay))
	VADDPD(share, decay, decay)
	VMAXPD(number(gridLeast), decay, t)
	VDIVPD(t, share, share)
	apart, low := p.load(wave(pairCenter)), p.load(wave(pairLow))
	VSUBPD(of(pairCenter), apart, apart)
	VSUBPD(of(pairLow), low, low)
	VADDPD(low, apart, apart)
	center := of(pairLow)
	VFMADD231PD(share, apart, center)
	VADDPD(of(pairCenter), center, center)
	log := apart
	VMULPD(apart, apart, log)
	VMULPD(share, log, log)
	VMULPD(of(pairDecay), log, log)
	VMOVAPD(log, t)
	VFMADD231PD(number(gridSquare), decay, t)
	both(t, jobExtent)
	// Q, its root and inverse
	q := number(gridDecay)
	VADDPD(decay, q, q)
	root, inverse := p.reg(), number(gridOne)
	VSQRTPD(q, root)
	VDIVPD(q, inverse, inverse)
	VMULPD(number(gridReach), root, t)
	both(t, jobReach)
	VMULPD(number(gridDensity), root, root)
	VMULPD(inverse, root, root)
	both(root, jobReal)
	VMULPD(number(gridStep), inverse, t)
	both(t, jobWeight)
	alpha := number(gridStep)
	VMULPD(t, alpha, alpha)
	both(alpha, jobDecay)
	// a, the turns and the amplitude
	point := number(gridHigh)
	VMINPD(point, center, point)
	VMAXPD(number(gridLow), point, point)
	VMOVUPD(point, about)
	twist := number(gridPerTurn)
	VMULPD(t, twist, twist)
	VMULPD(center, twist, twist)
	VMULPD(decay, twist, twist)
	p.xor(number(gridSign), twist)
	both(twist, jobTwist)
	VMULPD(center, center, t)
	VMULPD(inverse, t, t)
	VMULPD(decay, t, t)
	VFMADD231PD(number(gridDecay), t, log)
	both(log, jobQuad)
	VSUBPD(point, center, center)
	VMULPD(decay, center, center)
	VFNMADD231PD(number(gridDecay), point, center)
	VMULPD(inverse, center, center)
	both(center, jobOffset)
	VFMADD231PD(center, center, inverse)
	both(inverse, jobSquare)
}

// pairCarrier writes frequency and phase of the sum (sign 0) or the difference.
func (p *pass) pairCarrier(wave func(int) Mem, of, number func(int) reg.VecVirtual, job func(int) Mem, place Mem, sign int) {
	combine := VADDPD
	if sign == 1 {
		combine = VSUBPD
	}
	whole := func(v reg.VecVirtual) reg.VecVirtual {
		w := number(gridWholes)
		VADDPD(v, w, w)
		VSUBPD(number(gridWholes), w, w)
		return w
	}
	r := of(pairPart)
	combine(wave(pairPart), r, r)
	more := whole(r)
	VSUBPD(more, r, r)
	g := of(pairCycles)
	combine(wave(pairCycles), g, g)
	VADDPD(more, g, g)
	t := number(gridPerLength)
	VMULPD(g, t, t)
	VFNMADD231PD(number(gridLength), whole(t), g)
	phase := of(pairPhase)
	combine(wave(pairPhase), phase, phase)
	VSUBPD(whole(phase), phase, phase)
	// E_−g is conj(E_g)
	negative := number(gridSign)
	VANDPD(g, negative, negative)
	imag := p.load(job(jobReal))
	for _, v := range []reg.VecVirtual{g, r, phase, imag} {
		p.xor(negative, v)
	}
	VMOVUPD(imag, job(jobImag))
	VMOVUPD(r, job(jobCenter))
	twist := p.load(job(jobTwist))
	VFNMADD231PD(twist, r, phase)
	VMOVUPD(phase, job(jobTurns))
	VADDPD(number(gridMargin), g, g)
	p.xor(number(gridInteger), g)
	VMOVUPD(g, place)
}
