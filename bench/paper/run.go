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
var sets = []set{solarSet}

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
// goes to log.
func Run(ctx context.Context, o Options, out, log io.Writer) error {
	chosen, err := choose(o.Sets)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.Out, 0o777); err != nil {
		return err
	}
	s := &session{Options: o, log: log}
	for _, c := range chosen {
		lines, err := s.set(ctx, c)
		if errors.Is(err, errMissing) {
			fmt.Fprintf(out, "## %s\n\nSKIPPED: %v\n\n", c.title, err)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		if err := s.show(c, lines, out); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

func choose(names []string) ([]set, error) {
	if len(names) == 0 {
		return sets, nil
	}
	var all []string
	for _, c := range sets {
		all = append(all, c.name)
	}
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
	order := map[Key]int{}
	for i, f := range fits {
		order[f.line.Key] = i
	}
	for i, f := range fits {
		if len(s.Methods) > 0 && !slices.Contains(s.Methods, f.line.Method) {
			continue
		}
		at := slices.IndexFunc(have, func(l Line) bool { return l.Key == f.line.Key })
		if at >= 0 && !s.Again {
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
	fmt.Fprintf(s.log, "%s %s %s %s seed %d gap %d K %d: %.1f s, test RMSE %.4g, %s\n", count, l.Case, l.Method, l.Start, l.Seed, l.Gap, l.K, l.Seconds, l.Scores[TestRMSE], l.Status)
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
		if err := f.save(filepath.Join(s.Out, s.prefix()+f.name)); err != nil {
			return err
		}
	}
	return nil
}

// failures lists the fits that ended without scores: they keep their place.
func failures(w io.Writer, lines []Line) {
	for _, l := range lines {
		if l.Status != statusOK {
			fmt.Fprintf(w, "- no result: %s %s %s seed %d: %s\n", l.Case, l.Method, l.Start, l.Seed, l.Status)
		}
	}
}

func writeFile(path string, text []byte) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}
