// Package paper runs the experiments of Gal & Turner (2015) and some additional ones, and makes tables and figures of
// the results.
//
// An experiment (a set) is a list of fits. Each fit writes a line of JSON to the file PREFIX-SET.jsonl, with the
// machine, the commit and everything needed for tables and figures, which are made only from these files. An
// interrupted run can be resumed. A stored line is replaced only if the fit is repeated with Options.Again or on other
// data.
//
// Test data are never used in a fit or a selection. The methods of one experiment get the same rows and the same
// initial information.
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

	"github.com/vssgp/vssgp/bench/internal/jsonl"
	"github.com/vssgp/vssgp/bench/internal/machine"
)

// A set is one experiment.
type set struct {
	name, title string
	fits        func(s *session) ([]fit, error) // reads the data and returns the fits
	table       func(w io.Writer, lines []Line) // writes the tables in Markdown
	figures     func(lines []Line) []figure     // returns the figures; may be nil
}

// sets lists all experiments: the paper's in its order, and single gaps of 2.5 to 80 ms in recordings of speech and
// music.
var sets = []set{
	{"co2", "Mauna Loa CO2, a spectral mixture of two components", co2Fits, co2Table, co2Figures},
	{"solar", "Solar irradiance, five segments of 20 years left out", solarFits, solarTable, solarFigures},
	{"audio1k", "Audio 1K: VSSGP against SSGP, and the three bounds", audio1kFits, audio1kTables, audio1kFigures},
	{"audio16k", "Audio 16K: sfVSSGP against sSPGP", audio16kFits, audio16kTables, nil},
	{"audio4k", "Audio 4K: error and time against the number of features", audio4kFits, audio4kTables, audio4kFigures},
	{gapsSet, "Gaps of 2.5 to 80 ms in speech and music", gapsFits, gapsTables, gapsFigures},
}

// Sets returns the names of all experiments, in the paper's order.
func Sets() []string { return jsonl.Distinct(sets, func(c set) string { return c.name }) }

// Run runs the experiments, writes their tables to out, and logs the progress to log. A set with missing data is
// skipped with a message. The error wraps ErrOptions if all sets are skipped or the options are invalid.
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
		if err == nil {
			err = s.show(c, lines, out)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	if skipped == len(chosen) {
		return fmt.Errorf("no data of any set in %s: %w", o.Data, ErrOptions)
	}
	return nil
}

// check returns an error for options that cannot be combined and for unknown methods.
func (s *session) check(chosen []set) error {
	switch {
	case s.Seeds < 0:
		return fmt.Errorf("%d seeds: must be at least 1, or 0 for each set's default: %w", s.Seeds, ErrOptions)
	case s.Draw && (s.Again || len(s.Methods) > 0 || s.Seeds > 0):
		return fmt.Errorf("drawing cannot be combined with again, methods or seeds: %w", ErrOptions)
	case len(s.Recordings) > 0 && (s.Draw || s.Quick || !slices.ContainsFunc(chosen, func(c set) bool { return c.name == gapsSet })):
		return fmt.Errorf("recordings %s require a full run of set %s: %w", strings.Join(s.Recordings, " "), gapsSet, ErrOptions)
	case len(s.Methods) == 0:
		return nil
	}
	var list []fit
	quiet := *s
	quiet.log = io.Discard
	for _, c := range chosen {
		fits, err := c.fits(&quiet)
		if err != nil && !errors.Is(err, errMissing) {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		list = append(list, fits...)
	}
	all := jsonl.Distinct(list, func(f fit) string { return f.line.Method })
	for _, m := range s.Methods {
		if len(all) > 0 && !slices.Contains(all, m) {
			return fmt.Errorf("method %q: must be one of %s: %w", m, strings.Join(all, ", "), ErrOptions)
		}
	}
	return nil
}

// choose returns the named sets, or all sets if names is empty.
func choose(names []string) (chosen []set, err error) {
	if len(names) == 0 {
		return sets, nil
	}
	for _, name := range names {
		i := slices.Index(Sets(), name)
		if i < 0 {
			return nil, fmt.Errorf("set %q: must be one of %s: %w", name, strings.Join(Sets(), ", "), ErrOptions)
		}
		chosen = append(chosen, sets[i])
	}
	return chosen, nil
}

// path returns the path of a file of lines or a figure. A quick run has different files and never replaces the results
// of a full run.
func (s *session) path(name string) string {
	if s.Quick {
		return filepath.Join(s.Out, "quick-"+name)
	}
	return filepath.Join(s.Out, "paper-"+name)
}

// set runs the fits of a set that have no line and returns all lines, in the order of the fits.
func (s *session) set(ctx context.Context, c set) ([]Line, error) {
	have, err := jsonl.Read[Line](s.path(c.name+".jsonl"), nil)
	if err != nil || s.Draw {
		return have, err
	}
	fits, err := c.fits(s)
	if err != nil {
		return nil, err
	}
	order := map[Key]int{} // lines without a fit come first
	for i, f := range fits {
		order[f.line.Key] = i + 1
	}
	for i, f := range fits {
		if len(s.Methods) > 0 && !slices.Contains(s.Methods, f.line.Method) {
			continue
		}
		same := func(l Line) bool { return l.Key == f.line.Key && l.SHA256 == f.line.SHA256 } // same fit on the same data
		if !s.Again && slices.ContainsFunc(have, same) {
			continue
		}
		l, err := s.one(ctx, f, fmt.Sprintf("%s %d/%d", c.name, i+1, len(fits)))
		if err != nil {
			return nil, err
		}
		have = jsonl.Put(have, l, keyOf)
		slices.SortStableFunc(have, func(a, b Line) int { return cmp.Compare(order[a.Key], order[b.Key]) })
		if err := jsonl.Write(s.path(c.name+".jsonl"), have); err != nil {
			return nil, err
		}
	}
	return have, nil
}

// one runs one fit and logs its result.
func (s *session) one(ctx context.Context, f fit, count string) (Line, error) {
	l := f.line
	l.Machine, l.Time, l.Status = s.Machine, machine.Now(), machine.OK
	began := time.Now()
	err := f.run(ctx, &l)
	if ctx.Err() != nil {
		return l, fmt.Errorf("interrupted; run the same command again to resume: %w", ctx.Err())
	}
	l.Seconds = cmp.Or(l.Seconds, time.Since(began).Seconds())
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

// show writes the tables of a set, a list of the failed fits, and the figures.
func (s *session) show(c set, lines []Line, out io.Writer) error {
	fmt.Fprintf(out, "## %s\n\n", c.title)
	if len(lines) == 0 {
		fmt.Fprintf(out, "no lines in %s\n\n", s.path(c.name+".jsonl"))
		return nil
	}
	if s.Quick {
		fmt.Fprintf(out, "(quick run: the results only show that the program works)\n\n")
	}
	c.table(out, lines)
	for _, l := range lines {
		if l.Status != machine.OK {
			fmt.Fprintf(out, "- no result: %s: %s\n", l.Key, l.Status)
		}
	}
	fmt.Fprintln(out)
	if c.figures == nil {
		return nil
	}
	for _, f := range c.figures(lines) {
		if len(f.panels) > 0 {
			if err := f.save(s.path(f.name)); err != nil {
				return err
			}
		}
	}
	return nil
}
