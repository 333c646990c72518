package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// chains is how many independent products-and-sums peak keeps going: latency
// times throughput of every processor so far is less.
const chains = 12

// peak writes loops that do nothing but multiply and add in registers.
func peak() {
	for _, s := range isas {
		TEXT("peak"+s.name, NOSPLIT, "func(n int)")
		Doc(fmt.Sprintf("peak%s does n times %d multiply-adds of vectors of %d numbers.", s.name, chains, s.width/8))
		n := Load(Param("n"), GP64())
		acc := s.zeros(chains)
		x := s.zeros(1)[0]
		TESTQ(n, n)
		JZ(LabelRef("done"))
		Label("loop")
		for _, a := range acc {
			VFMADD231PD(x, x, a)
		}
		DECQ(n)
		JNZ(LabelRef("loop"))
		Label("done")
		VZEROUPPER()
		RET()
	}
}
