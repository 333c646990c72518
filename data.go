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
	"github.com/vssgp/vssgp/internal/fileio/fault"
)

// Data contains N rows of Q inputs and D outputs in the user's units.
type Data struct {
	N, Q, D int
	X       []float64 // [N,Q]
	Y       []float64 // [N,D]

	XNames, YNames []string // [Q], [D]; may be empty
}

// NewData returns a copy of n rows of inputs x [n,Q] and outputs y [n,D], both row-major. Q and D
// follow from the lengths. Errors wrap ErrData if a length is not a multiple of n, if there are no
// rows or columns, or if a value is not finite. To avoid the copy, fill in a Data directly. The
// rows of a gonum matrix are mat.DenseCopyOf(x).RawMatrix().Data.
func NewData(n int, x, y []float64) (*Data, error) {
	if n < 1 || len(x)%n != 0 || len(y)%n != 0 {
		return nil, fault.Errorf(ErrData, "x has %d numbers and y has %d, must be multiples of the number of rows, %d, which must be at least 1",
			len(x), len(y), n)
	}
	data := &Data{N: n, Q: len(x) / n, D: len(y) / n, X: slices.Clone(x), Y: slices.Clone(y)}
	if err := data.Check(); err != nil {
		return nil, err
	}
	return data, nil
}

// checkTransposed returns an error if x and y have equal shapes that suggest a transposed table: one
// row, or ten times as many columns as rows.
func checkTransposed(n, q, d int) error {
	if q == d && (n == 1 && q > 1 || q >= 10*n && n > 0) {
		return fault.Errorf(ErrData, "x and y are both %d by %d; each observation must be a row, %d by %d (are they transposed?)", n, q, q, n)
	}
	return nil
}

// Check returns an error that wraps ErrData if the shapes do not match, or if values are not
// finite or so large that their differences would overflow.
func (d *Data) Check() error {
	if d == nil {
		return fault.Errorf(ErrData, "the data are nil")
	}
	s := backend.Data{N: d.N, Q: d.Q, D: d.D, X: d.X, Y: d.Y}
	if d.D < 1 {
		return fault.Errorf(ErrData, "data have no output column")
	}
	for i, a := range [][]float64{d.X, d.Y} {
		at := slices.IndexFunc(a, func(v float64) bool { return !(math.Abs(v) <= maxValue) })
		switch {
		case at < 0:
		case math.IsNaN(a[at]) || math.IsInf(a[at], 0):
			return fault.Errorf(ErrData, "%c[%d] is %v, must be finite; leave such rows out", "xy"[i], at, a[at])
		default:
			return fault.Errorf(ErrData, "%c[%d] is %.3g, must be within ±%.2g; use a larger unit", "xy"[i], at, a[at], maxValue)
		}
	}
	if err := s.Check(); err != nil {
		return fault.Errorf(ErrData, "%w", err)
	}
	if nx, ny := len(d.XNames), len(d.YNames); nx != 0 && nx != d.Q || ny != 0 && ny != d.D {
		return fault.Errorf(ErrData, "%d names of inputs and %d of outputs; expected none, or %d and %d", nx, ny, d.Q, d.D)
	}
	return nil
}

// extents returns the minimum and the maximum of each input [Q].
func (d *Data) extents() (all [][2]float64) {
	for q := range d.Q {
		lo, hi := (&backend.Data{Q: d.Q, X: d.X}).Extent(q)
		all = append(all, [2]float64{lo, hi})
	}
	return all
}

// maxValue bounds the data so that the difference of two values does not overflow.
const maxValue = math.MaxFloat64 / 4

// Affine is a map between the data's units and the model's units, with an offset and a
// scale for each column: data = Offset + Scale·model.
type Affine struct{ Offset, Scale []float64 }

// identity returns the identity map of n columns.
func identity(n int) Affine {
	a := Affine{make([]float64, n), make([]float64, n)}
	for i := range a.Scale {
		a.Scale[i] = 1
	}
	return a
}

const (
	// affineRounding bounds the rounding error of (v − offset)/scale times scale, relative
	// to |v| + |offset|. It includes the rounding error of the scale, which for a grid is
	// the difference of two inputs.
	affineRounding = 4 * 0x1p-52
	// maxAffineCorrection is the maximum correction, also if the rounding error is larger.
	maxAffineCorrection = 0x1p-20
)

