// Asm writes package simd's assembly and its Go declarations: one file a
// subject, every kernel for AVX-512 and for AVX2 with FMA from the same code.
// It is run by go generate in package simd.
//
// avo is what makes this bearable: it gives out registers, knows every
// instruction's operands, computes argument offsets that go vet accepts, and
// what is written is ordinary Go, so that a kernel's shape is a loop variable.
package main

import (
	"flag"
	"fmt"
	"os"

	. "github.com/mmcloughlin/avo/build"
)

var subjects = map[string]func(){
	"tile":     tile,
	"feature":  feature,
	"even":     even,
	"contract": contract,
	"dense":    dense,
	"peak":     peak,
}

// files are the subjects that are no assembly, written to a folder.
var files = map[string]func(dir string) error{"dispatch": dispatch, "sum": sum}

func main() {
	subject := flag.String("subject", "", "which kernels to write, or sum")
	ConstraintExpr("amd64")
	flag.Parse()
	if write, ok := files[*subject]; ok {
		if err := write(".."); err != nil {
			fmt.Fprintln(os.Stderr, "asm:", err)
			os.Exit(1)
		}
		return
	}
	write, ok := subjects[*subject]
	if !ok {
		fmt.Fprintf(os.Stderr, "asm: -subject is %q, want tile, feature, even, contract, dense, peak, dispatch or sum\n", *subject)
		os.Exit(1)
	}
	write()
	Generate()
}
