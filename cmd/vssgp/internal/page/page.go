// Package page formats pages of docs for a terminal.
package page

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/vssgp/vssgp/docs"
)

const (
	width = 90 // of the text, in columns
	web   = "https://github.com/vssgp/vssgp/"
)

// Of returns the page of a topic as plain text.
func Of(topic docs.Topic) string {
	markdown := topic.Page()
	text := format(markdown) + "\nOn the web: " + web + "blob/main/docs/" + topic.File + "\n"
	if strings.Contains(markdown, "testdata/") {
		text += "Files of the examples: " + web + "tree/main/testdata\n"
	}
	return text
}

var (
	comment  = regexp.MustCompile(`(?s)<!--.*?-->\n?|(?-s:!\[.*?\]\(.*?\))`) // or an image
	build    = regexp.MustCompile(`(?m)^go build.* \./cmd/vssgp\n`)
	link     = regexp.MustCompile(`(\(?)\[([^\]]+)\]\(([^)\s]+)\)`)
	emphasis = regexp.MustCompile(`\*([^*\s][^*]*)\*`)
	heading  = regexp.MustCompile(`^(#+) (.*)`)
	item     = regexp.MustCompile(`^ *(?:-|\d+\.) `)
	blank    = regexp.MustCompile(`\n{3,}`)

	// installed replaces the program built in a clone.
	installed = strings.NewReplacer("go run ./cmd/vssgp ", "vssgp ", "./vssgp ", "vssgp ")
)

// format converts the Markdown that the pages use to plain text: headings are underlined, code is indented, paragraphs
// are wrapped, and tables have aligned columns.
func format(markdown string) string {
	p := &printer{}
	markdown = installed.Replace(build.ReplaceAllString(comment.ReplaceAllString(markdown, ""), ""))
	for line := range strings.Lines(markdown) {
		p.add(strings.TrimRight(line, " \r\n"))
	}
	p.flush()
	return strings.Trim(blank.ReplaceAllString(p.out.String(), "\n\n"), "\n") + "\n"
}

// A printer converts a page line by line. A paragraph, an item of a list or a table is printed when it is complete.
type printer struct {
	out    strings.Builder
	code   bool       // the line is in a fenced block
	marker string     // of an item
	text   []string   // lines of a paragraph or item
	rows   [][]string // of a table
}

func (p *printer) add(line string) {
	marker := item.FindString(line)
	switch title := heading.FindStringSubmatch(line); {
	case strings.HasPrefix(strings.TrimSpace(line), "```"):
		p.flush()
		p.code = !p.code
	case p.code:
		p.print("    ", line)
	case title != nil:
		p.flush()
		p.print("", title[2])
		p.print("", strings.Repeat("=-~"[min(len(title[1]), 3)-1:][:1], length(title[2])))
	case strings.HasPrefix(line, "|"):
		p.rows = append(p.rows, cells(line))
	case line == "":
		p.flush()
		p.print("", "")
	case marker != "" && (p.text == nil || p.marker != "" || strings.TrimSpace(marker) == "-"):
		p.flush()
		p.marker, p.text = marker, []string{line[len(marker):]}
	case strings.HasPrefix(line, "    ") && p.text == nil:
		p.print("", line)
	default:
		p.text = append(p.text, strings.TrimSpace(line))
	}
}

func (p *printer) print(indent, line string) {
	fmt.Fprintln(&p.out, strings.TrimRight(indent+line, " "))
}

// flush prints the open paragraph, item or table.
func (p *printer) flush() {
	indent := p.marker
	for _, line := range wrap(inline(strings.Join(p.text, " ")), width-len(p.marker)) {
		p.print(indent, line)
		indent = strings.Repeat(" ", len(p.marker))
	}
	if p.rows != nil {
		p.table()
	}
	p.marker, p.text, p.rows = "", nil, nil
}

// table prints the rows with aligned columns. Cells are wrapped if the table is too wide.
func (p *printer) table() {
	widths := fit(p.rows)
	for n, row := range p.rows {
		lines, height := make([][]string, len(widths)), 0
		for i, w := range widths {
			if n == 1 { // the line below the names
				row[i] = strings.Repeat("-", w)
			}
			lines[i] = wrap(row[i], w)
			height = max(height, len(lines[i]))
		}
		for k := range height {
			var b strings.Builder
			for i, w := range widths {
				fmt.Fprintf(&b, "%-*s  ", w, append(lines[i], make([]string, height)...)[k])
			}
			p.print("", b.String())
		}
	}
}

// fit returns the widths of a table's columns. The widest columns are made narrower until the table fits, but not
// narrower than their longest words.
func fit(rows [][]string) (widths []int) {
	widths, words := make([]int, len(rows[0])), make([]int, len(rows[0]))
	for _, row := range rows {
		for i := range widths {
			widths[i] = max(widths[i], length(row[i]))
			for word := range strings.FieldsSeq(row[i]) {
				words[i] = max(words[i], length(word))
			}
		}
	}
	for {
		sum, widest := -2, -1
		for i, w := range widths {
			sum += w + 2
			if w > words[i] && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		if sum <= width || widest < 0 {
			return widths
		}
		widths[widest]--
	}
}

// cells returns the cells of a line of a table, in which \| is not a separator.
func cells(line string) []string {
	const bar = "\x00"
	all := strings.Split(strings.Trim(strings.ReplaceAll(line, `\|`, bar), "|"), "|")
	for i, cell := range all {
		all[i] = inline(strings.TrimSpace(strings.ReplaceAll(cell, bar, "|")))
	}
	return all
}

func length(s string) int { return utf8.RuneCountInString(s) }

// wrap returns the words of a text in lines of at most the given number of columns, or with a single longer word.
func wrap(text string, columns int) (lines []string) {
	for word := range strings.FieldsSeq(text) {
		last := len(lines) - 1
		if last < 0 || length(lines[last]+" "+word) > columns {
			lines = append(lines, word)
		} else {
			lines[last] += " " + word
		}
	}
	return lines
}

// inline removes links and, outside of code, emphasis.
func inline(text string) string {
	parts := strings.Split(link.ReplaceAllStringFunc(text, follow), "`")
	for i := 0; i < len(parts); i += 2 { // the others are code
		parts[i] = emphasis.ReplaceAllString(strings.ReplaceAll(parts[i], "**", ""), "$1")
	}
	return strings.Join(parts, "`")
}

// follow returns the text of a link, followed by the command that prints the page or the address.
func follow(markdown string) string {
	m := link.FindStringSubmatch(markdown)
	file, _, _ := strings.Cut(m[3], "#")
	to := ""
	if i := slices.IndexFunc(docs.Topics, func(t docs.Topic) bool { return t.File == file }); i >= 0 {
		to = "vssgp help " + docs.Topics[i].Name
	} else if strings.HasPrefix(m[3], "http") {
		to = m[3]
	} else if file != "" && !strings.Contains(file, "/") {
		to = "docs/" + file
	}
	switch {
	case to == "":
		return m[1] + m[2]
	case m[2] == file:
		return m[1] + "`" + to + "`"
	case m[1] != "":
		return "(" + m[2] + ": " + to
	}
	return m[2] + " (" + to + ")"
}
