// Package fault makes errors of a kind, in words of their own.
package fault

import "fmt"

type fault struct {
	error
	kind error
}

func (f *fault) Unwrap() []error { return []error{f.kind, f.error} }

// Errorf is fmt.Errorf, but the error also wraps kind, whose text the message leaves out.
func Errorf(kind error, format string, args ...any) error {
	return &fault{fmt.Errorf(format, args...), kind}
}

// Quote quotes a text from a file, which may be unprintable, and cuts it off where it is long.
func Quote(s string) string {
	const most = 60
	if len(s) > most {
		return fmt.Sprintf("%q…", s[:most])
	}
	return fmt.Sprintf("%q", s)
}
