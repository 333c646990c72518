package initialize

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/variational"
)

const (
	// tableRows to tableMost rows, or a third of all between them, choose how many
	// features a table gets. Learned frequencies pay for themselves with many rows only,
	// so fewer would choose for a smaller table.
	tableRows, tableMost = 3000, 12000
	// tableHeld further rows judge that choice where there are more rows than
	// tableRows and tableHeld.
	tableHeld = 1000
	// tableGain is the rise of a score, for each number that is scored, below which
	// more features are not worth their time.
	tableGain = 0.002
	// tableIterations are the most of a trial; drawn frequencies need about a hundred.
	tableIterations = 300
	// tableScatter is how much the bound of drawn frequencies may fall, for each number,
	// with more of them still to be preferred: it differs by as much from draw to draw,
	// while predictions get better.
	tableScatter = 0.5
	// tableSure is how many times the predicted variance the squared errors of held-out
	// rows may be. Beyond it a setting is passed over: few features and next to no
	// noise are sure of what they do not know.
	tableSure = 4
	// tableSalt sets this random stream apart from the others.
	tableSalt = 0x7ab1e
)

// A form is a way in which a table's features get their frequencies, with the K
// that are tried, ascending.
type form struct {
	method   variational.Method
	ladder   []int
	patience int // how often in a row the score may fall before no more are tried
}

// tableForms are the forms that a table's start tries. Drawn frequencies come first:
// pairs of cosine and sine whose frequencies are drawn from the prior and kept. Their
// score is uneven in K, since twice as many are another draw, so one fall ends
// nothing. The method VSSGP, if it is asked for, is tried alone.
func tableForms(n int, s *Settings) []form {
	drawn := []int{50, 100, 200, 400, 800}
	if few(n) {
		drawn = []int{100, 400}
	}
	learned := form{method: variational.VSSGP, ladder: []int{50, 100, 200, 400}}
	if !few(n) { // a few of them may end in a poor optimum
		learned.patience = 1
	}
	if s.Method == variational.VSSGP {
		return []form{learned}
	}
	return []form{{variational.SSGP, drawn, 1}, learned}
}

// triedRows is how many of n rows a choice is made on.
func triedRows(n int) int {
	if few(n) {
		return n
	}
	return min(max(tableRows, n/3), tableMost)
}

// few reports whether n rows are all tried.
func few(n int) bool { return n <= tableRows+tableHeld }

// table is a choice in progress.
type table struct {
	known, asked backend.Data // asked has no rows if the bound decides
	judge        Judge

	best  *variational.Params // optimized on the known rows
	score float64             // for each number that is scored
	found Settings
	rival float64 // the score that more features have to beat: the form's own, or the best if all rows are tried
}

// Table is the start of several inputs if K is open. It tries the forms on all rows
// or, of many, on some; K doubles while the score rises. The score is the bound on
// the rows or, if there are more than are tried, the log density of held-out ones.
// Drawn frequencies begin with the length-scales and the noise that the trial has
// found. A setting that has no bound, or needs too much memory beside one that does
// not, is passed over.
func Table(ctx context.Context, data *backend.Data, s Settings, judge Judge) (*variational.Params, error) {
	t := newTable(data, s, judge)
	for _, f := range tableForms(data.N, &s) {
		failed := 0
		if t.asked.N > 0 {
			t.rival = math.Inf(-1)
		}
		for _, k := range f.ladder {
			set := s
			set.Method, set.Features = f.method, k
			better, err := t.try(ctx, data, set)
			if err != nil {
				return nil, err
			}
			if better {
				failed = 0
			} else if failed++; failed > f.patience {
				break
			}
		}
	}
	switch {
	case t.best == nil:
		return Paper(data, s, judge)
	case t.found.points():
		return t.best, nil
	}
	return Paper(data, t.found, judge)
}

// newTable draws the rows that a choice is made on.
func newTable(data *backend.Data, s Settings, judge Judge) *table {
	t := &table{known: *data, judge: judge, score: math.Inf(-1), rival: math.Inf(-1)}
	if !few(data.N) {
		order := rand.New(rand.NewPCG(s.Seed, tableSalt)).Perm(data.N)
		rows := triedRows(data.N)
		t.known, t.asked = data.Some(order[:rows]), data.Some(order[rows:rows+tableHeld])
	}
	return t
}

// try scores a setting, keeps it if it is the best, and reports whether more
// features are worth a trial.
func (t *table) try(ctx context.Context, data *backend.Data, set Settings) (better bool, err error) {
	if err := t.judge.Fits(paperShape(data, set)); err != nil {
		if t.best == nil {
			return false, err
		}
		return false, nil
	}
	p, err := Paper(&t.known, set, t.judge)
	score := 0.0
	if err == nil {
		score, err = t.scored(ctx, p)
	}
	if errors.Is(err, variational.ErrBound) && ctx.Err() == nil {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	better = score > t.rival+tableGain
	t.rival = max(t.rival, score)
	keep := score > t.score
	if t.best != nil && set.points() && t.found.points() && t.asked.N == 0 {
		keep = score > t.score-tableScatter
	}
	if keep {
		t.best, t.score, t.found = p, score, set
	}
	return better, nil
}

// scored optimizes p on the known rows and scores it, for each number.
func (t *table) scored(ctx context.Context, p *variational.Params) (float64, error) {
	bound, err := t.judge.Optimized(ctx, t.known, p, tableIterations)
	if err != nil {
		return 0, err
	}
	known, asked := t.known, t.asked
	if t.asked.N == 0 {
		known, asked = split(t.known, ascending(t.known.N), func(i int) bool { return i%10 == 9 })
	}
	square, variance, err := t.judge.Predicted(ctx, known, asked, p)
	if err != nil {
		return 0, err
	}
	n := float64(len(asked.Y))
	switch {
	case square > tableSure*variance:
		return math.Inf(-1), nil
	case t.asked.N == 0:
		return bound / float64(len(t.known.Y)), nil
	}
	return -0.5 * (math.Log(variance/n) + square/variance), nil
}
