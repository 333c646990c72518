// Command size prints what a reader has to learn, by layer: packages, lines, tokens, promised names and flags. It runs in the root of the
// repository. With -v it also lists the packages.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/vssgp/vssgp/internal/testkit/layers"
)

// A size is the size of a package or of a layer.
type size struct {
	packages int
	lines    int // of Go without tests
	tests    int // lines
	tokens   int // of Go without tests and comments
	code     int // lines with tokens
	names    int // lines of api/vssgp.txt
	flags    int // different ones
	cuda     int // lines
	python   int // lines
}

func main() {
	verbose := flag.Bool("v", false, "list the packages")
	flag.Parse()
	sizes, err := measure(".")
	all, failed := flags()
	if err = cmp.Or(err, failed); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	show(sizes, all, *verbose)
}

// measure returns the sizes of the packages by folder.
func measure(root string) (map[string]*size, error) {
	sizes := map[string]*size{}
	of := func(folder string) *size {
		if sizes[folder] == nil {
			sizes[folder] = &size{}
		}
		return sizes[folder]
	}
	err := fs.WalkDir(os.DirFS(root), ".", func(file string, d fs.DirEntry, err error) error {
		if name := d.Name(); err != nil || d.IsDir() {
			if file != "." && (name[0] == '.' && name != ".ci" || name[0] == '_' || name == "testdata") {
				return fs.SkipDir
			}
			return err
		}
		ext := path.Ext(file)
		if !slices.Contains([]string{".go", ".cu", ".cuh", ".py"}, ext) {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return err
		}
		s, lines := of(path.Dir(file)), strings.Count(string(text), "\n")
		switch {
		case strings.HasSuffix(file, "_test.go"):
			s.tests += lines
		case ext == ".go":
			s.packages = 1
			s.lines += lines
			s.scan(text)
		case ext == ".py":
			s.python += lines
		default:
			s.cuda += lines
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	names, err := os.ReadFile(filepath.Join(root, "api/vssgp.txt"))
	for _, m := range regexp.MustCompile(`(?m)^pkg vssgp/?([^,]*),`).FindAllStringSubmatch(string(names), -1) {
		of(path.Clean(m[1])).names++
	}
	return sizes, err
}

// scan counts the tokens of a file. Automatic semicolons are not counted.
func (s *size) scan(text []byte) {
	file := token.NewFileSet().AddFile("", -1, len(text))
	var in scanner.Scanner
	in.Init(file, text, nil, 0)
	for last := 0; ; s.tokens++ {
		pos, tok, literal := in.Scan()
		if tok == token.EOF {
			return
		}
		if tok == token.SEMICOLON && literal == "\n" {
			s.tokens--
		} else if line := file.Line(pos); line != last {
			last = line
			s.code++
		}
	}
}

// aFlag and aCommand match the lines of flags and commands in a help text.
var (
	aFlag    = regexp.MustCompile(`(?m)^  (?:-\w,|   ) --([\w-]+)`)
	aCommand = regexp.MustCompile(`(?m)^  ([a-z]+)  +[A-Z]`)
)

// flags returns the flags of each command, and under "" the flags of all commands together.
func flags() (map[string]map[string]bool, error) {
	help := func(args ...string) (string, error) {
		out, err := exec.Command("go", append([]string{"run", "./cmd/vssgp"}, args...)...).CombinedOutput()
		if err != nil {
			err = fmt.Errorf("help of vssgp: %w: %s", err, out)
		}
		return string(out), err
	}
	all := map[string]map[string]bool{"": {}}
	text, err := help("--help")
	text, _, _ = strings.Cut(text, "\nTopics:\n") // they have no flags
	for _, command := range aCommand.FindAllStringSubmatch(text, -1) {
		all[command[1]] = map[string]bool{}
		if text, err = help(command[1], "--help"); err != nil {
			break
		}
		for _, f := range aFlag.FindAllStringSubmatch(text, -1) {
			all[command[1]][f[1]], all[""][f[1]] = true, true
		}
	}
	return all, err
}

// show prints a line for each layer and, if verbose is set, for each package and command.
func show(sizes map[string]*size, flags map[string]map[string]bool, verbose bool) {
	fmt.Println("packages      Go   tests   tokens  a line   names  flags    CUDA  Python")
	row := func(name string, s *size) {
		fmt.Printf("%8d %7d %7d %8d %7.1f %7d %6d %7d %7d  %s\n", s.packages, s.lines, s.tests, s.tokens,
			float64(s.tokens)/float64(max(s.code, 1)), s.names, s.flags, s.cuda, s.python, name)
	}
	folders := slices.Sorted(maps.Keys(sizes))
	for _, layer := range layers.Names {
		total := &size{}
		if layer == "app" {
			total.flags = len(flags[""])
		}
		for _, folder := range folders {
			if layers.Of(folder) == layer {
				total.add(sizes[folder])
			}
		}
		row(layer, total)
		for _, folder := range folders {
			if verbose && layers.Of(folder) == layer {
				row("  "+folder, sizes[folder])
			}
		}
	}
	for _, command := range slices.Sorted(maps.Keys(flags)) {
		if verbose && command != "" {
			row("  vssgp "+command, &size{flags: len(flags[command])})
		}
	}
}

// add adds t to s.
func (s *size) add(t *size) {
	s.packages, s.names, s.flags = s.packages+t.packages, s.names+t.names, s.flags+t.flags
	s.lines, s.tests, s.cuda, s.python = s.lines+t.lines, s.tests+t.tests, s.cuda+t.cuda, s.python+t.python
	s.tokens, s.code = s.tokens+t.tokens, s.code+t.code
}
