package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/audio"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/fit"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/page"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/series"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/serve"
	"github.com/vssgp/vssgp/docs"
)

// tryThese are the examples that are printed by vssgp without arguments.
const tryThese = `  vssgp repair record.wav --detect clicks -o repaired.wav   # find and fill damage
  vssgp forecast co2.csv --horizon 24 --plot co2.html       # forecast a time series
  vssgp fit table.csv -o model.safetensors                  # fit a Gaussian process`

// newRoot returns the root command of an environment.
func newRoot(env *cli.Env) *cobra.Command {
	env.Version = cli.ReadVersion().String()
	root := &cobra.Command{
		Use:   "vssgp COMMAND",
		Short: "Variational sparse spectrum Gaussian processes",
		Long: `vssgp repairs recordings, forecasts and fills time series, and fits Gaussian processes
to tables. Predictions have uncertainty intervals. The models are variational sparse
spectrum Gaussian processes (Gal & Turner 2015), computed on the CPU or a GPU.

"vssgp help command-line" describes outputs, files and devices, and "vssgp help json" the
output of --json.`,
		Example: tryThese,
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				fmt.Fprintf(env.Stderr, "Try one of these:\n\n%s\n\n", tryThese)
				return errors.New("no command given; vssgp --help lists all commands")
			}
			return unknownCommand(cmd, args[0])
		},
		Version:       env.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if args := cmd.Flags().Args(); cmd == root && len(args) > 0 { // the flag follows an unknown command
			return unknownCommand(cmd, args[0])
		}
		return fmt.Errorf("%w; see %s --help", inWords(cmd, err), cmd.CommandPath())
	})
	f := root.PersistentFlags()
	env.Device.AddFlags(f)
	f.Uint64Var(&env.Seed, "seed", 0, "random seed; the same seed gives the same output")
	f.BoolVar(&env.JSON, "json", false, "print the result as one JSON object")
	f.BoolVar(&env.Quiet, "quiet", false, "print errors only")
	f.Var(cli.OneOf(&env.Progress, "auto", "always", "never"), "progress", "show progress: auto (on a terminal), always or never")
	cobra.EnableCommandSorting = false
	for _, group := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Recordings", []*cobra.Command{audio.New(env)}},
		{"Time series", []*cobra.Command{series.NewForecast(env), series.NewFill(env), series.NewBacktest(env)}},
		{"Models", []*cobra.Command{fit.NewFit(env), fit.NewPredict(env), fit.NewEvaluate(env), fit.NewInfo(env)}},
		{others, []*cobra.Command{cli.NewDevices(env), cli.NewVersion(env), cli.NewMan(env), serve.New(env, answer)}},
	} {
		root.AddGroup(&cobra.Group{ID: group.title, Title: group.title})
		for _, c := range group.commands {
			c.GroupID = group.title
			root.AddCommand(c)
		}
	}
	root.SetGlobalNormalizationFunc(cli.Present)
	root.SetUsageFunc(cli.Usage)
	root.SetHelpCommand(helpCommand(env))
	root.SetCompletionCommandGroupID(others)
	root.SetHelpCommandGroupID(others)
	complete := func(c *cobra.Command, f *pflag.Flag) {
		if env.Served == nil { // requests to serve need no completion, and registrations would accumulate
			cli.CompleteFlag(c, f)
		}
	}
	for _, c := range root.Commands() {
		writes := false
		c.Flags().VisitAll(func(f *pflag.Flag) {
			complete(c, f)
			v, ok := f.Value.(*cli.Value)
			writes = writes || ok && v.File != nil && v.File.Written
		})
		if writes {
			c.Flags().BoolVar(&env.Files.Overwrite, "overwrite", false, "allow an output to replace an input file")
		}
	}
	root.PersistentFlags().VisitAll(func(f *pflag.Flag) { complete(root, f) })
	return root
}

// others is the group of the remaining commands.
const others = "Other"

