package series

import (
	"cmp"
	"math"
	"slices"

	"github.com/vssgp/vssgp/internal/bayes"
	"github.com/vssgp/vssgp/internal/fileio/fault"
	"github.com/vssgp/vssgp/internal/heap"
)

// ErrData is wrapped by every error about the data of a series.
var ErrData = fault.New("unusable data")

// A Series contains N observations of D outputs as functions of one input, usually time.
type Series struct {
	X []float64   // [N] in any unit and any order
	Y [][]float64 // [D][N]; NaN is a missing value
	// Err, if not nil, contains the known noise standard deviation of each value [D][N], in the units of Y. Fit learns one common factor.
	// Each value must be between 1e-9 and 1e9 standard deviations of the output. Values below 1e-4 (or 1e-6·√N, whichever is larger) and
	// above 1e6 are clipped.
	Err [][]float64
	// Regressors explain the outputs. A forecast needs their values at the query times.
	Regressors []Regressor
}

// A Regressor is a known series, such as a temperature or a holiday indicator. Every output depends on it linearly. Its weight has the
// prior N(0, SD²) with a learned SD: the standard deviation of the effect of one standard deviation of the regressor, in units of the
// output. Regressors with the same Group share SD. An indicator (only 0 and 1) is not standardized.
type Regressor struct {
	Name, Group string    // Group is Name if it is empty
	Values      []float64 // [N]; NaN only if all outputs are missing at this time
	SD          Prior
}

// magnitude returns the largest magnitude of y.
func magnitude(y []float64) (size float64) {
	for _, v := range y {
		if !math.IsNaN(v) {
			size = max(size, math.Abs(v))
		}
	}
	return size
}

// check returns an error if array lengths differ or a value is out of range.
func (s *Series) check() error {
	if len(s.Y) == 0 {
		return fault.Errorf(ErrData, "no output")
	}
	if s.Err != nil && len(s.Err) != len(s.Y) {
		return fault.Errorf(ErrData, "standard deviations are given for %d outputs, but there are %d outputs", len(s.Err), len(s.Y))
	}
	for n, x := range s.X {
		if !(math.Abs(x) <= maxTime) {
			return fault.Errorf(ErrData, "x[%d] is %v, must be finite, with a magnitude of at most %v", n, x, maxTime)
		}
	}
	if err := s.checkRegressors(); err != nil {
		return err
	}
	for d, y := range s.Y {
		if size := magnitude(y); size > 0 && size < smallest {
			return fault.Errorf(ErrData, "the largest magnitude of output %d is %.3g, must be at least %v", d, size, smallest)
		}
		if len(y) != len(s.X) {
			return fault.Errorf(ErrData, "output %d has %d values for %d times", d, len(y), len(s.X))
		}
		if s.Err != nil && len(s.Err[d]) != len(y) {
			return fault.Errorf(ErrData, "output %d has %d standard deviations for %d times", d, len(s.Err[d]), len(s.X))
		}
		for n, v := range y {
			if math.IsInf(v, 0) || math.Abs(v) > MaxValue {
				return fault.Errorf(ErrData, "y[%d][%d] is %v, must have a magnitude below %v, or be NaN if missing", d, n, v, MaxValue)
			}
			if s.Err != nil && !math.IsNaN(v) && !(s.Err[d][n] > 0 && s.Err[d][n] < MaxValue) {
				return fault.Errorf(ErrData, "the standard deviation of y[%d][%d] is %v, must be positive and below %v", d, n,
					s.Err[d][n], MaxValue)
			}
		}
	}
	return nil
}

// regressorValues returns the values [J][N] of the regressors.
func (s *Series) regressorValues() (all [][]float64) {
	for _, r := range s.Regressors {
		all = append(all, r.Values)
	}
	return all
}

