package fault

import (
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

func TestQuote(t *testing.T) {
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
