package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
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
	_, err := a.stdout.Write(b.Bytes())
	return err
}

// A stream is stdout or stderr: a write that waits for a reader ends with the context, and what fails once has failed for good.
type stream struct {
	ctx context.Context
	to  io.Writer
	err error // the first
	any bool  // something was written
}

// Write is an error, too, after the first.
func (s *stream) Write(b []byte) (n int, err error) {
	if s.err != nil {
		return 0, s.err
	}
	s.any = true
	n, err = atomicfile.Until(s.ctx, s.to).Write(b)
	if err != nil {
		s.err = onStdout(err)
	}
	return n, s.err
}

// finish closes the stream, where some file systems first say that they are full, and is the first error: what was printed
// without asking whether it arrived, by us or by cobra, may not have.
func (s *stream) finish() error {
	if f, ok := s.to.(*os.File); ok && s.any && s.err == nil {
		if err := f.Close(); err != nil {
			s.err = onStdout(err)
		}
	}
	return s.err
}

// onStdout is an error in words of its own: the system's name a path that nobody has given.
func onStdout(err error) error {
	if errors.Is(err, context.Canceled) {
		return &interruption{": stdout: " + err.Error()}
	}
	var e *fs.PathError
	if errors.As(err, &e) {
		err = e.Err
	}
	return fmt.Errorf("write to stdout: %w", err)
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
func (a *app) checkOutputs(paths ...string) error {
	var files []string
	for _, p := range paths {
		if p != "" && p != toStdout {
			files = append(files, p)
		}
	}
	if err := a.files.apart(unnamed(files)); err != nil {
		return err
	}
	return atomicfile.Check(files...)
}

// write writes files together or not at all. It is the one way to write files here, but for checkpoints.
func (a *app) write(files ...atomicfile.File) error {
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.Path
	}
	if err := a.files.apart(unnamed(paths)); err != nil { // names that were made since, and files
		return err
	}
	err := atomicfile.WriteAllContext(a.ctx, files...)
	if errors.Is(err, context.Canceled) {
		return &interruption{": " + err.Error()}
	}
	return err
}

// writeOutput writes a file whole or not at all, or to stdout for "-".
func (a *app) writeOutput(path string, write func(io.Writer) error) error {
	if path != toStdout {
		return a.write(atomicfile.File{Path: path, Write: write})
	}
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	_, err := a.stdout.Write(b.Bytes())
	return err
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