// checkRegressors returns an error if a regressor has a duplicate name, a wrong length, an improper prior or a missing value.
func (s *Series) checkRegressors() error {
	for j, r := range s.Regressors {
		if r.Name == "" || slices.ContainsFunc(s.Regressors[:j], func(q Regressor) bool { return q.Name == r.Name }) {
			return fault.Errorf(ErrData, "regressor %d is named %q; names must be different", j, r.Name)
		}
		if len(r.Values) != len(s.X) {
			return fault.Errorf(ErrData, "regressor %q has %d values for %d times", r.Name, len(r.Values), len(s.X))
		}
		if r.SD != (Prior{}) {
			if err := r.SD.Check(); err != nil {
				return fault.Errorf(ErrData, "regressor %q: %w", r.Name, err)
			}
		}
		for n, v := range r.Values {
			known := slices.ContainsFunc(s.Y, func(y []float64) bool { return n < len(y) && !math.IsNaN(y[n]) })
			if known && !(math.Abs(v) <= MaxValue) {
				return fault.Errorf(ErrData, "regressor %q is %v at x[%d] = %v; must be finite wherever an output has a value", r.Name,
					v, n, s.X[n])
			}
		}
	}
	return nil
}

// MaxValue is the maximum magnitude of outputs, their standard deviations and regressors. It keeps squares finite.
const MaxValue = 1e150

const (
	maxTime  = 1e306  // maximum magnitude of times; the times of a forecast are then finite
	smallest = 1e-304 // minimum of the largest magnitude; smaller numbers are subnormal
	// Known errors are clipped to this range, in standard deviations of the output. Observations are divided by their errors, so smaller
	// errors would lose all 16 digits of the sums.
	minError, minErrorByRow, largestError = 1e-4, 1e-6, 1e6
	smallestKnown, largestKnown           = 1e-9, 1e9 // known errors outside this range are rejected
	minRows                               = 4         // minimum number of values per output; the noise cannot be estimated from fewer
	// onGrid is the maximum distance of a time from its grid point, in steps. It allows for rounding, as in decimal years.
	onGrid = 0.02
)

// A frame contains the series in the model's units: u is x in steps from the first observation, y is standardized.
type frame struct {
	First float64 // x of the first observation
	Step  float64 // grid spacing in units of x; the median spacing if there is no grid
	Range float64 // T, in steps
	Even  bool    // the times are on a grid
	Rows  int     // N
	Log   bool    `json:",omitempty"` // y is the logarithm of the values

	Positive bool `json:",omitempty"` // Options.Positive

	// Counts, if not nil, contains the distribution of each output [D] given its mean. y and known are then the working values and
	// their errors.
	Counts []bayes.Count `json:",omitempty"`

	Offset, Scale []float64 // [D] y = Offset + Scale·(the model's y)

	// Error is the standardized median known error of each output; nil if no errors are known.
	Error []float64 `json:",omitempty"`

	Regressors []regressor `json:",omitempty"`

	u     []float64   // [N]
	y     [][]float64 // [D][N], NaN where missing
	z     [][]float64 // [J][N] regressors, standardized
	known [][]float64 // [D][N] known noise sd, standardized; nil if not known
	// outlierFactor [D][N] multiplies the noise sd of each value. It is 1 for normal values and larger for outliers; nil: no outliers.
	outlierFactor [][]float64
}

// A regressor contains the mean and scale that standardize a Regressor: (value − Mean)/Scale.
type regressor struct {
	Name, Group string
	Mean, Scale float64
	SD          Prior `json:",omitzero"`
}

// addRegressors standardizes the regressors by their mean and standard deviation at times with an output value.
func (f *frame) addRegressors(all []Regressor) {
	rows := slices.DeleteFunc(upTo(0, f.Rows), func(n int) bool {
		return !slices.ContainsFunc(f.y, func(y []float64) bool { return !math.IsNaN(y[n]) })
	})
	for _, r := range all {
		seen := picked(r.Values, rows)
		own := regressor{Name: r.Name, Group: cmp.Or(r.Group, r.Name), Scale: 1, SD: r.SD}
		if slices.ContainsFunc(seen, func(v float64) bool { return v != 0 && v != 1 }) {
			own.Mean, own.Scale = bayes.MeanSD(seen, 0, 1)
			own.Scale = cmp.Or(own.Scale, 1)
		}
		f.Regressors = append(f.Regressors, own)
		f.z = append(f.z, own.standard(r.Values))
	}
}

