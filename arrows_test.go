package vssgp

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	modulePath = "github.com/vssgp/vssgp"
	driver     = "gorgonia.org/cu" // of the cards; it links against the driver's library
)

// allowed are the packages of this module, by their folders, that each but the
// commands may import, tests apart.
var allowed = map[string][]string{
	".":           {"spectral", "cpu", "gpu", "internal/ar", "internal/atomicfile", "internal/blocktri", "internal/cost", "internal/lbfgs", "internal/matrices", "internal/parallel", "internal/periodogram", "internal/safetensors", "internal/score"},
	"spectral":    {},
	"cpu":         {"spectral", "cpu/simd", "internal/parallel"},
	"cpu/simd":    {"internal/parallel"},
	"gpu":         {"spectral", "cuda", "kernels", "kernels/emu"},
	"cuda":        {},
	"kernels":     {},
	"kernels/emu": {"cuda"},

	"kernels/internal/generate": {"kernels/internal/source"},
	"kernels/internal/source":   {},

	"ranks":        {"spectral", "internal/blocktri", "internal/mpi", "internal/parallel"},
	"internal/mpi": {},

	"impute":               {".", "audio", "internal/cost", "internal/score"},
	"audio":                {"internal/ar"},
	"baseline":             {".", "internal/lbfgs", "internal/matrices", "internal/parallel"},
	"dense":                {"."},
	"internal/ar":          {"cpu/simd", "internal/cost", "internal/parallel"},
	"internal/atomicfile":  {},
	"internal/blocktri":    {"spectral", "cpu/simd", "internal/parallel"},
	"internal/cost":        {},
	"internal/lbfgs":       {"internal/parallel"},
	"internal/matrices":    {},
	"internal/oracle":      {},
	"internal/parallel":    {},
	"internal/periodogram": {"internal/cost"},
	"internal/score":       {},
	"internal/backendtest": {"spectral", "internal/oracle"},
	"internal/modeltest":   {"internal/score"},
	"internal/safetensors": {"internal/atomicfile"},
	"internal/table":       {"internal/atomicfile"},
	"internal/chart":       {"internal/atomicfile"},
	"internal/figure":      {"internal/chart"},
	"internal/page":        {"internal/figure"},
	"internal/report":      {".", "audio", "impute", "internal/figure", "internal/page"},
}

// testOnly are for tests: no other code may import them.
var testOnly = []string{"internal/oracle", "internal/backendtest", "internal/modeltest"}

// arrow says why a file of a package may not import another package, "" if it
// may. Packages are folders of the module.
func arrow(file, to string) string {
	from := path.Dir(file)
	test := strings.HasSuffix(file, "_test.go")
	command := strings.HasPrefix(from, "cmd/") || from == "cmd" || from == "bench" || strings.HasPrefix(from, "bench/")
	switch {
	case strings.HasPrefix(to, "cmd/"):
		return "nothing imports a command"
	case test, command && !slices.Contains(testOnly, to):
		return ""
	case slices.Contains(testOnly, to) && from != "internal/backendtest":
		return "it is for tests"
	case command:
		return ""
	}
	list, known := allowed[from]
	switch {
	case !known:
		return "the package is not listed in arrows_test.go"
	case !slices.Contains(list, to):
		return "it may import " + strings.Join(list, ", ")
	}
	return ""
}

// TestArrows reads the imports of every Go file of the module, whatever its
// build tags.
func TestArrows(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && file != "." && (strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_") || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(file, ".go") {
			return nil
		}
		file = filepath.ToSlash(file)
		seen[path.Dir(file)] = true
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range parsed.Imports {
			to, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if to == driver && path.Dir(file) != "cuda" {
				t.Errorf("%s imports %s: only package cuda may", file, to)
			}
			folder, ours := strings.CutPrefix(to, modulePath)
			if !ours || folder != "" && folder[0] != '/' {
				continue
			}
			if why := arrow(file, path.Join(".", folder[min(1, len(folder)):])); why != "" {
				t.Errorf("%s imports %s: %s", file, to, why)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{".", "spectral", "cpu", "impute", "internal/oracle"} {
		if !seen[want] {
			t.Errorf("no file of %s was read", want)
		}
	}
}

// TestArrowsBite: arrows that must not be are found.
func TestArrowsBite(t *testing.T) {
	for _, c := range []struct {
		file, to string
		ok       bool
	}{
		{"spectral/sums.go", "cpu", false},
		{"spectral/sums.go", ".", false},
		{"cpu/data.go", "spectral", true},
		{"cpu/data.go", "internal/oracle", false},
		{"cpu/data_test.go", "internal/backendtest", true},
		{"fit.go", "cpu", true},
		{"fit.go", "internal/oracle", false},
		{"fit_test.go", "internal/oracle", true},
		{"fit.go", "impute", false},
		{"fit.go", "audio", false},
		{"impute/fill.go", ".", true},
		{"impute/fill.go", "audio", true},
		{"impute/fill.go", "cpu", false},
		{"audio/wav.go", "impute", false},
		{"audio/ar.go", "internal/ar", true},
		{"audio/ar.go", ".", false},
		{"audio/ar.go", "spectral", false},
		{"internal/table/csv.go", "internal/ar", false},
		{"internal/oracle/bound.go", "spectral", false},
		{"internal/oracle/bound.go", ".", false},
		{"internal/backendtest/suite.go", "internal/oracle", true},
		{"cmd/vssgp/main.go", "audio", true},
		{"cmd/vssgp/main.go", "internal/oracle", false},
		{"fit_test.go", "cmd/vssgp", false},
		{"gpu/data.go", "cuda", true},
		{"gpu/emu.go", "kernels/emu", true},
		{"gpu/data.go", "cpu", false},
		{"cuda/context.go", "spectral", false},
		{"cuda/driver_emu.go", "kernels/emu", false},
		{"kernels/args.go", "cuda", false},
		{"kernels/emu/register.go", "cuda", true},
		{"kernels/emu/register.go", "gpu", false},
		{"ranks/dense.go", "spectral", true},
		{"ranks/dense.go", "cpu", false},
		{"ranks/dense.go", ".", false},
		{"internal/mpi/mpi.go", "ranks", false},
		{"new/file.go", "spectral", false},
	} {
		if why := arrow(c.file, c.to); (why == "") != c.ok {
			t.Errorf("%s → %s: allowed %v (%s)", c.file, c.to, why == "", why)
		}
	}
}
