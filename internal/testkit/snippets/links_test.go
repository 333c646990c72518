package snippets

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// documents returns the pages that link to each other, including pages whose blocks are not run.
func documents(t *testing.T) []string {
	t.Helper()
	all := pages(t)
	for _, name := range []string{"DESIGN.md", "CONTRIBUTING.md", "CHANGELOG.md", "THIRD_PARTY.md", "bench/README.md"} {
		all = append(all, filepath.Join(root, name))
	}
	return all
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
)

// TestLinksLeadToHeadings checks that every link between documents leads to an existing file and heading.
func TestLinksLeadToHeadings(t *testing.T) {
	for _, page := range documents(t) {
		for _, broken := range brokenLinks(t, page, readText(t, page)) {
			t.Errorf("%s: the link %q is broken", page, broken)
		}
	}
	if got := brokenLinks(t, filepath.Join(root, "README.md"), "[a](docs/none.md) [b](DESIGN.md#99-none) [c](DESIGN.md#8-windows)"); len(got) != 2 {
		t.Errorf("found %q of two broken links", got)
	}
}

func brokenLinks(t *testing.T, page, text string) (broken []string) {
	t.Helper()
	for _, m := range link.FindAllStringSubmatch(text, -1) {
		path, anchor, _ := strings.Cut(m[1], "#")
		if strings.HasPrefix(m[1], "https://") {
			continue
		}
		to := page
		if path != "" {
			to = filepath.Join(filepath.Dir(page), path)
		}
		if _, err := os.Stat(to); err != nil || anchor != "" && !anchors(readText(t, to))[anchor] {
			broken = append(broken, m[1])
		}
	}
	return broken
}

// anchors returns the anchors that GitHub creates for the headings of a page.
func anchors(text string) map[string]bool {
	names := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		names[strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(m[1]))] = true
	}
	return names
}

// TestLength checks the lengths of documents. Lines of text have at most 140 characters, README.md
// 150 lines and DESIGN.md 420 lines.
func TestLength(t *testing.T) {
	most := map[string]int{"README.md": 150, "DESIGN.md": 420}
	for _, page := range documents(t) {
		lines := strings.Split(strings.TrimSuffix(readText(t, page), "\n"), "\n")
		if limit := most[filepath.Base(page)]; limit > 0 && filepath.Dir(page) == root && len(lines) > limit {
			t.Errorf("%s has %d lines, the maximum is %d", page, len(lines), limit)
		}
		fenced := false
		for i, line := range lines {
			fenced = fenced != strings.HasPrefix(line, "```")
			if !fenced && line != "" && !strings.ContainsRune("| ", rune(line[0])) && utf8.RuneCountInString(line) > 140 {
				t.Errorf("%s:%d has %d characters, the maximum is 140 outside tables and blocks", page, i+1, utf8.RuneCountInString(line))
			}
		}
	}
}
