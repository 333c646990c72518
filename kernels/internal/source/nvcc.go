package source

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Architectures lists the compute capabilities, times ten, of the PTX.
var Architectures = []int{80, 90}

// flags are the same on every machine; Flags adds the architecture.
var flags = []string{"-ptx", "-std=c++17", "-O3", "--fmad=false"}

// Release is the CUDA release of the nvcc that compiles the PTX. Drivers since 520 load its PTX,
// and it is the first release that supports sm_90.
const Release = "11.8"

// ErrNoCompiler is wrapped if nvcc of that release is not found.
var ErrNoCompiler = errors.New("nvcc " + Release + " is needed for the PTX: install CUDA " + Release +
	" (Debian: nvidia-cuda-toolkit), and name it with -nvcc or NVCC if it is not in PATH")

// A Compiler is an nvcc executable.
type Compiler struct{ Path, Version string }

// FindCompiler looks for nvcc at path or, if that is empty, at the path in the variable NVCC or, if
// that is empty too, in PATH and in /usr/local/cuda. It rejects an nvcc of another release.
func FindCompiler(path string) (*Compiler, error) {
	candidates := []string{cmp.Or(path, os.Getenv("NVCC"))}
	if candidates[0] == "" {
		candidates = []string{"nvcc", "/usr/local/cuda/bin/nvcc", "/usr/local/cuda-" + Release + "/bin/nvcc"}
	}
	refused := ""
	for _, c := range candidates {
		out, err := exec.Command(c, "--version").Output()
		if err != nil {
			refused += fmt.Sprintf("; %v", err)
			continue
		}
		version := regexp.MustCompile(`release (\S+), (V\S+)`).FindStringSubmatch(string(out))
		if version != nil && version[1] == Release {
			return &Compiler{c, version[2]}, nil
		}
		refused += fmt.Sprintf("; %s is of another release", c)
	}
	return nil, fmt.Errorf("%w%s", ErrNoCompiler, refused)
}

// Flags returns the compiler's arguments for an architecture.
func Flags(arch int) []string {
	return append(slices.Clone(flags), fmt.Sprintf("-arch=compute_%d", arch), fmt.Sprintf("-DVSSGP_ARCH=%d", 10*arch))
}

// PTX compiles all sources for an architecture.
func (c *Compiler) PTX(s *Sources, arch int) ([]byte, error) {
	folder, err := os.MkdirTemp("", "kernels")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	for _, f := range append(s.Files, File{"all.cu", s.unit()}) {
		if err := os.WriteFile(filepath.Join(folder, f.Name), f.Text, 0o666); err != nil {
			return nil, err
		}
	}
	// Only names: paths would appear in the compiler's messages and output.
	cmd := exec.Command(c.Path, append(Flags(arch), "all.cu", "-o", "all.ptx")...)
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	ptx, err := os.ReadFile(filepath.Join(folder, "all.ptx"))
	if err != nil {
		return nil, err
	}
	if place := regexp.MustCompile(`(?m)^\s*\.(file|loc)\s.*|.*` + regexp.QuoteMeta(folder) + `.*`).Find(ptx); place != nil {
		return nil, fmt.Errorf("the PTX for sm_%d contains a path of this machine: %s", arch, place)
	}
	return ptx, nil
}

// Image returns the path of an architecture's compressed PTX, relative to the sources.
func Image(arch int) string { return fmt.Sprintf("ptx/sm_%d.ptx.gz", arch) }

// Pack compresses PTX, which has some megabytes. Its result may change with the Go release, so the
// hashes are computed from the PTX itself.
func Pack(ptx []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(ptx); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}

// Sum returns the contents of kernels.sum: the hashes of the sources and of each architecture's
// uncompressed PTX, with the compiler's version and flags.
func (s *Sources) Sum(version string, ptx [][]byte) []byte {
	var b bytes.Buffer
	b.WriteString("# The kernels' sources and the PTX made from them by go generate ./kernels.\n")
	fmt.Fprintf(&b, "# nvcc %s\n", version)
	for _, arch := range Architectures {
		fmt.Fprintf(&b, "# sm_%d: %s\n", arch, strings.Join(Flags(arch), " "))
	}
	for _, f := range s.Files {
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(f.Text), f.Name)
	}
	for i, arch := range Architectures {
		fmt.Fprintf(&b, "%x  sm_%d.ptx\n", sha256.Sum256(ptx[i]), arch)
	}
	return b.Bytes()
}
