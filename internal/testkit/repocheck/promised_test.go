package repocheck

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// TestPromised checks that every name in api/vssgp.txt has a user: another package of the module,
// one of its tests, or an example. It also checks that every promised function and method is in an
// example of its package.
//
// The check is by types, so equal names are not confused. It does not see files that only a build
// tag or another platform includes.
func TestPromised(t *testing.T) {
	u := newUses()
	packages := u.scan(t)
	names := readNames(t, packages, readText(t, "api/vssgp.txt"))
	if len(names) < 500 {
		t.Fatalf("only %d names were found", len(names))
	}
	for _, line := range u.unused(names) {
		t.Errorf("nothing uses it: %s. Show it in an example, or do not export it", line)
	}
	for _, line := range u.unshown(names) {
		t.Errorf("no example of its package uses it: %s", line)
	}
}

// checked is an importer of packages that were checked before.
type checked map[string]*types.Package

func (c checked) Import(name string) (*types.Package, error) { return c[name], nil }

// TestPromisedFails checks that names without a user and functions without an example are found.
func TestPromisedFails(t *testing.T) {
	const lib = "github.com/vssgp/lib"
	fset, packages := token.NewFileSet(), checked{}
	parse := func(code string) []*ast.File {
		return []*ast.File{testkit.Must(parser.ParseFile(fset, "", code, 0))(t)}
	}
	packages[lib] = testkit.Must((&types.Config{}).Check(lib, fset, parse(`package lib
		type T struct{ A, B int }
		func (T) M() {}
		func (*T) N() {}
		func (T) String() string { return "" }
		type U struct{}
		func F() (u U) { return u }
		func G() {}
		type Kind int
		const X, Y Kind = 1, 2
		const Z = 3`), nil))(t)
	u := newUses()
	u.add("user", parse(`package user
		import "`+lib+`"
		var a, b = lib.F(), lib.T{A: int(lib.X)}`), fset, packages)
	u.add(lib, parse(`package lib_test
		import "`+lib+`"
		func ExampleG() { lib.G(); lib.T{}.M() }
		func TestN() { (&lib.T{B: lib.Z}).N() }`), fset, packages)
	names := readNames(t, packages, `pkg lib, const X Kind = 1
pkg lib, const Y Kind = 2
pkg lib, const Z untyped int = 3
pkg lib, func F() U
pkg lib, func G()
pkg lib, method (*T) N()
pkg lib, method (T) M()
pkg lib, method (T) String() string
pkg lib, type Kind int
pkg lib, type T struct
pkg lib, type T struct, A int
pkg lib, type T struct, B int
pkg lib, type U struct`)
	unused := "pkg lib, const Z untyped int = 3; pkg lib, method (*T) N(); pkg lib, type T struct, B int"
	testkit.Equal(t, strings.Join(u.unused(names), "; "), unused, "unused")
	unshown := "pkg lib, func F() U; pkg lib, method (*T) N()"
	testkit.Equal(t, strings.Join(u.unshown(names), "; "), unshown, "without an example")
}

// A name is a line of api/vssgp.txt: its package, its kind, and the object that it names.
type name struct {
	line, of, kind string
	types.Object
}

// promisedName matches a package, a kind, a name or a receiver, and the name of a method or a field.
var promisedName = regexp.MustCompile(
	`^pkg (\S+), (const|var|func|type|method) (?:\(\*?(\w+)\) |(\w+))(?:(\w+)| (?:struct|interface), (\w+))?`)

// readNames returns the names of a list.
func readNames(t *testing.T, packages types.Importer, list string) (names []name) {
	t.Helper()
	for line := range strings.Lines(list) {
		match := promisedName.FindStringSubmatch(line)
		if match == nil {
			t.Fatalf("unknown line %q", line)
		}
		n := name{line: strings.TrimSpace(line), of: match[1], kind: match[2]}
		p := testkit.Must(packages.Import(path.Join(path.Dir(modulePath), n.of)))(t)
		n.Object = p.Scope().Lookup(match[3] + match[4])
		if member := match[5] + match[6]; n.Object != nil && member != "" {
			n.Object, _, _ = types.LookupFieldOrMethod(n.Type(), true, p, member)
		}
		if n.Object == nil {
			t.Fatalf("package %s does not have %q", n.of, line)
		}
		names = append(names, n)
	}
	return names
}

// value reports whether the name is a constant or a variable.
func (n name) value() bool { return n.kind == "const" || n.kind == "var" }

// throughInterface reports whether a method can be called without its name, by an interface. Then
// its type is used as that interface.
func (u *uses) throughInterface(n name) bool {
	m, ok := n.Object.(*types.Func)
	return ok && n.kind != "func" && u.called[signature(m)]
}

// unused returns the lines of the names that nothing uses. A constant or variable of a type of its
// package has a user if another one of that type has, because a set of values belongs together. A
// type has a user if a used line contains it.
func (u *uses) unused(names []name) (lines []string) {
	var used []string
	values := map[types.Type]bool{} // types of used values
	for _, n := range names {
		if u.used[n.Object] || u.throughInterface(n) {
			used = append(used, n.line)
			if of, ok := n.Type().(*types.Named); ok && n.value() && of.Obj().Pkg() == n.Pkg() {
				values[of] = true
			}
		}
	}
	for _, n := range names {
		_, isType := n.Object.(*types.TypeName)
		field, isField := n.Object.(*types.Var)
		switch {
		case slices.Contains(used, n.line) || n.value() && values[n.Type()]:
		case isField && field.Embedded(): // its members are used without its name
		case isType && slices.ContainsFunc(used, regexp.MustCompile(`\b`+n.Name()+`\b`).MatchString):
		default:
			lines = append(lines, n.line)
		}
	}
	return lines
}

// unshown returns the lines of the functions and methods that no example of their package uses.
// Excepted are methods of package backend, which are for writing backends, and of package
// variational, whose types are shown by package vssgp.
func (u *uses) unshown(names []name) (lines []string) {
	for _, n := range names {
		switch {
		case n.kind != "func" && n.kind != "method" || u.shown[n.Object]:
		case n.kind == "method" && (n.of == "vssgp/backend" || n.of == "vssgp/variational" || u.throughInterface(n)):
		default:
			lines = append(lines, n.line)
		}
	}
	return lines
}
