package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/vssgp/vssgp/internal/testkit/ptxcheck/sass"
	"github.com/vssgp/vssgp/kernels"
)

// A use is the resources of a kernel as reported by ptxas: registers per thread, and bytes of
// local memory per thread, some of them for spilled registers.
type use struct {
	kernel                   string
	registers, stack, spills int
}

// A code contains the kernels compiled for an architecture.
type code struct {
	arch      int
	ptx       []byte
	uses      []use
	functions []sass.Function // nil without a disassembler
	took      time.Duration   // CPU time of ptxas; a driver needs it at the first start
}

// tools are the programs that compile and disassemble.
type tools struct {
	ptxas, nvdisasm, release string
}

var release = regexp.MustCompile(`release (\d+\.\d+)`)

// find determines the release of ptxas. nvdisasm may be empty.
func find(ptxas, nvdisasm string) (tools, error) {
	out, err := exec.Command(ptxas, "--version").Output()
	if err != nil {
		return tools{}, fmt.Errorf("run %s: %w; give the PTX compiler with -ptxas", ptxas, err)
	}
	m := release.FindSubmatch(out)
	if m == nil {
		return tools{}, fmt.Errorf("%s: no release in the output of --version: %q", ptxas, out)
	}
	return tools{ptxas, nvdisasm, string(m[1])}, nil
}

// supports reports whether ptxas supports an architecture.
func (t tools) supports(arch int) bool {
	out, err := exec.Command(t.ptxas, "--help").Output()
	return err == nil && bytes.Contains(out, fmt.Appendf(nil, "'sm_%d'", arch))
}

// compile compiles the committed PTX for an architecture.
func (t tools) compile(arch int) (code, error) {
	c := code{arch: arch}
	var err error
	if c.ptx, err = kernels.PTX(arch/10, arch%10); err != nil {
		return c, err
	}
	folder, err := os.MkdirTemp("", "kernels")
	if err != nil {
		return c, err
	}
	defer os.RemoveAll(folder)
	source, cubin := filepath.Join(folder, "all.ptx"), filepath.Join(folder, "all.cubin")
	if err := os.WriteFile(source, c.ptx, 0o666); err != nil {
		return c, err
	}
	cmd := exec.Command(t.ptxas, "-v", "-O3", fmt.Sprintf("-arch=sm_%d", arch), "-o", cubin, source)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return c, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	c.took = cmd.ProcessState.UserTime()
	if c.uses, err = uses(string(out)); err != nil || t.nvdisasm == "" {
		return c, err
	}
	cmd = exec.Command(t.nvdisasm, "-c", "-hex", cubin)
	text, err := cmd.Output()
	if err != nil {
		return c, fmt.Errorf("%s: %w (it should be as new as ptxas)", strings.Join(cmd.Args, " "), err)
	}
	c.functions, err = sass.Parse(bytes.NewReader(text))
	return c, err
}

var (
	entry     = regexp.MustCompile(`Compiling entry function '(\w+)'`)
	stack     = regexp.MustCompile(`(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads`)
	registers = regexp.MustCompile(`Used (\d+) registers`)
)

// uses parses the output of ptxas -v: three lines per kernel.
func uses(text string) ([]use, error) {
	var all []use
	for line := range strings.Lines(text) {
		if m := entry.FindStringSubmatch(line); m != nil {
			all = append(all, use{kernel: m[1], stack: -1, registers: -1})
			continue
		}
		if len(all) == 0 {
			continue
		}
		u := &all[len(all)-1]
		if m := stack.FindStringSubmatch(line); m != nil && u.stack < 0 {
			u.stack, u.spills = number(m[1]), max(number(m[2]), number(m[3]))
		} else if m := registers.FindStringSubmatch(line); m != nil {
			u.registers = number(m[1])
		}
	}
	for _, u := range all {
		if u.stack < 0 || u.registers < 0 {
			return nil, fmt.Errorf("ptxas -v does not list the stack or the registers of %s:\n%s", u.kernel, text)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("ptxas -v lists no kernel:\n%s", text)
	}
	return all, nil
}

// number parses digits that a regular expression has matched.
func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		panic(err)
	}
	return n
}
