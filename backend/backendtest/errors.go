package backendtest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/vssgp/vssgp/backend"
)

// A misuse calls a method with one invalid argument. If want is nil, the method may accept or
// reject it.
type misuse struct {
	name string
	call func() error
	want error
}

// checkErrors checks that invalid arguments give an error that wraps backend.ErrShape or
// backend.ErrValue and do not panic.
func checkErrors(p *problem, b backend.Backend) error {
	var errs []error
	for _, m := range p.openMisuses(b) {
		errs = append(errs, m.refused())
	}
	errs = append(errs, p.withRows(b, func(r backend.Rows, out *fences) error {
		var errs []error
		for _, m := range slices.Concat(p.featureMisuses(r, out), p.outputMisuses(r, out), p.otherMisuses(r, out)) {
			errs = append(errs, m.refused())
		}
		return errors.Join(errs...)
	}))
	return errors.Join(errs...)
}

func (m misuse) refused() (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%s: panic: %v", m.name, v)
		}
	}()
	if got := m.call(); m.want != nil && !errors.Is(got, m.want) {
		return fmt.Errorf("%s: error %v, want one that is %q", m.name, got, m.want)
	}
	return nil
}

func (p *problem) openMisuses(b backend.Backend) []misuse {
	try := func(name string, want error, change func(d *backend.Data)) misuse {
		return misuse{"open: " + name, func() error {
			d := p.data
			d.X, d.Y = slices.Clone(d.X), slices.Clone(d.Y)
			change(&d)
			r, err := b.Open(d)
			if err == nil {
				r.Close()
			}
			return err
		}, want}
	}
	return []misuse{
		try("short X", backend.ErrShape, func(d *backend.Data) { d.X = d.X[1:] }),
		try("long Y", backend.ErrShape, func(d *backend.Data) { d.Y = append(d.Y, 0) }),
		try("no rows", backend.ErrShape, func(d *backend.Data) { d.N, d.X, d.Y = 0, nil, nil }),
		try("NaN in X", backend.ErrValue, func(d *backend.Data) { d.X[0] = math.NaN() }),
		try("infinite Y", backend.ErrValue, func(d *backend.Data) { d.Y[0] = math.Inf(1) }),
		try("windows of no length", backend.ErrValue, func(d *backend.Data) { d.Windows = backend.Windows{Center: []float64{0, 1}} }),
		try("windows spaced a whole length", backend.ErrValue, func(d *backend.Data) {
			d.Windows = backend.Windows{Center: []float64{0, 1}, Length: 1}
		}),
	}
}

// featureMisuses returns calls of every method with features that do not match the data.
func (p *problem) featureMisuses(r backend.Rows, out *fences) (all []misuse) {
	for name, change := range map[string]func(f *backend.Features){
		"short Center": func(f *backend.Features) { f.Center = f.Center[1:] },
		"short Ripple": func(f *backend.Features) { f.Ripple = f.Ripple[1:] },
		"long Phase":   func(f *backend.Features) { f.Phase = append(slices.Clone(f.Phase), 0) },
		"no features":  func(f *backend.Features) { *f = *backend.NewFeatures(0, p.q) },
		"more inputs":  func(f *backend.Features) { *f = *backend.NewFeatures(p.m, p.q+1); f.Window = p.features.Window },
		"other windows": func(f *backend.Features) {
			f.Windows = backend.Windows{Center: []float64{-5, -4}, Length: 2}
			f.Window = make([]int, p.m)
		},
		"window past the last": func(f *backend.Features) {
			f.Window = make([]int, p.m)
			f.Window[p.m-1] = f.Windows.Count()
		},
		"window before the first": func(f *backend.Features) { f.Window = make([]int, p.m); f.Window[0] = -1 },
	} {
		f := *p.features
		change(&f)
		for method, call := range map[string]func() error{
			"Moments":    func() error { return r.Moments(p.moments(out, p.d), &f) },
			"Pullback":   func() error { return r.Pullback(p.cotangent(out), &f, p.bar) },
			"Factorized": func() error { return r.Factorized(p.sums(out), &f, p.weights, nil) },
			"Predict": func() error {
				return r.Predict(backend.NewPrediction(p.n, p.d), &f, p.diagonal)
			},
		} {
			all = append(all, misuse{method + ": " + name, call, backend.ErrShape})
		}
	}
	if p.windows == 0 { // without windows Dim has no effect
		f := *p.features
		f.Windows.Dim = p.q
		all = append(all, misuse{"Moments: Dim without windows", func() error { return r.Moments(p.moments(out, p.d), &f) }, nil})
	}
	return all
}

