package repocheck

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// public lists the folders of the packages that other programs import.
var public = []string{".", "audio", "audio/detect", "audio/restore", "backend", "cpu", "cuda", "gpu", "kernels", "ranks", "series", "tensors", "variational"}

// TestDocumented requires a comment for every exported name: constants, variables, functions,
// types, methods of exported types, fields, methods of interfaces. A field or a name in a group
// may be explained in the comment above it, and a name in a generated file in the package comment.
func TestDocumented(t *testing.T) {
	for _, dir := range public {
		files := testkit.Must(filepath.Glob(filepath.Join(root, dir, "*.go")))(t)
		var page *ast.CommentGroup
		names := 0
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			page = either(page, parseFile(t, path).Doc)
		}
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			names += documented(parseFile(t, path), page, func(name string) { t.Errorf("%s: %s is exported and has no comment", path, name) })
		}
		if page == nil {
			t.Errorf("%s: no file has a package comment", dir)
		}
		if names == 0 {
			t.Errorf("%s: no exported name was found", dir)
		}
	}
}

// TestDocumentedFails checks that missing comments are found. Each of these sources lacks one.
func TestDocumentedFails(t *testing.T) {
	for want, code := range map[string]string{
		"F":     "package p\nfunc F() {}",
		"T":     "package p\ntype T int",
		"T.M":   "package p\n// T is.\ntype T int\nfunc (*T) M() {}",
		"T.A":   "package p\n// T is.\ntype T struct { A int }",
		"T.B":   "package p\n// T has A.\ntype T struct { A, B int }",
		"I.Do":  "package p\n// I is.\ntype I interface { Do() }",
		"C":     "package p\nconst C = 1",
		"V":     "package p\nvar (\n// A is.\nA = 1\nV = 2\n)",
		"T.A.B": "package p\n// T has A.\ntype T struct { A struct{ B int } }",
	} {
		f := testkit.Must(parser.ParseFile(token.NewFileSet(), "p.go", code, parser.ParseComments))(t)
		var found []string
		documented(f, nil, func(name string) { found = append(found, name) })
		if len(found) != 1 || found[0] != want {
			t.Errorf("%q: found %q without a comment, want %s", code, found, want)
		}
	}
}

func parseFile(t *testing.T, path string) *ast.File {
	t.Helper()
	source := testkit.Must(os.ReadFile(path))(t)
	return testkit.Must(parser.ParseFile(token.NewFileSet(), path, source, parser.ParseComments))(t)
}

// documented calls missing with each exported name of a file that has no comment, and returns
// the number of exported names; page is the package comment.
func documented(f *ast.File, page *ast.CommentGroup, missing func(name string)) (names int) {
	check := func(name string, own bool, around *ast.CommentGroup, as string) {
		names++
		if !own && !mentions(around, as) && !(ast.IsGenerated(f) && mentions(page, as)) {
			missing(name)
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			of := receiver(d)
			if d.Name.IsExported() && (of == "" || ast.IsExported(of)) {
				name := strings.TrimPrefix(of+"."+d.Name.Name, ".")
				check(name, d.Doc != nil, nil, "")
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() {
						doc := either(s.Doc, d.Doc)
						check(s.Name.Name, doc != nil, nil, "")
						members(s.Name.Name, s.Type, doc, check)
					}
				case *ast.ValueSpec:
					for _, n := range s.Names {
						if n.IsExported() {
							check(n.Name, s.Doc != nil || s.Comment != nil || !d.Lparen.IsValid() && d.Doc != nil, d.Doc, n.Name)
						}
					}
				}
			}
		}
	}
	return names
}

// members checks the exported fields and methods of a type.
func members(of string, typ ast.Expr, doc *ast.CommentGroup, check func(string, bool, *ast.CommentGroup, string)) {
	var fields *ast.FieldList
	switch typ := typ.(type) {
	case *ast.StructType:
		fields = typ.Fields
	case *ast.InterfaceType:
		fields = typ.Methods
	default:
		return
	}
	for _, f := range fields.List {
		own := f.Doc != nil || f.Comment != nil
		for _, n := range f.Names {
			if n.IsExported() {
				check(of+"."+n.Name, own, doc, n.Name)
				members(of+"."+n.Name, f.Type, either(f.Doc, f.Comment), check)
			}
		}
	}
}

// receiver returns the name of a method's type, or "" for a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	typ := d.Recv.List[0].Type
	if p, ok := typ.(*ast.StarExpr); ok {
		typ = p.X
	}
	if g, ok := typ.(*ast.IndexExpr); ok {
		typ = g.X
	}
	if n, ok := typ.(*ast.Ident); ok {
		return n.Name
	}
	return ""
}

func either(a, b *ast.CommentGroup) *ast.CommentGroup {
	if a != nil {
		return a
	}
	return b
}

// mentions reports whether a comment contains a name as a word.
func mentions(c *ast.CommentGroup, name string) bool {
	return c != nil && regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+`\b`).MatchString(c.Text())
}
