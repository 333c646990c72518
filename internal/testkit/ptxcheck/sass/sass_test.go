package sass

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// recorded returns the output of nvdisasm -c -hex for two nested loops, compiled by nvcc 11.8 for
// sm_90:
//
//	for (long long i = 0; i < n; i++) {
//		s[threadIdx.x] = x[i];
//		__syncthreads();
//		for (long long j = 0; j < lim[i]; j++)
//			v = fma(v, s[j], x[j]);
//		if (x[i] > 2)
//			v = v * 3;
//		__syncthreads();
//	}
func recorded(t *testing.T) *Function {
	t.Helper()
	all, err := Parse(bytes.NewReader(testkit.Read(t, "testdata/snippet.sass")))
	if err != nil || len(all) != 1 || all[0].Name != "snippet" {
		t.Fatalf("%d functions, %v", len(all), err)
	}
	return &all[0]
}

func TestParseMachineCode(t *testing.T) {
	f := recorded(t)
	if len(f.Code) != 80 {
		t.Fatalf("%d instructions, want 80", len(f.Code))
	}
	for at, want := range map[int]Instruction{
		0x00:  {Op: "LDC", Args: "R1, c[0x0][0x28]", Stall: 2},
		0x80:  {Guard: "@!P0", Op: "BRA", Args: "`(.L_x_0)", Stall: 5, Targets: []int{0x43}},
		0x190: {Op: "LDG.E.64", Args: "R4, [R8.64]", Stall: 1},
		0x380: {Op: "DFMA", Args: "R2, R6, R2, R4", Stall: 12},
		0x470: {Op: "BRA", Args: "`(.L_x_4)", Stall: 0, Targets: []int{0x47}},
		0x4f0: {Op: "NOP", Stall: 0},
	} {
		want.Offset = at
		testkit.Equal(t, f.Code[at/16], want, at)
	}
	if _, err := Parse(strings.NewReader("Fatal: no cubin\n")); err == nil {
		t.Error("no error without a function")
	}
}

func TestReportOfLoops(t *testing.T) {
	const want = `    loop 0xf0 to 0x420: 38 instructions, 114 cycles to issue: DMUL 1, DSETP 1, STS 1, LDG 3, BAR 2, branch 2, constant 6, IMAD 5, other 17
        loop 0x2c0 to 0x390: 14 instructions, 42 cycles to issue: DFMA 1, LDS 1, LDG 1, branch 1, IMAD 3, other 7
`
	if have := recorded(t).Report(); !strings.HasSuffix(have, want) {
		t.Errorf("%s, want at the end\n%s", have, want)
	}
}

// TestLoopsOfControlFlow checks other control flow. Each line is an instruction: its index, its kind, and its
// target.
func TestLoopsOfControlFlow(t *testing.T) {
	branch := func(guard string, to ...int) Instruction { return Instruction{Op: "BRA", Guard: guard, Targets: to} }
	op := func(op, args string, to ...int) Instruction { return Instruction{Op: op, Args: args, Targets: to} }
	plain, exit := op("IADD3", ""), op("EXIT", "")
	for _, c := range []struct {
		name string
		code []Instruction
		want [][]int
	}{
		{"none", []Instruction{plain, branch("@P0", 3), plain, exit}, nil},
		{"a part behind the end", []Instruction{plain, branch("@P0", 4), branch("@P1", 1), exit, plain, branch("", 2)}, [][]int{{1, 2, 4, 5}}},
		{"a trap that nothing leads to", []Instruction{plain, exit, branch("", 2)}, nil},
		{"rejoined by a barrier", []Instruction{op("BSSY", "B0, `(.L_x_1)", 4), branch("@P0", 3), plain, op("BSYNC", "B0"), branch("@P1", 0), exit}, [][]int{{0, 1, 2, 3, 4}}},
		{"left by a call of a label", []Instruction{plain, {Op: "CALL.REL.NOINC", Guard: "@P0", Args: "`(.L_x_1)", Targets: []int{3}}, branch("", 0), exit}, [][]int{{0, 1, 2}}},
		{"a call of a function", []Instruction{plain, op("CALL.REL.NOINC", "`($f)", 4), branch("@P0", 0), exit, plain, op("RET", "R2")}, [][]int{{0, 1, 2}}},
		{"a predicate among the arguments", []Instruction{plain, op("BRA", "P0, `(.L_x_1)", 0), exit}, [][]int{{0, 1}}},
		{"two ways back to one head", []Instruction{plain, branch("@P0", 0), branch("@P1", 0), exit}, [][]int{{0, 1, 2}}},
	} {
		var have [][]int
		f := Function{Code: c.code}
		for _, l := range f.Loops() {
			have = append(have, l.Body)
		}
		if !slices.EqualFunc(have, c.want, slices.Equal) {
			t.Errorf("%s: %v, want %v", c.name, have, c.want)
		}
	}
}
