package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/table"
	"github.com/vssgp/vssgp/variational"
)

// An operand is a positional argument of a command: a file to read.
type operand struct {
	name string
	value
}

// input is an operand that is a file with one of the extensions.
func input(name string, extensions []string) operand {
	return operand{name: name, value: value{file: &file{extensions: extensions}}}
}

var (
	modelOperand = input("MODEL", modelFiles)
	dataOperand  = input("DATA", slices.Concat(tableFiles, []string{"gz"}, recordingFiles))
)

// Extensions of files, by content.
var (
	recordingFiles = []string{"wav", "wave", "flac", "rf64", "bw64", "w64", "aif", "aiff", "aifc", "sph", "nist"}
	tableFiles     = table.Extensions
	tableOutputs   = []string{"csv", "tsv", "npy"}
	modelFiles     = []string{"safetensors"}
	plotFiles      = []string{"html", "png", "svg"}
)

// A value is the argument of a flag. The functions below make one of each kind.
type value struct {
	kind  string // as help calls it
	text  string // as the user wrote it
	set   func(s string) error
	words []string // it may be one of these; for a file, words that name none
	list  bool     // if the flag is given again, it adds to the list
	timed bool     // a length was given as a time
	file  *file    // nil: not the name of a file
}

// A file says how a command uses the file that a flag names.
type file struct {
	written    bool
	needed     string   // the flag with an example, if the command needs it
	extensions []string // that a shell offers; none: all
	only       bool     // another extension is a mistake
	stdout     bool     // - is stdout
	folder     bool     // it is a folder, whose files have names that the command makes
	atOnce     bool     // it is written during the work, not with the other outputs
}

// String returns the value as it was written.
func (v *value) String() string { return v.text }

// Type returns the name that help gives the flag's argument.
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

// complete completes the words, in a list after a comma too, or the files.
func (v *value) complete(_ *cobra.Command, _ []string, typed string) (all []cobra.Completion, then cobra.ShellCompDirective) {
	then = cobra.ShellCompDirectiveNoFileComp
	if v.file != nil {
		then = cobra.ShellCompDirectiveDefault
		if v.file.extensions != nil {
			return v.file.extensions, cobra.ShellCompDirectiveFilterFileExt
		}
	}
	before := ""
	if v.list {
		before = typed[:strings.LastIndex(typed, ",")+1]
	}
	for _, w := range v.words {
		if strings.HasPrefix(before+w, typed) && !strings.Contains(","+before, ","+w+",") {
			all = append(all, before+w)
		}
	}
	return all, then
}

// completeFlag registers the completion of a flag that knows its words or files. Cobra holds what is registered, and all that it leads
// to, until the process ends.
func completeFlag(c *cobra.Command, f *pflag.Flag) {
	if v, ok := f.Value.(*value); ok && (v.file != nil || v.words != nil) {
		if err := c.RegisterFlagCompletionFunc(f.Name, v.complete); err != nil {
			panic(err) // the caller found f among c's flags
		}
	}
}

// oneOf takes one of a few words; the default is the value of to.
func oneOf[T ~string](to *T, words ...string) *value {
	return &value{kind: "word", text: string(*to), words: words, set: func(s string) error {
		if !slices.Contains(words, s) {
			return fmt.Errorf("want one of %s", strings.Join(words, ", "))
		}
		*to = T(s)
		return nil
	}}
}

// unbounded is the bound of a count that the command does not bound.
const unbounded = math.MaxInt

// count takes a whole number from 0 to most.
func count(to *int, most int) *value {
	return &value{kind: "int", text: strconv.Itoa(*to), set: func(s string) error {
		n, err := strconv.Atoi(s)
		switch {
		case err == nil && n >= 0 && n <= most:
			*to = n
			return nil
		case most < unbounded:
			return fmt.Errorf("want a whole number from 0 to %d", most)
		}
		return fmt.Errorf("want a whole number, 0 or more")
	}}
}

// tensorNames takes names of the model file's tensors, with commas between. keep chooses
// those that a shell offers.
func tensorNames(to *[]string, keep func(t vssgp.Tensor) bool) *value {
	return &value{kind: "names", list: true, words: variational.Names(keep), set: func(s string) error {
		*to = append(*to, strings.Split(s, ",")...)
		return nil
	}}
}

// rowNumbers takes numbers of rows, with commas between.
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

// sizeUnits are the units of a size, longer names first.
var sizeUnits = []struct {
	name  string
	bytes float64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1}}

