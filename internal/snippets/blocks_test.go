package snippets

import (
	"regexp"
	"strings"
	"testing"
)

// A block is a stretch of a page that readers will copy.
type block struct {
	page, lang string // sh, go, python, …; "" for an indented one
	line       int    // its first
	text       string
	output     string // the indented or text block that stands right below it and shows what is printed
	exempt     string // why it is not run, from the marker above it
}

var (
	fence  = regexp.MustCompile("^```\\s*(\\w*)\\s*$")
	marker = regexp.MustCompile(`^<!-- not run: (.+) -->$`)
	// command begins lines that are typed into a shell.
	command = regexp.MustCompile(`^(\$ |vssgp [a-z]+ |go (run|test|build|install|get|doc|vet|generate|tool) |export |mpirun |pip |git |apt |bash |python3? |VSSGP_\w+=|CGO_\w+=|GOOS=)`)
)

// blocks cuts a page of Markdown into its fenced and its indented blocks.
func blocks(page, text string) (all []block) {
	lines := strings.Split(text, "\n")
	why := ""
	for i := 0; i < len(lines); i++ {
		line := strings.TrimRight(lines[i], " \r")
		switch m := fence.FindStringSubmatch(line); {
		case m != nil:
			b := block{page: page, lang: m[1], line: i + 2, exempt: why}
			from := i + 1
			for i++; i < len(lines) && !strings.HasPrefix(lines[i], "```"); i++ {
			}
			b.text = strings.Join(lines[from:min(i, len(lines))], "\n") + "\n"
			all, why = append(all, b), ""
		case indented(line):
			b := block{page: page, line: i + 1, exempt: why}
			for ; i < len(lines) && (indented(lines[i]) || strings.TrimSpace(lines[i]) == "" && i+1 < len(lines) && indented(lines[i+1])); i++ {
				b.text += strings.TrimPrefix(lines[i], "    ") + "\n"
			}
			i--
			all, why = append(all, b), ""
		case marker.MatchString(line):
			why = marker.FindStringSubmatch(line)[1]
		case line != "":
			why = ""
		}
	}
	for i := range all[:max(0, len(all)-1)] {
		next := all[i+1]
		between := lines[all[i].line-1+strings.Count(all[i].text, "\n")+1 : next.line-1]
		if all[i].lang == "go" && next.lang == "text" && strings.TrimSpace(strings.Join(between[:max(0, len(between)-1)], "")) == "" {
			all[i].output = next.text
		}
	}
	return all
}

func indented(line string) bool {
	return strings.HasPrefix(line, "    ") && strings.TrimSpace(line) != ""
}

// commands are the lines of a block that look typed into a shell.
func (b block) commands() (found []string) {
	for line := range strings.Lines(b.text) {
		if command.MatchString(strings.TrimSpace(line)) {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}

func TestBlocks(t *testing.T) {
	page := "text\n\n```sh\ngo test ./...\n```\n\n    vssgp: printed\n    more\n\n<!-- not run: needs a card -->\n```sh\nmake it\n```\n\n" +
		"```go\npackage main\n```\n\n```text\nhello\n```\n<!-- not run: lost -->\nwords\n\n    go run ./x\n\n    and more\n"
	got := blocks("p.md", page)
	want := []block{
		{page: "p.md", lang: "sh", line: 4, text: "go test ./...\n"},
		{page: "p.md", line: 7, text: "vssgp: printed\nmore\n"},
		{page: "p.md", lang: "sh", line: 12, text: "make it\n", exempt: "needs a card"},
		{page: "p.md", lang: "go", line: 16, text: "package main\n", output: "hello\n"},
		{page: "p.md", lang: "text", line: 20, text: "hello\n"},
		{page: "p.md", line: 25, text: "go run ./x\n\nand more\n"},
	}
	if len(got) != len(want) {
		t.Fatalf("%d blocks, want %d: %+v", len(got), len(want), got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("block %d is %+v, want %+v", i, got[i], want[i])
		}
	}
	if c := got[5].commands(); len(c) != 1 {
		t.Errorf("commands %q, want one", c)
	}
	if c := got[1].commands(); c != nil {
		t.Errorf("commands %q in what a program prints", c)
	}
}

// No page makes the reader fail, and blocks hold lines of the page.
func FuzzBlocks(f *testing.F) {
	for _, s := range []string{"", "```", "```sh", "    ", "    a\n\n    b", "```go\n```\n```text\n```\n", "<!-- not run: x -->\n```sh\na\n```"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		total := 0
		for _, b := range blocks("p", s) {
			total += len(b.text)
			if b.line < 1 || b.line > strings.Count(s, "\n")+2 {
				t.Errorf("block at line %d of %d", b.line, strings.Count(s, "\n")+1)
			}
		}
		if total > len(s)+strings.Count(s, "\n")+2 {
			t.Errorf("blocks hold %d bytes, the page %d", total, len(s))
		}
	})
}
