package main

import (
	"fmt"
	"os"
)

// commands are the subcommands by name; more come with the parts they measure.
var commands = map[string]func(args []string) error{
	"starts": runStarts,
}

func main() {
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "bench: want a subcommand: starts")
		os.Exit(2)
	}
	if err := commands[os.Args[1]](os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}
