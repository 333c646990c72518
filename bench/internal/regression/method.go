package regression

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/internal/testkit/cputime"
	"github.com/vssgp/vssgp/series"
)

// Methods lists the methods of this program.
var Methods = []string{"vssgp", "series"}

// fits has the fit of each method. A fit returns a predictor and a description of the model.
var fits = map[string]func(context.Context, *Problem) (predictor, string, error){"vssgp": fitVSSGP, "series": fitSeries}

// A predictor returns the mean and the standard deviation at x: of the function if latent, or else of an observation.
type predictor func(x []float64) (mean, sd []float64, err error)

// Run fits a method to the rows of a problem and scores its predictions at the places. A fit that fails or exceeds the
// limit has a line with this status. The error is the error of ctx.
func Run(ctx context.Context, p *Problem, method string, limit time.Duration) (*Line, error) {
	l := &Line{Time: machine.Now(), Bench: "regression", Kind: p.Kind, Seed: p.Seed, Half: p.Half, N: len(p.X),
		Digest: p.Digest, Method: method, Status: machine.OK}
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	began, cpu := time.Now(), cputime.Now()
	err := l.measure(within, p)
	l.Seconds, l.CPU = time.Since(began).Seconds(), (cputime.Now() - cpu).Seconds()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		l.Status = fmt.Sprintf("time limit: %v", limit)
	case err != nil:
		l.Status = "failed: " + err.Error()
	}
	if l.Status != machine.OK {
		l.Places = nil
	}
	return l, nil
}

// measure fills in the scores and the description of the model.
func (l *Line) measure(ctx context.Context, p *Problem) (err error) {
	predict, found, err := fits[l.Method](ctx, p)
	if err != nil {
		return err
	}
	l.Found, l.Places = found, map[string]Scores{}
	for _, at := range p.Places {
		mean, sd, err := predict(at.X)
		if err != nil {
			return err
		}
		if l.Places[at.Name], err = score(mean, sd, at.Y); err != nil {
			return err
		}
	}
	return nil
}

// fitVSSGP fits a model with default options.
func fitVSSGP(ctx context.Context, p *Problem) (predictor, string, error) {
	m, r, err := vssgp.Fit(ctx, &vssgp.Data{N: len(p.X), Q: 1, D: 1, X: p.X, Y: p.Y}, vssgp.Options{})
	if err != nil {
		return nil, "", err
	}
	found := fmt.Sprintf("%d components with %d features, %d windows, bound %.2f, %d iterations", m.Params.L, m.Params.K,
		m.Params.Windows.Count(), r.Bound, r.Iterations)
	return func(x []float64) (mean, sd []float64, err error) {
		at, err := m.Predict(ctx, x)
		if err != nil {
			return nil, nil, err
		}
		return at.Mean, at.SD(!p.Latent), nil
	}, found, nil
}

// functionDraws is the number of draws of the function, from which fitSeries computes its standard deviation.
const functionDraws = 400

// fitSeries fits the structural model with default options, as the command fit does for data without a calendar.
func fitSeries(ctx context.Context, p *Problem) (predictor, string, error) {
	m, err := series.Fit(ctx, series.Series{X: p.X, Y: [][]float64{p.Y}}, series.Options{})
	if err != nil {
		return nil, "", err
	}
	found := fmt.Sprintf("%s, noise %.3g", strings.Join(m.PartNames(), ", "), m.NoiseSD(0))
	return func(x []float64) (mean, sd []float64, err error) {
		at, err := m.Predict(ctx, x)
		if err != nil {
			return nil, nil, err
		}
		if !p.Latent {
			return at.Mean[0], at.SD[0], nil
		}
		draws, err := m.Draw(ctx, x, functionDraws, 1)
		return at.Mean[0], sdOf(draws, at.Mean[0]), err
	}, found, nil
}

// sdOf returns the standard deviation of the first output of draws around a known mean.
func sdOf(draws [][][]float64, mean []float64) []float64 {
	sd := make([]float64, len(mean))
	for _, f := range draws {
		for i, v := range f[0] {
			sd[i] += (v - mean[i]) * (v - mean[i]) / float64(len(draws))
		}
	}
	for i := range sd {
		sd[i] = math.Sqrt(sd[i])
	}
	return sd
}
