// Package source reads the kernels' sources and makes from them what go generate
// writes: the Go types of their arguments, the emulator's table, and the PTX.
package source

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A File is a source.
type File struct {
	Name string
	Text []byte
}

// Sources are the .cu and .cuh files of a folder, by name, and the kernels in
// them, by name.
type Sources struct {
	Folder  string
	Files   []File
	Kernels []Kernel
}

// A Kernel is a KERNEL(threads) name(parameters) of a source.
type Kernel struct {
	Name       string
	Threads    int // of a block
	Parameters []Parameter
	File       string
	Line       int
}

// A Parameter is a kernel's; Go is the type of its field: uint64 for a pointer,
// int64 for a long long, float64 for a double.
type Parameter struct{ Name, Go string }

// Read reads a folder's sources.
func Read(folder string) (*Sources, error) {
	s := &Sources{Folder: folder}
	for _, pattern := range []string{"*.cu", "*.cuh"} {
		paths, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			s.Files = append(s.Files, File{filepath.Base(path), text})
		}
	}
	slices.SortFunc(s.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return s, s.parse()
}

// Units are the names of the .cu files.
func (s *Sources) Units() []string {
	var names []string
	for _, f := range s.Files {
		if strings.HasSuffix(f.Name, ".cu") {
			names = append(names, f.Name)
		}
	}
	return names
}

// Hash is one of all sources.
func (s *Sources) Hash() string {
	h := sha256.New()
	for _, f := range s.Files {
		fmt.Fprintf(h, "%s %d\n%s", f.Name, len(f.Text), f.Text)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}
