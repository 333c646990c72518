// Package snippets runs the commands and programs of README.md and docs/. Shell blocks run in a
// copy of the repository, in the order of the page. The output of complete Go programs is compared
// with the page; other Go snippets are compiled. Without the build tag slow only README.md is
// tested.
package snippets

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/vssgp/vssgp/internal/fileio/safetensors/pythontest"
	"github.com/vssgp/vssgp/internal/testkit"
	"github.com/vssgp/vssgp/internal/testkit/slow"
)

const (
	root     = "../../.."
	patience = 30 * time.Minute // maximum time of a block
)

// pages returns the pages whose blocks are run.
func pages(t *testing.T) []string {
	t.Helper()
	found := testkit.Must(filepath.Glob(filepath.Join(root, "docs", "*.md")))(t)
	if len(found) < 3 {
		t.Fatalf("pages in docs: %q; want at least three", found)
	}
	return append([]string{filepath.Join(root, "README.md")}, found...)
}

// skippedElsewhere matches the blocks that a step of .ci/run runs instead.
var skippedElsewhere = regexp.MustCompile(`(?m)^go test \./\.\.\.$`)

func TestSnippets(t *testing.T) {
	bin := t.TempDir() // the command is installed, as most pages assume
	b := block{page: "docs/install.md"}
	shell(t, root, b, "go", "build", "-o", bin, "./cmd/vssgp")
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	all := pages(t)
	for _, page := range all[:slow.Pick(len(all), 1)] {
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			dir := copied(t)
			for _, b := range blocks(filepath.Base(page), readText(t, page)) {
				runBlock(t, dir, b)
			}
		})
	}
}

func runBlock(t *testing.T, dir string, b block) {
	t.Helper()
	switch {
	case b.exempt != "":
		t.Logf("%s:%d: not run: %s", b.page, b.line, b.exempt)
	case b.lang == "sh" && skippedElsewhere.MatchString(b.text):
		if ci := readText(t, filepath.Join(root, ".ci", "run")); !strings.Contains(ci, "block tests") {
			t.Errorf("%s:%d: .ci/run no longer runs this block", b.page, b.line)
		}
	case b.lang == "sh":
		for _, line := range missing(b.output, shell(t, dir, b, "bash", "-euo", "pipefail", "-c", "exec 2>&1\n"+b.text)) {
			t.Errorf("%s:%d: the output below has a line that is not printed: %s", b.page, b.line, line)
		}
	case b.lang == "go" && strings.Contains(b.text, "package main"):
		program(t, dir, b)
	case b.lang == "go":
		piece(t, dir, b)
	case b.lang == "python":
		python(t, dir, b)
	case b.lang == "" || b.lang == "text":
		for _, c := range b.commands() {
			t.Errorf("%s:%d: the command %q is in a block that is not run: use ```sh, or add <!-- not run: why -->", b.page, b.line, c)
		}
	default:
		t.Errorf("%s:%d: a block of %q cannot be run", b.page, b.line, b.lang)
	}
}

// shell runs a block in dir and returns its output.
func shell(t *testing.T, dir string, b block, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -trimpath") // all copies of the repository share one build
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Errorf("%s:%d: %v\n%s%s", b.page, b.line, err, b.text, stderr.String())
	}
	return stdout.String()
}

// program runs a complete program in dir's module and compares its output with the page.
func program(t *testing.T, dir string, b block) {
	t.Helper()
	folder := goFolder(t, dir, b.text)
	if got := shell(t, dir, b, "go", "run", "./"+folder); b.output == "" || got != b.output {
		t.Errorf("%s:%d: prints\n%sthe ```text block below has\n%s", b.page, b.line, got, b.output)
	}
}

// imports are the imports that Go snippets may use without declaring them.
var imports = map[string]string{
	"context": "context", "fmt": "fmt", "log": "log", "math": "math", "mat": "gonum.org/v1/gonum/mat", "tensor": "gorgonia.org/tensor",
	"vssgp": "github.com/vssgp/vssgp", "audio": "github.com/vssgp/vssgp/audio", "cpu": "github.com/vssgp/vssgp/cpu",
	"gpu": "github.com/vssgp/vssgp/gpu", "restore": "github.com/vssgp/vssgp/audio/restore", "tensors": "github.com/vssgp/vssgp/tensors",
}

// given declares the variables that Go snippets may use: data and a context.
const given = "var (\n\tctx context.Context\n\tx, y []float64\n)\n"

// piece compiles the statements of a block.
func piece(t *testing.T, dir string, b block) {
	t.Helper()
	code := "package piece\n\nimport (\n\t\"context\"\n"
	for name, path := range imports {
		if name != "context" && regexp.MustCompile(`\b`+name+`\.`).MatchString(b.text) {
			code += "\t\"" + path + "\"\n"
		}
	}
	code += ")\n\n" + given + "\nfunc _() {\n" + b.text + "}\n"
	shell(t, dir, b, "go", "build", "./"+goFolder(t, dir, code))
}

// goFolder writes a program to a new folder and returns the folder's name.
func goFolder(t *testing.T, dir, code string) string {
	t.Helper()
	folder := testkit.Must(os.MkdirTemp(dir, "snippet"))(t)
	testkit.OK(t, os.WriteFile(filepath.Join(folder, "main.go"), []byte(code), 0o666))
	return filepath.Base(folder)
}

// python runs a block in dir if there is a Python with NumPy.
func python(t *testing.T, dir string, b block) {
	t.Helper()
	t.Run("python", func(t *testing.T) {
		pythontest.Run(t, []string{"numpy"}, "import os, sys\nos.chdir(sys.argv[1])\n"+b.text, dir)
	})
}

// copied returns a copy of the repository without hidden files.
func copied(t *testing.T) string {
	t.Helper()
	to := t.TempDir()
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		switch {
		case name != "." && strings.HasPrefix(e.Name(), "."):
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		case e.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o777)
		case !e.Type().IsRegular():
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), content, 0o666)
	})
	testkit.OK(t, err)
	return to
}

func readText(t *testing.T, path string) string {
	t.Helper()
	return string(testkit.Read(t, path))
}
