package source

import (
	"fmt"
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
)

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
	for i, f := range s.Files {
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

// kernels finds those of one file, comments and directives taken out.
func (s *Sources) kernels(file, text string, macros map[string]string) error {
	for _, at := range opening.FindAllStringIndex(text, -1) {
		line := 1 + strings.Count(text[:at[0]], "\n")
		m := header.FindStringSubmatch(text[at[0]:])
		switch {
		case m == nil:
			return fmt.Errorf("%s:%d: not a kernel: it should read KERNEL(threads) name(parameters) {, threads a number, the name in lower case", file, line)
		case strings.HasSuffix(file, ".cuh"):
			return fmt.Errorf("%s:%d: kernel %s: kernels belong into a .cu file", file, line, m[2])
		}
		threads, err := strconv.Atoi(m[1])
		if err != nil || threads < 32 || threads > 1024 || threads%32 != 0 {
			return fmt.Errorf("%s:%d: kernel %s: %s threads a block: it should be a multiple of 32 up to 1024", file, line, m[2], m[1])
		}
		k := Kernel{Name: m[2], Threads: threads, File: file, Line: line}
		list := expand(m[3], macros, 8)
		if strings.TrimSpace(list) != "" {
			for _, text := range strings.Split(list, ",") {
				p, err := parameter(text)
				if err != nil {
					return fmt.Errorf("%s:%d: kernel %s: %w", file, line, k.Name, err)
				}
				k.Parameters = append(k.Parameters, p)
			}
		}
		s.Kernels = append(s.Kernels, k)
	}
	return nil
}

// expand puts macros' bodies in their places, depth times at most.
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
	return Parameter{}, fmt.Errorf("parameter %s is of type %s: it should be a pointer, a long long or a double, which have eight bytes each", name, kind)
}

// twice refuses names that clash in Go.
func (s *Sources) twice() error {
	seen := map[string]Kernel{}
	for _, k := range s.Kernels {
		if other, ok := seen[exported(k.Name)]; ok {
			return fmt.Errorf("%s:%d: kernel %s clashes with kernel %s of %s:%d", k.File, k.Line, k.Name, other.Name, other.File, other.Line)
		}
		seen[exported(k.Name)] = k
		fields := map[string]bool{"Name": true, "Block": true, "Words": true}
		for _, p := range k.Parameters {
			if fields[exported(p.Name)] {
				return fmt.Errorf("%s:%d: kernel %s: there can be no parameter %s: its field %s would clash with another or with a method", k.File, k.Line, k.Name, p.Name, exported(p.Name))
			}
			fields[exported(p.Name)] = true
		}
	}
	return nil
}

// exported is a_name as AName.
func exported(name string) string {
	var b strings.Builder
	for _, part := range strings.Split(name, "_") {
		if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}
