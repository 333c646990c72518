package backendtest

import (
	"cmp"
	"errors"
	"strings"

	"github.com/vssgp/vssgp/backend"
)

// checkMoments compares C and G with the oracle. Entries must be exactly zero if their windows are
// not both active in any row.
func checkMoments(p *problem, b backend.Backend) error {
	return p.withRows(b, func(r backend.Rows, out *fences) error {
		m := p.moments(out, p.d)
		if err := r.Moments(m, p.features); err != nil {
			return err
		}
		if p.positions > 0 && strings.HasPrefix(b.Name(), "cpu") && m.Terms == 0 {
			return errors.New("the sums are not from tables")
		}
		c, g := p.damped.Moments(p.xs, p.ys)
		return cmp.Or(
			same("C", m.C, flatten(c), p.tol.value),
			same("G", flatten(dense(m.Gram)), flatten(g), p.tol.value),
			closed("C", m.C, flatten(c)),
			closed("G", flatten(dense(m.Gram)), flatten(g)),
		)
	})
}

// checkMomentsAdd checks that the moments of the even rows and of the odd rows add up to the moments
// of all rows.
func checkMomentsAdd(p *problem, b backend.Backend) error {
	if p.n < 2 {
		return nil
	}
	var whole, parts []float64
	for _, rows := range [][]int{nil, p.everySecond(0), p.everySecond(1)} {
		d := p.data
		if rows != nil {
			d = p.pick(rows)
		}
		err := p.withData(b, d, func(r backend.Rows, out *fences) error {
			m := p.moments(out, p.d)
			if err := r.Moments(m, p.features); err != nil {
				return err
			}
			all := append(append([]float64(nil), m.C...), flatten(dense(m.Gram))...)
			if rows == nil {
				whole = all
				parts = make([]float64, len(all))
				return nil
			}
			for i, v := range all {
				parts[i] += v
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return same("C and G of two halves", parts, whole, p.tol.adds)
}

// everySecond returns rows first, first+2, ….
func (p *problem) everySecond(first int) (rows []int) {
	for n := first; n < p.n; n += 2 {
		rows = append(rows, n)
	}
	return rows
}

// pick returns the data of the given rows.
func (p *problem) pick(rows []int) backend.Data {
	d := p.data
	d.N, d.X, d.Y = len(rows), nil, nil
	for _, n := range rows {
		d.X = append(d.X, p.xs[n]...)
		d.Y = append(d.Y, p.ys[n]...)
	}
	return d
}
