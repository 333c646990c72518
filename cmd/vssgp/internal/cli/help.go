package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp/docs"
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
	for _, l := range append(commandLists(c), flagLists(c)...) {
		fmt.Fprintf(&b, "\n%s:\n%s", l.heading, l.lines)
	}
	if c.HasSubCommands() {
		fmt.Fprintf(&b, "\n\"%s COMMAND --help\" describes a command", c.CommandPath())
		if !c.HasParent() {
			b.WriteString(`, "vssgp help TOPIC" prints a page`)
		}
		b.WriteString(".\n")
	}
	_, err := fmt.Fprint(c.OutOrStderr(), b.String())
	return err
}

// A list is a part of a help text. A line has a term, such as a command or a flag, at least two spaces and the
// description.
type list struct{ heading, lines string }

// commandLists returns the subcommands of a command by group and, for the root command, the topics.
func commandLists(c *cobra.Command) (all []list) {
	const line = "  %-12s  %s\n"
	groups := c.Groups()
	if len(groups) == 0 && c.HasSubCommands() { // cobra's command completion
		groups = []*cobra.Group{{Title: "Commands"}}
	}
	for _, group := range groups {
		l := list{heading: group.Title}
		for _, one := range c.Commands() {
			if one.GroupID == group.ID {
				l.lines += fmt.Sprintf(line, one.Name(), one.Short)
			}
		}
		all = append(all, l)
	}
	if !c.HasParent() {
		l := list{heading: "Topics"}
		for _, t := range docs.Topics {
			l.lines += fmt.Sprintf(line, t.Name, t.Short)
		}
		all = append(all, l)
	}
	return all
}

// flagLists returns the flags of a command by group.
func flagLists(c *cobra.Command) (all []list) {
	left := map[string]*pflag.Flag{}
	c.Flags().VisitAll(func(f *pflag.Flag) { left[f.Name] = f })
	add := func(heading string, names ...string) {
		group := pflag.NewFlagSet(heading, pflag.ContinueOnError)
		group.SortFlags = false
		for _, name := range names {
			if left[name] != nil {
				group.AddFlag(left[name])
				delete(left, name)
			}
		}
		if group.HasAvailableFlags() {
			all = append(all, list{heading, group.FlagUsages()})
		}
	}
	for line := range strings.Lines(c.Annotations[flagGroups]) {
		heading, names, _ := strings.Cut(line, ":")
		add(heading, strings.Fields(names)...)
	}
	common := append(namesOf(c.Root().PersistentFlags()), "help", "version")
	add("Advanced", slices.DeleteFunc(namesOf(c.Flags()), func(name string) bool { return slices.Contains(common, name) })...)
	if some := c.Annotations[onlyCommon]; some != "" {
		common = strings.Fields(some)
	}
	add("Common", common...)
	return all
}

func namesOf(flags *pflag.FlagSet) (names []string) {
	flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}