// helpCommand returns a help command like cobra's, except that it also prints topics and that an unknown command is an
// error.
func helpCommand(env *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND | TOPIC]",
		Short: "Show the help of a command, or a page about a topic",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			var all []cobra.Completion
			at, rest, err := cmd.Root().Find(args)
			if err == nil && len(rest) == 0 {
				for _, c := range at.Commands() {
					if c.IsAvailableCommand() {
						all = append(all, cobra.CompletionWithDesc(c.Name(), c.Short))
					}
				}
			}
			if len(args) == 0 {
				for _, t := range docs.Topics {
					all = append(all, cobra.CompletionWithDesc(t.Name, t.Short))
				}
			}
			return all, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			at, rest, err := cmd.Root().Find(args)
			if err == nil && len(rest) == 0 {
				at.InitDefaultHelpFlag()
				at.InitDefaultVersionFlag()
				return at.Help()
			}
			name := strings.Join(args, " ")
			for _, t := range docs.Topics {
				if t.Name == name {
					_, err := fmt.Fprint(env.Stdout, page.Of(t))
					return err
				}
			}
			return unknownCommand(cmd, name)
		},
	}
}

// checkDashes returns an error if a flag's name follows a single dash. pflag would read it as a sequence of short flags.
func checkDashes(root *cobra.Command, args []string) error {
	cmd, _, err := root.Find(args)
	if err != nil {
		return nil // cobra reports it
	}
	for _, a := range args {
		if a == "--" {
			break
		}
		name, dashed := strings.CutPrefix(a, "-")
		name, _, _ = strings.Cut(name, "=")
		if f := cmd.Flag(name); dashed && len(name) > 1 && f != nil {
			return cli.Mistake("-%s: a flag name must follow two dashes: --%[1]s", name)
		}
	}
	return nil
}

// unknownCommand returns the error for a word that is not a command or, after help, a topic.
func unknownCommand(cmd *cobra.Command, name string) error {
	root := cmd.Root()
	root.SuggestionsMinimumDistance = 2
	kind, allowed, topics := "command", commandNames(cmd), topicNames()
	if cmd != root {
		kind, allowed = "command or topic", allowed+", or of the topics "+strings.Join(topics, ", ")
	}
	if close := root.SuggestionsFor(name); len(close) > 0 {
		return fmt.Errorf("unknown %s %.60q; did you mean %s?", kind, name, strings.Join(close, " or "))
	}
	if slices.Contains(topics, name) {
		return fmt.Errorf("unknown command %q; vssgp help %[1]s prints the page about this topic", name)
	}
	return fmt.Errorf("unknown %s %.60q; must be one of %s", kind, name, allowed)
}

// commandNames lists the commands that help shows.
func commandNames(cmd *cobra.Command) string {
	var names []string
	for _, c := range cmd.Root().Commands() {
		if c.IsAvailableCommand() && c.Name() != "completion" {
			names = append(names, c.Name())
		}
	}
	return strings.Join(names, ", ")
}

// topicNames lists the topics of help.
func topicNames() (names []string) {
	for _, t := range docs.Topics {
		names = append(names, t.Name)
	}
	return names
}

// expected describes the values of pflag's types of flags.
var expected = map[string]string{
	"uint64": "a whole number, 0 or more", "float64": "a number", "duration": "a time such as 30s or 5m", "bool": "true or false",
	"intSlice": "whole numbers such as 0,5,10",
}

// inWords converts pflag's errors about a flag or its argument to the style of this program's errors.
func inWords(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		typed := strings.TrimLeft(unknown.GetSpecifiedName(), "-")
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if len(typed) > 1 && !f.Hidden && (strings.HasPrefix(f.Name, typed) || strings.HasPrefix(typed, f.Name)) {
				err = fmt.Errorf("unknown flag --%.60s (did you mean --%s?)", typed, f.Name)
			}
		})
		return err
	}
	var e *pflag.InvalidValueError
	if !errors.As(err, &e) {
		return err
	}
	name, cause := e.GetFlag().Name, errors.Unwrap(e).Error()
	if value := expected[e.GetFlag().Value.Type()]; value != "" {
		cause = "must be " + value
	}
	return cli.Mistake("--%s %.40q: %s", name, e.GetValue(), cause)
}
