// Asm generates package simd's assembly and its Go declarations, one file per subject. It generates
// every kernel for AVX-512 and for AVX2 with FMA from the same code. go generate runs it in package
// simd.
//
// It uses avo, which allocates registers, checks every instruction's operands and computes argument
// offsets that go vet accepts. Kernels are ordinary Go code, whose loops generate their variants.
package main

import (
	"flag"
	"fmt"
	"os"

	. "github.com/mmcloughlin/avo/build"
)

// A subject is a file of kernels; it records whether they share the constants of waves.
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
	{"patch", false, patchKernels},
	{"peak", false, peakKernels},
}

func main() {
	name := flag.String("subject", "", "`name` of the kernels to write, or dispatch for the functions that select them")
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
	err := fmt.Errorf("-subject %q must be dispatch or a name in main.go", *name)
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