// outputMisuses returns calls of every method with a dst that is too small or too large.
func (p *problem) outputMisuses(r backend.Rows, out *fences) []misuse {
	more := backend.NewFeatures(p.m+1, p.q)
	less := p.cotangent(out)
	less.Ripple = less.Ripple[1:]
	moreInputs := backend.NewFeatures(p.m, p.q+1)
	sums := func(change func(s *backend.FactorizedSums)) func() error {
		s := p.sums(out)
		change(s)
		return func() error { return r.Factorized(s, p.features, p.weights, nil) }
	}
	shape := backend.ErrShape
	return []misuse{
		{"Moments: dst of other outputs", func() error { return r.Moments(p.moments(out, p.d+1), p.features) }, shape},
		{"Moments: dst of more features", func() error { return r.Moments(backend.NewMoments(more, p.d), p.features) }, shape},
		{"Pullback: dst of more features", func() error { return r.Pullback(more, p.features, p.bar) }, shape},
		{"Pullback: dst with a short field", func() error { return r.Pullback(less, p.features, p.bar) }, shape},
		{"Pullback: dst of more inputs", func() error { return r.Pullback(moreInputs, p.features, p.bar) }, shape},
		{"Factorized: dst of more features", sums(func(s *backend.FactorizedSums) { s.Features = more }), shape},
		{"Factorized: dst with a short field", sums(func(s *backend.FactorizedSums) { s.Features = less }), shape},
		{"Factorized: dst of other outputs", sums(func(s *backend.FactorizedSums) { s.Weights = backend.NewWeights(p.m, p.d+1) }), shape},
		{"Predict: dst of more rows", func() error { return r.Predict(backend.NewPrediction(p.n+1, p.d), p.features, p.exact) }, shape},
		{"Predict: dst of other outputs", func() error { return r.Predict(backend.NewPrediction(p.n, p.d+1), p.features, p.exact) }, shape},
	}
}

// otherMisuses returns calls with invalid adjoints, coefficients and rows.
func (p *problem) otherMisuses(r backend.Rows, out *fences) []misuse {
	more := backend.NewFeatures(p.m+1, p.q)
	shape, value := backend.ErrShape, backend.ErrValue
	weights := func(w *backend.Weights, rows []int) func() error {
		return func() error { return r.Factorized(p.sums(out), p.features, w, rows) }
	}
	predict := func(post backend.Posterior) func() error {
		return func() error { return r.Predict(backend.NewPrediction(p.n, p.d), p.features, &post) }
	}
	return []misuse{
		{"Pullback: bar of other outputs", func() error { return r.Pullback(p.cotangent(out), p.features, p.moments(out, p.d+1)) }, shape},
		{"Pullback: bar of more features", func() error { return r.Pullback(p.cotangent(out), p.features, backend.NewMoments(more, p.d)) },
			shape},
		{"Factorized: weights of other outputs", weights(backend.NewWeights(p.m, p.d+1), nil), shape},
		{"Factorized: weights of more features", weights(backend.NewWeights(p.m+1, p.d), nil), shape},
		{"Factorized: row −1", weights(p.weights, []int{0, -1}), value},
		{"Factorized: row N", weights(p.weights, []int{p.n}), value},
		{"Predict: short mean", predict(backend.Posterior{Mean: p.exact.Mean[1:], Cov: p.exact.Cov, D: p.d}), shape},
		{"Predict: covariance of more features", predict(backend.Posterior{Mean: p.exact.Mean, Cov: backend.NewGram(more.Offsets()),
			D: p.d}), shape},
		{"Predict: no covariance", predict(backend.Posterior{Mean: p.exact.Mean, D: p.d}), shape},
	}
}
