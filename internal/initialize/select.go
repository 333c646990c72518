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
	// A third of the rows, but between selectRows and maxSelectRows of them, are used to select the
	// number of features for a table. Learned frequencies need many rows, so with fewer rows the
	// selected setting would be too small.
	selectRows, maxSelectRows = 3000, 12000
	// If there are more than selectRows + selectHeldOut rows, the score is computed on selectHeldOut other
	// rows.
	selectHeldOut = 1000
	// selectGain is the minimum increase of the score, per scored number, to continue with more
	// features.
	selectGain = 0.002
	// selectIterations is the maximum number of iterations of a trial; drawn frequencies need about
	// a hundred.
	selectIterations = 300
	// selectScatter is the decrease of the bound, per number, up to which more drawn frequencies
	// are preferred. The bound differs by as much between draws, while predictions improve.
	selectScatter = 0.5
	// selectSure is the maximum ratio of the squared errors of held-out rows to the predicted
	// variance. A setting with a larger ratio is rejected, because its prediction intervals are
	// too narrow. This happens with few features and little noise.
	selectSure = 4
	// selectSalt distinguishes this random stream from the others.
	selectSalt = 0x7ab1e
)

// A form is a method for the frequencies of a table's features, with the values of K to try in
// ascending order.
type form struct {
	method   variational.Method
	ladder   []int
	patience int // number of consecutive failures to improve that do not end the search
}

// selectForms returns the forms to try. The first has drawn frequencies: pairs of cosine and sine
// whose frequencies are drawn from the prior and fixed. Its score is not smooth in K, since each K
// has different draws, so a single decrease does not end the search. If the settings specify the
// method VSSGP, only learned frequencies are tried.
func selectForms(n int, s *Settings) []form {
	drawn := []int{50, 100, 200, 400, 800}
	if few(n) {
		drawn = []int{100, 400}
	}
	learned := form{method: variational.VSSGP, ladder: []int{50, 100, 200, 400}}
	if !few(n) { // a small number of learned features may end in a poor optimum
		learned.patience = 1
	}
	if s.Method == variational.VSSGP {
		return []form{learned}
	}
	return []form{{variational.SSGP, drawn, 1}, learned}
}

// triedRows returns the number of rows, of n, that the selection uses.
func triedRows(n int) int {
	if few(n) {
		return n
	}
	return min(max(selectRows, n/3), maxSelectRows)
}

// few reports whether the selection uses all n rows.
func few(n int) bool { return n <= selectRows+selectHeldOut }

// A selection is a search in progress.
type selection struct {
	known, asked backend.Data // if asked has no rows, the score is the bound
	evaluator    Evaluator

	best  *variational.Params // optimized on the known rows
	score float64             // per scored number
	found Settings
	rival float64 // the score to exceed: the best of the form, or of all forms if all rows are used
}

// Select returns the initial parameters for several inputs if K is 0. It tries the forms on all
// rows or, if there are many, on some. K increases while the score increases. The score is the
// bound on the rows, or the log density of held-out rows if there are more rows than the selection
// uses. Drawn frequencies are returned with the length-scales and the noise of the trial. A
// setting that has no bound or needs too much memory is skipped if another is possible.
func Select(ctx context.Context, data *backend.Data, s Settings, evaluator Evaluator) (*variational.Params, error) {
	t := newSelection(data, s, evaluator)
	for _, f := range selectForms(data.N, &s) {
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
		return Paper(data, s, evaluator)
	case t.found.points():
		return t.best, nil
	}
	return Paper(data, t.found, evaluator)
}

// newSelection draws the rows that the selection uses.
func newSelection(data *backend.Data, s Settings, evaluator Evaluator) *selection {
	t := &selection{known: *data, evaluator: evaluator, score: math.Inf(-1), rival: math.Inf(-1)}
	if !few(data.N) {
		order := rand.New(rand.NewPCG(s.Seed, selectSalt)).Perm(data.N)
		rows := triedRows(data.N)
		t.known, t.asked = data.Some(order[:rows]), data.Some(order[rows:rows+selectHeldOut])
	}
	return t
}

// try scores a setting, keeps it if it is the best, and reports whether to try more features.
func (t *selection) try(ctx context.Context, data *backend.Data, set Settings) (better bool, err error) {
	if err := t.evaluator.Fits(paperShape(data, set)); err != nil {
		if t.best == nil {
			return false, err
		}
		return false, nil
	}
	p, err := Paper(&t.known, set, t.evaluator)
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
	better = score > t.rival+selectGain
	t.rival = max(t.rival, score)
	keep := score > t.score
	if t.best != nil && set.points() && t.found.points() && t.asked.N == 0 {
		keep = score > t.score-selectScatter
	}
	if keep {
		t.best, t.score, t.found = p, score, set
	}
	return better, nil
}

// scored optimizes p on the known rows and returns its score per number.
func (t *selection) scored(ctx context.Context, p *variational.Params) (float64, error) {
	bound, err := t.evaluator.Optimized(ctx, t.known, p, selectIterations)
	if err != nil {
		return 0, err
	}
	known, asked := t.known, t.asked
	if t.asked.N == 0 {
		known, asked = split(t.known, ascending(t.known.N), func(i int) bool { return i%10 == 9 })
	}
	square, variance, err := t.evaluator.Predicted(ctx, known, asked, p)
	if err != nil {
		return 0, err
	}
	n := float64(len(asked.Y))
	switch {
	case square > selectSure*variance:
		return math.Inf(-1), nil
	case t.asked.N == 0:
		return bound / float64(len(t.known.Y)), nil
	}
	return -0.5 * (math.Log(variance/n) + square/variance), nil
}
