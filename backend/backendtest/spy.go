package backendtest

import "github.com/vssgp/vssgp/backend"

// A Spy is a backend with hooks that observe its methods, make them fail or change their results. Each hook may be nil.
type Spy struct {
	backend.Backend
	// Before is called before a method ("Open", "Moments", "Pullback", "Factorized", "Predict", "Close") with its features, or
	// nil for Open and Close. If it returns an error, the method returns this error.
	Before func(method string, f *backend.Features) error
	// Moments, Pullback, Factorized and Predict are called with the method's result.
	Moments    func(m *backend.Moments)
	Pullback   func(bar *backend.Features)
	Factorized func(s *backend.FactorizedSums)
	Predict    func(p *backend.Prediction)
}

type spiedRows struct {
	backend.Rows
	spy *Spy
}

func (s *Spy) before(method string, f *backend.Features, do func() error) error {
	if s.Before != nil {
		if err := s.Before(method, f); err != nil {
			return err
		}
	}
	return do()
}

// Open opens rows whose methods call the hooks.
func (s *Spy) Open(d backend.Data) (r backend.Rows, err error) {
	err = s.before("Open", nil, func() error { r, err = s.Backend.Open(d); return err })
	if err != nil {
		return nil, err
	}
	return spiedRows{r, s}, nil
}

func (r spiedRows) Moments(dst *backend.Moments, f *backend.Features) error {
	err := r.spy.before("Moments", f, func() error { return r.Rows.Moments(dst, f) })
	if err == nil && r.spy.Moments != nil {
		r.spy.Moments(dst)
	}
	return err
}

func (r spiedRows) Pullback(dst, f *backend.Features, bar *backend.Moments) error {
	err := r.spy.before("Pullback", f, func() error { return r.Rows.Pullback(dst, f, bar) })
	if err == nil && r.spy.Pullback != nil {
		r.spy.Pullback(dst)
	}
	return err
}

func (r spiedRows) Factorized(dst *backend.FactorizedSums, f *backend.Features, w *backend.Weights, rows []int) error {
	err := r.spy.before("Factorized", f, func() error { return r.Rows.Factorized(dst, f, w, rows) })
	if err == nil && r.spy.Factorized != nil {
		r.spy.Factorized(dst)
	}
	return err
}

func (r spiedRows) Predict(dst *backend.Prediction, f *backend.Features, p *backend.Posterior) error {
	err := r.spy.before("Predict", f, func() error { return r.Rows.Predict(dst, f, p) })
	if err == nil && r.spy.Predict != nil {
		r.spy.Predict(dst)
	}
	return err
}

func (r spiedRows) Close() error { return r.spy.before("Close", nil, r.Rows.Close) }
