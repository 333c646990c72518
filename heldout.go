package vssgp

import (
	"errors"
	"math"
	"slices"
	"sort"
)

// A HeldOut says how well a fit of one input tells rows from the others around
// them: its covariance and noise, which were fitted to all rows, are conditioned
// on the data without some stretches, a tenth in all and as long as the data's
// own gaps, and predict those. See DESIGN.md, "Is the fit better than a line?".
type HeldOut struct {
	Rows int // held out
	// RMSE is the error there, raised for the point estimates that had seen these
	// rows (Akaike's final prediction error, 1970), Line that of straight lines between the
	// neighbours that are left, in the model's units of y: its standard
	// deviations, unless the fit was Raw.
	RMSE, Line float64
}

const (
	// heldShare of the rows are held out, of fits of heldFewest rows or more.
	heldShare  = 0.1
	heldFewest = 20
	// heldTry times the line's error is enough for another start, and heldWorse
	// for Worse; so is neither up to heldSmall standard deviations: where data
	// have next to no noise a line's error is next to nothing, and so is ours.
	heldTry, heldWorse = 1.0, 1.1
	heldSmall          = 1e-3
	// heldPoints bounds the point estimates that optimism believes in, a row.
	heldPoints = 0.8
)

// Worse reports whether the fit is clearly worse than straight lines between
// neighbours: by a tenth, and more than a thousandth of a standard deviation.
func (h HeldOut) Worse() bool { return h.above(heldWorse) }

func (h HeldOut) above(margin float64) bool {
	return h.RMSE > margin*h.Line && h.RMSE > heldSmall
}

// holdsOut reports whether a model can be held against lines at the cost of
// about one bound: it has one input, and its matrix is of a size that the fit
// had to do with.
func (m *Model) holdsOut(data *Data) bool {
	p := m.Params
	small := m.Inference == Exact || p.M() <= directLimit || len(p.Windows.Center) > 0
	return small && data.N >= heldFewest && data.varies()
}

// heldOut holds a fitted model against lines.
func (r *restarts) heldOut(f *fitting) (h HeldOut, err error) {
	known, asked, line := parted(r.data)
	try := f.model.clone()
	p, err := try.predictFrom(r.ctx, known, asked)
	if err != nil {
		return h, err
	}
	h.Rows = asked.N
	for i, y := range asked.Y {
		unit := try.Y.Scale[i%asked.D]
		h.RMSE += math.Pow((p.Mean[i]-y)/unit, 2)
		h.Line += math.Pow((line[i]-y)/unit, 2)
	}
	n := float64(len(asked.Y))
	h.RMSE, h.Line = f.optimism()*math.Sqrt(h.RMSE/n), math.Sqrt(h.Line/n)
	return h, nil
}

// optimism is by how much the error is greater over rows that the covariance
// was not fitted to, √((N+p)/(N−p)) with p point estimates (Akaike 1970).
func (f *fitting) optimism() float64 {
	n := float64(f.data.N * f.data.D)
	p := min(float64(f.pointEstimates()), heldPoints*n)
	return math.Sqrt((n + p) / (n - p))
}

// parted are the rows that are known and those asked for, by x, and what lines
// between known neighbours say of the latter. Stretches asked for lie by the
// golden ratio, which falls in step with no period.
func parted(data *Data) (known, asked *Data, line []float64) {
	order := make([]int, data.N)
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool { return data.X[order[i]] < data.X[order[j]] })
	length := data.typicalGap()
	known, asked = &Data{Q: 1, D: data.D}, &Data{Q: 1, D: data.D}
	for i, n := range order {
		to := known
		_, part := math.Modf(float64(i/length) * (math.Sqrt(5) - 1) / 2)
		if i > 0 && i < data.N-1 && part >= 1-heldShare {
			to = asked
		}
		to.N++
		to.X = append(to.X, data.X[n])
		to.Y = append(to.Y, data.Y[n*data.D:(n+1)*data.D]...)
	}
	for _, x := range asked.X {
		b := sort.SearchFloat64s(known.X, x)
		a := max(0, b-1) // the first and last row are known; at the first one's x it is that row
		share := 0.0
		if d := known.X[b] - known.X[a]; d > 0 {
			share = (x - known.X[a]) / d
		}
		for j := range data.D {
			line = append(line, (1-share)*known.Y[a*data.D+j]+share*known.Y[b*data.D+j])
		}
	}
	return known, asked, line
}

// typicalGap is the median number of neighbouring places without a row, at
// least 1, which it is for uneven rows too.
func (d *Data) typicalGap() int {
	step := d.evenStep()
	if step == 0 {
		return 1
	}
	gaps := runs(newGrid(d.X, nil, 0, step, 0).missing, true)
	if len(gaps) == 0 {
		return 1
	}
	slices.SortFunc(gaps, func(a, b [2]int) int { return (a[1] - a[0]) - (b[1] - b[0]) })
	middle := gaps[len(gaps)/2]
	return min(middle[1]-middle[0], max(1, d.N/heldFewest))
}

// second reports whether another start is to follow the last one: the best fit
// is worse than lines, and the options leave a start open that is not.
func (r *restarts) second() (bool, error) {
	if r.best == nil || r.rough > 0 || r.o.Iterations == NoIterations || !r.best.model.holdsOut(r.data) {
		return false, nil
	}
	h, err := r.heldOut(r.best)
	if errors.Is(err, ErrBound) && r.ctx.Err() == nil {
		return false, nil // a covariance that fewer rows do not bear is no reason against it
	}
	if err != nil {
		return false, interrupted(r.ctx, err)
	}
	r.res.HeldOut = h
	return h.above(heldTry) && r.o.leavesRough(r.data), nil
}

// keepRough keeps the rough start's fit if that tells what was held out better.
func (r *restarts) keepRough(f *fitting) (bool, error) {
	h, err := r.heldOut(f)
	if err != nil {
		return false, interrupted(r.ctx, err)
	}
	was, err := r.heldOut(r.best)
	if err != nil {
		return false, interrupted(r.ctx, err)
	}
	if r.res.HeldOut = was; h.RMSE < was.RMSE {
		r.res.HeldOut = h
		return true, nil
	}
	return false, nil
}
