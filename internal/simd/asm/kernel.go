package main

import (
	"slices"
	"strings"

	. "github.com/mmcloughlin/avo/build"
)

// A kernel is a function of the assembly.
type kernel struct {
	name, doc string
	params    string    // groups of names of a type; see pass for how the arrays lie
	steps     bool      // it returns how many panels it could step through
	widest    bool      // AVX-512 alone has the registers for it
	variants  []variant // functions for some arguments, in the order in which they are tried
	body      func(p *pass)
}

// always is the one variant of a kernel that has no others.
var always = []variant{{}}

// openGate are the variants of a kernel that is faster where all gates are 1.
func openGate(without string) []variant {
	return []variant{{when: strings.Fields(without)[0] + " == nil", suffix: "Open", without: without}, {}}
}

// parameters lists a variant's, without and with their types.
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
