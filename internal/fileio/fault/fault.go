// Package fault creates errors that have a kind and a text. The kind is a sentinel that errors.Is finds, and whose text the error does not
// repeat.
package fault

import (
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// New returns a kind of errors that the user can correct, such as unusable data. The kind wraps the errors of, if any.
func New(text string, of ...error) error { return &kind{text, of} }

type kind struct {
	text string
	of   []error
}

func (k *kind) Error() string { return k.text }

func (k *kind) Unwrap() []error { return k.of }

// Correctable reports whether err wraps a kind made by New.
func Correctable(err error) bool {
	var k *kind
	return errors.As(err, &k)
}

type fault struct {
	error
	kind error
}

func (f *fault) Unwrap() []error { return []error{f.kind, f.error} }

// Errorf is like fmt.Errorf, but the error also wraps kind, whose text is not part of the message.
func Errorf(kind error, format string, args ...any) error {
	return &fault{fmt.Errorf(format, args...), kind}
}

// Quote quotes a text from a file, which may be unprintable, and truncates it to at most 60 bytes.
func Quote(s string) string {
	const most = 60 // bytes between the quotes
	long := 0
	for i := 0; i < len(s); {
		_, size := utf8.DecodeRuneInString(s[i:])
		if long += len(strconv.Quote(s[i:i+size])) - len(`""`); long > most {
			return strconv.Quote(s[:i]) + "…"
		}
		i += size
	}
	return strconv.Quote(s)
}
