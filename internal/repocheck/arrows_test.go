package repocheck

import (
	"go/parser"
	"go/token"
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

// allowed are the packages of this module, by their folders, that each package
// but the commands imports, tests apart: what is not here may not be imported,
// and what is here has to be.
var allowed = map[string][]string{
	".": {
		"spectral", "variational", "cpu", "internal/atomicfile", "internal/blocktri", "internal/checkpoint", "internal/matrices",
		"internal/optimise", "internal/posterior", "internal/rowspectrum", "internal/safetensors", "internal/score", "internal/start",
	},
	"variational": {"spectral", "internal/blocktri", "internal/double", "internal/matrices", "internal/parallel"},
	"spectral":    {"internal/double"},
	"cpu":         {"spectral", "cpu/simd", "internal/parallel", "internal/rowspectrum"},
	"cpu/simd":    {"internal/parallel"},
	"gpu":         {"spectral", "cuda", "kernels", "kernels/emu", "internal/parallel"},
	"cuda":        {},
	"kernels":     {},
	"kernels/emu": {"cuda", "internal/parallel"},

	"kernels/internal/check":    {"kernels", "kernels/internal/sass", "internal/parallel"},
	"kernels/internal/generate": {"kernels/internal/source", "internal/atomicfile", "internal/parallel"},
	"kernels/internal/source":   {},
	"kernels/internal/sass":     {},

	"ranks":        {"spectral", "internal/blocktri", "internal/mpi", "internal/parallel", "internal/rowspectrum"},
	"internal/mpi": {},

	"impute":               {".", "audio", "internal/clip", "internal/beside", "internal/parallel", "internal/score", "internal/warp"},
	"audio":                {"internal/ar", "internal/atomicfile", "internal/parallel"},
	"damage":               {"audio", "cpu/simd", "internal/ar", "internal/parallel"},
	"internal/clip":        {"cpu/simd", "internal/ar", "internal/parallel"},
	"baseline":             {".", "variational", "internal/lbfgs", "internal/matrices", "internal/optimise", "internal/parallel"},
	"dense":                {"."},
	"internal/ar":          {"cpu/simd", "internal/parallel"},
	"internal/atomicfile":  {"internal/fault"},
	"internal/beside":      {"cpu/simd", "internal/ar"},
	"internal/blocktri":    {"spectral", "cpu/simd", "internal/parallel"},
	"internal/checkpoint":  {"variational", "internal/atomicfile", "internal/optimise", "internal/safetensors"},
	"internal/double":      {},
	"internal/fault":       {},
	"internal/lbfgs":       {"internal/parallel"},
	"internal/matrices":    {},
	"internal/optimise":    {"spectral", "variational", "internal/lbfgs", "internal/parallel", "internal/posterior"},
	"internal/oracle":      {},
	"internal/parallel":    {},
	"internal/nufft":       {},
	"internal/periodogram": {"internal/nufft"},
	"internal/rowspectrum": {"spectral", "cpu/simd", "internal/double", "internal/nufft", "internal/parallel"},
	"internal/score":       {},
	"internal/start":       {"spectral", "variational", "internal/ar", "internal/parallel", "internal/periodogram"},
	"internal/cputime":     {},
	"internal/slow":        {},
	"internal/backendtest": {"spectral", "internal/oracle", "internal/slow"},
	"internal/modeltest":   {"spectral", "variational", "internal/oracle", "internal/score"},
	"internal/posterior":   {"internal/lbfgs"},
	"series": {
		"spectral", "cpu", "cpu/simd", "internal/atomicfile", "internal/blocktri", "internal/lbfgs", "internal/parallel", "internal/posterior",
		"internal/safetensors", "internal/score",
	},
	"internal/procfs":      {},
	"internal/safetensors": {"internal/atomicfile", "internal/fault"},
	"internal/warp":        {"internal/ar"},
	"internal/table":       {"internal/atomicfile", "internal/fault"},
	"internal/report":      {".", "audio", "impute", "series", "internal/atomicfile", "internal/score"},
}

// testOnly are for tests: no other code may import them.
var testOnly = []string{"internal/oracle", "internal/backendtest", "internal/cputime", "internal/modeltest", "internal/slow"}

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
	case slices.Contains(testOnly, to) && !slices.Contains(testOnly, from):
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
// build tags: each is allowed, and each that is allowed is there.
func TestArrows(t *testing.T) {
	used := map[string][]string{} // by folder, tests apart
	for _, file := range sources(t, ".go") {
		from, test := path.Dir(file), strings.HasSuffix(file, "_test.go")
		if _, known := used[from]; !known {
			used[from] = nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range parsed.Imports {
			to, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if to == driver && from != "cuda" {
				t.Errorf("%s imports %s: only package cuda may", file, to)
			}
			folder, ours := strings.CutPrefix(to, modulePath)
			if !ours || folder != "" && folder[0] != '/' {
				continue
			}
			folder = path.Join(".", strings.TrimPrefix(folder, "/"))
			if why := arrow(file, folder); why != "" {
				t.Errorf("%s imports %s: %s", file, to, why)
			}
			if !test {
				used[from] = append(used[from], folder)
			}
		}
	}
	for from, list := range allowed {
		if _, known := used[from]; !known {
			t.Errorf("%s is listed and has no Go file", from)
		}
		for _, to := range list {
			if !slices.Contains(used[from], to) {
				t.Errorf("%s is listed as importing %s and does not", from, to)
			}
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
		{"cpu/backend.go", "spectral", true},
		{"cpu/backend.go", "internal/oracle", false},
		{"cpu/cpu_test.go", "internal/backendtest", true},
		{"fit.go", "cpu", true},
		{"fit.go", "internal/oracle", false},
		{"fit_test.go", "internal/oracle", true},
		{"fit.go", "impute", false},
		{"fit.go", "variational", true},
		{"fit.go", "internal/lbfgs", false},
		{"variational/exact.go", ".", false},
		{"variational/exact.go", "cpu", false},
		{"variational/exact.go", "internal/optimise", false},
		{"internal/optimise/run.go", "variational", true},
		{"internal/optimise/run.go", "internal/start", false},
		{"internal/optimise/run.go", "internal/checkpoint", false},
		{"internal/start/start.go", "internal/optimise", false},
		{"internal/start/start.go", ".", false},
		{"internal/checkpoint/snapshot.go", ".", false},
		{"internal/modeltest/kind.go", "internal/oracle", true},
		{"fit.go", "audio", false},
		{"impute/fill.go", ".", true},
		{"impute/fill.go", "audio", true},
		{"impute/fill.go", "cpu", false},
		{"audio/wav.go", "impute", false},
		{"audio/ar.go", "internal/ar", true},
		{"audio/ar.go", ".", false},
		{"audio/ar.go", "spectral", false},
		{"internal/table/read.go", "internal/ar", false},
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
		{"ranks/exact.go", "spectral", true},
		{"ranks/exact.go", "cpu", false},
		{"ranks/exact.go", ".", false},
		{"internal/mpi/mpi.go", "ranks", false},
		{"new/file.go", "spectral", false},
	} {
		if why := arrow(c.file, c.to); (why == "") != c.ok {
			t.Errorf("%s → %s: allowed %v (%s)", c.file, c.to, why == "", why)
		}
	}
}
