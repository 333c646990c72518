package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/atomicfile"
)

// number is a float64 that JSON shows as null where it is not finite.
type number float64

// MarshalJSON writes the shortest text that reads back as the same float64.
func (n number) MarshalJSON() ([]byte, error) {
	v := float64(n)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, v, 'g', -1, 64), nil
}

// printJSON writes one object on stdout, whole or not at all.
func (a *app) printJSON(v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("print JSON: %w", err)
	}
	if _, err := a.stdout.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write to stdout: %w", err)
	}
	return nil
}

// say prints a line of a result for people on stdout.
func (a *app) say(format string, args ...any) {
	if !a.quiet && !a.json {
		fmt.Fprintf(a.stdout, format+"\n", args...)
	}
}

// terms are a bound's named parts as an object in their own order.
type terms []vssgp.Term

// MarshalJSON writes {"noise": …, "fit": …}.
func (t terms) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, term := range t {
		if i > 0 {
			b = append(b, ',')
		}
		value, err := number(term.Value).MarshalJSON()
		if err != nil {
			return nil, err
		}
		b = strconv.AppendQuote(b, term.Name)
		b = append(append(b, ':'), value...)
	}
	return append(b, '}'), nil
}

// toStdout is the output path that stands for stdout.
const toStdout = "-"

// checkOutputs looks, before long work, whether the given paths can be
// written; empty ones and predict's stdout are passed over.
func checkOutputs(paths ...string) error {
	var files []string
	for _, p := range paths {
		if p != "" && p != toStdout {
			files = append(files, p)
		}
	}
	return atomicfile.Check(files...)
}

// writeOutput writes a file whole or not at all, or to stdout for "-".
func (a *app) writeOutput(path string, write func(io.Writer) error) error {
	if path != toStdout {
		return atomicfile.Write(path, write)
	}
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	if _, err := a.stdout.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write to stdout: %w", err)
	}
	return nil
}

// wantOutput reports a command line without its -o, or one that sends both a
// file and JSON to stdout.
func (a *app) wantOutput(path, what string) error {
	if path == "" {
		return mistake("no output file; want -o %s", what)
	}
	if path == toStdout && a.json {
		return mistake("-o - and --json both write to stdout; want -o %s", what)
	}
	return nil
}