// size takes a number of bytes with a unit, or none, which is +Inf.
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

// fileName takes the name of a file, or one of the words instead.
func fileName(to *string, f file, words ...string) *value {
	return &value{kind: "file", words: words, file: &f, set: func(s string) error {
		*to = s
		return nil
	}}
}

// windowLength takes auto, none, or a length along x, which may be a time.
func windowLength(to *float64) *value {
	v := &value{kind: "length", words: []string{"auto", "none"}}
	v.set = func(s string) (err error) {
		v.timed = false
		switch s {
		case "none":
			*to = vssgp.WindowNone
		case "auto":
			*to = vssgp.WindowAuto
		default:
			*to, v.timed, err = parseLength(s)
		}
		return err
	}
	return v
}

// lengths takes numbers in units of x or times, with commas between. The library checks
// their values.
func lengths(to *[]float64) *value {
	v := &value{kind: "numbers", list: true}
	v.set = func(s string) error {
		for one := range strings.SplitSeq(s, ",") {
			n, timed, err := parseTimed(strings.TrimSpace(one))
			if err != nil {
				return fmt.Errorf("%.40q; want numbers, or times such as 32ms or 0.5s, with commas between", one)
			}
			*to, v.timed = append(*to, n), v.timed || timed
		}
		return nil
	}
	return v
}

// priors takes none, or a parameter with its median and the standard deviation of its logarithm, or none.
func priors(to *vssgp.Priors) *value {
	none := vssgp.NoPriors()
	kinds := map[string]*vssgp.Prior{"amplitude": &to.Amplitude, "lengthscale": &to.Lengthscale, "noise": &to.Noise}
	return &value{kind: "prior", list: true, words: []string{"none", "amplitude=", "lengthscale=", "noise="}, set: func(s string) error {
		name, text, _ := strings.Cut(s, "=")
		prior, numbers := kinds[name], strings.Split(text, ",")
		switch {
		case s == "none":
			*to = none
			return nil
		case prior != nil && text == "none":
			*prior = none.Noise
			return nil
		case prior == nil || len(numbers) != 2:
			return fmt.Errorf("want none, or amplitude, lengthscale or noise with a median and the standard deviation of the logarithm, such as lengthscale=10,1.5, or with none")
		}
		for i, to := range []*float64{&prior.Median, &prior.SD} {
			v, err := strconv.ParseFloat(strings.TrimSpace(numbers[i]), 64)
			if err != nil || !(v > 0) || math.IsInf(v, 0) {
				return fmt.Errorf("%.40q; want a positive number", numbers[i])
			}
			*to = v
		}
		return nil
	}}
}

// contextLength takes a time such as 60ms, or all.
func contextLength(after *time.Duration, all *bool) *value {
	return &value{kind: "time", words: []string{"all"}, set: func(s string) error {
		if *after, *all = 0, s == "all"; *all {
			return nil
		}
		v, timed, err := parseLength(s)
		const most = 1e6 // seconds: more than any recording, less than a Duration holds
		if err != nil || !timed || v > most {
			return fmt.Errorf("want a time such as 60ms or 0.1s, or all")
		}
		*after = time.Duration(v * float64(time.Second))
		return nil
	}}
}

// withoutTimes refuses times as lengths along a table's inputs.
func withoutTimes(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		if v, ok := f.Value.(*value); ok && v.timed && err == nil {
			err = mistake("--%s %v: a table's x need not be time; want plain numbers in units of x", f.Name, v)
		}
	})
	return err
}

// parseLength reads a positive number, which may be a time with the unit s or
// ms. A time is returned in seconds.
func parseLength(s string) (v float64, timed bool, err error) {
	v, timed, err = parseTimed(s)
	if err != nil || !(v > 0) || math.IsInf(v, 0) {
		return 0, false, fmt.Errorf("want a positive number, or a time such as 32ms or 0.5s")
	}
	return v, timed, nil
}

// parseTimed reads a number, which may be a time as for parseLength.
func parseTimed(s string) (v float64, timed bool, err error) {
	text, unit := s, 1.0
	if t, ok := strings.CutSuffix(s, "ms"); ok {
		text, unit, timed = t, 1e-3, true
	} else if t, ok := strings.CutSuffix(s, "s"); ok {
		text, timed = t, true
	}
	v, err = strconv.ParseFloat(text, 64)
	return v * unit, timed, err
}
