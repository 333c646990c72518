package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// sum writes asm.sum: the hashes of this program's sources and of what it has
// made, so that a test without avo sees when one was changed alone.
func sum(dir string) error {
	var files []string
	for _, pattern := range []string{"asm/*.go", "asm/go.*", "*_amd64.s", "dispatch_*.go"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return err
		}
		files = append(files, found...)
	}
	slices.Sort(files)
	var out bytes.Buffer
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "%x  %s\n", sha256.Sum256(text), filepath.ToSlash(name))
	}
	return os.WriteFile(filepath.Join(dir, "asm.sum"), out.Bytes(), 0o644)
}
