package main

import (
	"slices"
	"strings"

	. "github.com/mmcloughlin/avo/build"
)

// A kernel is a function of the assembly.
type kernel struct {
	name, doc string
	params    string    // groups of names of a type; see pass for the layout of the arrays
	steps     bool      // it returns the number of panels that it stepped through
	widest    bool      // only AVX-512 has enough registers
	variants  []variant // functions for special arguments, in the order of their checks
	body      func(p *pass)
}

// always is the single variant of a kernel without special cases.
var always = []variant{{}}

// openGate returns the variants of a kernel that is faster if all gates are 1.
func openGate(without string) []variant {
	return []variant{{when: strings.Fields(without)[0] + " == nil", suffix: "Open", without: without}, {}}
}

// parameters returns a variant's parameters, without and with their types.
func (k kernel) parameters(v variant) (names, typed []string) {
	for group := range strings.SplitSeq(k.params, "; ") {
		cut := strings.LastIndex(group, " ")
		for name := range strings.SplitSeq(group[:cut], ", ") {
			if !slices.Contains(strings.Fields(v.without), name) {
				names, typed = append(names, name), append(typed, name+group[cut:])
			}
		}
	}
	return names, typed
}

// write writes the kernel's variants for a set.
func (k kernel) write(s isa, c *constants) {
	if k.widest && s.width != 64 {
		return
	}
	result := ""
	if k.steps {
		result = " int"
	}
	for _, v := range k.variants {
		names, typed := k.parameters(v)
		name := k.name + v.suffix + s.name
		TEXT(name, NOSPLIT, "func("+strings.Join(typed, ", ")+")"+result)
		Pragma("noescape")
		Doc(name + " " + k.doc)
		k.body(newPass(s, c, v, names))
		VZEROUPPER()
		RET()
	}
}
