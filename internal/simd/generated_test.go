package simd

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

var writeSum = flag.Bool("write-sum", false, "make TestGeneratedFilesMatchHashes write asm.sum instead of comparing")

// TestGeneratedFilesMatchHashes compares the hashes in asm.sum, so that neither the generator nor the generated files change separately.
func TestGeneratedFilesMatchHashes(t *testing.T) {
	var files []string
	for _, pattern := range []string{"asm/*", "*.s", "dispatch_*.go"} {
		files = append(files, testkit.Must(filepath.Glob(pattern))(t)...)
	}
	slices.Sort(files)
	var sums strings.Builder
	for _, name := range files {
		text := testkit.Must(os.ReadFile(name))(t)
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(text), filepath.ToSlash(name))
	}
	if *writeSum {
		testkit.OK(t, os.WriteFile("asm.sum", []byte(sums.String()), 0o644))
	}
	if list, err := os.ReadFile("asm.sum"); err != nil || string(list) != sums.String() {
		t.Errorf("asm.sum does not match the files: run go generate (%v)\n%s", err, sums.String())
	}
}

// TestGenerate regenerates all files if VSSGP_REQUIRE_AVO is set. This downloads avo and its
// dependencies.
func TestGenerate(t *testing.T) {
	if os.Getenv("VSSGP_REQUIRE_AVO") == "" {
		t.Skip("VSSGP_REQUIRE_AVO is not set; TestGeneratedFilesMatchHashes compares the hashes")
	}
	dir := t.TempDir()
	testkit.OK(t, os.CopyFS(filepath.Join(dir, "asm"), os.DirFS("asm")))
	doc, err := os.ReadFile("doc.go")
	testkit.OK(t, err)
	for line := range strings.Lines(string(doc)) {
		command, ok := strings.CutPrefix(line, "//go:generate go run ") // the last command writes the hashes
		if !ok {
			continue
		}
		run := exec.Command("go", append([]string{"run"}, strings.Fields(command)...)...)
		run.Dir = dir
		if out, err := run.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
	}
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if !bytes.Equal(testkit.Must(os.ReadFile(filepath.Join(dir, name)))(t), testkit.Must(os.ReadFile(name))(t)) {
			t.Errorf("go generate changes %s", name)
		}
		return nil
	})
	testkit.OK(t, err)
}
