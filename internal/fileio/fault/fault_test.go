package fault

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

func TestQuoteEscapesAndTruncates(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     `""`,
		"a\tb\xff":                             `"a\tb\xff"`,
		strings.Repeat("a", 60):                `"` + strings.Repeat("a", 60) + `"`,
		strings.Repeat("a", 61):                `"` + strings.Repeat("a", 60) + `"…`,
		strings.Repeat("\xeb", 16):             `"` + strings.Repeat(`\xeb`, 15) + `"…`, // the escaped length counts
		strings.Repeat("a", 59) + "é" + "bbbb": `"` + strings.Repeat("a", 59) + `"…`,    // a letter is not split
	} {
		testkit.Equal(t, Quote(text), want, text)
	}
}

var errData, errOptions = New("unusable data"), New("unusable options", fs.ErrInvalid)

// TestErrorfHasKindAndText checks the text of errors and the errors that errors.Is finds in them.
func TestErrorfHasKindAndText(t *testing.T) {
	for _, c := range []struct {
		err  error
		text string
		is   []error
	}{
		{errData, "unusable data", []error{errData}},
		{Errorf(errData, "y[%d] is %v", 3, 0.5), "y[3] is 0.5", []error{errData}},
		{Errorf(errData, "row 3: %w", io.EOF), "row 3: EOF", []error{errData, io.EOF}},
		{Errorf(errOptions, "part 1: %w", Errorf(errData, "no rows")), "part 1: no rows", []error{errData, errOptions, fs.ErrInvalid}},
		{fmt.Errorf("x.csv: %w", Errorf(errData, "no rows")), "x.csv: no rows", []error{errData}},
	} {
		testkit.Equal(t, c.err.Error(), c.text, "text")
		for _, of := range []error{errData, errOptions, fs.ErrInvalid, io.EOF} {
			if is := errors.Is(c.err, of); is != slices.Contains(c.is, of) {
				t.Errorf("%v: is %q: %v", c.err, of, is)
			}
		}
		if !Correctable(c.err) {
			t.Errorf("%v: not correctable", c.err)
		}
	}
	for _, err := range []error{nil, io.EOF, Errorf(io.EOF, "cut short")} {
		if Correctable(err) {
			t.Errorf("%v: correctable", err)
		}
	}
}
