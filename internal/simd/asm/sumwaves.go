package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// sumWavesKernels sum damped waves times the numbers of a table, at a separate position for each
// lane.
var sumWavesKernels = []kernel{{
	name: "sumWaves", variants: always, body: sumWaves, doc: "is sumWavesPlain for panels of jobs.",
	params: "sums, jobs *float64; table *complex128; places, points *int64; panels int",
}}

// Rows of a panel of jobs. The kernel writes the last ones.
const (
	jobDecay  = iota // α
	jobCenter        // r
	jobQuad          // −2·log of the amplitude
	jobTurns         // phase at k = 0
	jobTwist         // turns from k to k + 1
	jobWeight        // η
	jobOffset        // δ
	jobSquare        // ς
	jobReal          // factor of the real parts
	jobImag          // factor of the imaginary parts
	jobBend          // exp(−α)
	jobWave          // V_0, real and imaginary part
	jobBack   = jobWave + 2
	jobFirst  = jobBack + 2  // with V_−1/V_0
	jobRows   = jobFirst + 1 // with the weight of k = 0

	// waveSums is the number of sums: the imaginary part of the last one is not needed.
	waveSums = 5

	// fetched is the number of prefetched terms on each side.
	fetched = 24
)

// sumWaves sums the terms k = 0 … points−1 of all lanes, then k = −1 … −points. V_k+1 = V_k·w_k, w_k+1 = w_k·exp(−α).
func sumWaves(p *pass) {
	p.keep("far", "turnCos", "turnSin", "root")
	sums, jobs, places, table := Load(Param("sums"), GP64()), Load(Param("jobs"), GP64()), Load(Param("places"), GP64()),
		Load(Param("table"), GP64())
	Label("panel")
	p.halves(func() {
		p.fetchNext(places, table)
		job := func(i int) Mem { return Mem{Base: jobs, Disp: i*row + p.place} }
		forward := p.startWaves(job)
		at := make([]reg.GPVirtual, p.width/8)
		for i := range at {
			at[i] = GP64()
			MOVQ(Mem{Base: places, Disp: 8*i + p.place}, at[i])
			SHLQ(U8(4), at[i])
			ADDQ(table, at[i])
		}
		acc, weight := p.zeros(waveSums), p.zeros(1)[0]
		VFNMADD231PD(p.load(job(jobWeight)), p.load(job(jobCenter)), weight)
		VMOVUPD(weight, job(jobFirst))
		wave := [2]reg.VecVirtual{p.load(job(jobWave)), p.load(job(jobWave + 1))}
		p.waveLoop(at, acc, wave, forward, weight, job, 1)
		wave = [2]reg.VecVirtual{p.load(job(jobWave)), p.load(job(jobWave + 1))}
		back := [2]reg.VecVirtual{p.load(job(jobBack)), p.load(job(jobBack + 1))}
		p.nextWave(wave, back, job(jobBend))
		weight = p.load(job(jobFirst))
		VSUBPD(job(jobWeight), weight, weight)
		p.waveLoop(at, acc, wave, back, weight, job, -1)
		p.waveMoments(acc, job)
		for i, v := range acc {
			VMOVUPD(v, Mem{Base: sums, Disp: i*row + p.place})
		}
	})
	ADDQ(U32(waveSums*row), sums)
	ADDQ(U32(jobRows*row), jobs)
	ADDQ(U32(row), places)
	ADDQ(U8(8), at("points"))
	DECQ(at("panels"))
	JNZ(LabelRef("panel"))
}

// waveMoments converts sums p of the terms times powers of η(k − r) to p_0, δp_0 − ip_1 and ςp_0 −
// 2iδp_1 − p_2.
func (p *pass) waveMoments(acc []reg.VecVirtual, job func(int) Mem) {
	t, twice := p.reg(), p.load(job(jobOffset))
	VADDPD(twice, twice, twice)
	VMULPD(job(jobSquare), acc[0], t)
	VFMADD231PD(twice, acc[3], t)
	VSUBPD(acc[4], t, acc[4])
	VFMADD231PD(job(jobOffset), acc[0], acc[3])
	VFMSUB231PD(job(jobOffset), acc[1], acc[2])
	acc[2], acc[3] = acc[3], acc[2]
	for i, part := range []int{jobReal, jobImag, jobReal, jobImag, jobReal} {
		VMULPD(job(part), acc[i], acc[i])
	}
}

// fetchNext prefetches the parts of the table for the next panel's vector, or its own again after
// the last one.
func (p *pass) fetchNext(places, table reg.Register) {
	next, left, entry := GP64(), Load(Param("panels"), GP64()), GP64()
	LEAQ(Mem{Base: places, Disp: row}, next)
	CMPQ(left, U8(1))
	CMOVQEQ(places, next)
	for lane := range p.width / 8 {
		MOVQ(Mem{Base: next, Disp: 8*lane + p.place}, entry)
		SHLQ(U8(4), entry)
		ADDQ(table, entry)
		for line := range 2*fetched*16/64 + 1 {
			PREFETCHT0(Mem{Base: entry, Disp: 64*line - 16*fetched})
		}
	}
}

