package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio"
	"github.com/vssgp/vssgp/audio/restore"
	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cmd/vssgp/internal/table"
	"github.com/vssgp/vssgp/internal/fileio"
	"github.com/vssgp/vssgp/internal/fileio/safetensors"
	"github.com/vssgp/vssgp/series"
)

// Exit codes, which scripts rely on.
const (
	ExitDone        = 0
	ExitFailure     = 1 // any other error
	ExitMistake     = 2 // error of the caller: usage, unreadable or bad input, invalid options
	ExitInterrupted = 130
)

// usageError marks an error on the command line.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

// Mistake returns a usageError. The format may contain %w.
func Mistake(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// interruption is the error after a signal. text describes the state that the command leaves.
type interruption struct{ text string }

// Interrupted returns an interruption, whose message is "interrupted" followed by left.
func Interrupted(left string) error { return &interruption{left} }

func (i *interruption) Error() string { return "interrupted" + i.text }

func (i *interruption) Unwrap() error { return context.Canceled }

// mistakes are the sentinels of errors that the caller can correct.
var mistakes = []error{
	vssgp.ErrParams, vssgp.ErrData, vssgp.ErrOptions, vssgp.ErrMemory, vssgp.ErrUnfitted, vssgp.ErrCheckpoint,
	backend.ErrShape, backend.ErrValue,
	safetensors.ErrFormat, table.ErrFormat,
	series.ErrData, series.ErrOptions, series.ErrReach, series.ErrFile,
	audio.ErrFormat, audio.ErrGaps, restore.ErrGaps,
	fileio.ErrTarget, fileio.ErrNotRegular,
	fs.ErrNotExist, fs.ErrPermission,
}

// ExitCode returns the exit code for err.
func ExitCode(err error) int {
	var usage *usageError
	switch {
	case err == nil:
		return ExitDone
	case errors.Is(err, context.Canceled):
		return ExitInterrupted
	case errors.As(err, &usage) || slices.ContainsFunc(mistakes, func(m error) bool { return errors.Is(err, m) }):
		return ExitMistake
	}
	return ExitFailure
}

// Prefix begins every line on stderr.
const Prefix = "vssgp: "

var lineEnds, control = regexp.MustCompile(`\s*[\r\n]\s*`), regexp.MustCompile(`\p{Cc}`)

// internals matches package names and sentinel texts of this module at the beginning of an error or of a wrapped error.
var internals = regexp.MustCompile(`(^|: )(?:(?:audio|declip|detect|restore|series|bad gaps|bad options|unusable data|unusable options): )+`)

// lastSentinel matches the text of a sentinel at the end of a message.
var lastSentinel = regexp.MustCompile(`: (?:bad gaps|bad options|unusable data|unusable options)$`)

// OneLine formats err as a single line that begins with the program's name. It removes further
// occurrences of that name and the names of packages and sentinels.
func OneLine(err error) string {
	text := lineEnds.ReplaceAllString(strings.TrimSpace(err.Error()), " ")
	text = lastSentinel.ReplaceAllString(internals.ReplaceAllString(strings.ReplaceAll(text, Prefix, ""), "$1"), "")
	return Prefix + control.ReplaceAllString(strings.ToValidUTF8(text, "\uFFFD"), " ")
}

// CheckScores returns an error if a score is not finite.
func CheckScores(path string, rmse, density float64) error {
	if v := rmse + density; math.IsNaN(v) || math.IsInf(v, 0) {
		return Mistake("%s: the RMSE is %v and the mean log predictive density is %v; the values must have the scale of the model's data",
			path, rmse, density)
	}
	return nil
}
