package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// What a shell completes: commands and flags by cobra itself, operands and the
// values of flags by what they may be. `vssgp completion --help` says how to set
// a shell up for it.

// completeOperands completes the n-th argument by the n-th operand.
func completeOperands(operands []operand) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if n := len(args); n < len(operands) && operands[n].choice == nil {
			return operands[n].extensions, cobra.ShellCompDirectiveFilterFileExt
		} else if n < len(operands) {
			return operands[n].choice, cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeFlag completes a flag's value by its words, or by the files it takes.
func completeFlag(c *cobra.Command, f *pflag.Flag) {
	var complete cobra.CompletionFunc
	if _, ok := f.Value.(*deviceFlag); ok {
		complete = listOf([]string{"auto", "cpu", "cuda"})
	} else if v, ok := f.Value.(*value); ok && v.file != nil {
		complete = v.completeFile
	} else if ok && v.words != nil {
		complete = listOf(v.words)
	} else {
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

// completeFile completes the flag's words or the files that it takes.
func (v *value) completeFile(_ *cobra.Command, _ []string, typed string) (all []cobra.Completion, _ cobra.ShellCompDirective) {
	if v.file.extensions != nil {
		return v.file.extensions, cobra.ShellCompDirectiveFilterFileExt
	}
	for _, w := range v.words {
		if strings.HasPrefix(w, typed) {
			all = append(all, w)
		}
	}
	return all, cobra.ShellCompDirectiveDefault
}
