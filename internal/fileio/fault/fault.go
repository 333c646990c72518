// Package fault creates errors that wrap a sentinel without repeating its text.
package fault

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

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
