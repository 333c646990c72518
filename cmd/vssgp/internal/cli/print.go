package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/internal/report"
)

// An Object is a JSON object: each key, which may end in ",omitempty" as in a json tag, with its value after it. They are printed in this
// order.
type Object []any

// MarshalJSON writes the fields.
func (o Object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for pair := range slices.Chunk(o, 2) {
		key, optional := strings.CutSuffix(pair[0].(string), ",omitempty")
		v := reflect.ValueOf(pair[1])
		if optional && (!v.IsValid() || v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0) {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(b, marshal(key)...), ':')
		b = append(b, marshal(plain(v))...)
	}
	return append(b, '}'), nil
}

// A number is written as the shortest text that reads back as the same float64, and as null if it is not finite.
type number float64

// MarshalJSON writes the number.
func (n number) MarshalJSON() ([]byte, error) {
	v := float64(n)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, v, 'g', -1, 64), nil
}

// plain turns v into a value of which encoding/json writes what we want: a float64 as a number, a duration in seconds, the terms of a
// bound as an object in their own order, and a struct without the fields that have no json tag.
func plain(v reflect.Value) any {
	if !v.IsValid() {
		return nil
	}
	var o Object
	switch x := v.Interface().(type) {
	case Object:
		return x
	case time.Duration:
		return number(x.Seconds())
	case []vssgp.Term:
		for _, t := range x {
			o = append(o, t.Name, t.Value)
		}
		return o
	}
	switch v.Kind() {
	case reflect.Float64:
		return number(v.Float())
	case reflect.Pointer, reflect.Interface:
		return plain(v.Elem())
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.IsNil() {
			return nil
		}
		list := make([]any, v.Len())
		for i := range list {
			list[i] = plain(v.Index(i))
		}
		return list
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(v.Type()) {
			if tag := f.Tag.Get("json"); tag != "" && tag != "-" {
				o = append(o, tag, v.FieldByIndex(f.Index).Interface())
			}
		}
		return o
	}
	return v.Interface()
}

// marshal writes JSON without escaping <, > and &.
func marshal(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("print JSON: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// PrintJSON writes one object on stdout, whole or not at all.
func (env *Env) PrintJSON(v any) error {
	_, err := env.Stdout.Write(append(marshal(plain(reflect.ValueOf(v))), '\n'))
	return err
}

// Print prints a line of a result for people on stdout.
func (env *Env) Print(format string, args ...any) {
	to := env.Stdout
	if env.Aside {
		to = env.Stderr
	}
	if !env.Quiet && !env.JSON {
		fmt.Fprintf(to, format+"\n", args...)
	}
}

// PrintWritten names the files that were written.
func (env *Env) PrintWritten(files []fileio.File) {
	var paths []string
	for _, f := range files {
		if f.Path != ToStdout {
			paths = append(paths, f.Path)
		}
	}
	if paths != nil {
		env.Print("wrote %s", strings.Join(paths, ", "))
	}
}

// Counted writes a number of things, such as 1 gap or 3 gaps.
var Counted = report.Counted

// Short writes a number for people, a dash if it is not finite.
func Short(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "-"
	}
	return fmt.Sprintf("%.5g", v)
}

// Row writes numbers for people.
func Row(a []float64) string {
	parts := make([]string, len(a))
	for i, v := range a {
		parts[i] = Short(v)
	}
	return strings.Join(parts, " ")
}

// Settings returns the flags of the command line, for a report.
func (env *Env) Settings() (s []report.Setting) {
	env.Flags.Visit(func(f *pflag.Flag) { s = append(s, report.Setting{Name: "--" + f.Name, Value: f.Value.String()}) })
	return s
}

// ReportFile returns a document as a file to write. The path's extension has been checked.
func (env *Env) ReportFile(path string, d *report.Document) fileio.File {
	d.Foot = append(d.Foot, env.Version)
	return fileio.File{Path: path, Write: func(w io.Writer) error {
		as, err := report.FormatOf(path)
		if err != nil {
			return err
		}
		return d.Write(w, as)
	}}
}
