package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// constants are a kernel's numbers in read-only memory. Each is stored four times for AVX2, which
// cannot broadcast a memory operand.
type constants struct {
	base   Mem
	place  map[string]int
	terms  map[string]int
	size   int
	repeat int
}

func newConstants(name string, s isa) *constants {
	c := &constants{base: GLOBL(name, attr.RODATA|attr.NOPTR), place: map[string]int{}, terms: map[string]int{}, repeat: 1}
	if s.width == 32 {
		c.repeat = 4
	}
	return c
}

func (c *constants) put(name string, x float64) {
	c.place[name] = c.size
	for range c.repeat {
		DATA(c.size, U64(math.Float64bits(x))) // F64(1) would be read as an integer
		c.size += 8
	}
}

func (c *constants) list(name string, xs []float64) {
	c.terms[name] = len(xs)
	for i, x := range xs {
		c.put(fmt.Sprint(name, i), x)
	}
}

func (c *constants) at(name string) Mem {
	at, ok := c.place[name]
	if !ok {
		panic("no constant " + name)
	}
	return c.base.Offset(at)
}

// tables adds cos and sin of j/16 turns and 2^(j/16).
func (c *constants) tables(turn series) {
	cos, sin, power := make([]float64, parts), make([]float64, parts), make([]float64, parts)
	for j := range parts {
		r := newFloat(float64(j) / parts)
		z := mul(r, r)
		cos[j], _ = turn.every(0).at(z).Float64()
		sin[j], _ = mul(r, turn.every(1).at(z)).Float64()
		power[j], _ = exponential(mul(ln2, r), 60).at(newFloat(1)).Float64()
	}
	c.list("turnCos", cos)
	c.list("turnSin", sin)
	c.list("root", power)
}

// A keeper provides constants: from registers, if kept there as AVX-512 can, or from memory.
type keeper struct {
	isa
	*constants
	kept map[string]reg.VecVirtual
}

// keep loads constants and tables into registers, only for AVX-512: AVX2 has too few.
func (k *keeper) keep(names ...string) {
	if k.width != 64 {
		return
	}
	for _, name := range names {
		if k.terms[name] == parts {
			k.kept[name+"Low"], k.kept[name+"High"] = k.load(k.at(name+"0")), k.load(k.at(name+"8"))
		} else {
			k.kept[name] = k.broadcast(k.at(name))
		}
	}
}

// value returns the constant in a vector that may be overwritten.
func (k *keeper) value(name string) reg.VecVirtual {
	if k.width == 64 {
		return k.broadcast(k.at(name))
	}
	return k.load(k.at(name))
}

// with writes an instruction whose first operand is the constant: a register, or memory, where
// AVX-512 broadcasts one number and AVX2 reads four.
func (k *keeper) with(name string, plain, repeat func(...Op), ops ...Op) {
	v, ok := k.kept[name]
	switch {
	case ok:
		plain(append([]Op{v}, ops...)...)
	case k.width == 64:
		repeat(append([]Op{k.at(name)}, ops...)...)
	default:
		plain(append([]Op{k.at(name)}, ops...)...)
	}
}

// horner computes acc·x + the constant in acc.
func (k *keeper) horner(acc, x reg.VecVirtual, name string) {
	k.with(name, VFMADD213PD, VFMADD213PD_BCST, x, acc)
}

// fma adds x times the constant to acc.
func (k *keeper) fma(acc, x reg.VecVirtual, name string) {
	k.with(name, VFMADD231PD, VFMADD231PD_BCST, x, acc)
}

// look replaces an index by the entry of a table in two registers.
func (k *keeper) look(name string, index reg.VecVirtual) {
	VPERMI2PD(k.kept[name+"High"], k.kept[name+"Low"], index)
}

// parts is the number of parts into which AVX-512 divides the turn and the factor of 2.
const parts = 16
