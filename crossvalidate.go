package vssgp

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/vssgp/vssgp/internal/bayes"
)

// Folds divide rows for CrossValidate.
type Folds struct {
	K          int  // number of folds, from 2 to N; 0: five
	Contiguous bool // folds of consecutive rows; otherwise rows are drawn at random, by Options.Seed
}

// A FoldScore is a score of each fold with their mean.
type FoldScore struct {
	Folds        []float64 // [K]
	Mean, StdErr float64   // of Folds: StdErr is their sample standard deviation over √K
}

// CrossValidation scores predictions of rows that the model had not seen.
type CrossValidation struct {
	RMSE       FoldScore // over all rows and outputs, in units of y
	LogDensity FoldScore // mean log predictive density of a row, its outputs jointly, in nats
}

// foldSalt tells the random stream of the folds from the others.
const foldSalt = 0xf01d

// CrossValidate divides the rows of data into K folds of sizes that differ by one at
// most. It predicts each fold by Model.Predict of a fit of the other rows and scores
// the predictions. Use contiguous folds for rows in the order of an input whose
// neighbors predict each other well, such as time. Errors name the fold and are those
// of Fit and Predict; ErrOptions is also wrapped for a number of folds that the rows
// do not allow, and if the options have a checkpoint, which is of one fit.
func CrossValidate(ctx context.Context, data *Data, folds Folds, o Options) (*CrossValidation, error) {
	if err := data.Check(); err != nil {
		return nil, err
	}
	n, k := data.N, cmp.Or(folds.K, 5)
	if k < 2 || k > n {
		return nil, badOption("%d folds of %d rows, must be from 2 to the number of rows", k, n)
	}
	if o.Checkpoint.Path != "" {
		return nil, badOption("a checkpoint cannot be combined with cross-validation")
	}
	o.Posterior.Draws = cmp.Or(o.Posterior.Draws, NoPosterior) // Predict does not need one
	order := rand.New(rand.NewPCG(o.Seed, foldSalt)).Perm(n)
	if folds.Contiguous {
		slices.Sort(order)
	}
	c := &CrossValidation{}
	for i := range k {
		lo, hi := i*n/k, (i+1)*n/k
		rmse, density, err := data.heldOut(ctx, slices.Concat(order[:lo], order[hi:]), order[lo:hi], o)
		if err != nil {
			return nil, fmt.Errorf("fold %d of %d: %w", i+1, k, err)
		}
		c.RMSE.Folds, c.LogDensity.Folds = append(c.RMSE.Folds, rmse), append(c.LogDensity.Folds, density)
	}
	for _, s := range []*FoldScore{&c.RMSE, &c.LogDensity} {
		mean, sd := bayes.MeanSD(s.Folds, 0, 1)
		s.Mean, s.StdErr = mean, sd/math.Sqrt(float64(k-1))
	}
	return c, nil
}

// heldOut fits some rows and scores the prediction of others.
func (d *Data) heldOut(ctx context.Context, known, asked []int, o Options) (rmse, density float64, err error) {
	slices.Sort(known)
	m, _, err := Fit(ctx, d.rows(known), o)
	if err != nil {
		return 0, 0, err
	}
	rows := d.rows(asked)
	p, err := m.Predict(ctx, rows.X)
	if err != nil {
		return 0, 0, err
	}
	densities, err := p.LogDensity(ctx, rows.Y)
	if err != nil {
		return 0, 0, err
	}
	density, _ = bayes.MeanSD(densities, 0, 1)
	return bayes.RMSE(p.Mean, rows.Y), density, nil
}

// rows copies some rows.
func (d *Data) rows(list []int) *Data {
	c := &Data{N: len(list), Q: d.Q, D: d.D, XNames: d.XNames, YNames: d.YNames}
	for _, i := range list {
		c.X, c.Y = append(c.X, d.X[i*d.Q:][:d.Q]...), append(c.Y, d.Y[i*d.D:][:d.D]...)
	}
	return c
}
