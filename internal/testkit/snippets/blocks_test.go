package snippets

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
)

// A block is a code block of a page.
type block struct {
	page, lang string // sh, go, python, …; "" for an indented block
	line       int    // its first line
	text       string
	output     string // the output: the text block (Go) or indented block (shell) directly below
	exempt     string // the reason why it is not run, from the marker above
}

var (
	fence  = regexp.MustCompile("^```\\s*(\\w*)\\s*$")
	marker = regexp.MustCompile(`^<!-- not run: (.+) -->$`)
	// figures marks an indented block with the command that prints it, if the command cannot be a
	// block of its page.
	figures = regexp.MustCompile(`^<!-- figures: (.+) -->$`)
	// command matches lines that are shell commands.
	command = regexp.MustCompile(`^(\$ |vssgp [a-z]+ |go (run|test|build|install|get|doc|vet|generate|tool) |export |mpirun |pip |git |apt |bash |python3? |VSSGP_\w+=|CGO_\w+=|GOOS=)`)
)

// blocks returns the fenced and indented blocks of a Markdown page.
func blocks(page, text string) (all []block) {
	lines := strings.Split(text, "\n")
	why, prints := "", ""
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
			if prints != "" {
				b.output, b.lang, b.text, prints = b.text, "sh", prints+"\n", ""
			}
			all, why = append(all, b), ""
		case marker.MatchString(line):
			why = marker.FindStringSubmatch(line)[1]
		case figures.MatchString(line):
			prints = figures.FindStringSubmatch(line)[1]
		case line != "":
			why, prints = "", ""
		}
	}
	for i := range all[:max(0, len(all)-1)] {
		next := all[i+1]
		if from := all[i].line + strings.Count(all[i].text, "\n"); all[i].lang == "go" && next.lang == "text" && blank(lines, from, next.line-2) ||
			all[i].lang == "sh" && all[i].output == "" && next.lang == "" && blank(lines, from, next.line-1) {
			all[i].output = next.text
		}
	}
	return all
}

// blank reports whether lines [lo, hi) are blank.
func blank(lines []string, lo, hi int) bool {
	return lo >= hi || strings.TrimSpace(strings.Join(lines[lo:hi], "")) == ""
}

func indented(line string) bool {
	return strings.HasPrefix(line, "    ") && strings.TrimSpace(line) != ""
}

// commands returns the lines of a block that look like shell commands.
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
		"```go\npackage main\n```\n\n```text\nhello\n```\n<!-- not run: lost -->\nwords\n\n    go run ./x\n\n    and more\n\n<!-- figures: make -->\n\n    made 3\n"
	got := blocks("p.md", page)
	want := []block{
		{page: "p.md", lang: "sh", line: 4, text: "go test ./...\n", output: "vssgp: printed\nmore\n"},
		{page: "p.md", line: 7, text: "vssgp: printed\nmore\n"},
		{page: "p.md", lang: "sh", line: 12, text: "make it\n", exempt: "needs a card"},
		{page: "p.md", lang: "go", line: 16, text: "package main\n", output: "hello\n"},
		{page: "p.md", lang: "text", line: 20, text: "hello\n"},
		{page: "p.md", line: 25, text: "go run ./x\n\nand more\n"},
		{page: "p.md", lang: "sh", line: 31, text: "make\n", output: "made 3\n"},
	}
	testkit.Equal(t, got, want, "blocks")
	if c := got[5].commands(); len(c) != 1 {
		t.Errorf("commands %q, want one", c)
	}
	if c := got[1].commands(); c != nil {
		t.Errorf("commands %q in the output of a program", c)
	}
}

// FuzzBlocks checks that any page can be parsed and that the blocks consist of lines of the page.
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
			t.Errorf("the blocks have %d bytes, the page %d", total, len(s))
		}
	})
}

var (
	// changing matches the numbers that differ between runs: times.
	changing = regexp.MustCompile(`[0-9.]+ s\b`)
	number   = regexp.MustCompile(`[-+]?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?`)
)

// agree is the relative tolerance between a number on a page and the printed one. Processors round
// differently, and a fit amplifies the differences.
const agree = 1e-3

// missing returns the shown lines that are not printed. Words must be equal and numbers agree to a
// relative error of agree; … at the end of a line matches anything.
func missing(shown, printed string) (lines []string) {
	for line := range strings.Lines(shown) {
		if found := slices.ContainsFunc(strings.Split(printed, "\n"), func(got string) bool { return sameLine(strings.TrimSpace(line), strings.TrimSpace(got)) }); !found && strings.TrimSpace(line) != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

func sameLine(shown, got string) bool {
	shown, rest, open := strings.Cut(shown, "…")
	if rest != "" {
		return false // … is only allowed at the end
	}
	shown, got = changing.ReplaceAllString(shown, "# s"), changing.ReplaceAllString(got, "# s")
	want, have := number.FindAllString(shown, -1), number.FindAllString(got, -1)
	if len(have) < len(want) || !open && len(have) > len(want) {
		return false
	}
	for i, text := range want {
		a, _ := strconv.ParseFloat(text, 64)
		b, _ := strconv.ParseFloat(have[i], 64)
		if math.Abs(a-b) > agree*math.Abs(a) {
			return false
		}
	}
	words := func(s string) string { return strings.Join(strings.Fields(number.ReplaceAllString(s, "#")), " ") }
	return words(shown) == words(got) || open && strings.HasPrefix(words(got), words(shown))
}

func TestMissing(t *testing.T) {
	const printed = "bound -4083.05215 after 20 iterations, 2.2 s on cpu\nvssgp: warning: poor (84 %)\nwrote x\n"
	for shown, want := range map[string]int{
		"bound -4083.06 after 20 iterations, 9.1 s on cpu\n": 0, "bound -4083 after …\n…\nwrote x\n": 0, "bound -3764.66 after …\n": 1,
		"bound -4083.05215 after 21 iterations, 2.2 s on cpu": 1, "wrote y\nvssgp: warning: poor (85 %)\n": 2, "\n  wrote   x\n": 0, "bound": 1,
	} {
		testkit.Equal(t, len(missing(shown, printed)), want, shown)
	}
}