// ToModel returns rows of data in the model's units, or nil if the Affine has no columns.
// A result within rounding error of an integer is rounded to it. Times such as n/16000
// are then exactly evenly spaced, and backends can use the recurrences for even rows.
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
		if whole := math.RoundToEven(u); math.Abs(u-whole) <= min(rounding, maxAffineCorrection) {
			u = whole
		}
		out[i] = u
	}
	return out
}

// toData converts rows from the model's units to the data's units in place.
func (a Affine) toData(rows []float64) {
	for i := range rows {
		c := i % len(a.Scale)
		rows[i] = a.Offset[c] + a.Scale[c]*rows[i]
	}
}

// dataError wraps a backend's error about invalid data in ErrData. It returns other
// errors, such as a GPU out of memory, unchanged.
func dataError(err error) error {
	if errors.Is(err, backend.ErrShape) || errors.Is(err, backend.ErrValue) {
		return fault.Errorf(ErrData, "%w", err)
	}
	return err
}

// Standardize returns the maps that give every column mean 0 and standard deviation 1.
// The scale of a constant column is a small fraction of its value. If the data are nil
// or empty, the maps have no columns.
func (d *Data) Standardize() (x, y Affine) {
	if d == nil || d.N < 1 || min(d.Q, d.D) < 0 || max(d.Q, d.D) > max(len(d.X), len(d.Y)) {
		return Affine{}, Affine{}
	}
	return standardize(d.X, d.Q), standardize(d.Y, d.D)
}

// constantShare is the ratio of standard deviation to absolute mean below which a column
// is treated as constant. The scale of such a column is its absolute mean times this ratio.
const constantShare = 1e-9

// smallestNormal is the smallest positive normal float64.
const smallestNormal = 0x1p-1022

func standardize(a []float64, cols int) Affine {
	m := identity(cols)
	for c := range cols {
		mean, sd := bayes.MeanSD(a, c, cols)
		m.Offset[c], m.Scale[c] = mean, sd
		if size := math.Abs(mean); sd <= constantShare*size {
			m.Scale[c] = max(constantShare*cmp.Or(size, 1), smallestNormal)
		}
	}
	return m
}

// origin returns the offsets [D] in the model's units.
func (a Affine) origin() []float64 {
	out := make([]float64, len(a.Scale))
	for i, scale := range a.Scale {
		out[i] = a.Offset[i] / scale
	}
	return out
}

// Folds selects the folds of CrossValidate.
type Folds struct {
	K          int  // number of folds, from 2 to N; 0 means 5
	Contiguous bool // folds of consecutive rows; otherwise rows are assigned at random with Options.Seed
}

// A FoldScore contains the score of each fold and the mean over the folds.
type FoldScore struct {
	Folds        []float64 // [K]
	Mean, StdErr float64   // of Folds: StdErr is their sample standard deviation over √K
}

// CrossValidation contains the scores of predictions on held-out folds.
type CrossValidation struct {
	RMSE       FoldScore // over all rows and outputs, in units of y
	LogDensity FoldScore // mean over rows of the joint log predictive density of the outputs, in nats
}

// foldSalt separates the random stream of the folds from other streams.
const foldSalt = 0xf01d

// CrossValidate divides the rows of data into K folds whose sizes differ by at most one.
// It fits a model to the other rows of each fold, predicts the fold with Model.Predict and
// scores the predictions. Use contiguous folds if neighboring rows predict each other
// well, as in a time series. Errors name the fold and otherwise are the errors of Fit and
// Predict. Errors also wrap ErrOptions if the number of folds is out of range or if the
// options have a checkpoint.
func CrossValidate(ctx context.Context, data *Data, folds Folds, o Options) (*CrossValidation, error) {
	if err := data.Check(); err != nil {
		return nil, err
	}
	n, k := data.N, cmp.Or(folds.K, 5)
	if k < 2 || k > n {
		return nil, badOption("%d folds for %d rows: the number of folds must be from 2 to the number of rows", k, n)
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

// heldOut fits a model to the known rows and scores its predictions of the held-out rows, asked.
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

// rows returns a copy of the listed rows.
func (d *Data) rows(list []int) *Data {
	c := &Data{N: len(list), Q: d.Q, D: d.D, XNames: d.XNames, YNames: d.YNames}
	for _, i := range list {
		c.X, c.Y = append(c.X, d.X[i*d.Q:][:d.Q]...), append(c.Y, d.Y[i*d.D:][:d.D]...)
	}
	return c
}
