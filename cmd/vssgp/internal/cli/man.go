package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vssgp/vssgp/internal/fileio"
)

// NewMan returns the command man.
func NewMan(env *Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "man FOLDER",
		Short: "Write manual pages for the program man",
		Long: `Writes a manual page for each command to FOLDER: vssgp.1, vssgp-forecast.1 and so on.
The folder is created if it does not exist. The program man finds pages in the folder
man1 of the folders that "manpath" prints, such as ~/.local/share/man/man1.`,
		Example:     `  vssgp man ~/.local/share/man/man1`,
		Annotations: map[string]string{onlyCommon: "json quiet help"},
	}
	return env.Command(c, func(_ context.Context, args []string) error {
		var files []fileio.File
		var names []string
		for _, one := range listed(c.Root()) {
			for _, name := range append([]string{one.Name()}, one.Aliases...) {
				path := filepath.Join(args[0], strings.TrimSuffix(pageName(one), one.Name())+name+".1")
				names = append(names, path)
				files = append(files, fileio.File{Path: path, Write: func(w io.Writer) error {
					_, err := io.WriteString(w, manual(one))
					return err
				}})
			}
		}
		if err := os.MkdirAll(args[0], 0o777); err != nil {
			return Mistake("FOLDER: %w", err)
		}
		if err := env.Write(files...); err != nil {
			return err
		}
		if env.JSON {
			return env.PrintJSON(struct {
				Files []string `json:"files"`
			}{names})
		}
		env.Print("wrote %s to %s", Counted(len(files), "manual page"), args[0])
		return nil
	}, &Value{Kind: "FOLDER", File: &FileUse{Written: true, Folder: true}})
}

// listed returns a command and the commands below it that help lists.
func listed(c *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{c}
	for _, one := range c.Commands() {
		if one.IsAvailableCommand() {
			all = append(all, listed(one)...)
		}
	}
	return all
}

// pageName returns the name of a command's manual page.
func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manual returns the manual page of a command in the macros of man(7). Unlike package doc of cobra, it lists flags as
// help does: by group, with the names of their arguments. The page has no date, so that a version always has the same
// bytes.
func manual(c *cobra.Command) string {
	c.InitDefaultHelpFlag()
	c.InitDefaultVersionFlag()
	var b strings.Builder
	part := func(heading, text string) { fmt.Fprintf(&b, ".SH %s\n%s", heading, text) }
	lists := func(heading string, all []list) {
		if len(all) > 0 {
			part(heading, "")
		}
		for _, l := range all {
			fmt.Fprintf(&b, ".SS %s\n", roff(l.heading))
			for line := range strings.Lines(l.lines) {
				term, text, _ := strings.Cut(strings.TrimSpace(line), "  ")
				fmt.Fprintf(&b, ".TP\n%s\n%s\n", marked(term), roff(strings.TrimSpace(text)))
			}
		}
	}
	name := pageName(c)
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"vssgp %s\"\n", strings.ToUpper(roff(name)), roff(ReadVersion().Version))
	part("NAME", fmt.Sprintf("%s \\- %s\n", roff(name), roff(c.Short)))
	part("SYNOPSIS", `\fB`+roff(c.UseLine())+"\\fR\n")
	part("DESCRIPTION", prose(cmp.Or(c.Long, c.Short)))
	lists("COMMANDS", commandLists(c))
	lists("OPTIONS", flagLists(c))
	if c.HasExample() {
		part("EXAMPLES", prose(c.Example))
	}
	var others []string
	for _, one := range append(listed(c)[1:], c.Parent()) {
		if one != nil { // the root has no parent
			others = append(others, fmt.Sprintf(`\fB%s\fR(1)`, roff(pageName(one))))
		}
	}
	part("SEE ALSO", strings.Join(others, ",\n")+"\n")
	return b.String()
}

// prose returns a text of help. Indented lines, such as lists and commands, are not wrapped.
func prose(text string) string {
	var b strings.Builder
	fixed := false
	for line := range strings.Lines(strings.TrimRight(text, "\n") + "\n") {
		line = strings.TrimPrefix(strings.TrimRight(line, " \n"), "#### ") // headings of cobra
		if indented := strings.TrimLeft(line, " \t") != line; line != "" && indented != fixed {
			b.WriteString(map[bool]string{true: ".nf\n", false: ".fi\n"}[indented])
			fixed = indented
		}
		b.WriteString(cmp.Or(roff(line), ".PP") + "\n")
	}
	if fixed {
		b.WriteString(".fi\n")
	}
	return b.String()
}

// marked returns the term of a list: flags and commands in bold, arguments in italics.
func marked(term string) string {
	words := strings.Fields(term)
	for i, w := range words {
		font := "I"
		if i == 0 || strings.HasPrefix(w, "-") {
			font = "B"
		}
		words[i] = `\f` + font + roff(w) + `\fR`
	}
	return strings.Join(words, " ")
}

// special are the characters that troff would interpret or print as typographic quotes, dashes and accents.
var special = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`)

// roff escapes a line.
func roff(line string) string {
	line = special.Replace(line)
	if strings.HasPrefix(line, ".") { // otherwise a macro
		line = `\&` + line
	}
	return line
}
