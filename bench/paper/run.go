package paper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/internal/atomicfile"
)

// Options say what to run.
type Options struct {
	Sets    []string // names; none: all
	Methods []string // of each set; none: all
	Data    string   // folder of the data files
	Out     string   // folder for lines and figures
	Quick   bool     // a small version of everything, on the data of testdata
	Seeds   int      // repeats; 0: the set's own
	Draw    bool     // tables and figures of the lines that there are; run nothing
	Again   bool     // run what there is a line of, too
	Machine machine.Machine
}

// ErrOptions is wrapped by every error about options that cannot be met.
var ErrOptions = errors.New("unusable options")

// errMissing is wrapped where a data file is not there: the set is left out.
var errMissing = errors.New("no such data file")

// A set is one experiment.
type set struct {
	name, title string
	// fits lists what to run; it reads the data.
	fits func(s *session) ([]fit, error)
	// table writes the set's tables, in Markdown.
	table func(w io.Writer, lines []Line)
	// figures draws the set's figures.
	figures func(lines []Line) ([]figure, error)
}

// sets are all experiments, in the paper's order.
var sets = []set{co2Set, solarSet, audio1kSet, audio16kSet, audio4kSet, gapsSet}

// Sets are the names of all experiments, in the paper's order.
func Sets() []string {
	var names []string
	for _, c := range sets {
		names = append(names, c.name)
	}
	return names
}

// A fit is one line to be. run fills in what it finds; an error becomes the
// line's status, unless the context has ended.
type fit struct {
	line Line
	run  func(ctx context.Context, l *Line) error
}

// A session is a run over sets.
type session struct {
	Options
	log io.Writer
}

