package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// lanes is the number of features of a panel: one row of it is a cache line.
const lanes = 8

// row is the length of a panel's row in bytes.
const row = lanes * 8

// An isa is an instruction set: its vectors have width bytes, and a panel's row has row/width of
// them.
type isa struct {
	name  string
	width int
	reg   func() reg.VecVirtual
}

var (
	avx512 = isa{"AVX512", 64, ZMM}
	avx2   = isa{"AVX2", 32, YMM}
	isas   = []isa{avx512, avx2}
)

// vectors returns the number of vectors of a panel's row.
func (s isa) vectors() int { return row / s.width }

// zeros returns n cleared vectors.
func (s isa) zeros(n int) []reg.VecVirtual {
	v := make([]reg.VecVirtual, n)
	for i := range v {
		v[i] = s.reg()
		s.xor(v[i], v[i])
	}
	return v
}

// xor flips the bits of v that are set in m.
func (s isa) xor(m, v reg.VecVirtual) {
	if s.width == 64 {
		VPXORQ(m, v, v)
	} else {
		VXORPD(m, v, v)
	}
}

// load loads a vector from m.
func (s isa) load(m Op) reg.VecVirtual {
	v := s.reg()
	VMOVUPD(m, v)
	return v
}

// broadcast returns a vector that repeats the number at m.
func (s isa) broadcast(m Op) reg.VecVirtual {
	v := s.reg()
	VBROADCASTSD(m, v)
	return v
}

// inBytes loads a count of float64s from a parameter and converts it to bytes.
func inBytes(param string) reg.GPVirtual {
	r := Load(Param(param), GP64()).(reg.GPVirtual)
	SHLQ(U8(3), r)
	return r
}

// at returns the address of a parameter.
func at(param string) Mem {
	b, err := Param(param).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}
