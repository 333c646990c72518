// Command ptxcheck compiles the committed PTX as a driver would, with any release of ptxas and for
// each kind of GPU. It fails if a kernel spills registers or its machine code violates the rules
// in rules.go. It needs no GPU.
//
//	go run ./internal/testkit/ptxcheck [-ptxas FILE] [-nvdisasm FILE] [-arch 80,90]
//	go run ./internal/testkit/ptxcheck -kernel moments_gram_128 -arch 90
//
// The second command prints the kernel's loops, with their instructions by class and the
// minimum number of cycles to issue them.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/internal/testkit/ptxcheck/sass"
)

func main() {
	ptxas := flag.String("ptxas", "ptxas", "the compiler of PTX")
	nvdisasm := flag.String("nvdisasm", "", "the disassembler (default: nvdisasm in PATH; without it the machine code is not checked)")
	list := flag.String("arch", "80,89,90,100,103,120,121", "compute capabilities, times ten; unsupported ones are ignored")
	kernel := flag.String("kernel", "", "print the loops of this kernel")
	table := flag.Bool("table", false, "print the registers, stack and spills of all kernels")
	flag.Parse()
	if err := run(*ptxas, *nvdisasm, *list, *kernel, *table); err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
		os.Exit(1)
	}
}

func run(ptxas, nvdisasm, list, kernel string, table bool) error {
	if found, err := exec.LookPath("nvdisasm"); err == nil && nvdisasm == "" {
		nvdisasm = found
	}
	t, err := find(ptxas, nvdisasm)
	if err != nil {
		return err
	}
	archs, err := t.architectures(list)
	if err != nil {
		return err
	}
	all := make([]code, len(archs))
	err = parallel.Try(len(archs), 2, func(i int) (err error) {
		all[i], err = t.compile(archs[i])
		return err
	})
	if err != nil {
		return err
	}
	if kernel != "" {
		return loops(all, kernel)
	}
	var wrong []string
	for _, c := range all {
		if table {
			for _, u := range c.uses {
				fmt.Printf("ptxas %s, sm_%d: %-20s %3d registers, %4d bytes of stack, %4d of spills\n", t.release, c.arch, u.kernel,
					u.registers, u.stack, u.spills)
			}
		}
		for _, fault := range slices.Concat(c.spills(), c.translations(), c.shape()) {
			wrong = append(wrong, fmt.Sprintf("ptxas %s, sm_%d: %s", t.release, c.arch, fault))
		}
		fmt.Printf("ptxas %s, sm_%d: %d kernels in %.1f s, %d of them disassembled\n", t.release, c.arch, len(c.uses), c.took.Seconds(),
			len(c.functions))
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%d faults:\n%s", len(wrong), strings.Join(wrong, "\n"))
	}
	return nil
}

// architectures parses a list and keeps the architectures that ptxas supports.
func (t tools) architectures(list string) (archs []int, err error) {
	for part := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil, fmt.Errorf("-arch %s: must be numbers separated by commas, such as 80,90", list)
		}
		if t.supports(n) {
			archs = append(archs, n)
		}
	}
	if len(archs) == 0 {
		return nil, fmt.Errorf("-arch %s: ptxas %s supports none of these", list, t.release)
	}
	return archs, nil
}

// loops prints a kernel's loops on each architecture.
func loops(all []code, kernel string) error {
	for _, c := range all {
		if c.functions == nil {
			return fmt.Errorf("no nvdisasm in PATH; give one with -nvdisasm")
		}
		at := slices.IndexFunc(c.functions, func(f sass.Function) bool { return f.Name == kernel })
		if at < 0 {
			return fmt.Errorf("unknown kernel %q", kernel)
		}
		fmt.Printf("sm_%d: %s", c.arch, c.functions[at].Report())
	}
	return nil
}
