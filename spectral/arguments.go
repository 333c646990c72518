package spectral

// What each pass of a Rows is given, looked at as a whole: every backend begins
// by asking here.

// CheckMoments reports arguments of Rows.Moments that do not fit the rows.
func (d *Data) CheckMoments(dst *Moments, f *Features) error {
	if err := d.CheckFeatures(f); err != nil {
		return err
	}
	return dst.Check(f, d.D)
}

// CheckPullback reports arguments of Rows.Pullback that do not fit the rows.
func (d *Data) CheckPullback(dst, f *Features, bar *Moments) error {
	if err := d.CheckMoments(bar, f); err != nil {
		return err
	}
	return dst.CheckRoom(f)
}

// CheckFactorised reports arguments of Rows.Factorised that do not fit the rows.
func (d *Data) CheckFactorised(dst *FactorisedSums, f *Features, w *Weights, rows []int) error {
	if err := d.CheckFeatures(f); err != nil {
		return err
	}
	if err := w.Check(f, d.D); err != nil {
		return err
	}
	if err := d.CheckRows(rows); err != nil {
		return err
	}
	return dst.Check(f, d.D)
}

// CheckPredict reports arguments of Rows.Predict that do not fit the rows.
func (d *Data) CheckPredict(dst *Prediction, f *Features, p *Posterior) error {
	if err := d.CheckFeatures(f); err != nil {
		return err
	}
	if err := p.Check(f); err != nil {
		return err
	}
	return dst.Check(d.N, p.D)
}

// CheckSolve reports arguments of Rows.Solve that do not fit the rows.
func (d *Data) CheckSolve(dst *Solution, f *Features) error {
	if err := d.CheckFeatures(f); err != nil {
		return err
	}
	return dst.Check(f, d.D)
}

// CheckPullbackSolved reports arguments of Rows.PullbackSolved that do not fit
// the rows.
func (d *Data) CheckPullbackSolved(dst, f *Features) error {
	if err := d.CheckFeatures(f); err != nil {
		return err
	}
	return dst.CheckRoom(f)
}
