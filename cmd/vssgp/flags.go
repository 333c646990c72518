package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/variational"
)

// value is what a flag takes. The functions below make one of each kind, which
// parses its text, knows the words that a shell completes, and what its file is for.
type value struct {
	kind  string // what help calls it
	text  string // as it is written
	set   func(s string) error
	words []string // that it may be; of a file's name, those that stand for none
	list  bool     // given again, it adds to what is there
	timed bool     // a length was given as a time
	file  *file    // nil: it names none
}

// String is the value as it is written.
func (v *value) String() string { return v.text }

// Type is what help calls the flag's argument.
func (v *value) Type() string { return v.kind }

// Set parses the text.
func (v *value) Set(s string) error {
	if err := v.set(s); err != nil {
		return err
	}
	if v.list && v.text != "" {
		s = v.text + "," + s
	}
	v.text = s
	return nil
}

// oneOf is one of a few words; the default is what to has.
func oneOf[T ~string](to *T, words ...string) *value {
	return &value{kind: "word", text: string(*to), words: words, set: func(s string) error {
		if !slices.Contains(words, s) {
			return fmt.Errorf("want one of %s", strings.Join(words, ", "))
		}
		*to = T(s)
		return nil
	}}
}

// count is a whole number, from 0 to most.
func count(to *int, most int) *value {
	return &value{kind: "int", text: strconv.Itoa(*to), set: func(s string) error {
		n, err := strconv.Atoi(s)
		switch {
		case err == nil && n >= 0 && n <= most:
			*to = n
			return nil
		case most < math.MaxInt:
			return fmt.Errorf("want a whole number from 0 to %d", most)
		}
		return fmt.Errorf("want a whole number, 0 or more")
	}}
}

// unbounded is the most of a count that the library, or nothing, bounds.
const unbounded = math.MaxInt

// tensorNames are some of the model file's for which keep holds, with commas between.
func tensorNames(to *[]string, keep func(t vssgp.Tensor) bool) *value {
	return &value{kind: "names", list: true, words: variational.Names(keep), set: func(s string) error {
		*to = append(*to, strings.Split(s, ",")...)
		return nil
	}}
}

// rowNumbers are numbers of rows, with commas between.
func rowNumbers(to *[]int) *value {
	return &value{kind: "rows", list: true, set: func(s string) error {
		for field := range strings.SplitSeq(s, ",") {
			n, err := strconv.Atoi(strings.TrimSpace(field))
			if err != nil || n < 0 {
				return fmt.Errorf("%.40q is not a row number; want numbers from 0 on, such as 0,5,10", field)
			}
			*to = append(*to, n)
		}
		return nil
	}}
}

// sizeUnits are what a size may be given in, longer names first.
var sizeUnits = []struct {
	name  string
	bytes float64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1}}

// size is a number of bytes with a unit; none is +Inf.
func size(to *float64) *value {
	return &value{kind: "size", words: []string{"none"}, set: func(s string) error {
		if s == "none" {
			*to = math.Inf(1)
			return nil
		}
		for _, u := range sizeUnits {
			if number, ok := strings.CutSuffix(s, u.name); ok {
				v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
				if *to = v * u.bytes; err == nil && *to >= 1 && !math.IsInf(*to, 0) {
					return nil
				}
				break
			}
		}
		return fmt.Errorf("want a size such as 16GiB or 500MB, or none")
	}}
}

// A file is what the file that a flag names is for.
type file struct {
	written    bool
	needed     string   // the flag with an example, where the command cannot do without
	extensions []string // that a shell offers; none: all
	only       bool     // another extension is a mistake
	stdout     bool     // - is stdout
}

// fileName is the name of a file, or one of the words instead.
func fileName(to *string, f file, words ...string) *value {
	return &value{kind: "file", words: words, file: &f, set: func(s string) error {
		*to = s
		return nil
	}}
}
