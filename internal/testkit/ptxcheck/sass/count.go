package sass

import (
	"fmt"
	"slices"
	"strings"
)

// classes are the classes of instructions, in the order of reports. The first element names the
// class, and all elements are kinds that belong to it. All other kinds are "other".
var classes = [][]string{
	{"DMMA"}, {"IMMA"}, {"HMMA"},
	{"DFMA"}, {"DMUL"}, {"DADD"}, {"DSETP"}, {"MUFU"},
	{"LDS"}, {"LDSM"}, {"STS"}, {"LDG", "LD"}, {"STG", "ST"}, {"LDGSTS"}, {"LDGDEPBAR"}, {"DEPBAR"}, {"LDL"}, {"STL"},
	{"ATOM", "ATOMG", "ATOMS", "RED"},
	{"BAR"}, {"WARPSYNC"}, {"SHFL"}, {"CALL"},
	{"branch", "BRA", "BRX", "BSSY", "BSYNC", "EXIT", "RET", "JMP"},
	{"constant", "LDC", "LDCU", "ULDC"},
	{"IMAD"}, {"IDP"},
	{"other"},
}

// Class returns the class of an instruction.
func (x Instruction) Class() string {
	kind := x.Kind()
	for _, c := range classes {
		if slices.Contains(c, kind) {
			return c[0]
		}
	}
	return "other"
}

// Counts are the counts of some instructions of a function. Issue is the sum of their stalls: the
// cycles in which a warp issues them if it never waits for memory, a barrier or a busy unit. It is
// a lower bound for the warp, not for the multiprocessor, which has other warps.
type Counts struct {
	Total, Issue int
	Class        map[string]int
}

// Count counts the instructions with these indices.
func (f *Function) Count(indices []int) Counts {
	c := Counts{Class: map[string]int{}}
	for _, i := range indices {
		x := f.Code[i]
		c.Total++
		c.Issue += max(x.Stall, 1)
		c.Class[x.Class()]++
	}
	return c
}

// String lists the classes that occur: "812 instructions, 1033 cycles to issue: DMMA 64, …".
func (c Counts) String() string {
	var parts []string
	for _, k := range classes {
		if n := c.Class[k[0]]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", k[0], n))
		}
	}
	return fmt.Sprintf("%d instructions, %d cycles to issue: %s", c.Total, c.Issue, strings.Join(parts, ", "))
}

// Report lists the function's loops, each with the counts of its instructions outside inner loops.
func (f *Function) Report() string {
	var b strings.Builder
	all := make([]int, len(f.Code))
	for i := range all {
		all[i] = i
	}
	fmt.Fprintf(&b, "%s: %v\n", f.Name, f.Count(all))
	loops := f.Loops()
	for i, l := range loops {
		last := l.Body[len(l.Body)-1]
		fmt.Fprintf(&b, "%sloop %#x to %#x: %v\n", strings.Repeat("    ", l.Depth), f.Code[l.Head].Offset, f.Code[last].Offset,
			f.Count(Own(loops, i)))
	}
	return b.String()
}
