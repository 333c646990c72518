package series

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/vssgp/vssgp/backend"
)

// moments are the sums over a group's rows that everything else is computed from: G = ΦᵀΦ and C = Φᵀy at unit amplitudes, and Σy². If the
// noise has known standard deviations e_n, rows are divided by them.
type moments struct {
	outputs []int
	n       int
	gram    []float64   // [M,M]
	c       [][]float64 // [outputs][M]
	yy      []float64   // [outputs]
	logErr  float64     // Σ log e_n
}

// sum makes one pass over the rows of each group, from a place on.
func (l *layout) sum(ctx context.Context, device backend.Backend, from float64) ([]*moments, error) {
	var all []*moments
	features := l.spectral()
	for _, g := range l.frame.groups() {
		g.rows = slices.DeleteFunc(g.rows, func(n int) bool { return l.frame.u[n] < from })
		m, err := l.sumGroup(ctx, device, features, g)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// sumGroup sums rows with the usual noise on the backend, and others, divided by their error e_n, on the host: the backends' rows have no
// weights.
func (l *layout) sumGroup(ctx context.Context, device backend.Backend, features *backend.Features, g group) (*moments, error) {
	f, d := l.frame, len(g.outputs)
	m := &moments{outputs: g.outputs, n: len(g.rows), yy: make([]float64, d)}
	usual := backend.Data{Q: 1, D: d, Stop: ctx.Err}
	weighted := usual
	var errs []float64
	for _, n := range g.rows {
		e := f.error(g.outputs[0], n)
		data := &usual
		if e != 1 {
			data, errs = &weighted, append(errs, e)
			m.logErr += math.Log(e)
		}
		data.N++
		data.X = append(data.X, f.u[n])
		for i, out := range g.outputs {
			data.Y = append(data.Y, f.y[out][n])
			m.yy[i] += f.y[out][n] * f.y[out][n] / (e * e)
		}
	}
	sums := backend.NewMoments(features, d)
	if usual.N > 0 {
		rows, err := device.Open(usual)
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		if err := rows.Moments(sums, features); err != nil {
			return nil, err
		}
	}
	m.gram = sums.Gram.Diag[0]
	addWeighted(m.gram, sums.C, features, &weighted, errs)
	m.split(sums.C)
	return m, ctx.Err()
}

// addWeighted adds rows divided by their errors, a few hundred at a time.
func addWeighted(gram, cross []float64, f *backend.Features, data *backend.Data, errs []float64) {
	const part = 256
	d := data.D
	g := blas64.Symmetric{N: f.M, Stride: f.M, Data: gram, Uplo: blas.Lower}
	c := blas64.General{Rows: f.M, Cols: d, Stride: d, Data: cross}
	phi, y := make([]float64, part*f.M), make([]float64, part*d)
	for lo := 0; lo < data.N; lo += part {
		hi := min(data.N, lo+part)
		for n := lo; n < hi; n++ {
			values(phi[(n-lo)*f.M:(n-lo+1)*f.M], f, data.X[n], 1/errs[n])
			for i := range d {
				y[(n-lo)*d+i] = data.Y[n*d+i] / errs[n]
			}
		}
		rows := blas64.General{Rows: hi - lo, Cols: f.M, Stride: f.M, Data: phi}
		blas64.Syrk(blas.Trans, 1, rows, 1, g)
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, rows, blas64.General{Rows: hi - lo, Cols: d, Stride: d, Data: y}, 1, c)
	}
	for j := range f.M {
		for k := range j {
			gram[k*f.M+j] = gram[j*f.M+k]
		}
	}
}

// split takes C [M,D] apart.
func (m *moments) split(c []float64) {
	d := len(m.outputs)
	m.c = make([][]float64, d)
	for i, v := range c {
		m.c[i%d] = append(m.c[i%d], v)
	}
}

// values fills phi with all features at u, times scale.
func values(phi []float64, f *backend.Features, u, scale float64) {
	for k := range f.M {
		phi[k] = scale * f.Amp[k] * math.Cos(f.Freq[k]*(u-f.Center[k])+f.Phase[k])
	}
}

// restrict are the moments of some of the features.
func (m *moments) restrict(pick []int) *moments {
	r := *m
	all := len(m.c[0])
	r.gram = make([]float64, 0, len(pick)*len(pick))
	for _, j := range pick {
		for _, k := range pick {
			r.gram = append(r.gram, m.gram[j*all+k])
		}
	}
	r.c = make([][]float64, len(m.c))
	for i, c := range m.c {
		for _, k := range pick {
			r.c[i] = append(r.c[i], c[k])
		}
	}
	return &r
}

// restrict are the moments of l's features out of those of another layout.
func (l *layout) restrict(whole *layout, sums []*moments) (own []*moments) {
	pick := l.within(whole)
	for _, m := range sums {
		own = append(own, m.restrict(pick))
	}
	return own
}

// within lists which of another layout's features are l's: that layout has the same parts and maybe more, and as many frequencies in the
// short memory, or more.
func (l *layout) within(whole *layout) []int {
	type place struct {
		name string
		nth  int
	}
	at := func(l *layout) (places []place) {
		nth := map[string]int{}
		for _, b := range l.blocks {
			name := l.parts[b.part].name()
			places = append(places, place{name, nth[name]})
			nth[name]++
		}
		return places
	}
	from := map[place]block{}
	for i, p := range at(whole) {
		from[p] = whole.blocks[i]
	}
	var pick []int
	for i, p := range at(l) {
		lo := from[p].lo
		for k := range l.blocks[i].hi - l.blocks[i].lo {
			pick = append(pick, lo+k)
		}
	}
	return pick
}
