package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// A task is a subcommand with its settings.
type task interface {
	flags(set *flag.FlagSet)
	check(files []string) error // validates the flags and the file arguments after them
	run() error
}

// A usage is an error on the command line.
type usage struct{ error }

func (u *usage) Unwrap() error { return u.error }

// demandFiles returns an error if the number of files is not n. what describes n files.
func demandFiles(files []string, n int, what string) error {
	if n == 0 && len(files) > 0 {
		return fmt.Errorf("unexpected argument %q", files[0])
	}
	return demand(len(files) == n, "%d files given; must be %s", len(files), what)
}

// demand returns an error with the formatted text unless ok is true.
func demand(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, args...)
}

// interruptible returns a context that ends at the first SIGINT or SIGTERM. A second signal terminates the program.
func interruptible() (ctx context.Context, stop func()) {
	ctx, stop = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// commitFlag adds the flag -commit, for builds that do not contain their commit.
func commitFlag(set *flag.FlagSet, commit *string) {
	set.StringVar(commit, "commit", "", "commit to record, if the build does not contain it")
}

// counts parses the comma-separated numbers of a flag. Each must be from least to most.
func counts(name, list string, least, most int) (out []int, err error) {
	for _, s := range strings.Split(list, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < least || n > most {
			return nil, fmt.Errorf("-%s %q: must be numbers from %d to %d separated by commas", name, list, least, most)
		}
		out = append(out, n)
	}
	return out, nil
}

// list splits s at commas. It returns nil for an empty string.
func list(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

// known returns an error if one of the names is not in all.
func known(flag string, names, all []string) error {
	for _, n := range names {
		if !slices.Contains(all, n) {
			return fmt.Errorf("-%s %q: must be one of %s", flag, n, strings.Join(all, ","))
		}
	}
	return nil
}
