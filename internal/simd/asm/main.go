// Asm writes package simd's assembly and its Go declarations: one file a
// subject, every kernel for AVX-512 and for AVX2 with FMA from the same code.
// It is run by go generate in package simd.
//
// avo makes this bearable: it allocates registers, knows every instruction's
// operands and computes argument offsets that go vet accepts. Kernels are written
// in ordinary Go, so that a kernel's shape is a loop variable.
package main

import (
	"flag"
	"fmt"
	"os"

	. "github.com/mmcloughlin/avo/build"
)

// A subject is a file of kernels, and whether they share the numbers of waves.
type subject struct {
	name    string
	numbers bool
	kernels []kernel
}

var subjects = []subject{
	{"tile", false, tileKernels},
	{"feature", true, featureKernels},
	{"even", true, evenKernels},
	{"contract", false, contractKernels},
	{"dense", false, denseKernels},
	{"lattice", false, latticeKernels},
	{"sumwaves", true, sumWavesKernels},
	{"pairwaves", false, pairWavesKernels},
	{"peak", false, peakKernels},
}

func main() {
	name := flag.String("subject", "", "which kernels to write, or dispatch: the functions that choose among them")
	ConstraintExpr("amd64")
	flag.Parse()
	var all []kernel
	for _, s := range subjects {
		all = append(all, s.kernels...)
		if s.name == *name {
			s.write()
			Generate()
			return
		}
	}
	err := fmt.Errorf("-subject is %q, which is not one of dispatch and the names in main.go", *name)
	if *name == "dispatch" {
		err = dispatch("..", all)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "asm:", err)
		os.Exit(1)
	}
}

// write writes the kernels for each set.
func (s subject) write() {
	for _, set := range isas {
		var c *constants
		if s.numbers {
			c = waveNumbers(set)
		}
		for _, k := range s.kernels {
			k.write(set, c)
		}
	}
}
