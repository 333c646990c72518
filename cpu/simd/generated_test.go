package simd

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSum: neither the generator nor what it made was changed alone, and
// nothing is missing in the list.
func TestSum(t *testing.T) {
	list, err := os.ReadFile("asm.sum")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for line := range strings.Lines(string(list)) {
		hash, name, ok := strings.Cut(strings.TrimSpace(line), "  ")
		if !ok {
			t.Fatalf("asm.sum: %q is no hash and name", line)
		}
		text, err := os.ReadFile(filepath.FromSlash(name))
		if err != nil {
			t.Fatal(err)
		}
		known[name] = true
		if got := fmt.Sprintf("%x", sha256.Sum256(text)); got != hash {
			t.Errorf("%s is not what asm.sum has: run go generate", name)
		}
	}
	for _, pattern := range []string{"asm/*", "*.s", "dispatch_*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if !known[filepath.ToSlash(f)] {
				t.Errorf("%s is not in asm.sum: run go generate", f)
			}
		}
	}
}

// TestGenerate makes everything anew, where VSSGP_REQUIRE_AVO is set: avo and
// what it needs are downloaded.
func TestGenerate(t *testing.T) {
	if os.Getenv("VSSGP_REQUIRE_AVO") == "" {
		t.Skip("VSSGP_REQUIRE_AVO is not set; TestSum holds the hashes")
	}
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "asm"), os.DirFS("asm")); err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(doc)) {
		command, ok := strings.CutPrefix(line, "//go:generate ")
		if !ok {
			continue
		}
		run := exec.Command("go", strings.Fields(command)[1:]...)
		run.Dir = dir
		if out, err := run.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
	}
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		made, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		kept, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if !bytes.Equal(made, kept) {
			t.Errorf("go generate makes another %s", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
