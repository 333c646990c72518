package repocheck

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// uses contains the objects that the files of the module use.
type uses struct {
	used   map[types.Object]bool // by another package or by an example
	shown  map[types.Object]bool // by an example of the object's package
	called map[string]bool       // methods of interfaces
}

func newUses() *uses {
	return &uses{
		used: map[types.Object]bool{}, shown: map[types.Object]bool{},
		called: map[string]bool{"Error() string": true, "String() string": true, "Unwrap() error": true},
	}
}

// scan adds all packages of the module with their tests, and returns an importer of them. The types
// of imported packages come from the files that the compiler writes for go vet and go build.
func (u *uses) scan(t *testing.T) types.Importer {
	t.Helper()
	packages := goList(t, `{{.ImportPath}}|{{.Dir}}|{{join .GoFiles " "}} {{join .TestGoFiles " "}}|`+
		`{{join .XTestGoFiles " "}}|{{join .TestImports " "}} {{join .XTestImports " "}}`, "./...")
	imported := []string{"-export", "-deps", "./..."}
	for _, p := range packages {
		imported = append(imported, strings.Fields(p[4])...)
	}
	exports, fset := map[string]string{}, token.NewFileSet()
	for _, p := range goList(t, `{{.ImportPath}}|{{.Export}}`, imported...) {
		exports[p[0]] = p[1]
	}
	importer := importer.ForCompiler(fset, "gc", func(name string) (io.ReadCloser, error) {
		return os.Open(exports[name])
	})
	for _, p := range packages {
		for _, files := range p[2:4] {
			var parsed []*ast.File
			for file := range strings.FieldsSeq(files) {
				path := filepath.Join(p[1], file)
				parsed = append(parsed, testkit.Must(parser.ParseFile(fset, path, nil, parser.SkipObjectResolution))(t))
			}
			u.add(p[0], parsed, fset, importer)
		}
	}
	return importer
}

// goList returns the fields of the packages that go list prints in a format with vertical bars.
func goList(t *testing.T, format string, args ...string) (packages [][]string) {
	t.Helper()
	list := exec.Command("go", append([]string{"list", "-f", format}, args...)...)
	list.Dir = root
	for line := range strings.Lines(string(testkit.Must(list.Output())(t))) {
		packages = append(packages, strings.Split(strings.TrimSuffix(line, "\n"), "|"))
	}
	return packages
}

// add adds the uses of the files of a package, or of its external tests.
func (u *uses) add(of string, files []*ast.File, fset *token.FileSet, packages types.Importer) {
	info := types.Info{Uses: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}}
	// External tests use names that the package exports only to them. The types of these are
	// unknown here and not promised, so errors are ignored.
	config := types.Config{Importer: packages, Error: func(error) {}}
	_, _ = config.Check(of, fset, files, &info)
	for _, o := range info.Uses {
		if o.Pkg() != nil && o.Pkg().Path() != of {
			u.used[o] = true
		}
	}
	for _, typ := range info.Types {
		if i, ok := typ.Type.(*types.Interface); ok {
			for m := range i.Methods() {
				u.called[signature(m)] = true
			}
		}
	}
	for _, f := range files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && isExample(f, fn) {
				u.example(of, fn, info.Uses)
			}
		}
	}
}

// isExample reports whether a function of a file is an example in an external test.
func isExample(f *ast.File, fn *ast.FuncDecl) bool {
	return strings.HasSuffix(f.Name.Name, "_test") && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Example")
}

// example adds the objects of a package that its example uses.
func (u *uses) example(of string, fn *ast.FuncDecl, uses map[*ast.Ident]types.Object) {
	ast.Inspect(fn, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if o := uses[id]; o != nil && o.Pkg() != nil && o.Pkg().Path() == of {
				u.used[o], u.shown[o] = true, true
			}
		}
		return true
	})
}

// signature returns the name of a method and the types of its parameters and results.
func signature(m *types.Func) string {
	list := func(all *types.Tuple) string {
		var types []string
		for v := range all.Variables() {
			types = append(types, v.Type().String())
		}
		return strings.Join(types, ", ")
	}
	s := m.Signature()
	return strings.TrimSpace(fmt.Sprintf("%s(%s) %s", m.Name(), list(s.Params()), list(s.Results())))
}
