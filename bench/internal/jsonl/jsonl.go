// Package jsonl reads and writes files of measurements, which have one line of JSON for each.
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

// Read reads the lines of a file or, if it does not exist, of the compressed file PATH.gz. If neither exists, it
// returns no lines. check returns an error for an invalid line; it may be nil. The error contains the path and the line
// number.
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

// unpacked reads a gzip file.
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

// Parse parses lines of JSON and skips empty lines. It ignores a last line without a line break, which an interruption
// may have truncated.
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

// Write atomically replaces the contents of a file with lines.
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

// Append appends a line to a file, which is created if it does not exist. It does nothing if path is empty.
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

// Put replaces the line that has the same key, or appends the line if there is none.
func Put[T any, K comparable](lines []T, line T, key func(T) K) []T {
	if i := slices.IndexFunc(lines, func(l T) bool { return key(l) == key(line) }); i >= 0 {
		lines[i] = line
		return lines
	}
	return append(lines, line)
}

// Distinct returns the distinct keys of lines, in order of appearance.
func Distinct[T any, K comparable](lines []T, key func(T) K) (out []K) {
	for _, l := range lines {
		if k := key(l); !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}

// Where returns the lines whose key is of.
func Where[T any, K comparable](lines []T, key func(T) K, of K) (out []T) {
	for _, l := range lines {
		if key(l) == of {
			out = append(out, l)
		}
	}
	return out
}

// Groups groups lines by key, in order of appearance.
func Groups[T any, K comparable](lines []T, key func(T) K) (out [][]T) {
	for _, k := range Distinct(lines, key) {
		out = append(out, Where(lines, key, k))
	}
	return out
}
