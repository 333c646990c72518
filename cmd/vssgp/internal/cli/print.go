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

// Object is a JSON object: each key, which may end in ",omitempty" as in a json tag, with its value after it. They are printed in this order.
type Object []any

// PrintJSON writes one object on stdout, whole or not at all.
func (env *Env) PrintJSON(v any) error {
	if env.Results != nil {
		*env.Results = append(*env.Results, v)
		return nil
	}
	_, err := env.Stdout.Write(append(appendJSON(nil, reflect.ValueOf(v)), '\n'))
	return err
}

// appendJSON appends v as encoding/json writes it, with four exceptions: a number that
// is not finite is null, a duration is in seconds, the terms of a bound are an object in
// their own order, and fields without a json tag are left out.
func appendJSON(b []byte, v reflect.Value) []byte {
	if !v.IsValid() {
		return append(b, "null"...)
	}
	var o Object
	switch x := v.Interface().(type) {
	case Object:
		return appendObject(b, x)
	case time.Duration:
		return appendNumber(b, x.Seconds())
	case []vssgp.Term:
		for _, t := range x {
			o = append(o, t.Name, t.Value)
		}
		return appendObject(b, o)
	}
	switch v.Kind() {
	case reflect.Float64:
		return appendNumber(b, v.Float())
	case reflect.Pointer, reflect.Interface:
		return appendJSON(b, v.Elem())
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.IsNil() {
			return append(b, "null"...)
		}
		b = append(b, '[')
		for i := range v.Len() {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSON(b, v.Index(i))
		}
		return append(b, ']')
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(v.Type()) {
			if tag := f.Tag.Get("json"); tag != "" && tag != "-" {
				o = append(o, tag, v.FieldByIndex(f.Index).Interface())
			}
		}
		return appendObject(b, o)
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(v.Interface()); err != nil {
		panic("print JSON: " + err.Error())
	}
	return append(b, bytes.TrimSuffix(text.Bytes(), []byte("\n"))...)
}

func appendObject(b []byte, o Object) []byte {
	b = append(b, '{')
	for pair := range slices.Chunk(o, 2) {
		key, optional := strings.CutSuffix(pair[0].(string), ",omitempty")
		v := reflect.ValueOf(pair[1])
		if optional && (!v.IsValid() || v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0) {
			continue
		}
		if b[len(b)-1] != '{' { // no value ends in it
			b = append(b, ',')
		}
		b = append(appendJSON(b, reflect.ValueOf(key)), ':')
		b = appendJSON(b, v)
	}
	return append(b, '}')
}

// appendNumber appends the shortest text that reads back as the same float64.
func appendNumber(b []byte, v float64) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(b, "null"...)
	}
	return strconv.AppendFloat(b, v, 'g', -1, 64)
}

// Say prints a line of a result for people on stdout.
func (env *Env) Say(format string, args ...any) {
	to := env.Stdout
	if env.Aside {
		to = env.Stderr
	}
	if !env.Quiet && !env.JSON {
		fmt.Fprintf(to, format+"\n", args...)
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
