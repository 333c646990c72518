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
	"github.com/vssgp/vssgp/internal/testkit/layers"
)

const (
	modulePath = "github.com/vssgp/vssgp"
	driver     = "gorgonia.org/cu" // of NVIDIA GPUs; it links against the driver's library
)

// wrongImport returns the reason why a file may not import a package, or "" if it may.
func wrongImport(file, to string) string {
	from := path.Dir(file)
	if to == driver && from != "cuda" {
		return "only package cuda may import it"
	}
	folder, ours := strings.CutPrefix(to+"/", modulePath+"/")
	if !ours || strings.HasSuffix(file, "_test.go") {
		return ""
	}
	own, other := layers.Of(from), layers.Of(path.Clean(folder))
	switch {
	case own == "":
		return "the folder " + from + " has no layer; add it to internal/testkit/layers"
	case slices.Index(layers.Names, other) > slices.Index(layers.Names, own):
		return "the layer " + own + " may not import the layer " + other
	}
	return ""
}

// TestLayers checks the imports of every Go file of the module, with any build tags.
func TestLayers(t *testing.T) {
	for _, file := range sources(t, ".go") {
		parsed := testkit.Must(parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.ImportsOnly))(t)
		for _, spec := range parsed.Imports {
			to := testkit.Must(strconv.Unquote(spec.Path.Value))(t)
			if why := wrongImport(file, to); why != "" {
				t.Errorf("%s imports %s: %s", file, to, why)
			}
		}
	}
}

// TestWrongImport checks that forbidden imports are found.
func TestWrongImport(t *testing.T) {
	for _, c := range []struct {
		file, to string
		ok       bool
	}{
		{"cpu/backend.go", modulePath + "/backend", true},
		{"variational/exact.go", modulePath, true},
		{"audio/restore/fill.go", modulePath, true},
		{"fit.go", modulePath + "/series", false},
		{"cpu/backend.go", modulePath + "/internal/testkit/oracle", false},
		{"cpu/cpu_test.go", modulePath + "/backend/backendtest", true},
		{"cpu/cpu_test.go", driver, false},
		{"cuda/driver.go", driver, true},
		{"series/fit.go", modulePath + "/cmd/vssgp/internal/cli", false},
		{"cmd/vssgp/main.go", modulePath + "/audio", true},
		{"cmd/vssgp/main.go", modulePath + "/internal/testkit/oracle", false},
		{"bench/main.go", modulePath + "/internal/testkit/oracle", true},
		{"new/file.go", modulePath + "/backend", false},
	} {
		if why := wrongImport(c.file, c.to); (why == "") != c.ok {
			t.Errorf("%s imports %s: allowed %v (%s)", c.file, c.to, why == "", why)
		}
	}
}