func (r *regressor) standard(values []float64) []float64 {
	return standardized(values, r.Mean, r.Scale)
}

func standardized(values []float64, offset, scale float64) []float64 {
	z := make([]float64, len(values))
	for n, v := range values {
		z[n] = (v - offset) / scale
	}
	return z
}

var errNotPositive = fault.Errorf(ErrData, "a value is not positive; a model of logarithms needs positive values")

// logarithm returns the series of log y, with known errors divided by y. ok is false if a value is not positive.
func (s *Series) logarithm() (l Series, ok bool) {
	l = Series{X: s.X, Regressors: s.Regressors}
	for d, y := range s.Y {
		logs := make([]float64, len(y))
		for n, v := range y {
			if v <= 0 {
				return Series{}, false
			}
			logs[n] = math.Log(v)
		}
		l.Y = append(l.Y, logs)
		if s.Err != nil {
			relative := make([]float64, len(y))
			for n, e := range s.Err[d] {
				relative[n] = e / y[n]
			}
			l.Err = append(l.Err, relative)
		}
	}
	return l, true
}

// jacobian returns the log Jacobian from data units to model units, summed over the values at times u ≥ from.
func (f *frame) jacobian(from float64) (sum float64) {
	for d, y := range f.y {
		for n, v := range y {
			if !math.IsNaN(v) && f.u[n] >= from {
				sum -= math.Log(f.Scale[d])
				if f.Log {
					sum -= f.Offset[d] + f.Scale[d]*v
				}
			}
		}
	}
	return sum
}

// value converts y of output d from the model's units to the data's units. For counts, it returns the mean at y.
func (f *frame) value(d int, y float64) float64 {
	if y = f.Offset[d] + f.Scale[d]*y; f.Log {
		y = math.Exp(y)
	}
	if f.Counts != nil {
		y *= 1 - f.Counts[d].Zero
	}
	return y
}

// growth returns the largest standard deviation of the outputs' logarithms, at least 1. It is 1 without a logarithm.
func (f *frame) growth() float64 {
	if !f.Log {
		return 1
	}
	return max(1, slices.Max(f.Scale))
}

// newFrame checks and standardizes the series by its mean and standard deviation or, if robust, by its median and median absolute
// deviation.
func newFrame(s *Series, robust bool) (*frame, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	f := &frame{Rows: len(s.X)}
	for d, y := range s.Y {
		rows := present(y)
		seen, x := picked(y, rows), picked(s.X, rows)
		if len(seen) < minRows || slices.Min(x) == slices.Max(x) {
			return nil, fault.Errorf(ErrData, "output %d has %d values at %d times; must have at least %d at different times", d,
				len(seen), len(s.X), minRows)
		}
		mean, sd := bayes.MeanSD(seen, 0, 1)
		if robust {
			mean, sd = medianSD(seen, sd)
		}
		f.Offset, f.Scale = append(f.Offset, mean), append(f.Scale, cmp.Or(sd, 1))
		f.y = append(f.y, standardized(y, mean, f.Scale[d]))
	}
	f.setTimes(s.X)
	f.addRegressors(s.Regressors)
	for d, sd := range s.Err {
		f.known = append(f.known, f.standardErrors(d, sd))
		rows := present(s.Y[d])
		used := picked(sd, rows)
		least, most := slices.Min(used), slices.Max(used)
		if least < smallestKnown*f.Scale[d] || most > largestKnown*f.Scale[d] {
			return nil, fault.Errorf(ErrData, "known errors are %.3g to %.3g, must be %v to %v times the standard deviation of the values (%.3g)", least, most, smallestKnown, float64(largestKnown), f.Scale[d])
		}
		f.Error = append(f.Error, bayes.Median(picked(f.known[d], rows)))
	}
	return f, nil
}

// present returns the indices of the values that are not NaN.
func present(y []float64) (rows []int) {
	for n, v := range y {
		if !math.IsNaN(v) {
			rows = append(rows, n)
		}
	}
	return rows
}

