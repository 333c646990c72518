// Command api writes api/vssgp.txt, which lists the promised API: every exported name with its signature, one in each line. It runs in the
// root of the repository.
package main

import (
	"bytes"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
)

const (
	module = "github.com/vssgp/vssgp"
	file   = "api/vssgp.txt"
)

// promised are the folders of the packages that other programs can rely on.
var promised = []string{".", "backend", "cpu", "gpu", "ranks", "tensors", "series", "audio", "audio/restore", "audio/detect"}

func main() {
	text, err := promisedAPI()
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o666)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// promisedAPI returns the sorted lines of the promised packages, and of the types of other packages that their signatures contain.
func promisedAPI() (string, error) {
	command := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}")
	for _, folder := range promised {
		command.Args = append(command.Args, path.Join(module, folder))
	}
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("go list: %w", err)
	}
	exports := map[string]string{} // files with the types of a package
	for line := range strings.Lines(string(out)) {
		name, export, _ := strings.Cut(strings.TrimSpace(line), " ")
		exports[name] = export
	}
	packages := importer.ForCompiler(token.NewFileSet(), "gc", func(name string) (io.ReadCloser, error) { return os.Open(exports[name]) })

	l := lister{}
	for _, folder := range promised {
		p, err := packages.Import(path.Join(module, folder))
		if err != nil {
			return "", err
		}
		for _, name := range p.Scope().Names() {
			l.object(p.Scope().Lookup(name))
		}
	}
	var b bytes.Buffer
	for _, line := range slices.Sorted(maps.Keys(l)) {
		fmt.Fprintln(&b, line)
	}
	return b.String(), nil
}

// A lister collects lines.
type lister map[string]bool

// signature formats the type of a function without the word func.
const signature = "\x00%v"

// unnamed matches the compiler's names of results without a name.
var unnamed = regexp.MustCompile(`#rv\d+ `)

// add adds a line about a package, in which each %v is a type, and lists the types of this module that they contain. It returns false if
// it had added the line before.
func (l lister) add(p *types.Package, format string, all ...types.Type) bool {
	args := make([]any, len(all))
	for i, typ := range all {
		args[i] = types.TypeString(typ, func(other *types.Package) string {
			if other == p {
				return ""
			}
			return other.Name()
		})
	}
	line := fmt.Sprintf("pkg %s, "+format, append([]any{strings.TrimPrefix(p.Path(), path.Dir(module)+"/")}, args...)...)
	line = unnamed.ReplaceAllString(strings.Replace(line, "\x00func", "", 1), "")
	known := l[line]
	l[line] = true
	for _, typ := range all {
		l.reach(typ)
	}
	return !known
}

// object lists an exported constant, variable, function or type.
func (l lister) object(o types.Object) {
	if !o.Exported() {
		return
	}
	switch o := o.(type) {
	case *types.Const:
		l.add(o.Pkg(), "const "+o.Name()+" %v = "+strings.ReplaceAll(o.Val().String(), "%", "%%"), o.Type())
	case *types.Var:
		l.add(o.Pkg(), "var "+o.Name()+" %v", o.Type())
	case *types.Func:
		l.add(o.Pkg(), "func "+o.Name()+signature, o.Type())
	case *types.TypeName:
		l.typeName(o)
	}
}

// typeName lists a type with its exported fields and methods, unless it was listed before.
func (l lister) typeName(o *types.TypeName) {
	p, prefix := o.Pkg(), "type "+o.Name()+" "
	if p == nil || !o.Exported() || !strings.HasPrefix(p.Path()+"/", module+"/") {
		return
	}
	named, ok := o.Type().(*types.Named)
	if !ok {
		l.add(p, prefix+"= %v", types.Unalias(o.Type()))
		return
	}
	switch u := named.Underlying().(type) {
	case *types.Struct:
		if !l.add(p, prefix+"struct") {
			return
		}
		for f := range u.Fields() {
			if f.Exported() {
				l.add(p, prefix+"struct, "+f.Name()+" %v", f.Type())
			}
		}
	case *types.Interface:
		if !l.add(p, prefix+"interface") {
			return
		}
		for m := range u.Methods() {
			if m.Exported() {
				l.add(p, prefix+"interface, "+m.Name()+signature, m.Type())
			}
		}
	default:
		if !l.add(p, prefix+"%v", u) {
			return
		}
	}
	for m := range named.Methods() {
		if m.Exported() {
			l.add(p, "method (%v) "+m.Name()+signature, m.Signature().Recv().Type(), m.Type())
		}
	}
}

// reach lists the types of this module that a type contains.
func (l lister) reach(typ types.Type) {
	switch t := typ.(type) {
	case *types.Alias:
		l.typeName(t.Obj())
	case *types.Named:
		l.typeName(t.Obj())
		for arg := range t.TypeArgs().Types() {
			l.reach(arg)
		}
	case *types.Map:
		l.reach(t.Key())
		l.reach(t.Elem())
	case interface{ Elem() types.Type }: // pointers, slices, arrays, channels
		l.reach(t.Elem())
	case *types.Signature:
		l.reach(t.Params())
		l.reach(t.Results())
	case *types.Tuple:
		for v := range t.Variables() {
			l.reach(v.Type())
		}
	}
}
