// Command generate writes, from the kernels' sources, the Go types of the arguments (args.go) and
// the emulator's table (gpu/internal/emu/table.h), and with nvcc the PTX and the hashes (ptx,
// kernels.sum). It runs in the folder kernels.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/kernels/internal/source"
)

func main() {
	folder := flag.String("dir", ".", "`folder` of the sources")
	nvcc := flag.String("nvcc", "", "the compiler (default: NVCC, or nvcc in PATH or /usr/local/cuda)")
	ptx := flag.Bool("ptx", true, "generate the PTX and kernels.sum, in addition to args.go and table.h")
	flag.Parse()
	if err := run(*folder, *nvcc, *ptx); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(folder, nvcc string, ptx bool) error {
	s, err := source.Read(folder)
	if err != nil {
		return err
	}
	args, err := s.Args()
	if err != nil {
		return err
	}
	if err := write(folder, "args.go", args); err != nil {
		return err
	}
	if err := write(folder, "../gpu/internal/emu/table.h", s.Table()); err != nil {
		return err
	}
	if !ptx {
		return nil
	}
	c, err := source.FindCompiler(nvcc)
	if err != nil {
		return fmt.Errorf("args.go and the emulator's table.h are written, but not ptx and kernels.sum: %w", err)
	}
	images := make([][]byte, len(source.Architectures))
	err = parallel.Try(len(images), len(images), func(i int) (err error) {
		images[i], err = c.PTX(s, source.Architectures[i])
		return err
	})
	if err != nil {
		return err
	}
	for i, arch := range source.Architectures {
		packed, err := source.Pack(images[i])
		if err != nil {
			return err
		}
		if err := write(folder, source.Image(arch), packed); err != nil {
			return err
		}
	}
	return write(folder, "kernels.sum", s.Sum(c.Version, images))
}

// write atomically replaces a file if its contents change.
func write(folder, name string, text []byte) error {
	path := filepath.Join(folder, name)
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return fileio.Write(path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}
