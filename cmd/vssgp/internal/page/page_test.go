package page

import (
	"strings"
	"testing"

	"github.com/vssgp/vssgp/docs"
	"github.com/vssgp/vssgp/internal/testkit"
)

// TestFormat checks the plain text of each element of Markdown that the pages use.
func TestFormat(t *testing.T) {
	long := strings.Repeat("word ", 20)
	for _, c := range []struct{ name, markdown, want string }{
		{"headings", "# A page\n\n## Part\n\n### Detail\n", "A page\n======\n\nPart\n----\n\nDetail\n~~~~~~\n"},
		{"paragraph", long + "\nend\n", strings.Repeat("word ", 17) + "word\nword word end\n"},
		{"emphasis", "**Bold** and *it*, `**kw`, m * n\n", "Bold and it, `**kw`, m * n\n"},
		{"comment", "a\n<!-- not\nrun -->\n\nb\n", "a\n\nb\n"},
		{"image", "a ![plot](p.png) b\n", "a b\n"},
		{"code", "a\n\n```sh\ngo build ./cmd/vssgp\n./vssgp fit **x**\n```\n", "a\n\n    vssgp fit **x**\n"},
		{"formula", "a\n\n    y = *x*\n\nb\n", "a\n\n    y = *x*\n\nb\n"},
		{"items", "- a\n  b\n- c\n\n1. d\n   e\n2. f\n", "- a b\n- c\n\n1. d e\n2. f\n"},
		{"wrapped item", "- " + long + "\n", "- " + strings.Repeat("word ", 16) + "word\n  word word word\n"},
		{"number that begins a line", "the error is\n0. The rest\n", "the error is 0. The rest\n"},
		{"address", "[Go](https://go.dev/dl/)\n", "Go (https://go.dev/dl/)\n"},
		{"topic", "see [a\npage](repair.md#x)\n", "see a page (vssgp help repairing)\n"},
		{"topic in parentheses", "it ([why](priors.md), [how](cuda.md))\n", "it (why: vssgp help priors, how (docs/cuda.md))\n"},
		{"topic by its file", "[series.md](series.md)\n", "`vssgp help series`\n"},
		{"other page", "[CUDA](cuda.md) and [below](#x)\n", "CUDA (docs/cuda.md) and below\n"},
		{"table", "| k | v |\n|---|---|\n| `\\|j\\|` | 1 |\n| b | |\n", "k      v\n-----  ---\n`|j|`  1\nb\n"},
		{"wide table", "| key | v |\n|---|---|\n| a | " + long + "|\n",
			"key  v\n---  " + strings.Repeat("-", 85) + "\na    " + strings.Repeat("word ", 16) + "word\n     word word word\n"},
	} {
		testkit.Equal(t, format(c.markdown), c.want, c.name)
	}
}

// TestPages checks that no markup is left in any page, and that every line that is not code fits on a terminal.
func TestPages(t *testing.T) {
	for _, topic := range docs.Topics {
		text := Of(topic)
		if strings.Count(text, "\n") < 20 {
			t.Errorf("%s: %q", topic.Name, text)
		}
		for line := range strings.Lines(text) {
			for _, markup := range []string{"](", "<!--", "-->", "```", "**", "![", "|--", "./vssgp", "cmd/vssgp"} {
				if strings.Contains(line, markup) && !strings.Contains(line, "(**") {
					t.Errorf("%s has %s: %s", topic.Name, markup, line)
				}
			}
			code := strings.HasPrefix(line, "    ")
			if !code && length(strings.TrimRight(line, "\n")) > width || strings.HasPrefix(line, "#") {
				t.Errorf("%s: the line is too long or a heading: %s", topic.Name, line)
			}
		}
	}
}
