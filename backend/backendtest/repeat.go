package backendtest

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/vssgp/vssgp/backend"
)

// checkRepeat checks that every method gives the same bits when it is repeated on the same Rows, on
// new Rows, and with 1, 2 or 7 threads.
func checkRepeat(p *problem, b backend.Backend) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var first []uint64
	for _, threads := range []int{1, 2, 7, 2} {
		runtime.GOMAXPROCS(threads)
		err := p.withRows(b, func(r backend.Rows, out *fences) error {
			for repeat := range 2 {
				got, err := p.everything(r, out)
				if err != nil {
					return err
				}
				if first == nil {
					first = got
				}
				if !slices.Equal(first, got) {
					return fmt.Errorf("different bits with %d threads, repeat %d", threads, repeat)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// everything returns the bits of the results of all methods.
func (p *problem) everything(r backend.Rows, out *fences) ([]uint64, error) {
	from := len(out.all)
	m, g, s := p.moments(out, p.d), p.cotangent(out), p.sums(out)
	batch := p.sums(out)
	y := &backend.Prediction{Mean: out.make(p.n * p.d), Cov: out.make(p.n * p.d * p.d)}
	err := cmp.Or(
		r.Moments(m, p.features),
		r.Pullback(g, p.features, p.bar),
		r.Factorized(s, p.features, p.weights, nil),
		r.Factorized(batch, p.features, p.weights, p.subset),
		r.Predict(y, p.features, p.exact),
	)
	written := fences{out.all[from:]}
	return append(written.bits(), math.Float64bits(s.Value), math.Float64bits(batch.Value)), err
}

// checkNotFinite checks that a NaN parameter gives an error or a NaN result. A finite result would
// mislead an optimizer.
func checkNotFinite(p *problem, b backend.Backend) error {
	return p.withRows(b, func(r backend.Rows, out *fences) error {
		for i, field := range p.features.Fields() {
			var scratch fences
			f := p.cotangent(&scratch)
			f.Window, f.Windows = p.features.Window, p.features.Windows
			for j, from := range p.features.Fields() {
				copy(f.Fields()[j].Data, from.Data)
			}
			for j := range field.Data {
				f.Fields()[i].Data[j] = math.NaN()
			}
			s := p.sums(out)
			if err := r.Factorized(s, f, p.weights, nil); err == nil && !math.IsNaN(s.Value) && p.anyActive() {
				return fmt.Errorf("with %s NaN Factorized gives no error, value %g", field.Name, s.Value)
			}
			m := p.moments(out, p.d)
			err := r.Moments(m, f)
			all := append(flatten(dense(m.Gram)), m.C...)
			if err == nil && !slices.ContainsFunc(all, math.IsNaN) && p.anyActive() {
				return fmt.Errorf("with %s NaN Moments gives no error and no NaN", field.Name)
			}
		}
		return nil
	})
}

// anyActive reports whether any feature is active in any row.
func (p *problem) anyActive() bool {
	_, g := p.damped.Moments(p.xs, p.ys)
	return slices.ContainsFunc(flatten(g), func(v float64) bool { return v != 0 })
}
