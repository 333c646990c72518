package backendtest

import (
	"fmt"
	"slices"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/testkit/oracle"
)

// A reference is a backend made of the oracle's loops, with a slip on
// purpose: the suite must pass it without and refuse it with.
type reference struct{ slip slip }

// A slip spoils a backend's inputs before, or its outputs after, a method.
type slip struct {
	name     string
	features func(f *backend.Features) // what every method sees instead of f
	moments  func(m *backend.Moments)
	pullback func(bar *backend.Features)
	sums     func(s *backend.FactorizedSums)
	predict  func(p *backend.Prediction)
	rows     func(rows []int) []int
}

func (*reference) Name() string { return "reference" }
func (*reference) Close() error { return nil }

func (b *reference) Open(d backend.Data) (backend.Rows, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	r := &referenceRows{data: d, slip: b.slip, xs: unflatten(d.X, d.N), ys: unflatten(d.Y, d.N)}
	return r, nil
}

type referenceRows struct {
	backend.NoSolver
	data   backend.Data
	slip   slip
	xs, ys [][]float64
}

func (*referenceRows) Close() error { return nil }

// see checks f and translates what the slip leaves of it.
func (r *referenceRows) see(f *backend.Features) (*oracle.Damped, error) {
	if err := r.data.CheckFeatures(f); err != nil {
		return nil, err
	}
	c := *f
	for i, field := range f.Fields() {
		*[]*[]float64{&c.Center, &c.Decay, &c.Freq, &c.Phase, &c.Amp, &c.Power, &c.Ripple}[i] = slices.Clone(field.Data)
	}
	if r.slip.features != nil {
		r.slip.features(&c)
	}
	return &oracle.Damped{
		Center: unflatten(c.Center, c.M), Decay: unflatten(c.Decay, c.M), Freq: unflatten(c.Freq, c.M),
		Phase: c.Phase, Amp: c.Amp, Power: c.Power, Ripple: c.Ripple,
		Window: c.Window, WindowCenter: c.Windows.Center, WindowLength: c.Windows.Length, Dim: c.Windows.Dim,
	}, nil
}

// room checks that dst can hold a gradient by f.
func room(dst, f *backend.Features) error {
	to := dst.Fields()
	for i, from := range f.Fields() {
		if len(to[i].Data) != len(from.Data) || dst.Q != f.Q {
			return fmt.Errorf("reference: %s: %w", from.Name, backend.ErrShape)
		}
	}
	return nil
}

func (r *referenceRows) Moments(dst *backend.Moments, f *backend.Features) error {
	o, err := r.see(f)
	if err != nil {
		return err
	}
	if err := dst.Check(f, r.data.D); err != nil {
		return err
	}
	c, g := o.Moments(r.xs, r.ys)
	copy(dst.C, flatten(c))
	offset := f.Offsets()
	for v, b := range dst.Gram.Diag {
		for i := range b {
			b[i] = g[offset[v]+i/dst.Gram.Size(v)][offset[v]+i%dst.Gram.Size(v)]
		}
	}
	for v, b := range dst.Gram.Below {
		for i := range b {
			b[i] = g[offset[v+1]+i/dst.Gram.Size(v)][offset[v]+i%dst.Gram.Size(v)]
		}
	}
	if r.slip.moments != nil {
		r.slip.moments(dst)
	}
	return nil
}

// writeFeatures copies an oracle's gradient.
func writeFeatures(dst *backend.Features, bar *oracle.Damped) {
	copy(dst.Center, flatten(bar.Center))
	copy(dst.Decay, flatten(bar.Decay))
	copy(dst.Freq, flatten(bar.Freq))
	copy(dst.Phase, bar.Phase)
	copy(dst.Amp, bar.Amp)
	copy(dst.Power, bar.Power)
	copy(dst.Ripple, bar.Ripple)
}

func (r *referenceRows) Pullback(dst, f *backend.Features, bar *backend.Moments) error {
	o, err := r.see(f)
	if err != nil {
		return err
	}
	if err := firstOf(bar.Check(f, r.data.D), room(dst, f)); err != nil {
		return err
	}
	writeFeatures(dst, o.Pullback(r.xs, r.ys, unflatten(bar.C, f.M), dense(bar.Gram)))
	if r.slip.pullback != nil {
		r.slip.pullback(dst)
	}
	return nil
}

func (r *referenceRows) Factorized(dst *backend.FactorizedSums, f *backend.Features, w *backend.Weights, rows []int) error {
	o, err := r.see(f)
	if err != nil {
		return err
	}
	err = firstOf(w.Check(f, r.data.D), dst.Weights.Check(f, r.data.D), room(dst.Features, f), r.data.CheckRows(rows))
	if err != nil {
		return err
	}
	if r.slip.rows != nil {
		rows = r.slip.rows(rows)
	}
	xs, ys := r.xs, r.ys
	if rows != nil && len(rows) == 0 {
		xs, ys, rows = nil, ys[:1], nil
	}
	a := oracle.Diagonal{Mean: unflatten(w.Mean, f.M), Var: unflatten(w.Var, f.M)}
	value, bar, barA := o.Factorized(xs, ys, a, rows)
	dst.Value = value
	writeFeatures(dst.Features, bar)
	copy(dst.Weights.Mean, flatten(barA.Mean))
	copy(dst.Weights.Var, flatten(barA.Var))
	if r.slip.sums != nil {
		r.slip.sums(dst)
	}
	return nil
}

func (r *referenceRows) Predict(dst *backend.Prediction, f *backend.Features, post *backend.Posterior) error {
	o, err := r.see(f)
	if err != nil {
		return err
	}
	if err := firstOf(post.Check(f), dst.Check(r.data.N, post.D)); err != nil {
		return err
	}
	p := &problem{size: size{m: f.M, d: post.D}}
	mean, cov := o.Predict(r.xs, p.posterior(post))
	copy(dst.Mean, flatten(mean))
	for n, c := range cov {
		copy(dst.Cov[n*post.D*post.D:], flatten(c))
	}
	if r.slip.predict != nil {
		r.slip.predict(dst)
	}
	return nil
}
