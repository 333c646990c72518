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
	for _, name := range []string{"DESIGN.md", "CONTRIBUTING.md", "CHANGELOG.md", "THIRD_PARTY.md", "bench/README.md", "python/README.md"} {
		all = append(all, filepath.Join(root, name))
	}
	return all
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
)

// repository is the address of the files in links from python/README.md, which PyPI shows.
const repository = "https://github.com/vssgp/vssgp/blob/main/"

// TestLinksLeadToHeadings checks that every link between documents leads to an existing file and heading.
func TestLinksLeadToHeadings(t *testing.T) {
	for _, page := range documents(t) {
		for _, broken := range brokenLinks(t, page, readText(t, page)) {
			t.Errorf("%s: the link %q is broken", page, broken)
		}
	}
	text := "[a](docs/none.md) [b](DESIGN.md#99-none) [c](DESIGN.md#8-windows) [d](" + repository + "none.md)"
	if got := brokenLinks(t, filepath.Join(root, "README.md"), text); len(got) != 3 {
		t.Errorf("found %q of three broken links", got)
	}
}

func brokenLinks(t *testing.T, page, text string) (broken []string) {
	t.Helper()
	for _, m := range link.FindAllStringSubmatch(text, -1) {
		path, anchor, _ := strings.Cut(m[1], "#")
		to := page
		if file, ours := strings.CutPrefix(path, repository); ours {
			to = filepath.Join(root, file)
		} else if strings.HasPrefix(path, "https://") {
			continue
		} else if path != "" {
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
