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

	"github.com/vssgp/vssgp/internal/testkit"
)

const (
	modulePath = "github.com/vssgp/vssgp"
	driver     = "gorgonia.org/cu" // of NVIDIA GPUs; it links against the driver's library
)

// allowed lists, by folder, the packages of this module that each package except the commands
// imports outside tests. Imports that are not listed are errors, and so are listed imports that
// are not used.
var allowed = map[string][]string{
	".": {
		"backend", "variational", "cpu", "internal/heap", "internal/fileio", "internal/linalg/blocktri", "internal/optimize/checkpoint", "internal/linalg",
		"internal/optimize", "internal/bayes", "internal/rowspectrum", "internal/fileio/safetensors", "internal/initialize",
	},
	"variational":          {"backend", "internal/linalg/blocktri", "internal/double", "internal/linalg", "internal/parallel"},
	"backend":              {"internal/double"},
	"cpu":                  {"backend", "internal/simd", "internal/parallel", "internal/rowspectrum"},
	"internal/simd":        {"internal/parallel"},
	"gpu":                  {"backend", "cuda", "kernels", "internal/testkit/emu", "internal/parallel", "internal/rowspectrum"},
	"cuda":                 {},
	"kernels":              {},
	"internal/testkit/emu": {"cuda", "internal/parallel"},

	"internal/testkit/ptxcheck":      {"kernels", "internal/testkit/ptxcheck/sass", "internal/parallel"},
	"kernels/internal/generate":      {"kernels/internal/source", "internal/fileio", "internal/parallel"},
	"kernels/internal/source":        {},
	"internal/testkit/ptxcheck/sass": {},

	"ranks":        {"backend", "internal/linalg/blocktri", "internal/mpi", "internal/parallel", "internal/rowspectrum"},
	"internal/mpi": {},

	"audio/restore":                   {".", "audio", "audio/internal/declip", "audio/internal/crosschannel", "internal/parallel", "internal/ar", "internal/bayes", "internal/heap", "internal/timewarp"},
	"audio":                           {"internal/ar", "internal/fileio", "internal/parallel"},
	"audio/detect":                    {"audio", "internal/ar", "internal/clicks", "internal/parallel"},
	"internal/clicks":                 {"internal/ar", "internal/simd"},
	"internal/clicks/train":           {"audio", "audio/detect", "internal/clicks", "internal/optimize/lbfgs", "internal/parallel", "internal/simd", "internal/testkit/spoil"},
	"internal/testkit/spoil":          {"audio"},
	"audio/internal/declip":           {"internal/simd", "internal/ar", "internal/linalg/blocktri"},
	"tensors":                         {"."},
	"internal/ar":                     {"internal/simd", "internal/linalg/blocktri", "internal/parallel"},
	"internal/fileio":                 {"internal/fileio/fault"},
	"audio/internal/crosschannel":     {"internal/simd", "internal/ar", "internal/linalg/blocktri"},
	"internal/linalg/blocktri":        {"backend", "internal/simd", "internal/parallel"},
	"internal/optimize/checkpoint":    {"variational", "internal/fileio", "internal/optimize", "internal/fileio/safetensors"},
	"internal/double":                 {},
	"internal/fileio/fault":           {},
	"internal/optimize/lbfgs":         {"internal/parallel"},
	"internal/linalg":                 {},
	"internal/optimize":               {"backend", "variational", "internal/optimize/lbfgs", "internal/parallel", "internal/bayes"},
	"internal/testkit/oracle":         {},
	"internal/heap":                   {},
	"internal/parallel":               {},
	"internal/nufft":                  {},
	"internal/initialize/periodogram": {"internal/nufft"},
	"internal/rowspectrum":            {"backend", "internal/simd", "internal/double", "internal/nufft", "internal/parallel"},
	"internal/initialize":             {"backend", "variational", "internal/ar", "internal/parallel", "internal/initialize/periodogram"},
	"internal/testkit/cputime":        {},
	"internal/testkit/precise":        {},
	"internal/testkit/slow":           {},
	"backend/backendtest":             {"backend", "internal/double", "internal/testkit", "internal/testkit/oracle", "internal/testkit/slow"},
	"internal/testkit/modeltest":      {"backend", "variational", "internal/testkit/oracle", "internal/bayes"},
	"internal/bayes":                  {"internal/optimize/lbfgs"},
	"series": {
		"backend", "internal/simd", "internal/fileio", "internal/linalg/blocktri", "internal/parallel", "internal/bayes",
		"internal/heap",
		"internal/fileio/safetensors",
	},
	"internal/procfs":             {},
	"internal/fileio/safetensors": {"internal/fileio", "internal/fileio/fault"},
	"internal/timewarp":           {"internal/ar"},
	"internal/table":              {"internal/fileio", "internal/fileio/fault"},
	"internal/report":             {".", "audio", "audio/detect", "audio/restore", "series", "internal/ar", "internal/fileio", "internal/bayes"},
}

