package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/ptxcheck/sass"
	"github.com/vssgp/vssgp/kernels"
)

const output = `ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'pullback_128' for 'sm_90'
ptxas info    : Function properties for pullback_128
    16 bytes stack frame, 16 bytes spill stores, 24 bytes spill loads
ptxas info    : Used 254 registers, 656 bytes cmem[0]
ptxas info    : Compiling entry function 'sums_reduce' for 'sm_90'
ptxas info    : Function properties for sums_reduce
    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads
ptxas info    : Function properties for __internal_div
    16 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 32 registers
`

func TestUsesOfRegisters(t *testing.T) {
	all, err := uses(output)
	if err != nil || len(all) != 2 || all[0] != (use{"pullback_128", 254, 16, 24}) || all[1] != (use{"sums_reduce", 32, 8, 12}) {
		t.Errorf("%v, %v", all, err)
	}
	wrong := code{arch: 90, uses: all}.spills()
	if len(wrong) != 1 || !strings.Contains(wrong[0], "sums_reduce has 8 bytes of stack and 12 of spilled registers: at most 0 and 0") {
		t.Errorf("%q", wrong)
	}
	for _, text := range []string{"", "ptxas info : Compiling entry function 'a' for 'sm_90'\n", strings.ReplaceAll(output, "Used", "")} {
		if _, err := uses(text); err == nil {
			t.Errorf("no error for %q", text)
		}
	}
}

// TestShapeOfProductLoops checks loops with the products of a stage for T = 64 on sm_90, and incorrect loops.
func TestShapeOfProductLoops(t *testing.T) {
	ops := func(s string) (all []sass.Instruction) {
		for op := range strings.FieldsSeq(s) {
			all = append(all, sass.Instruction{Op: op})
		}
		last := &all[len(all)-1]
		last.Guard, last.Targets = "@P0", []int{0}
		return append(all, sass.Instruction{Op: "EXIT"})
	}
	size := products(90, 64)
	stage := strings.Repeat("DMMA LDS.64 ", size-1) + "DMMA "
	counts := func(has, needs int) string { return fmt.Sprintf("%d DMMA, must be %d for a stage", has, needs) }
	for _, c := range []struct{ name, code, want string }{
		{"a_64", stage + "BRA", ""},
		{"a_64", "LDL " + stage + "STL.64 BRA", ""},
		{"a_64", strings.Replace(stage, "LDS", "LDL", 2) + "BRA", "2 instructions access local memory"},
		{"a_64", stage + "DMMA BRA", counts(size+1, size)},
		{"a_128", stage + "BRA", counts(size, 2*size)},
		{"a_128", "LDS BRA", "no loop has DMMA"},
		{"a_reduce", "LDS BRA", ""},
	} {
		wrong := strings.Join(code{arch: 90, functions: []sass.Function{{Name: c.name, Code: ops(c.code)}}}.shape(), "\n")
		if c.want == "" && wrong != "" || !strings.Contains(wrong, c.want) {
			t.Errorf("%s %s: %q, want %q", c.name, c.code, wrong, c.want)
		}
	}
}

func TestTranslationsAreChecked(t *testing.T) {
	const ptx = ".version 7.8\n.visible .entry a(\n.param .u64 p\n)\n{\n%s [x], [y], 8;\n}\n.visible .entry b()\n{\nret;\n}"
	for _, c := range []struct{ instruction, kind, want string }{
		{"cp.async.cg.shared.global", "LDGSTS", ""},
		{"cp.async.ca.shared.global", "LDG", "a: its PTX has cp.async.ca, its machine code no LDGSTS"},
		{"cp.async.wait_group", "LDG", ""},
		{"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", "DFMA", "no DMMA"},
		{"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", "DMMA", ""},
	} {
		functions := []sass.Function{{Name: "b", Code: []sass.Instruction{{Op: "EXIT"}}}, {Name: "a", Code: []sass.Instruction{{Op: c.kind + ".E"}}}}
		wrong := strings.Join(code{ptx: fmt.Appendf(nil, ptx, c.instruction), functions: functions}.translations(), "\n")
		if c.want == "" && wrong != "" || !strings.Contains(wrong, c.want) {
			t.Errorf("%s as %s: %q, want %q", c.instruction, c.kind, wrong, c.want)
		}
	}
}

// TestProductsOfStage checks the numbers of products from ptxas 11.8 to 13.5 for eight rows.
func TestProductsOfStage(t *testing.T) {
	for _, c := range []struct{ arch, t, want int }{{80, 128, 64}, {89, 64, 32}, {90, 128, 32}, {90, 64, 16}, {100, 128, 64}, {120, 64, 32}} {
		testkit.Equal(t, 8*products(c.arch, c.t), c.want*kernels.BlockK, "8 times the products for sm_", c.arch, ", T = ", c.t)
	}
}
