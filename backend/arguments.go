package backend

import "cmp"

// Every backend calls one of these checks at the beginning of each pass.

// CheckMoments returns an error if the arguments of Rows.Moments do not match the rows.
func (d *Data) CheckMoments(dst *Moments, f *Features) error {
	return cmp.Or(d.CheckFeatures(f), dst.Check(f, d.D))
}

// CheckPullback returns an error if the arguments of Rows.Pullback do not match the rows.
func (d *Data) CheckPullback(dst, f *Features, bar *Moments) error {
	return cmp.Or(d.CheckMoments(bar, f), dst.CheckRoom(f))
}

// CheckFactorized returns an error if the arguments of Rows.Factorized do not match the rows.
func (d *Data) CheckFactorized(dst *FactorizedSums, f *Features, w *Weights, rows []int) error {
	return cmp.Or(d.CheckFeatures(f), w.Check(f, d.D), d.CheckRows(rows), dst.Check(f, d.D))
}

// CheckPredict returns an error if the arguments of Rows.Predict do not match the rows.
func (d *Data) CheckPredict(dst *Prediction, f *Features, p *Posterior) error {
	if err := cmp.Or(d.CheckFeatures(f), p.check(f)); err != nil {
		return err
	}
	return dst.check(d.N, p.D)
}

// CheckSolve returns an error if the arguments of Rows.Solve do not match the rows.
func (d *Data) CheckSolve(dst *Solution, f *Features) error {
	return cmp.Or(d.CheckFeatures(f), dst.Check(f, d.D))
}

// CheckPullbackSolved returns an error if the arguments of Rows.PullbackSolved do not match
// the rows.
func (d *Data) CheckPullbackSolved(dst, f *Features) error {
	return cmp.Or(d.CheckFeatures(f), dst.CheckRoom(f))
}
