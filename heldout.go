package vssgp

import (
	"errors"
	"math"

	"github.com/vssgp/vssgp/internal/optimise"
	"github.com/vssgp/vssgp/internal/start"
)

// heldOut holds a fitted model against lines.
func (f *fit) heldOut(a *attempt) (h HeldOut, err error) {
	known, asked, line := start.HeldOut(f.rows, f.gridStep())
	mean, _, err := a.model.clone().predictFrom(f.ctx, known, asked.X)
	if err != nil {
		return h, err
	}
	h.Rows = asked.N
	for i, y := range asked.Y {
		row := i % asked.D
		h.RMSE += math.Pow((mean[i]-f.y.Offset[row])/f.y.Scale[row]-y, 2)
		h.Line += math.Pow(line[i]-y, 2)
	}
	n := float64(len(asked.Y))
	h.RMSE, h.Line = f.optimism(a)*math.Sqrt(h.RMSE/n), math.Sqrt(h.Line/n)
	return h, nil
}

// optimism is by how much the error is greater over rows that the covariance
// was not fitted to, √((N+p)/(N−p)) with p point estimates (Akaike 1970).
func (f *fit) optimism(a *attempt) float64 {
	n := float64(f.data.N * f.data.D)
	p := min(float64(a.points), heldPoints*n)
	return math.Sqrt((n + p) / (n - p))
}

// second reports whether another start is to follow the last one: the best fit
// is worse than lines, and the options leave a start open that is not.
func (f *fit) second() (bool, error) {
	if f.best == nil || f.rough > 0 || f.o.Iterations == NoIterations {
		return false, nil
	}
	if m := f.best.model; !f.holdsOut(m.Inference, m.Params.M(), len(m.Params.Windows.Center) > 0) {
		return false, nil
	}
	h, err := f.heldOut(f.best)
	if errors.Is(err, ErrBound) && f.ctx.Err() == nil {
		return false, nil // a covariance that fewer rows do not bear is no reason against it
	}
	if err != nil {
		return false, optimise.Interrupted(f.ctx, err)
	}
	f.res.HeldOut = h
	return h.above(heldTry) && f.leavesRough(), nil
}

// keepRough keeps the rough start's fit if that tells what was held out better.
func (f *fit) keepRough(a *attempt) (bool, error) {
	h, err := f.heldOut(a)
	if err != nil {
		return false, optimise.Interrupted(f.ctx, err)
	}
	was, err := f.heldOut(f.best)
	if err != nil {
		return false, optimise.Interrupted(f.ctx, err)
	}
	if f.res.HeldOut = was; h.RMSE < was.RMSE {
		f.res.HeldOut = h
		return true, nil
	}
	return false, nil
}

// heldPoints bounds the point estimates that optimism believes in, a row.
const heldPoints = 0.8
