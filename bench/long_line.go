package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/internal/atomicfile"
)

// The methods of `bench long`.
const (
	methodWindows  = "windows"
	methodDense    = "dense"
	methodValue    = "celerite value"
	methodGradient = "celerite gradient"
)

// A longLine is one method at one length: the page of this package says what
// its fields are.
type longLine struct {
	machine.Machine
	Time  string `json:"time"`
	Bench string `json:"bench"`

	longKey
	M int `json:"M,omitempty"`
	V int `json:"V,omitempty"`

	Version    string      `json:"version,omitempty"` // of celerite2
	Repeats    int         `json:"repeats,omitempty"`
	Evaluation float64     `json:"seconds_per_evaluation,omitempty"`
	Range      *[2]float64 `json:"seconds_range,omitempty"`
	Seconds    *parts      `json:"seconds,omitempty"`
	HostBytes  int64       `json:"host_bytes,omitempty"`
	Bound      *float64    `json:"bound,omitempty"`
	Fit        *fitRecord  `json:"fit,omitempty"`
	Status     string      `json:"status"`
}

// longKey tells one line from the others.
type longKey struct {
	Method   string  `json:"method"`
	N        int     `json:"N"`
	Features int     `json:"features,omitempty"` // in each window
	Window   float64 `json:"window,omitempty"`   // length in samples, of dense too, whose M it sets
	Terms    int     `json:"terms,omitempty"`    // of celerite
}

// series is the key without the length: what a curve of the figure has in common.
func (k longKey) series() longKey {
	k.N = 0
	return k
}

// label is the series for people.
func (k longKey) label() string {
	switch k.Method {
	case methodWindows:
		return fmt.Sprintf("windows of %g, %d features", k.Window, k.Features)
	case methodDense:
		return "dense, as many features"
	case methodValue:
		return fmt.Sprintf("celerite J = %d, value", 2*k.Terms)
	case methodGradient:
		return fmt.Sprintf("celerite J = %d, gradient too", 2*k.Terms)
	}
	return k.Method
}

// String is the line for people.
func (l *longLine) String() string {
	return fmt.Sprintf("%s, N = %d: %s s, %s MiB: %s", l.label(), l.N, positive(l.Evaluation, "%.4g"), positive(float64(l.HostBytes)/(1<<20), "%.0f"), firstLine(l.Status))
}

// readLong reads a file of lines; one that is not there has none.
func readLong(path string) ([]longLine, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	lines, err := parseLongLines(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return lines, nil
}

func parseLongLines(text []byte) (lines []longLine, err error) {
	in := bufio.NewScanner(bytes.NewReader(text))
	in.Buffer(nil, len(text)+1)
	for n := 1; in.Scan(); n++ {
		var l longLine
		if err := json.Unmarshal(in.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if l.Bench != "long" || l.N < 1 || l.Status == "" {
			return nil, fmt.Errorf("line %d is none of bench long: want bench, N and status", n)
		}
		lines = append(lines, l)
	}
	return lines, in.Err()
}

// replaceLong puts a line where one of its key is, else at the end.
func replaceLong(lines []longLine, l longLine) []longLine {
	if i := slices.IndexFunc(lines, func(o longLine) bool { return o.longKey == l.longKey }); i >= 0 {
		lines[i] = l
		return lines
	}
	return append(lines, l)
}

func writeLong(path string, lines []longLine) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		encode := json.NewEncoder(w)
		for _, l := range lines {
			if err := encode.Encode(l); err != nil {
				return fmt.Errorf("%s: %s: %w", path, l.label(), err)
			}
		}
		return nil
	})
}
