package cli

import (
	"context"
	"errors"
	"io/fs"
	"regexp"
	"strings"

	"github.com/vssgp/vssgp/internal/fileio/fault"
)

// Exit codes, which scripts rely on.
const (
	ExitDone        = 0
	ExitFailure     = 1 // any other error
	ExitMistake     = 2 // error of the caller: usage, unreadable or bad input, invalid options
	ExitInterrupted = 130
)

// errUsage is the kind of the errors that the commands find themselves.
var errUsage = fault.New("usage")

// Mistake returns an error of the caller. The format may contain %w.
func Mistake(format string, args ...any) error { return fault.Errorf(errUsage, format, args...) }

// interruption is the error after a signal. text describes the state that the command leaves.
type interruption struct{ text string }

// Interrupted returns an interruption, whose message is "interrupted" followed by left.
func Interrupted(left string) error { return &interruption{left} }

func (i *interruption) Error() string { return "interrupted" + i.text }

func (i *interruption) Unwrap() error { return context.Canceled }

// ExitCode returns the exit code for err.
func ExitCode(err error) int {
	switch {
	case err == nil:
		return ExitDone
	case errors.Is(err, context.Canceled):
		return ExitInterrupted
	case fault.Correctable(err), errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return ExitMistake
	}
	return ExitFailure
}

// Prefix begins every line on stderr.
const Prefix = "vssgp: "

var lineEnds, control = regexp.MustCompile(`\s*[\r\n]\s*`), regexp.MustCompile(`\p{Cc}`)

// OneLine formats err as a single line that begins with the program's name.
func OneLine(err error) string {
	text := lineEnds.ReplaceAllString(strings.TrimSpace(err.Error()), " ")
	return Prefix + control.ReplaceAllString(strings.ToValidUTF8(text, "\uFFFD"), " ")
}
