package cli

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/report"
	"github.com/vssgp/vssgp/internal/fileio"
)

// marshalers encode values that are not finite as null, durations in seconds, and the terms of a bound as an object in the order of the
// terms.
var marshalers = json.WithMarshalers(json.JoinMarshalers(
	json.MarshalToFunc(func(e *jsontext.Encoder, v float64) error {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return e.WriteToken(jsontext.Null)
		}
		return e.WriteToken(jsontext.Float(v))
	}),
	json.MarshalToFunc(func(e *jsontext.Encoder, d time.Duration) error { return e.WriteToken(jsontext.Float(d.Seconds())) }),
	json.MarshalToFunc(func(e *jsontext.Encoder, terms []vssgp.Term) error {
		e.WriteToken(jsontext.BeginObject) // the encoder returns its first error again
		for _, t := range terms {
			e.WriteToken(jsontext.String(t.Name))
			json.MarshalEncode(e, t.Value)
		}
		return e.WriteToken(jsontext.EndObject)
	}),
))

// PrintJSON writes v to stdout as one JSON object. If encoding fails, it writes nothing. docs/json.md describes the object of each command.
func (env *Env) PrintJSON(v any) error {
	b, err := json.Marshal(v, marshalers, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("print JSON: %w", err)
	}
	env.ClearProgress()
	_, err = env.Stdout.Write(append(b, '\n'))
	return err
}

// Predicted is the output of predict --json.
type Predicted struct {
	Rows    int      `json:"rows"`
	Grid    []Span   `json:"grid,omitempty"` // by input
	Columns []string `json:"columns"`
	Output  string   `json:"output"`
	Device  string   `json:"device"`
}

// A Span contains evenly spaced values of an input of a grid. First and Last are numbers or dates.
type Span struct {
	First  any `json:"first"`
	Last   any `json:"last"`
	Points int `json:"points"`
}

// Print prints a line of the result on stdout, or on stderr if stdout carries data. It prints nothing with --quiet or --json.
func (env *Env) Print(format string, args ...any) {
	to := env.Stdout
	if env.Aside {
		to = env.Stderr
	}
	if !env.Quiet && !env.JSON {
		env.ClearProgress()
		fmt.Fprintf(to, format+"\n", args...)
	}
}

// PrintWritten prints the names of the written files.
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

// Counted formats a number of items, such as 1 gap or 3 gaps.
var Counted = report.Counted

// Short formats a number with five digits, or as a dash if it is not finite.
func Short(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "-"
	}
	return fmt.Sprintf("%.5g", v)
}

// Row formats numbers with Short, separated by spaces.
func Row(a []float64) string {
	parts := make([]string, len(a))
	for i, v := range a {
		parts[i] = Short(v)
	}
	return strings.Join(parts, " ")
}

// Settings returns the flags that were given on the command line, for a report.
func (env *Env) Settings() (s []report.Setting) {
	env.Flags.Visit(func(f *pflag.Flag) { s = append(s, report.Setting{Name: "--" + f.Name, Value: f.Value.String()}) })
	return s
}

// ReportFile returns a document as a file to write, in the format of the path's extension.
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
