package source

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	define   = regexp.MustCompile(`(?m)^#define (\w+) ((?:[^\n]*\\\n)*[^\n]*)$`)
	opening  = regexp.MustCompile(`(?m)^KERNEL\b`)
	header   = regexp.MustCompile(`^KERNEL\s*\(\s*(\d+)\s*(?:,\s*\d+\s*)?\)\s*([a-z][a-z0-9_]*)\s*\(([^()]*)\)\s*\{`)
	word     = regexp.MustCompile(`^\w+$`)
	constant = regexp.MustCompile(`(?m)^constexpr int (\w+) = (\d+); *// (.*)$`)
)

// Read reads a folder's sources and finds the kernels: KERNEL begins a line. It ignores conditions
// (#if) and comments.
func Read(folder string) (*Sources, error) {
	s := &Sources{Groups: map[string][]Parameter{}}
	entries, err := os.ReadDir(folder) // by name
	if err != nil {
		return nil, err
	}
	macros := map[string]string{}
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); ext != ".cu" && ext != ".cuh" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		s.Files = append(s.Files, File{e.Name(), text})
		for _, m := range define.FindAllStringSubmatch(string(text), -1) {
			macros[m[1]] = strings.ReplaceAll(m[2], "\\\n", " ")
		}
		switch e.Name() {
		case "shape.cuh":
			for _, m := range constant.FindAllStringSubmatch(string(text), -1) {
				s.Constants = append(s.Constants, Constant{m[1], m[2], m[3]})
			}
		case "tables.cuh":
			_, s.Rows, _ = strings.Cut(string(text), "#pragma once\n")
		}
	}
	for _, f := range s.Files {
		for _, at := range opening.FindAllIndex(f.Text, -1) {
			k, err := s.kernel(string(f.Text[at[0]:]), macros)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f.Name, err)
			}
			k.File = f.Name
			s.Kernels = append(s.Kernels, k)
		}
	}
	slices.SortFunc(s.Kernels, func(a, b Kernel) int { return strings.Compare(a.Name, b.Name) })
	return s, nil
}

// kernel parses the kernel at the beginning of a text. A macro may replace its first parameters.
func (s *Sources) kernel(text string, macros map[string]string) (k Kernel, err error) {
	m := header.FindStringSubmatch(text)
	if m == nil {
		line, _, _ := strings.Cut(text, "\n")
		return k, fmt.Errorf("%q is not a kernel: expected KERNEL(threads) name(parameters) { with a number of threads and a lower-case name", line)
	}
	k.Name = m[2]
	if k.Threads, err = strconv.Atoi(m[1]); err != nil || k.Threads < 32 || k.Threads > 1024 || k.Threads%32 != 0 {
		return k, fmt.Errorf("kernel %s: %s threads per block: must be a multiple of 32 up to 1024", k.Name, m[1])
	}
	list := m[3]
	first, rest, _ := strings.Cut(list, ",")
	first = strings.TrimSpace(first)
	if body, ok := macros[first]; ok {
		if k.Parameters, err = parameters(body); err != nil {
			return k, fmt.Errorf("macro %s: %w", first, err)
		}
		k.Group, list = first, rest
		s.Groups[first] = k.Parameters
	}
	own, err := parameters(list)
	if err != nil {
		return k, fmt.Errorf("kernel %s: %w", k.Name, err)
	}
	k.Parameters = slices.Concat(k.Parameters, own)
	return k, nil
}

// parameters parses a list of parameters.
func parameters(list string) (all []Parameter, err error) {
	if strings.TrimSpace(list) == "" {
		return nil, nil
	}
	for text := range strings.SplitSeq(list, ",") {
		p, err := parameter(text)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// parameter parses one parameter.
func parameter(text string) (Parameter, error) {
	words := strings.Fields(strings.ReplaceAll(text, "*", " * "))
	kept := slices.DeleteFunc(words, func(w string) bool { return w == "const" || w == "__restrict__" })
	if len(kept) < 2 || !word.MatchString(kept[len(kept)-1]) {
		return Parameter{}, fmt.Errorf("parameter %q: must be a type and a name", strings.TrimSpace(text))
	}
	name, kind := kept[len(kept)-1], strings.Join(kept[:len(kept)-1], " ")
	switch {
	case strings.HasSuffix(kind, "*"):
		return Parameter{name, "uint64"}, nil
	case kind == "long long":
		return Parameter{name, "int64"}, nil
	case kind == "double":
		return Parameter{name, "float64"}, nil
	}
	return Parameter{}, fmt.Errorf("parameter %s is of type %s: must be a pointer, a long long or a double, "+
		"which have eight bytes each", name, kind)
}

// exported returns a_name or A_NAME as AName.
func exported(name string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(name, "_") {
		if part == strings.ToUpper(part) {
			part = strings.ToLower(part)
		}
		if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}