// startWaves writes exp(−α), V_0 and V_−1/V_0 to the job, and returns V_1/V_0.
func (p *pass) startWaves(job func(int) Mem) (forward [2]reg.VecVirtual) {
	twice := p.load(job(jobDecay))
	VADDPD(twice, twice, twice)
	VMOVUPD(p.decay(twice), job(jobBend))
	// α(1 ∓ 2r)
	step := func(sign func(...Op)) reg.VecVirtual {
		quad, r := p.load(job(jobDecay)), p.load(job(jobCenter))
		VADDPD(r, r, r)
		sign(quad, r, quad)
		return p.decay(quad)
	}
	up := step(func(ops ...Op) { VFNMADD231PD(ops[0], ops[1], ops[2]) })
	down := step(func(ops ...Op) { VFMADD231PD(ops[0], ops[1], ops[2]) })
	co, si, flip := p.circle(p.load(job(jobTwist)))
	if flip != nil {
		p.xor(flip, up)
		p.xor(flip, down)
	}
	t := p.reg()
	VMULPD(down, co, t)
	VMOVUPD(t, job(jobBack))
	VMULPD(down, si, t)
	zero := p.zeros(1)[0]
	VSUBPD(t, zero, t)
	VMOVUPD(t, job(jobBack+1))
	VMULPD(up, co, co)
	VMULPD(up, si, si)
	quad, r := p.load(job(jobQuad)), p.load(job(jobCenter))
	VMULPD(r, r, r)
	VFMADD231PD(job(jobDecay), r, quad)
	e := p.decay(quad)
	wc, ws, flip := p.circle(p.load(job(jobTurns)))
	if flip != nil {
		p.xor(flip, e)
	}
	VMULPD(e, wc, wc)
	VMULPD(e, ws, ws)
	VMOVUPD(wc, job(jobWave))
	VMOVUPD(ws, job(jobWave+1))
	return [2]reg.VecVirtual{co, si}
}

// nextWave multiplies the wave by w, and w by exp(−α).
func (p *pass) nextWave(wave, w [2]reg.VecVirtual, bend Mem) {
	t := p.reg()
	VMULPD(wave[0], w[1], t)
	VMULPD(wave[0], w[0], wave[0])
	VFNMADD231PD(wave[1], w[1], wave[0])
	VMULPD(wave[1], w[0], wave[1])
	VADDPD(t, wave[1], wave[1])
	VMULPD(bend, w[0], w[0])
	VMULPD(bend, w[1], w[1])
}

// waveLoop adds the terms on one side to the sums.
func (p *pass) waveLoop(at []reg.GPVirtual, acc []reg.VecVirtual, wave, w [2]reg.VecVirtual, k reg.VecVirtual, job func(int) Mem,
	sign int) {
	first := 0
	if sign < 0 {
		first = -1
	}
	index, end := GP64(), Load(Param("points"), GP64())
	MOVQ(Mem{Base: end}, end)
	MOVQ(I32(16*first), index)
	SHLQ(U8(4), end)
	if sign < 0 {
		NEGQ(end)
		SUBQ(U8(16), end)
	}
	again := fmt.Sprintf("terms%d_%d", sign+1, p.place)
	Label(again)
	re, im := p.entries(at, index)
	// p = V·E
	pr, pi := p.reg(), p.reg()
	VMULPD(wave[0], re, pr)
	VFNMADD231PD(wave[1], im, pr)
	VMULPD(wave[0], im, pi)
	VFMADD231PD(wave[1], re, pi)
	p.nextWave(wave, w, job(jobBend))
	VADDPD(pr, acc[0], acc[0])
	VADDPD(pi, acc[1], acc[1])
	VMULPD(k, pr, pr)
	VMULPD(k, pi, pi)
	VADDPD(pr, acc[2], acc[2])
	VADDPD(pi, acc[3], acc[3])
	VFMADD231PD(k, pr, acc[4])
	if sign > 0 {
		VADDPD(job(jobWeight), k, k)
	} else {
		VSUBPD(job(jobWeight), k, k)
	}
	ADDQ(I32(16*sign), index)
	CMPQ(index, end)
	JNE(LabelRef(again))
}

// entries reads each lane's entry of the table.
func (p *pass) entries(at []reg.GPVirtual, index reg.GPVirtual) (re, im reg.VecVirtual) {
	half := func(first int) reg.VecVirtual {
		from := func(i int) Mem { return Mem{Base: at[first+i], Index: index, Scale: 1} }
		v := p.reg()
		if p.width == 32 {
			VBROADCASTF128(from(0), v)
			VINSERTF128(U8(1), from(2), v, v)
			return v
		}
		VBROADCASTF64X2(from(0), v)
		for i := range 3 {
			VINSERTF64X2(U8(i+1), from(2*i+2), v, v)
		}
		return v
	}
	even, odd := half(0), half(1)
	re, im = p.reg(), even
	VUNPCKLPD(odd, even, re)
	VUNPCKHPD(odd, even, im)
	return re, im
}
