package source

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// from parses sources given by name.
func from(t *testing.T, files map[string]string) (*Sources, error) {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		testkit.OK(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666))
	}
	return Read(folder)
}

func TestParseFindsKernels(t *testing.T) {
	const common = "#define COMMON \\\n\tconst double *x, long long n, \\\n\tdouble delta\n#define OTHER(x) x\n"
	cases := []struct{ name, text, want string }{
		{"plain", "KERNEL(128) a(const double *x, long long n, double delta, double *part) {}", "a 128: x uint64 n int64 delta float64 part uint64"},
		{"none", "\n\nKERNEL(32) a() {}", "a 32:"},
		{"spread over lines", "KERNEL( 64 )\na_1(\n\tlong long\tn,\n\tdouble*x\n)\n{\n}", "a_1 64: n int64 x uint64"},
		{"pointers", "KERNEL(32) a(const void *const *p, const long long *__restrict__ j, float *f, const T<int> *t) {}", "a 32: p uint64 j uint64 f uint64 t uint64"},
		{"macro", "#include \"b.cuh\"\nKERNEL(32) a(COMMON, double *part) {}", "a 32: x uint64 n int64 delta float64 part uint64"},
		{"sorted", "KERNEL(32) b() {}\nKERNEL(64) a() {}", "a 64: b 32:"},
		{"blocks of a multiprocessor", "KERNEL(256, 3) a(double x) {}", "a 256: x float64"},
		{"comments", "// KERNEL(1) no()\n//\tKERNEL(2) no()\nKERNEL(32) a(double x) { } // KERNEL(3)", "a 32: x float64"},
		{"a macro of that name", "#define KERNEL(threads) \\\n  void\nKERNEL(32) a() {}", "a 32:"},
		{"const values", "KERNEL(32) a(const long long n, const double x) {}", "a 32: n int64 x float64"},
	}
	for _, c := range cases {
		s, err := from(t, map[string]string{"a.cu": c.text, "b.cuh": common})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var have []string
		for _, k := range s.Kernels {
			have = append(have, fmt.Sprintf("%s %d:", k.Name, k.Threads))
			for _, p := range k.Parameters {
				have = append(have, p.Name, p.Go)
			}
		}
		if text := strings.Join(have, " "); text != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.name, text, c.want)
		}
	}
}

// TestArgsHaveConstantsAndRows checks that the constants of shape.cuh and the structs of tables.cuh appear in the Go
// file, and that a macro at the beginning of a kernel's parameters becomes an embedded struct.
func TestArgsHaveConstantsAndRows(t *testing.T) {
	s, err := from(t, map[string]string{
		"shape.cuh":  "constexpr int MAX_ROWS = 16; // rows of a thing\nconstexpr int other = 3;\n",
		"tables.cuh": "#pragma once\n\n// A Row is one.\nstruct Row {\n\tlong long lo, first_hi; // where\n\tlong long m; // size\n};\n",
		"a.cuh":      "constexpr int MINE = 1; // not a launch's\n#define FIRST_ONES const double *x, \\\n\tlong long n\n",
		"a.cu":       "KERNEL(32) a(FIRST_ONES, double y) {}\nKERNEL(32) b(FIRST_ONES) {}\nKERNEL(32) c(double y) {}",
	})
	testkit.OK(t, err)
	text := testkit.Must(s.Args())(t)
	testkit.Contains(t, string(text),
		"MaxRows = 16 // rows of a thing\n",
		"\n\n// A Row is one.\ntype Row struct {\n\tLo, FirstHi int64 // where\n\tM           int64 // size\n}\n",
		"type FirstOnes struct {\n\tX uint64\n\tN int64\n}",
		"type A struct {\n\tFirstOnes\n\tY float64\n}", "type B struct {\n\tFirstOnes\n}", "type C struct {\n\tY float64\n}",
	)
	s.Rows = "struct Row {\n\tlong long lo; // first;\n\tint hi; // last\n};\n"
	if _, err := s.Args(); err == nil || !strings.Contains(err.Error(), `"int hi;": a member of a row must be a long long`) {
		t.Errorf("a row with an int: %v", err)
	}
	if strings.Contains(string(text), "Mine") || strings.Contains(string(text), "Other") {
		t.Errorf("other constants are in\n%s", text)
	}
}

func TestParseRefuses(t *testing.T) {
	cases := []struct{ name, text, want string }{
		{"int", "\nKERNEL(32) a(double x,\n\tint n) {}", "a.cu: kernel a: parameter n is of type int"},
		{"float", "KERNEL(32) a(float n) {}", "a.cu: kernel a: parameter n is of type float"},
		{"unsigned", "KERNEL(32) a(unsigned long long n) {}", "type unsigned long long"},
		{"struct", "KERNEL(32) a(Rows r) {}", "type Rows"},
		{"no name", "KERNEL(32) a(double) {}", `parameter "double"`},
		{"empty", "KERNEL(32) a(double x,) {}", `parameter ""`},
		{"unknown macro", "KERNEL(32) a(ROWS, double x) {}", `parameter "ROWS"`},
		{"threads by name", "KERNEL(THREADS) a() {}", `a.cu: "KERNEL(THREADS) a() {}" is not a kernel`},
		{"declaration", "KERNEL(32) a();", "is not a kernel"},
		{"threads", "KERNEL(100) a() {}", "100 threads"},
		{"many threads", "KERNEL(2048) a() {}", "2048 threads"},
		{"upper case", "KERNEL(32) Moments() {}", "is not a kernel"},
		{"a macro's parameter", "#define ROWS int n\nKERNEL(32) a(ROWS, double x) {}", "a.cu: macro ROWS: parameter n is of type int"},
	}
	for _, c := range cases {
		_, err := from(t, map[string]string{"a.cu": c.text})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v: want %q", c.name, err, c.want)
		}
	}
}

func TestHashOfSources(t *testing.T) {
	hashes := map[string]bool{}
	for _, files := range []map[string]string{{"a.cu": "x"}, {"a.cuh": "x"}, {"a.cu": "x\n"}, {"a.cu": "x", "b.cuh": ""}, {}} {
		s := testkit.Must(from(t, files))(t)
		hashes[s.Hash()] = true
	}
	if len(hashes) != 5 {
		t.Errorf("%d hashes of 5 different sources", len(hashes))
	}
}

func TestPackRoundTrip(t *testing.T) {
	ptx := []byte(strings.Repeat("mma.sync\n", 1000))
	packed, err := Pack(ptx)
	if err != nil || len(packed) > 500 {
		t.Fatalf("%d bytes, %v", len(packed), err)
	}
	r := testkit.Must(gzip.NewReader(bytes.NewReader(packed)))(t)
	if back, err := io.ReadAll(r); err != nil || string(back) != string(ptx) {
		t.Error("unpacking failed:", err)
	}
}

func TestFindCompilerRefuses(t *testing.T) {
	folder := t.TempDir()
	other := filepath.Join(folder, "nvcc")
	testkit.OK(t, os.WriteFile(other, []byte("#!/bin/sh\necho 'Cuda compilation tools, release 12.4, V12.4.131'\n"), 0o777))
	for _, path := range []string{other, filepath.Join(folder, "none")} {
		if _, err := FindCompiler(path); !errors.Is(err, ErrNoCompiler) || !strings.Contains(err.Error(), Release) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
