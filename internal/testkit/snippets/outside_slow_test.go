//go:build slow

package snippets

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// suite is the test file of a backend in another module.
const suite = `package main

import (
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/backend/backendtest"
	"github.com/vssgp/vssgp/cpu"
)

type wrapped struct{ backend.Backend }

func TestBackend(t *testing.T) {
	backendtest.Run(t, func(testing.TB) backend.Backend { return wrapped{cpu.New()} })
}
`

// TestOutsideModule checks that a module that requires a clone of this one can build the program
// of docs/start-go.md and run the conformance suite.
func TestOutsideModule(t *testing.T) {
	clone := testkit.Must(filepath.Abs("../../.."))(t)
	_, code, _ := strings.Cut(readText(t, filepath.Join(clone, "docs", "start-go.md")), "```go\n")
	code, _, _ = strings.Cut(code, "```")
	dir := t.TempDir()
	for name, text := range map[string]string{"main.go": code, "backend_test.go": suite, "go.sum": readText(t, filepath.Join(clone, "go.sum"))} {
		testkit.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	for _, args := range [][]string{
		{"mod", "init", "example.com/first"},
		{"mod", "edit", "-require", "github.com/vssgp/vssgp@v0.0.0", "-replace", "github.com/vssgp/vssgp=" + clone},
		{"run", "-mod=mod", "."}, {"test", "-mod=mod", "."},
	} {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}