// standardErrors standardizes the known errors of output d and clips them to the supported range.
func (f *frame) standardErrors(d int, errors []float64) []float64 {
	least := max(minError, minErrorByRow*math.Sqrt(float64(f.Rows)))
	standard := make([]float64, len(errors))
	for n, e := range errors {
		standard[n] = min(max(e/f.Scale[d], least), largestError)
	}
	return standard
}

// medianSD returns the median and the scaled median absolute deviation, or sd if the deviation is 0.
func medianSD(a []float64, sd float64) (middle, scale float64) {
	middle = bayes.Median(a)
	away := make([]float64, len(a))
	for i, v := range a {
		away[i] = math.Abs(v - middle)
	}
	return middle, cmp.Or(bayes.PerMedian*bayes.Median(away), sd)
}

// error returns the noise sd of value n of output d in units of the noise hyper-parameter.
func (f *frame) error(d, n int) float64 {
	e := f.usual(d, n)
	if f.outlierFactor != nil {
		e *= f.outlierFactor[d][n]
	}
	return e
}

// setTimes computes the step and the times u in steps. Without a grid, the step is close to the median spacing.
func (f *frame) setTimes(x []float64) {
	sorted := slices.Compact(slices.Sorted(slices.Values(x)))
	f.First = sorted[0]
	var gaps []float64
	for i := 1; i < len(sorted); i++ {
		gaps = append(gaps, sorted[i]-sorted[i-1])
	}
	slices.Sort(gaps)
	middle, steps := gaps[len(gaps)/2], 0.0 // a gap that occurs
	for _, g := range gaps {
		steps += math.Round(g / middle)
	}
	span := sorted[len(sorted)-1] - f.First
	f.Step = span / max(1, steps)
	f.Even = !slices.ContainsFunc(sorted, func(v float64) bool {
		at := (v - f.First) / f.Step
		return !(math.Abs(at-math.Round(at)) <= onGrid)
	})
	f.Range = span / f.Step
	f.u = make([]float64, len(x))
	for n, v := range x {
		f.u[n] = f.steps(v)
	}
}

// memory estimates the number of bytes for a fit: its rows, and the spectra of the outputs.
func (f *frame) memory() float64 {
	const row, line = 1000, 16 // bytes, measured
	lines := 0.0
	if f.Range <= sparse*float64(f.Rows) {
		lines = float64(spectrumSize(f.Range))
	}
	return heap.Factor * (row*float64(f.Rows) + line*lines*float64(len(f.y)))
}

// steps converts x to steps from the first observation. Times close to the grid are rounded to it.
func (f *frame) steps(x float64) float64 {
	u := (x - f.First) / f.Step
	if f.Even && math.Abs(u-math.Round(u)) <= onGrid {
		return math.Round(u)
	}
	return u
}

// x converts u from steps to the input's units.
func (f *frame) x(u float64) float64 { return f.First + u*f.Step }

// usual returns the error of a value without the outlier factor.
func (f *frame) usual(d, n int) float64 {
	if f.known == nil {
		return 1
	}
	return f.known[d][n]
}

// defaultError returns the squared error of a predicted value: the median known error, or 1.
func (f *frame) defaultError(d int) float64 {
	if f.Error == nil {
		return 1
	}
	return f.Error[d] * f.Error[d]
}

// A group contains outputs with the same observation times and the same known noise. They share moments.
type group struct {
	outputs []int
	rows    []int // increasing
}

// groups partitions the outputs into groups.
func (f *frame) groups() []group {
	var all []group
	for d, y := range f.y {
		rows := present(y)
		same := slices.IndexFunc(all, func(g group) bool {
			differs := func(n int) bool { return f.error(g.outputs[0], n) != f.error(d, n) }
			return slices.Equal(g.rows, rows) && !slices.ContainsFunc(rows, differs)
		})
		if same < 0 {
			all = append(all, group{rows: rows})
			same = len(all) - 1
		}
		all[same].outputs = append(all[same].outputs, d)
	}
	return all
}
