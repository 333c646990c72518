package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/vssgp/vssgp/cuda"
)

// commands are the subcommands by name; more come with the parts they measure.
var commands = map[string]func(args []string) error{
	"compare":   runCompare,
	"long":      runLong,
	"paper":     runPaper,
	"recording": runRecording,
	"report":    runReport,
	"speed":     runSpeed,
	"starts":    runStarts,
	"windows":   runWindows,
}

// A usage is a mistake on the command line.
type usage struct{ error }

// Unwrap is what was wrong.
func (u *usage) Unwrap() error { return u.error }

func main() {
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "bench: want a subcommand: paper, long, recording, starts, speed, windows, compare or report")
		os.Exit(2)
	}
	if err := commands[os.Args[1]](os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(exitCode(err))
	}
}

// exitCode is 2 for a mistake of the caller, a card that is not there
// included, else 1.
func exitCode(err error) int {
	var u *usage
	if errors.As(err, &u) || errors.Is(err, cuda.ErrNoDevice) {
		return 2
	}
	return 1
}
