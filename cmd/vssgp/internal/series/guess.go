package series

import (
	"context"
	"slices"

	"github.com/vssgp/vssgp/cmd/vssgp/internal/cli"
	"github.com/vssgp/vssgp/internal/table"
)

// howToChoose ends the errors about an input column that was guessed.
const howToChoose = "choose the input with --x COLUMN, or --x row for the numbers of the rows"

// checkGuess refuses an input column that the user has not named if it repeats because the table has several series or, if ordered, if it
// neither rises nor falls.
func (r *timeSeries) checkGuess(ctx context.Context, ordered bool) error {
	if err := r.checkRepeats(ctx); err != nil || !ordered {
		return err
	}
	slack := 0.0 // where the clock is set back, a column of local times goes back by an hour
	if r.axis.Dates() && units[r.axis.Unit] <= units["h"] {
		slack = units["h"] / units[r.axis.Unit]
	}
	rises, fall := false, 0 // the first row that is below the one before
	for n := 1; n < len(r.x); n++ {
		d := r.x[n] - r.x[n-1]
		rises = rises || d > slack
		if d < -slack && fall == 0 {
			fall = n
		}
	}
	if n := fall; rises && n > 0 {
		return cli.Mistake("%s: the column %s was guessed to be the input, but it does not rise: row %d (from 1) has %s after %s; "+howToChoose,
			r.path, r.xName, n+1, r.axis.Format(r.x[n]), r.axis.Format(r.x[n-1]))
	}
	return nil
}

// checkRepeats refuses x that repeat in rows that another column tells apart. It passes over a few repeats, such as the hour after which
// a clock is set back.
func (r *timeSeries) checkRepeats(ctx context.Context) error {
	type place struct{ x, group float64 }
	times, repeats, first, second := make(map[float64]int, len(r.x)), 0, 0, 0
	for n, x := range r.x {
		if before, again := times[x]; !again {
			times[x] = n
		} else if repeats++; repeats == 1 {
			first, second = before, n
		}
	}
	const few = 0.01
	if float64(repeats) <= few*float64(len(r.x)) {
		return nil
	}
	for col, found := range r.table.Columns {
		if kind := found.Kind(); slices.Contains(slices.Concat(r.chosen.X, r.chosen.Y, r.chosen.Errors), col) || kind != table.Text && !(kind == table.Numbers && found.Whole()) {
			continue
		}
		pairs, n := map[place]bool{}, 0
		for part, err := range r.table.Parts(ctx, []table.Pick{{Col: col, Words: map[string]float64{}}}) {
			if err != nil {
				return err
			}
			for _, group := range part {
				pairs[place{r.x[n], group}] = true
				n++
			}
		}
		if 2*(len(pairs)-len(times)) >= repeats {
			return cli.Mistake("%s: the column %s was guessed to be the input, but it has %s in rows %d and %d (from 1), which %s tells apart; want one series: keep its rows, or "+howToChoose,
				r.path, r.xName, r.axis.Format(r.x[first]), first+1, second+1, r.table.Names[col])
		}
	}
	return nil
}
