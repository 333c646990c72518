// Package source parses the kernels' sources and generates the files of go generate: the Go types
// of the arguments, the emulator's table, and the PTX.
package source

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

// A File is a source file.
type File struct {
	Name string
	Text []byte
}

// Sources are the .cu and .cuh files of a folder and their kernels, both ordered by name.
type Sources struct {
	Files     []File
	Kernels   []Kernel
	Groups    map[string][]Parameter // by the macro that replaces them at the beginning of a kernel's parameters
	Constants []Constant             // of shape.cuh, in its order
	Rows      string                 // tables.cuh: structs of long longs, and comments
}

// A Constant is a constexpr int with its trailing comment.
type Constant struct{ Name, Value, Comment string }

// A Kernel is a KERNEL(threads) name(parameters) of a source.
type Kernel struct {
	Name       string
	Threads    int    // per block
	Group      string // the macro that replaces the first parameters, or ""
	Parameters []Parameter
	File       string
}

// A Parameter is a kernel's parameter. Go is the type of its field: uint64 for a pointer, int64 for
// a long long, float64 for a double.
type Parameter struct{ Name, Go string }

// Units returns the names of the .cu files.
func (s *Sources) Units() []string {
	var names []string
	for _, f := range s.Files {
		if strings.HasSuffix(f.Name, ".cu") {
			names = append(names, f.Name)
		}
	}
	return names
}

// Hash returns the hash of all sources.
func (s *Sources) Hash() string {
	h := sha256.New()
	for _, f := range s.Files {
		fmt.Fprintf(h, "%s %d\n%s", f.Name, len(f.Text), f.Text)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}
