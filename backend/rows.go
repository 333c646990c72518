package backend

import "math"

// Extent returns the minimum and the maximum of input q, in units of x.
func (d *Data) Extent(q int) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for i := q; i < len(d.X); i += d.Q {
		lo, hi = min(lo, d.X[i]), max(hi, d.X[i])
	}
	return lo, hi
}

// Some returns a copy of the given rows.
func (d *Data) Some(rows []int) Data {
	s := Data{Q: d.Q, D: d.D, Windows: d.Windows, X: make([]float64, 0, len(rows)*d.Q), Y: make([]float64, 0, len(rows)*d.D)}
	for _, n := range rows {
		s.Add(d, n)
	}
	return s
}

// Add appends a copy of row n of other data of the same shape.
func (d *Data) Add(of *Data, n int) {
	d.N++
	d.X = append(d.X, of.X[n*d.Q:(n+1)*d.Q]...)
	d.Y = append(d.Y, of.Y[n*d.D:(n+1)*d.D]...)
}