// Run runs the experiments and writes their tables to out; what is under way
// goes to log. A set whose data are not there is left out, saying so; if that
// is every one, or the options cannot be met, the error wraps ErrOptions.
func Run(ctx context.Context, o Options, out, log io.Writer) error {
	chosen, err := choose(o.Sets)
	if err != nil {
		return err
	}
	s := &session{Options: o, log: log}
	if err := s.check(chosen); err != nil {
		return err
	}
	if err := os.MkdirAll(o.Out, 0o777); err != nil {
		return fmt.Errorf("%w: %w", err, ErrOptions)
	}
	skipped := 0
	for _, c := range chosen {
		lines, err := s.set(ctx, c)
		if errors.Is(err, errMissing) {
			fmt.Fprintf(out, "## %s\n\nSKIPPED: %v\n\n", c.title, err)
			skipped++
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		if err := s.show(c, lines, out); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	if skipped == len(chosen) {
		return fmt.Errorf("no data of any set in %s: %w", o.Data, ErrOptions)
	}
	return nil
}

// check reports options that contradict each other, and methods that no set
// has.
func (s *session) check(chosen []set) error {
	switch {
	case s.Seeds < 0:
		return fmt.Errorf("%d seeds: want 1 or more, or 0 for each set's own number: %w", s.Seeds, ErrOptions)
	case s.Draw && (s.Again || len(s.Methods) > 0 || s.Seeds > 0):
		return fmt.Errorf("drawing runs nothing, again, of some methods or of some seeds: want one or the other: %w", ErrOptions)
	case len(s.Methods) == 0:
		return nil
	}
	var all []string
	for _, c := range chosen {
		fits, err := c.fits(s)
		if errors.Is(err, errMissing) {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		for _, f := range fits {
			if !slices.Contains(all, f.line.Method) {
				all = append(all, f.line.Method)
			}
		}
	}
	for _, m := range s.Methods {
		if len(all) > 0 && !slices.Contains(all, m) {
			return fmt.Errorf("method %q: want some of %s: %w", m, strings.Join(all, ", "), ErrOptions)
		}
	}
	return nil
}

func choose(names []string) ([]set, error) {
	if len(names) == 0 {
		return sets, nil
	}
	all := Sets()
	var chosen []set
	for _, name := range names {
		i := slices.Index(all, name)
		if i < 0 {
			return nil, fmt.Errorf("set %q: want some of %s: %w", name, strings.Join(all, ", "), ErrOptions)
		}
		chosen = append(chosen, sets[i])
	}
	return chosen, nil
}

// path is the file of a set's lines.
func (s *session) path(c set) string { return filepath.Join(s.Out, s.prefix()+c.name+".jsonl") }

// prefix begins the names of all files: a quick run's never replace a full
// one's.
func (s *session) prefix() string {
	if s.Quick {
		return "quick-"
	}
	return "paper-"
}

// set runs what a set has no line of and returns all its lines, in the order
// of its list.
func (s *session) set(ctx context.Context, c set) ([]Line, error) {
	have, err := readLines(s.path(c))
	if err != nil || s.Draw {
		return have, err
	}
	fits, err := c.fits(s)
	if err != nil {
		return nil, err
	}
	order := map[Key]int{} // lines that are no longer in the list come first
	for i, f := range fits {
		order[f.line.Key] = i + 1
	}
	for i, f := range fits {
		if len(s.Methods) > 0 && !slices.Contains(s.Methods, f.line.Method) {
			continue
		}
		at := slices.IndexFunc(have, func(l Line) bool { return l.Key == f.line.Key })
		if at >= 0 && !s.Again && (f.line.SHA256 == "" || have[at].SHA256 == f.line.SHA256) { // of the same data
			continue
		}
		l, err := s.one(ctx, f, fmt.Sprintf("%s %d/%d", c.name, i+1, len(fits)))
		if err != nil {
			return nil, err
		}
		if at >= 0 {
			have[at] = l
		} else {
			have = append(have, l)
		}
		slices.SortStableFunc(have, func(a, b Line) int { return cmp.Compare(order[a.Key], order[b.Key]) })
		if err := writeLines(s.path(c), have); err != nil {
			return nil, err
		}
	}
	return have, nil
}

// one runs one fit.
func (s *session) one(ctx context.Context, f fit, count string) (Line, error) {
	l := f.line
	l.Machine, l.Time = s.Machine, time.Now().UTC().Format(time.RFC3339)
	l.Status = statusOK
	began := time.Now()
	err := f.run(ctx, &l)
	if ctx.Err() != nil {
		return l, fmt.Errorf("interrupted; the same command goes on from here: %w", ctx.Err())
	}
	if l.Seconds == 0 {
		l.Seconds = time.Since(began).Seconds()
	}
	l.Seconds = rounded(l.Seconds)
	if err != nil {
		l.Status = err.Error()
	}
	l.tidy()
	test := ""
	if v, have := l.Scores[TestRMSE]; have {
		test = fmt.Sprintf(", test RMSE %.4g", v)
	}
	fmt.Fprintf(s.log, "%s %s: %.1f s%s, %s\n", count, l.Key, l.Seconds, test, l.Status)
	return l, nil
}

// show writes a set's tables and figures.
func (s *session) show(c set, lines []Line, out io.Writer) error {
	fmt.Fprintf(out, "## %s\n\n", c.title)
	if len(lines) == 0 {
		fmt.Fprintf(out, "no lines in %s\n\n", s.path(c))
		return nil
	}
	if s.Quick {
		fmt.Fprintf(out, "(a quick run: these figures show that it works, and mean nothing)\n\n")
	}
	c.table(out, lines)
	failures(out, lines)
	fmt.Fprintln(out)
	if c.figures == nil {
		return nil
	}
	figures, err := c.figures(lines)
	if err != nil {
		return err
	}
	for _, f := range figures {
		if err := f.Save(filepath.Join(s.Out, s.prefix()+f.name)); err != nil {
			return err
		}
	}
	return nil
}

// failures lists the fits that ended without scores: they keep their place.
func failures(w io.Writer, lines []Line) {
	for _, l := range lines {
		if l.Status != statusOK {
			fmt.Fprintf(w, "- no result: %s: %s\n", l.Key, l.Status)
		}
	}
}

func writeFile(path string, text []byte) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}
