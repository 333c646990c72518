package repocheck

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/slow"
)

// TestCircles: within a package the files stand in layers, with whatever build
// tag: none uses a name of another that, straight or by way of others, uses one of
// its own.
func TestCircles(t *testing.T) {
	for _, tag := range []string{"", "cuda", "cudaemu", "cudaemu racekernels", "mpi"}[:slow.Pick(5, 1)] {
		for _, dir := range packages(t) {
			for _, circle := range circles(uses(t, filepath.Join(root, dir), tag, nil)) {
				t.Errorf("%s, tag %q: these files reach one another in a circle: %s", dir, tag, strings.Join(circle, " "))
			}
		}
	}
}

// TestCirclesBite: a circle is found, whether it runs by functions, methods or
// types.
func TestCirclesBite(t *testing.T) {
	for _, c := range []struct {
		name, a, b string
		circle     bool
	}{
		{"functions", "func F() { G() }", "func G() { F() }", true},
		{"a method", "type T int; func F() { T(0).M() }", "func (T) M() {}", true},
		{"types", "type S struct{ *T }", "type T struct{ *S }", true},
		{"layers", "type T int; func (T) M() {}", "func F() { T(0).M() }", false},
	} {
		found := circles(uses(t, "", "", map[string]string{"a.go": "package p\n" + c.a, "b.go": "package p\n" + c.b}))
		if (len(found) > 0) != c.circle {
			t.Errorf("%s: circles %v", c.name, found)
		}
	}
}

// uses says which files of a package use names that others declare: those of a
// folder as this machine builds them with a tag, or the given ones.
func uses(t *testing.T, dir, tag string, sources map[string]string) map[string][]string {
	t.Helper()
	fset, files := token.NewFileSet(), []*ast.File{}
	add := func(name string, source any) {
		f, err := parser.ParseFile(fset, name, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	for name, source := range sources {
		add(name, source)
	}
	machine := build.Default
	machine.CgoEnabled, machine.BuildTags = true, strings.Fields(tag)
	names, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	for _, path := range names {
		match, err := machine.MatchFile(dir, filepath.Base(path))
		if dir != "" && err == nil && match && !strings.HasSuffix(path, "_test.go") {
			add(path, nil)
		}
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	// What other packages declare is not looked at: names of theirs stay unknown.
	config := types.Config{Importer: none{}, FakeImportC: true, Error: func(error) {}}
	pkg, _ := config.Check("p", fset, files, info)
	at := func(p token.Pos) string { return filepath.Base(fset.Position(p).Filename) }
	to := map[string][]string{}
	for id, o := range info.Uses {
		method, _ := o.(*types.Func)
		if o.Pkg() != pkg || o.Parent() != pkg.Scope() && method == nil {
			continue // fields and locals go with their types and functions
		}
		if from, in := at(id.Pos()), at(o.Pos()); from != in && !slices.Contains(to[from], in) {
			to[from] = append(to[from], in)
		}
	}
	return to
}

// none imports every package as an empty one.
type none struct{}

func (none) Import(path string) (*types.Package, error) {
	return types.NewPackage(path, filepath.Base(path)), nil
}

// circles are the sets of nodes that reach one another (Tarjan 1972), sorted.
func circles(to map[string][]string) (out [][]string) {
	index, low := map[string]int{}, map[string]int{}
	var stack []string
	var visit func(at string)
	visit = func(at string) {
		index[at] = len(index) + 1
		low[at] = index[at]
		stack = append(stack, at)
		for _, next := range to[at] {
			if index[next] == 0 {
				visit(next)
				low[at] = min(low[at], low[next])
			} else if slices.Contains(stack, next) {
				low[at] = min(low[at], index[next])
			}
		}
		if low[at] != index[at] {
			return
		}
		from := slices.Index(stack, at)
		circle := slices.Clone(stack[from:])
		stack = stack[:from]
		if len(circle) > 1 {
			slices.Sort(circle)
			out = append(out, circle)
		}
	}
	for _, at := range slices.Sorted(maps.Keys(to)) {
		if index[at] == 0 {
			visit(at)
		}
	}
	slices.SortFunc(out, func(a, b []string) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return out
}
