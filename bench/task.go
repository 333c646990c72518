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
	check(files []string) error // reports mistakes in the flags, or in the files named after them
	run() error
}

// A usage is a mistake on the command line.
type usage struct{ error }

// Unwrap returns the mistake.
func (u *usage) Unwrap() error { return u.error }

// want returns an error for another number of files.
func want(files []string, n int, what string) error {
	if n == 0 && len(files) > 0 {
		return fmt.Errorf("unexpected argument %q", files[0])
	}
	return demand(len(files) == n, "%d files, must be %s", len(files), what)
}

// demand returns an error with a text if a condition is false.
func demand(holds bool, format string, args ...any) error {
	if holds {
		return nil
	}
	return fmt.Errorf(format, args...)
}

// interruptible ends with the first SIGINT or SIGTERM; a second one ends the program at once.
func interruptible() (ctx context.Context, stop func()) {
	ctx, stop = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// commitFlag tells a build without git which commit it is.
func commitFlag(set *flag.FlagSet, commit *string) {
	set.StringVar(commit, "commit", "", "commit to record, if the build does not contain it")
}

// counts reads the numbers of a flag, from 1 to most.
func counts(name, list string, most int) (out []int, err error) {
	for _, s := range strings.Split(list, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > most {
			return nil, fmt.Errorf("-%s %q: must be numbers from 1 to %d separated by commas", name, list, most)
		}
		out = append(out, n)
	}
	return out, nil
}

// list splits at commas; an empty string has no names.
func list(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

// known returns an error for a name that a flag does not accept.
func known(flag string, names, all []string) error {
	for _, n := range names {
		if !slices.Contains(all, n) {
			return fmt.Errorf("-%s: %q, must be one of %s", flag, n, strings.Join(all, ","))
		}
	}
	return nil
}
