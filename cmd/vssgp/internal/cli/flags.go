package cli

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/table"
)

// A Value is the argument of a flag, or a positional argument. The functions below construct the kinds.
type Value struct {
	Kind  string // its name in help
	Text  string // the user's input
	Parse func(s string) error
	Words []string // accepted words; for a file, words that are not file names
	List  bool     // a repeated flag adds to the list
	Timed bool     // a length was given as a time
	File  *FileUse // nil if the value is not a file name

	Optional bool // the argument may be missing
}

// A FileUse describes how a command uses the file of a flag.
type FileUse struct {
	Written    bool
	Needed     string   // an example of the flag, if the flag is required
	Extensions []string // completed by a shell; nil for all
	Only       bool     // other extensions are errors
	Stdout     bool     // - is stdout
	Folder     bool     // a folder, in which the command names the files
	AtOnce     bool     // written during the work, not with the other outputs
}

// String returns the text of the value.
func (v *Value) String() string { return v.Text }

// Type returns the name of the flag's argument in help.
func (v *Value) Type() string { return v.Kind }

// Set parses the text.
func (v *Value) Set(s string) error {
	if err := v.Parse(s); err != nil {
		return err
	}
	if v.List && v.Text != "" {
		s = v.Text + "," + s
	}
	v.Text = s
	return nil
}

// complete returns completions: the accepted words, also after a comma in a list, or file extensions.
func (v *Value) complete(_ *cobra.Command, _ []string, typed string) (all []cobra.Completion, then cobra.ShellCompDirective) {
	then = cobra.ShellCompDirectiveNoFileComp
	if v.File != nil {
		then = cobra.ShellCompDirectiveDefault
		if v.File.Folder {
			then = cobra.ShellCompDirectiveFilterDirs
		}
		if v.File.Extensions != nil {
			return v.File.Extensions, cobra.ShellCompDirectiveFilterFileExt
		}
	}
	before := ""
	if v.List {
		before = typed[:strings.LastIndex(typed, ",")+1]
	}
	for _, w := range v.Words {
		if strings.HasPrefix(before+w, typed) && !strings.Contains(","+before, ","+w+",") {
			all = append(all, before+w)
		}
	}
	return all, then
}

// CompleteFlag registers the completion of a flag that takes words or files. Cobra keeps the registered function, and everything that it
// refers to, until the process ends.
func CompleteFlag(c *cobra.Command, f *pflag.Flag) {
	if v, ok := f.Value.(*Value); ok && (v.File != nil || v.Words != nil) {
		if err := c.RegisterFlagCompletionFunc(f.Name, v.complete); err != nil {
			panic(err) // the caller found f among c's flags
		}
	}
}

// InputFile returns a positional argument: a file to read, with one of the extensions.
func InputFile(name string, extensions []string) *Value {
	return &Value{Kind: name, File: &FileUse{Extensions: extensions}}
}

var (
	ModelOperand = InputFile("MODEL", ModelFiles)
	DataOperand  = InputFile("DATA", slices.Concat(TableFiles, []string{"gz"}, RecordingFiles))
)

// Extensions of files, by content.
var (
	RecordingFiles = audio.Extensions()
	TableFiles     = table.Extensions
	TableOutputs   = []string{"csv", "tsv", "npy"}
	ModelFiles     = []string{"safetensors"}
	PlotFiles      = []string{"html", "png", "svg"}
)

// OneOf returns a value that accepts one of the words, or its former spelling, and sets *to, whose initial value is the default.
func OneOf[T ~string](to *T, words ...string) *Value {
	return &Value{Kind: "name", Text: string(*to), Words: words, Parse: func(s string) error {
		if s = cmp.Or(formerly[s], s); !slices.Contains(words, s) {
			return fmt.Errorf("must be one of %s", strings.Join(words, ", "))
		}
		*to = T(s)
		return nil
	}}
}

// formerly maps former spellings of words and flags, which scripts may use, to the present ones.
var formerly = map[string]string{"factorised": "factorized", "optimiser": "optimizer"}

// Present returns the present name of a flag.
func Present(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	return pflag.NormalizedName(cmp.Or(formerly[name], name))
}

// FirstGiven returns the name of the first flag of a set that was given, "" if none was.
func FirstGiven(flags *pflag.FlagSet) (name string) {
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed && name == "" {
			name = f.Name
		}
	})
	return name
}

// Unbounded is the maximum of a count without a maximum.
const Unbounded = math.MaxInt

// Count returns a value that accepts a whole number from 0 to most.
func Count(to *int, most int) *Value {
	return &Value{Kind: "int", Text: strconv.Itoa(*to), Parse: func(s string) error {
		n, err := strconv.Atoi(s)
		switch {
		case err == nil && n >= 0 && n <= most:
			*to = n
			return nil
		case most < Unbounded:
			return fmt.Errorf("must be a whole number from 0 to %d", most)
		}
		return errors.New("must be a whole number, 0 or more")
	}}
}

// OutputFile returns a value that accepts the name of a file to write, with one of the extensions.
func OutputFile(to *string, extensions ...string) *Value {
	return FileName(to, FileUse{Written: true, Extensions: extensions, Only: true})
}

// FileName returns a value that accepts a file name or one of the words.
func FileName(to *string, f FileUse, words ...string) *Value {
	return &Value{Kind: "file", Words: words, File: &f, Parse: func(s string) error {
		*to = s
		return nil
	}}
}

// WithoutTimes returns an error if a length along a table's input was given as a time.
func WithoutTimes(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		if v, ok := f.Value.(*Value); ok && v.Timed && err == nil {
			err = Mistake("--%s %v: the input x of a table may not be time; must be plain numbers in units of x", f.Name, v)
		}
	})
	return err
}

// ParseLength parses a positive number, which may have the unit s or ms. It
// returns a time in seconds.
func ParseLength(s string) (v float64, timed bool, err error) {
	v, timed, err = ParseTimed(s)
	if err != nil || !(v > 0) || math.IsInf(v, 0) {
		return 0, false, errors.New("must be a positive number, or a time such as 32ms or 0.5s")
	}
	return v, timed, nil
}

// ParseTimed parses a number of any sign, which may be a time as for ParseLength.
func ParseTimed(s string) (v float64, timed bool, err error) {
	text, unit := s, 1.0
	if t, ok := strings.CutSuffix(s, "ms"); ok {
		text, unit, timed = t, 1e-3, true
	} else if t, ok := strings.CutSuffix(s, "s"); ok {
		text, timed = t, true
	}
	v, err = strconv.ParseFloat(text, 64)
	return v * unit, timed, err
}