// inCommand lists, for each package of the command, the command's packages that it may import.
var inCommand = map[string][]string{
	"cmd/vssgp": {
		"cmd/vssgp/internal/cli", "cmd/vssgp/internal/fit", "cmd/vssgp/internal/series", "cmd/vssgp/internal/audio", "cmd/vssgp/internal/serve",
	},
	"cmd/vssgp/internal/cli":      {},
	"cmd/vssgp/internal/datafile": {"cmd/vssgp/internal/cli"},
	"cmd/vssgp/internal/series":   {"cmd/vssgp/internal/cli", "cmd/vssgp/internal/datafile"},
	"cmd/vssgp/internal/fit":      {"cmd/vssgp/internal/cli", "cmd/vssgp/internal/datafile", "cmd/vssgp/internal/series"},
	"cmd/vssgp/internal/audio":    {"cmd/vssgp/internal/cli", "cmd/vssgp/internal/datafile", "cmd/vssgp/internal/fit"},
	"cmd/vssgp/internal/serve":    {"cmd/vssgp/internal/cli"},
}

// testOnly lists the packages for tests, which no other code may import.
var testOnly = []string{
	"backend/backendtest", "internal/testkit/cputime", "internal/testkit/modeltest", "internal/testkit/oracle", "internal/testkit/precise",
	"internal/testkit/slow",
}

// arrow returns the reason why a file may not import a package, or "" if it may. Packages are
// given as folders of the module.
func arrow(file, to string) string {
	from := path.Dir(file)
	test := strings.HasSuffix(file, "_test.go")
	command := strings.HasPrefix(from, "cmd/") || from == "cmd" || from == "bench" || strings.HasPrefix(from, "bench/")
	switch {
	case strings.HasPrefix(to, "cmd/"):
		if slices.Contains(inCommand[from], to) || test && command {
			return ""
		}
		return "only listed packages may import a command's packages"
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

// TestArrows checks the imports of every Go file of the module, with any build tags.
func TestArrows(t *testing.T) {
	used := map[string][]string{} // by folder, without tests
	for _, file := range sources(t, ".go") {
		from, test := path.Dir(file), strings.HasSuffix(file, "_test.go")
		if _, known := used[from]; !known {
			used[from] = nil
		}
		parsed := testkit.Must(parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.ImportsOnly))(t)
		for _, spec := range parsed.Imports {
			to := testkit.Must(strconv.Unquote(spec.Path.Value))(t)
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
			t.Errorf("%s is listed but has no Go file", from)
		}
		for _, to := range list {
			if !slices.Contains(used[from], to) {
				t.Errorf("%s is listed as importing %s but does not", from, to)
			}
		}
	}
}

// TestArrow checks that forbidden imports are found.
func TestArrow(t *testing.T) {
	for _, c := range []struct {
		file, to string
		ok       bool
	}{
		{"cpu/backend.go", "backend", true},
		{"cpu/backend.go", "internal/testkit/oracle", false},
		{"cpu/cpu_test.go", "backend/backendtest", true},
		{"fit.go", "internal/optimize/lbfgs", false},
		{"fit.go", "internal/testkit/oracle", false},
		{"fit_test.go", "internal/testkit/oracle", true},
		{"variational/exact.go", ".", false},
		{"audio/restore/fill.go", ".", true},
		{"audio/restore/fill.go", "cpu", false},
		{"internal/testkit/modeltest/kind.go", "internal/testkit/oracle", true},
		{"internal/testkit/oracle/bound.go", ".", false},
		{"cmd/vssgp/main.go", "audio", true},
		{"cmd/vssgp/main.go", "internal/testkit/oracle", false},
		{"fit_test.go", "cmd/vssgp", false},
		{"new/file.go", "backend", false},
	} {
		if why := arrow(c.file, c.to); (why == "") != c.ok {
			t.Errorf("%s → %s: allowed %v (%s)", c.file, c.to, why == "", why)
		}
	}
}
