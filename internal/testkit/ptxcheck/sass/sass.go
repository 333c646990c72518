// Package sass parses the machine code of NVIDIA GPUs as printed by nvdisasm, finds its loops,
// and counts their instructions.
package sass

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// A Function is a kernel, followed by the functions that it calls.
type Function struct {
	Name string
	Code []Instruction
}

// An Instruction is a machine instruction. Offset is relative to the first instruction of its
// function, Guard is its predicate ("@!P0"), and Op its name with modifiers ("LDG.E.64").
type Instruction struct {
	Offset          int
	Guard, Op, Args string

	// Stall is the minimum number of cycles until the warp's next instruction, as encoded by the
	// compiler.
	Stall int

	// Targets are the indices in Code of the labels among Args.
	Targets []int
}

var (
	section = regexp.MustCompile(`^\.text\.(\S+):$`)
	label   = regexp.MustCompile(`^(\.L_x_\d+|\$\S+|\.L\.\S+):$`)
	first   = regexp.MustCompile(`^\s+/\*([0-9a-f]{4,})\*/\s+\{?\s*(@\S+)?\s*([A-Z][\w.]*)\s*(.*?)\s*;?\s*\}?\s+/\* 0x[0-9a-f]{16} \*/$`)
	second  = regexp.MustCompile(`^\s+/\* 0x([0-9a-f]{16}) \*/$`)
	named   = regexp.MustCompile("`?\\(?(\\.L_x_\\d+|\\$[\\w$.]+|\\.L\\.[\\w$.]+)")
)

// Parse parses the output of "nvdisasm -c -hex" for a cubin for sm_80 or later.
func Parse(r io.Reader) ([]Function, error) {
	var all []Function
	var labels map[string]int
	var f *Function
	s := bufio.NewScanner(r)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		line := s.Text()
		if m := section.FindStringSubmatch(line); m != nil {
			f.resolve(labels)
			all = append(all, Function{Name: m[1]})
			f, labels = &all[len(all)-1], map[string]int{}
			continue
		}
		if f == nil {
			continue
		}
		if m := label.FindStringSubmatch(line); m != nil {
			labels[m[1]] = len(f.Code)
		} else if m := first.FindStringSubmatch(line); m != nil {
			offset, err := strconv.ParseInt(m[1], 16, 64)
			if err != nil {
				return nil, fmt.Errorf("%s: %q: %w", f.Name, line, err)
			}
			f.Code = append(f.Code, Instruction{Offset: int(offset), Guard: m[2], Op: m[3], Args: m[4]})
		} else if m := second.FindStringSubmatch(line); m != nil && len(f.Code) > 0 {
			bits, err := strconv.ParseUint(m[1], 16, 64)
			if err != nil {
				return nil, fmt.Errorf("%s: %q: %w", f.Name, line, err)
			}
			f.Code[len(f.Code)-1].Stall = int(bits >> 41 & 15) // bits 105 to 108 of 128
		}
	}
	f.resolve(labels)
	if s.Err() == nil && len(all) == 0 {
		return nil, fmt.Errorf("no function found, expected the output of nvdisasm -c -hex for a cubin")
	}
	return all, s.Err()
}

// resolve sets the targets after all labels are known.
func (f *Function) resolve(labels map[string]int) {
	if f == nil {
		return
	}
	for i := range f.Code {
		x := &f.Code[i]
		for _, m := range named.FindAllStringSubmatch(x.Args, -1) {
			if at, ok := labels[m[1]]; ok && at < len(f.Code) {
				x.Targets = append(x.Targets, at)
			}
		}
	}
}

// Kind returns an instruction's name without modifiers.
func (x Instruction) Kind() string {
	kind, _, _ := strings.Cut(x.Op, ".")
	return kind
}

// Local reports whether the instruction accesses local memory, which contains spilled registers
// and arrays with indices unknown to the compiler.
func (x Instruction) Local() bool { return x.Kind() == "LDL" || x.Kind() == "STL" }
