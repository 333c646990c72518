// Package jsonl is the store of measurements: files with one line of JSON for each.
package jsonl

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/vssgp/vssgp/internal/fileio"
)

// Read reads a file of lines, or the file PATH.gz that many lines have been packed into; without either there are none. check reports a
// line of another kind; nil takes every line.
func Read[T any](path string, check func(*T) error) ([]T, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		path += ".gz"
		text, err = unpacked(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	lines, err := Parse(text, check)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return lines, nil
}

// unpacked reads a file that gzip has packed.
func unpacked(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return text, nil
}

// Parse reads lines of JSON and skips empty ones. An interruption can cut the last one short: it is left out unless it ends.
func Parse[T any](text []byte, check func(*T) error) (lines []T, err error) {
	n := 0
	for text := range bytes.Lines(text[:bytes.LastIndexByte(text, '\n')+1]) {
		n++
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		var line T
		err := json.Unmarshal(text, &line)
		if err == nil && check != nil {
			err = check(&line)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// Write replaces a file by lines, all or none.
func Write[T any](path string, lines []T) error {
	return fileio.Write(path, func(w io.Writer) error {
		encode := json.NewEncoder(w)
		for i := range lines {
			if err := encode.Encode(&lines[i]); err != nil {
				return fmt.Errorf("%s: line %d: %w", path, i+1, err)
			}
		}
		return nil
	})
}

// Append adds a line to a file and makes the file if there is none. A path that is empty keeps nothing.
func Append(path string, line any) error {
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	return errors.Join(json.NewEncoder(f).Encode(line), f.Close())
}

// Put puts a line in the place of the one with its key, else at the end.
func Put[T any, K comparable](lines []T, line T, key func(T) K) []T {
	if i := slices.IndexFunc(lines, func(l T) bool { return key(l) == key(line) }); i >= 0 {
		lines[i] = line
		return lines
	}
	return append(lines, line)
}

// Distinct returns the keys of some lines, in order of appearance.
func Distinct[T any, K comparable](lines []T, key func(T) K) (out []K) {
	for _, l := range lines {
		if k := key(l); !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}

// Where returns the lines of a key.
func Where[T any, K comparable](lines []T, key func(T) K, of K) (out []T) {
	for _, l := range lines {
		if key(l) == of {
			out = append(out, l)
		}
	}
	return out
}

// Groups returns the lines of each key, in order of appearance.
func Groups[T any, K comparable](lines []T, key func(T) K) (out [][]T) {
	for _, k := range Distinct(lines, key) {
		out = append(out, Where(lines, key, k))
	}
	return out
}
