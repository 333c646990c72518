package cli

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/internal/table"
)

// A Value is the argument of a flag, or a positional argument. The functions below make one of each kind.
type Value struct {
	Kind  string // as help calls it
	Text  string // as the user wrote it
	Parse func(s string) error
	Words []string // it may be one of these; for a file, words that name none
	List  bool     // if the flag is given again, it adds to the list
	Timed bool     // a length was given as a time
	File  *FileUse // nil: not the name of a file
}

// A FileUse is how a command uses the file that a flag names.
type FileUse struct {
	Written    bool
	Needed     string   // the flag with an example, if the command needs it
	Extensions []string // that a shell offers; none: all
	Only       bool     // another extension is a mistake
	Stdout     bool     // - is stdout
	Folder     bool     // it is a folder, whose files have names that the command makes
	AtOnce     bool     // it is written during the work, not with the other outputs
}

// String returns the value as it was written.
func (v *Value) String() string { return v.Text }

// Type returns the name that help gives the flag's argument.
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

// complete completes the words, in a list after a comma too, or the files.
func (v *Value) complete(_ *cobra.Command, _ []string, typed string) (all []cobra.Completion, then cobra.ShellCompDirective) {
	then = cobra.ShellCompDirectiveNoFileComp
	if v.File != nil {
		then = cobra.ShellCompDirectiveDefault
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

// CompleteFlag registers the completion of a flag that has words or files. Cobra keeps what is registered, and all that it refers to,
// until the process ends.
func CompleteFlag(c *cobra.Command, f *pflag.Flag) {
	if v, ok := f.Value.(*Value); ok && (v.File != nil || v.Words != nil) {
		if err := c.RegisterFlagCompletionFunc(f.Name, v.complete); err != nil {
			panic(err) // the caller found f among c's flags
		}
	}
}

// InputFile is a positional argument of a command: a file to read, with one of the extensions.
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

// OneOf takes one of a few words; the default is the value of to.
func OneOf[T ~string](to *T, words ...string) *Value {
	return &Value{Kind: "name", Text: string(*to), Words: words, Parse: func(s string) error {
		if !slices.Contains(words, s) {
			return fmt.Errorf("must be one of %s", strings.Join(words, ", "))
		}
		*to = T(s)
		return nil
	}}
}

// FirstGiven is the first flag of a set that was given; "" if none was.
func FirstGiven(flags *pflag.FlagSet) (name string) {
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed && name == "" {
			name = f.Name
		}
	})
	return name
}

// Unbounded is the bound of a count that the command does not bound.
const Unbounded = math.MaxInt

// Count takes a whole number from 0 to most.
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

// OutputFile takes the name of a file to write, with one of the extensions.
func OutputFile(to *string, extensions ...string) *Value {
	return FileName(to, FileUse{Written: true, Extensions: extensions, Only: true})
}

// FileName takes the name of a file, or one of the words instead.
func FileName(to *string, f FileUse, words ...string) *Value {
	return &Value{Kind: "file", Words: words, File: &f, Parse: func(s string) error {
		*to = s
		return nil
	}}
}

// WithoutTimes refuses times as lengths along a table's inputs.
func WithoutTimes(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		if v, ok := f.Value.(*Value); ok && v.Timed && err == nil {
			err = Mistake("--%s %v: a table's x need not be time; must be plain numbers in units of x", f.Name, v)
		}
	})
	return err
}

// ParseLength reads a positive number, which may be a time with the unit s or
// ms. A time is returned in seconds.
func ParseLength(s string) (v float64, timed bool, err error) {
	v, timed, err = ParseTimed(s)
	if err != nil || !(v > 0) || math.IsInf(v, 0) {
		return 0, false, errors.New("must be a positive number, or a time such as 32ms or 0.5s")
	}
	return v, timed, nil
}

// ParseTimed reads a number, which may be a time as for ParseLength.
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
