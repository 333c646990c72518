package backend

import "cmp"

// Every backend begins each pass of a Rows with one of these checks.

// CheckMoments reports arguments of Rows.Moments that do not fit the rows.
func (d *Data) CheckMoments(dst *Moments, f *Features) error {
	return cmp.Or(d.CheckFeatures(f), dst.Check(f, d.D))
}

// CheckPullback reports arguments of Rows.Pullback that do not fit the rows.
func (d *Data) CheckPullback(dst, f *Features, bar *Moments) error {
	return cmp.Or(d.CheckMoments(bar, f), dst.CheckRoom(f))
}

// CheckFactorized reports arguments of Rows.Factorized that do not fit the rows.
func (d *Data) CheckFactorized(dst *FactorizedSums, f *Features, w *Weights, rows []int) error {
	return cmp.Or(d.CheckFeatures(f), w.Check(f, d.D), d.CheckRows(rows), dst.Check(f, d.D))
}

// CheckPredict reports arguments of Rows.Predict that do not fit the rows.
func (d *Data) CheckPredict(dst *Prediction, f *Features, p *Posterior) error {
	return cmp.Or(d.CheckFeatures(f), p.Check(f), dst.Check(d.N, p.D))
}

// CheckSolve reports arguments of Rows.Solve that do not fit the rows.
func (d *Data) CheckSolve(dst *Solution, f *Features) error {
	return cmp.Or(d.CheckFeatures(f), dst.Check(f, d.D))
}

// CheckPullbackSolved reports arguments of Rows.PullbackSolved that do not fit
// the rows.
func (d *Data) CheckPullbackSolved(dst, f *Features) error {
	return cmp.Or(d.CheckFeatures(f), dst.CheckRoom(f))
}
