package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagGroups is the key of the annotation that lists the headings of a command's flags.
const flagGroups = "flag groups"

// onlyCommon is the key of the annotation that lists the common flags that a command uses, if it does not use all.
const onlyCommon = "common flags"

// FlagGroups returns the annotation of a command whose help lists flags under headings. A group is "Heading: flag flag …". Other flags
// are listed under Advanced.
func FlagGroups(groups ...string) map[string]string {
	return map[string]string{flagGroups: strings.Join(groups, "\n")}
}

// Usage prints the usage line of a command, its examples, its subcommands by group, and its flags by group.
func Usage(c *cobra.Command) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage:\n  %s\n", c.UseLine())
	if c.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", c.Example)
	}
	for _, group := range c.Groups() {
		fmt.Fprintf(&b, "\n%s:\n", group.Title)
		for _, one := range c.Commands() {
			if one.GroupID == group.ID {
				fmt.Fprintf(&b, "  %-10s  %s\n", one.Name(), one.Short)
			}
		}
	}
	left := map[string]*pflag.Flag{}
	c.Flags().VisitAll(func(f *pflag.Flag) { left[f.Name] = f })
	list := func(heading string, names ...string) {
		group := pflag.NewFlagSet(heading, pflag.ContinueOnError)
		group.SortFlags = false
		for _, name := range names {
			if left[name] != nil {
				group.AddFlag(left[name])
				delete(left, name)
			}
		}
		if group.HasAvailableFlags() {
			fmt.Fprintf(&b, "\n%s:\n%s", heading, group.FlagUsages())
		}
	}
	for line := range strings.Lines(c.Annotations[flagGroups]) {
		heading, names, _ := strings.Cut(line, ":")
		list(heading, strings.Fields(names)...)
	}
	common := append(namesOf(c.Root().PersistentFlags()), "help", "version")
	list("Advanced", slices.DeleteFunc(namesOf(c.Flags()), func(name string) bool { return slices.Contains(common, name) })...)
	if some := c.Annotations[onlyCommon]; some != "" {
		common = strings.Fields(some)
	}
	list("Common", common...)
	if c.HasSubCommands() {
		fmt.Fprintf(&b, "\n\"%s COMMAND --help\" describes a command.\n", c.CommandPath())
	}
	_, err := fmt.Fprint(c.OutOrStderr(), b.String())
	return err
}

func namesOf(flags *pflag.FlagSet) (names []string) {
	flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}
