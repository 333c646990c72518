package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/vssgp/vssgp/internal/testkit/ptxcheck/sass"
	"github.com/vssgp/vssgp/kernels"
)

// An allowance is the maximum number of bytes of stack and spilled registers per thread of a
// kernel, for ptxas 11.8, 12.9 and 13.5 and any GPU, with the reason.
type allowance struct {
	stack, spills int
	why           string
}

// allowances lists the kernels that may have a stack. All others must have none.
var allowances = map[string]allowance{
	"chain_reduce":        {8, 8, "80 registers a thread, so that three blocks fit; outside the loops with products"},
	"factorized_residual": {16, 16, "128 registers a thread, so that two blocks fit, on sm_120; outside the loops over the rows"},
	"dense_update_128":    {16, 16, "a tile of 128 registers; outside the loop with products"},
	"pullback_128":        {16, 24, "a tile of 128 registers; outside the loops with products and over the rows"},
	"pullback_64":         {64, 184, "168 registers of ptxas 12.9 and 13 on sm_120; outside the loops with products and over the rows"},
}

// spills compares the kernels with the allowances.
func (c code) spills() (wrong []string) {
	for _, u := range c.uses {
		a := allowances[u.kernel]
		if u.stack > a.stack || u.spills > a.spills {
			wrong = append(wrong, fmt.Sprintf("%s has %d bytes of stack and %d of spilled registers: at most %d and %d (allowances in rules.go)",
				u.kernel, u.stack, u.spills, a.stack, a.spills))
		}
	}
	return wrong
}

// translations lists the kinds of machine instructions for some PTX instructions.
var translations = []struct {
	ptx  *regexp.Regexp
	kind string
}{
	{regexp.MustCompile(`\bmma\.sync\S*\.f64\b`), "DMMA"},
	{regexp.MustCompile(`\bcp\.async\.c[ag]\b`), "LDGSTS"},
}

// translations checks that the machine code uses the special units that the PTX requests, because
// ptxas may replace them by sequences that are many times slower.
func (c code) translations() (wrong []string) {
	for part := range strings.SplitSeq(string(c.ptx), ".visible .entry ") {
		name, body, _ := strings.Cut(part, "(")
		for _, f := range c.functions {
			for _, t := range translations {
				if f.Name == name && t.ptx.MatchString(body) &&
					!slices.ContainsFunc(f.Code, func(x sass.Instruction) bool { return x.Kind() == t.kind }) {
					wrong = append(wrong, fmt.Sprintf("%s: its PTX has %s, its machine code no %s", name, t.ptx.FindString(body), t.kind))
				}
			}
		}
	}
	return wrong
}

// products returns the number of float64 tensor-core instructions per warp for a stage of a tile:
// BLOCK_K rows of the sum by 32 × T/2 numbers (tile.cuh), 8 × 8 × 4 per instruction, or 16 × 8 × 4
// on sm_90, the only architecture with these.
func products(arch, t int) int {
	n := kernels.BlockK * 32 * t / 2 / (8 * 8 * 4)
	if arch == 90 {
		n /= 2
	}
	return n
}

// stageProducts returns the number of products per warp for a stage of a tile kernel, or 0 for
// other kernels. A tile kernel's name ends with its size, as in moments_gram_128.
func stageProducts(arch int, name string) int {
	t, err := strconv.Atoi(name[strings.LastIndex(name, "_")+1:])
	if err != nil {
		return 0
	}
	return products(arch, t)
}

// shape checks the loops with products of the tile kernels. They must have the products of a
// stage, fully unrolled, and no access to local memory between the first and the last product.
func (c code) shape() (wrong []string) {
	for i := range c.functions {
		f := &c.functions[i]
		stage := stageProducts(c.arch, f.Name)
		if stage == 0 {
			continue
		}
		found := 0
		loops := f.Loops()
		for j := range loops {
			n, local := count(f, sass.Own(loops, j))
			if n == 0 {
				continue
			}
			found++
			if n != stage {
				wrong = append(wrong, fmt.Sprintf("%s: a loop has %d DMMA, must be %d for a stage", f.Name, n, stage))
			}
			if local > 0 {
				wrong = append(wrong, fmt.Sprintf("%s: %d instructions access local memory between the first and the last DMMA of a loop",
					f.Name, local))
			}
		}
		if found == 0 {
			wrong = append(wrong, fmt.Sprintf("%s: no loop has DMMA", f.Name))
		}
	}
	return wrong
}

// count counts the products (DMMA) among the given instructions of a function, and the accesses to
// local memory between the first and the last of them.
func count(f *sass.Function, indices []int) (n, local int) {
	since := 0
	for _, i := range indices {
		x := f.Code[i]
		switch {
		case x.Kind() == "DMMA":
			n++
			local += since
			since = 0
		case x.Local() && n > 0:
			since++
		}
	}
	return n, local
}
