package vssgp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/bayes"
)

// Data are N rows of Q inputs and D outputs in their own units.
type Data struct {
	N, Q, D int
	X       []float64 // [N,Q]
	Y       []float64 // [N,D]

	XNames, YNames []string // [Q], [D]; may be empty
}

// NewData copies n rows of inputs x [n,Q] and outputs y [n,D], row by row and in their own units,
// so that both may change afterwards; Q and D follow from the lengths. Errors wrap ErrData: lengths
// that are no multiple of n, no rows or columns, values that are not finite. To share the slices,
// fill a Data in. The rows of a gonum matrix are mat.DenseCopyOf(x).RawMatrix().Data.
func NewData(n int, x, y []float64) (*Data, error) {
	if n < 1 || len(x)%n != 0 || len(y)%n != 0 {
		return nil, fmt.Errorf("vssgp: x has %d and y %d numbers, must be multiples of the number of rows, which is %d and must be at least 1: %w",
			len(x), len(y), n, ErrData)
	}
	data := &Data{N: n, Q: len(x) / n, D: len(y) / n, X: slices.Clone(x), Y: slices.Clone(y)}
	if err := data.Check(); err != nil {
		return nil, err
	}
	return data, nil
}

// onSide refuses as many outputs as inputs if there is one row, or ten times as many columns as rows.
func onSide(n, q, d int) error {
	if q == d && (n == 1 && q > 1 || q >= 10*n && n > 0) {
		return fmt.Errorf("vssgp: x and y are both %d by %d, with more columns than rows; want a row for each observation, %d by %d (are they transposed?): %w", n, q, q, n, ErrData)
	}
	return nil
}

// Check returns an error that wraps ErrData if shapes do not fit, or if values are not
// finite or so large that their differences would not be.
func (d *Data) Check() error {
	if d == nil {
		return fmt.Errorf("vssgp: the data are nil: %w", ErrData)
	}
	s := backend.Data{N: d.N, Q: d.Q, D: d.D, X: d.X, Y: d.Y}
	if d.D < 1 {
		return fmt.Errorf("vssgp: data have no output column: %w", ErrData)
	}
	if err := s.Check(); err != nil {
		return fmt.Errorf("vssgp: %w: %w", err, ErrData)
	}
	for i, a := range [][]float64{d.X, d.Y} {
		if at := slices.IndexFunc(a, func(v float64) bool { return math.Abs(v) > mostValue }); at >= 0 {
			return fmt.Errorf("vssgp: %c[%d] is %.3g, want values within ±%.2g: take a larger unit: %w", "xy"[i], at, a[at], mostValue,
				ErrData)
		}
	}
	if nx, ny := len(d.XNames), len(d.YNames); nx != 0 && nx != d.Q || ny != 0 && ny != d.D {
		return fmt.Errorf("vssgp: %d names of inputs and %d of outputs, want none or %d and %d: %w", nx, ny, d.Q, d.D, ErrData)
	}
	return nil
}

// extents are the least and the greatest of each input [Q].
func (d *Data) extents() (all [][2]float64) {
	for q := range d.Q {
		lo, hi := (&backend.Data{Q: d.Q, X: d.X}).Extent(q)
		all = append(all, [2]float64{lo, hi})
	}
	return all
}

// mostValue bounds data so that no difference of two leaves float64's range.
const mostValue = math.MaxFloat64 / 4

// Affine maps between the data's units and the model's, with an offset and a scale
// for each column: data = Offset + Scale·model.
type Affine struct{ Offset, Scale []float64 }

// identity leaves n columns as they are.
func identity(n int) Affine {
	a := Affine{make([]float64, n), make([]float64, n)}
	for i := range a.Scale {
		a.Scale[i] = 1
	}
	return a
}

const (
	// affineRounding bounds the rounding error of (v − offset)/scale, times the
	// scale, relative to the numbers that are subtracted: the scale of a grid is
	// itself a difference of two.
	affineRounding = 4 * 0x1p-52
	// affineMost bounds the correction in any case.
	affineMost = 0x1p-20
)

// ToModel maps rows of data to the model's units; an Affine without columns gives
// nil. A result within rounding of a whole number becomes that number, so that
// samples at times such as n/16000 are evenly spaced to the last bit, which lets
// backends use the recurrences for even rows.
func (a Affine) ToModel(data []float64) []float64 {
	c := len(a.Scale)
	if c == 0 {
		return nil
	}
	out := make([]float64, len(data))
	for i, v := range data {
		offset, scale := a.Offset[i%c], a.Scale[i%c]
		u := (v - offset) / scale
		rounding := affineRounding * ((math.Abs(v) + math.Abs(offset)) / math.Abs(scale))
		if whole := math.RoundToEven(u); math.Abs(u-whole) <= min(rounding, affineMost) {
			u = whole
		}
		out[i] = u
	}
	return out
}

// toData maps rows in the model's units to the data's, in place.
func (a Affine) toData(rows []float64) {
	for i := range rows {
		c := i % len(a.Scale)
		rows[i] = a.Offset[c] + a.Scale[c]*rows[i]
	}
}

// dataError makes a backend's refusal of data wrap ErrData. Other errors, such as
// a card that is out of memory, are not the data's fault.
func dataError(err error) error {
	if errors.Is(err, backend.ErrShape) || errors.Is(err, backend.ErrValue) {
		return fmt.Errorf("%w: %w", err, ErrData)
	}
	return err
}

// Standardize returns maps under which every column has mean 0 and standard
// deviation 1. The scale of a constant column is far below its size. The maps of nil
// or empty data have no columns.
func (d *Data) Standardize() (x, y Affine) {
	if d == nil || d.N < 1 {
		return Affine{}, Affine{}
	}
	return standardize(d.X, d.Q), standardize(d.Y, d.D)
}

// constantShare is the relative spread below which a column counts as constant;
// such a column gets that share of its size as its unit.
const constantShare = 1e-9

// leastNormal is the smallest number of float64's full precision.
const leastNormal = 0x1p-1022

func standardize(a []float64, cols int) Affine {
	m := identity(cols)
	for c := range cols {
		mean, sd := bayes.MeanSD(a, c, cols)
		m.Offset[c], m.Scale[c] = mean, sd
		if size := math.Abs(mean); sd <= constantShare*size {
			m.Scale[c] = max(constantShare*cmp.Or(size, 1), leastNormal)
		}
	}
	return m
}

// origin [D] is what the map to the model's units subtracts, in those units.
func (a Affine) origin() []float64 {
	out := make([]float64, len(a.Scale))
	for i, scale := range a.Scale {
		out[i] = a.Offset[i] / scale
	}
	return out
}

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
