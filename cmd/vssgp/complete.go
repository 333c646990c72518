package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp"
)

// What a shell completes: commands and flags by cobra itself, and here the words
// that flags take and the files that arguments are. `vssgp completion --help`
// says how a shell is told.

// Extensions of the files that are read, by what they are.
var (
	recordingFiles = []string{"wav", "wave", "sph", "nist"}
	tableFiles     = []string{"csv", "npy"}
	modelFiles     = []string{"safetensors"}
)

// argumentFiles are the extensions of each command's arguments.
var argumentFiles = map[string][][]string{
	"impute":   {recordingFiles},
	"fit":      {append(tableFiles[:2:2], recordingFiles...)},
	"predict":  {modelFiles, append(tableFiles[:2:2], recordingFiles...)},
	"evaluate": {modelFiles, append(tableFiles[:2:2], recordingFiles...)},
	"info":     {modelFiles},
	"baseline": {nil, append(tableFiles[:2:2], recordingFiles...), tableFiles},
}

// flagWords are the words that a flag takes, beside those of a choice.
var flagWords = map[string][]string{
	"device":  {"auto", "cpu", "cuda"},
	"window":  {"auto", "none"},
	"init":    {string(vssgp.InitPaper), string(vssgp.InitSpectrum)},
	"context": {"all"},
	"memory":  {"none"},
	"tie":     {"kernel.variance", "kernel.lengthscale", "kernel.frequency"},
	"fix":     tensorNames(),
}

// flagFiles are the extensions of the files that a flag names; other file flags
// complete any file, as shells do by themselves.
var flagFiles = map[string][]string{
	"gaps":       {"csv"},
	"reference":  recordingFiles,
	"report":     {"html"},
	"model":      modelFiles,
	"draws-file": {"csv", "npy", "wav"},
	"sd":         {"csv", "npy"},
}

// completions tells cobra what each command's arguments and flags take.
func completions(root *cobra.Command) {
	for _, c := range root.Commands() {
		if files, ok := argumentFiles[c.Name()]; ok {
			c.ValidArgsFunction = completeArguments(c.Name(), files)
		} else {
			c.ValidArgsFunction = cobra.NoFileCompletions
		}
		c.Flags().VisitAll(func(f *pflag.Flag) { completeFlag(c, f) })
	}
	root.PersistentFlags().VisitAll(func(f *pflag.Flag) { completeFlag(root, f) })
}

// completeArguments completes the n-th argument by the n-th entry.
func completeArguments(name string, files [][]string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		switch n := len(args); {
		case name == "baseline" && n == 0:
			return []cobra.Completion{"gp", "fitc", "vfe", "svgp"}, cobra.ShellCompDirectiveNoFileComp
		case n < len(files):
			return files[n], cobra.ShellCompDirectiveFilterFileExt
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeFlag completes a flag's value by its words, or by the files it takes.
func completeFlag(c *cobra.Command, f *pflag.Flag) {
	words := flagWords[f.Name]
	if v, ok := f.Value.(*choice); ok {
		words = v.allowed
	}
	var complete cobra.CompletionFunc
	switch {
	case f.Name == "init":
		complete = wordsOrFiles(words)
	case words != nil:
		complete = listOf(words)
	case flagFiles[f.Name] != nil:
		complete = func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return flagFiles[f.Name], cobra.ShellCompDirectiveFilterFileExt
		}
	default:
		return
	}
	if err := c.RegisterFlagCompletionFunc(f.Name, complete); err != nil {
		panic(err) // it is there: VisitAll named it
	}
}

// listOf completes words, or after a comma a further one.
func listOf(words []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndex(typed, ",")+1]
		var all []cobra.Completion
		for _, w := range words {
			if before == "" || !strings.Contains(","+before, ","+w+",") {
				all = append(all, before+w)
			}
		}
		return all, cobra.ShellCompDirectiveNoFileComp
	}
}

// wordsOrFiles completes words, and where none begins so files.
func wordsOrFiles(words []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var all []cobra.Completion
		for _, w := range words {
			if strings.HasPrefix(w, typed) {
				all = append(all, w)
			}
		}
		return all, cobra.ShellCompDirectiveDefault
	}
}

// tensorNames are the tensors of a model file that --fix takes.
func tensorNames() (names []string) {
	for _, t := range (&vssgp.Params{}).Tensors() {
		names = append(names, t.Name)
	}
	return names
}
