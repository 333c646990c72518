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
	comment   = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"`)
	directive = regexp.MustCompile(`(?m)^[ \t]*#(?:[^\n]*\\\n)*[^\n]*$`)
	define    = regexp.MustCompile(`(?s)^\s*#\s*define\s+(\w+)(?:\s+(.*))?$`)
	opening   = regexp.MustCompile(`\bKERNEL\b`)
	header    = regexp.MustCompile(`^KERNEL\s*\(\s*(\d+)\s*\)\s*([a-z][a-z0-9_]*)\s*\(([^()]*)\)\s*\{`)
	word      = regexp.MustCompile(`\w+`)
	constant  = regexp.MustCompile(`(?m)^constexpr int (\w+) = (\d+); *// (.*)$`)
)

// Read reads a folder's sources.
func Read(folder string) (*Sources, error) {
	s := &Sources{}
	entries, err := os.ReadDir(folder) // by name
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); ext != ".cu" && ext != ".cuh" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		s.Files = append(s.Files, File{e.Name(), text})
	}
	return s, s.parse()
}

// blank leaves a text's newlines only, so that lines keep their numbers.
func blank(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		return ' '
	}, s)
}

// parse finds the kernels. Macros without parameters may stand for a kernel's
// first parameters; conditions (#if) are not looked at.
func (s *Sources) parse() error {
	macros := map[string]string{}
	plain := make([]string, len(s.Files))
	s.Groups = map[string][]Parameter{}
	for i, f := range s.Files {
		if f.Name == "shape.cuh" {
			for _, m := range constant.FindAllStringSubmatch(string(f.Text), -1) {
				s.Constants = append(s.Constants, Constant{m[1], m[2], m[3]})
			}
		}
		text := comment.ReplaceAllStringFunc(string(f.Text), func(c string) string {
			if c[0] == '"' {
				return `"` + strings.Repeat(" ", len(c)-2) + `"`
			}
			return blank(c)
		})
		plain[i] = directive.ReplaceAllStringFunc(text, func(d string) string {
			if m := define.FindStringSubmatch(d); m != nil {
				macros[m[1]] = strings.ReplaceAll(m[2], "\\\n", " ")
			}
			return blank(d)
		})
	}
	for i, f := range s.Files {
		if err := s.kernels(f.Name, plain[i], macros); err != nil {
			return err
		}
	}
	slices.SortFunc(s.Kernels, func(a, b Kernel) int { return strings.Compare(a.Name, b.Name) })
	return s.twice()
}

// kernels finds the kernels of one file, from which comments and directives have been
// removed.
func (s *Sources) kernels(file, text string, macros map[string]string) error {
	for _, at := range opening.FindAllStringIndex(text, -1) {
		line := 1 + strings.Count(text[:at[0]], "\n")
		m := header.FindStringSubmatch(text[at[0]:])
		if m == nil {
			return fmt.Errorf("%s:%d: not a kernel: it should read KERNEL(threads) name(parameters) {, "+
				"threads a number, the name in lower case", file, line)
		}
		k := Kernel{Name: m[2], File: file, Line: line}
		if strings.HasSuffix(file, ".cuh") {
			return k.errorf("kernels belong in a .cu file")
		}
		var err error
		if k.Threads, err = strconv.Atoi(m[1]); err != nil || k.Threads < 32 || k.Threads > 1024 || k.Threads%32 != 0 {
			return k.errorf("%s threads a block: it should be a multiple of 32 up to 1024", m[1])
		}
		if k.Parameters, err = parameters(expand(m[3], macros, 8)); err != nil {
			return k.errorf("%w", err)
		}
		first, _, _ := strings.Cut(m[3], ",")
		first = strings.TrimSpace(first)
		if body, ok := macros[first]; ok {
			k.Group = first
			s.Groups[first], _ = parameters(expand(body, macros, 8)) // no error: the list holds them
		}
		s.Kernels = append(s.Kernels, k)
	}
	return nil
}

// parameters reads a list of parameters.
func parameters(list string) (all []Parameter, err error) {
	if strings.TrimSpace(list) == "" {
		return nil, nil
	}
	for _, text := range strings.Split(list, ",") {
		p, err := parameter(text)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// expand replaces macros by their bodies, at most depth levels deep.
func expand(text string, macros map[string]string, depth int) string {
	for range depth {
		next := word.ReplaceAllStringFunc(text, func(w string) string {
			if body, ok := macros[w]; ok {
				return body
			}
			return w
		})
		if next == text {
			break
		}
		text = next
	}
	return text
}

// parameter reads one parameter.
func parameter(text string) (Parameter, error) {
	words := strings.Fields(strings.ReplaceAll(text, "*", " * "))
	kept := slices.DeleteFunc(words, func(w string) bool { return w == "const" || w == "__restrict__" })
	if len(kept) < 2 || !word.MatchString(kept[len(kept)-1]) {
		return Parameter{}, fmt.Errorf("parameter %q: it should be a type and a name", strings.Join(strings.Fields(text), " "))
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
	return Parameter{}, fmt.Errorf("parameter %s is of type %s: it should be a pointer, a long long or a double, "+
		"which have eight bytes each", name, kind)
}

// twice reports names that clash in Go.
func (s *Sources) twice() error {
	seen := map[string]Kernel{}
	for _, k := range s.Kernels {
		if other, ok := seen[exported(k.Name)]; ok {
			return k.errorf("its name clashes with kernel %s of %s:%d", other.Name, other.File, other.Line)
		}
		seen[exported(k.Name)] = k
		fields := map[string]bool{"Name": true, "Block": true, "Words": true, exported(k.Group): true}
		for _, p := range k.Parameters {
			if fields[exported(p.Name)] {
				return k.errorf("parameter %s is not possible: its field %s would clash with another or with a method", p.Name, exported(p.Name))
			}
			fields[exported(p.Name)] = true
		}
	}
	return nil
}

// exported is a_name, or A_NAME, as AName.
func exported(name string) string {
	var b strings.Builder
	for _, part := range strings.Split(name, "_") {
		if part == strings.ToUpper(part) {
			part = strings.ToLower(part)
		}
		if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}
