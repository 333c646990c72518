package blocktri

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/vssgp/vssgp/backend"
)

// apart are segments on machines of their own, which share no memory: each has
// the sums over its own rows of its blocks and of the separators beside it.
type apart struct {
	at       []int // the separators
	whole    *backend.Gram
	local    []*backend.Gram
	segments []*Segment
	views    []*backend.Gram // of the separators beside them
	small    *Factor
}

// ends are the blocks that machine i has of its separators, −1 where it has
// none, in its own count.
func (a *apart) ends(i int) (left, right int) {
	left, right = -1, -1
	if i > 0 {
		left = 0
	}
	if i < len(a.at) {
		right = a.local[i].Blocks() - 1
	}
	return left, right
}

// factorize is what machines do, the sums over them being those that would
// travel.
func (a *apart) factorize(t *testing.T, lambda float64) (logDet float64) {
	offset := []int{0}
	for _, v := range a.at {
		offset = append(offset, offset[len(offset)-1]+a.whole.Size(v))
	}
	small := backend.NewGram(offset)
	for i, g := range a.local {
		left, right := a.ends(i)
		hi := g.Blocks()
		if right >= 0 {
			hi = right
		}
		s := NewSegment(g, left+1, hi)
		if err := s.Eliminate(lambda); err != nil {
			t.Fatal(i, err)
		}
		p, at := s.Schur(), max(0, i-1)
		for j, b := range p.Diag {
			floats.Add(small.Diag[at+j], b)
		}
		for j, b := range p.Below {
			floats.Add(small.Below[at+j], b)
		}
		a.views = append(a.views, p)
		logDet += s.LogDet()
		a.segments = append(a.segments, s)
	}
	if len(a.at) > 0 {
		var err error
		if a.small, err = Factorize(small, lambda, 2); err != nil {
			t.Fatal(err)
		}
		logDet += a.small.LogDet()
	}
	return logDet
}

// solve is A⁻¹b, where a separator's rows of b are sums over two machines.
func (a *apart) solve(b []float64, n int) []float64 {
	x := slices.Clone(b)
	rows := func(v, to int) []float64 { return x[a.whole.Offset[v]*n : a.whole.Offset[to]*n] }
	first := func(i int) int { // block of whole that machine i's segment begins with
		if i == 0 {
			return 0
		}
		return a.at[i-1] + 1
	}
	last := func(i int) int {
		if i < len(a.at) {
			return a.at[i]
		}
		return a.whole.Blocks()
	}
	parts := make([]float64, 0)
	for _, v := range a.at {
		parts = append(parts, rows(v, v+1)...)
	}
	at := func(i int) []float64 { // separator i's rows of parts
		if i < 0 || i >= len(a.at) {
			return nil
		}
		from := a.whole.Offset[0]
		for _, v := range a.at[:i] {
			from += a.whole.Size(v)
		}
		return parts[from*n : (from+a.whole.Size(a.at[i]))*n]
	}
	for i, s := range a.segments {
		left, right := make([]float64, len(at(i-1))), make([]float64, len(at(i)))
		s.SolveLower(rows(first(i), last(i)), left, right, n)
		floats.Add(at(i-1), left)
		floats.Add(at(i), right)
	}
	if a.small != nil {
		a.small.Solve(parts, n)
	}
	for i, s := range a.segments {
		s.SolveUpper(rows(first(i), last(i)), at(i-1), at(i), n)
	}
	for i, v := range a.at {
		copy(rows(v, v+1), at(i))
	}
	return x
}

// inverse leaves Z in each machine's matrix.
func (a *apart) inverse() {
	var z *backend.Gram
	if a.small != nil {
		z = a.small.Inverse()
	}
	for i, s := range a.segments {
		at := max(0, i-1)
		for j, b := range a.views[i].Diag {
			copy(b, z.Diag[at+j])
		}
		for j, b := range a.views[i].Below {
			copy(b, z.Below[at+j])
		}
		s.Inverse()
	}
}

// TestSegmentsApart holds them to dense algebra.
func TestSegmentsApart(t *testing.T) {
	const lambda, n = 0.3, 2
	for _, c := range []struct{ sizes, at []int }{
		{chain(7, 6), []int{3}},
		{chain(12, 9, 0, 8, 3), []int{2, 7}},
		{chain(12, 5), []int{1, 3, 10}},
		{chain(9, 4, 6), []int{4, 6}},
		{chain(9, 4, 6), nil},
		{chain(9, 0, 4), []int{2, 4, 6}}, // separators without features
	} {
		a := &apart{at: c.at}
		a.whole, a.local = ranks(c.sizes, c.at)
		dense := denseOf(a.whole)
		for i := range a.whole.M() {
			dense.SetSym(i, i, dense.At(i, i)+lambda)
		}
		var chol mat.Cholesky
		if !chol.Factorize(dense) {
			t.Fatal(c, "not positive definite")
		}
		if got, want := a.factorize(t, lambda), chol.LogDet(); math.Abs(got-want) > 1e-12*math.Abs(want) {
			t.Errorf("%v: log-determinant %v, dense %v", c, got, want)
		}
		rng := rand.New(rand.NewPCG(2, 2))
		b := make([]float64, a.whole.M()*n)
		for i := range b {
			b[i] = rng.NormFloat64()
		}
		x := a.solve(b, n)
		var product mat.Dense
		product.Mul(dense, mat.NewDense(a.whole.M(), n, x))
		for i := range b {
			if math.Abs(product.At(i/n, i%n)-b[i]) > 1e-12 {
				t.Fatalf("%v: (A·A⁻¹b)[%d] = %v, want %v", c, i, product.At(i/n, i%n), b[i])
			}
		}
		var inv mat.SymDense
		if err := chol.InverseTo(&inv); err != nil {
			t.Fatal(err)
		}
		a.inverse()
		for i, g := range a.local {
			first := 0
			if i > 0 {
				first = a.whole.Offset[c.at[i-1]]
			}
			checkInverse(t, c.sizes, g, inv.SliceSym(first, first+g.M()))
		}
	}
}

// ranks are the sum over rows of a random feature matrix, and its parts over
// the rows from each separator to the next one.
func ranks(sizes, at []int) (whole *backend.Gram, local []*backend.Gram) {
	rng := rand.New(rand.NewPCG(9, uint64(len(sizes))))
	offset := []int{0}
	for _, m := range sizes {
		offset = append(offset, offset[len(offset)-1]+m)
	}
	whole = backend.NewGram(offset)
	first := 0
	for _, last := range append(slices.Clone(at), len(sizes)-1) {
		part := slices.Clone(offset[first : last+2])
		for i := range part {
			part[i] -= offset[first]
		}
		g := backend.NewGram(part)
		for v := first; v < last; v++ {
			m := sizes[v] + sizes[v+1]
			row := make([]float64, m)
			for range m + 3 {
				for k := range row {
					row[k] = rng.NormFloat64()
				}
				outer(g, v-first, row)
				outer(whole, v, row)
			}
		}
		local = append(local, g)
		first = last
	}
	return whole, local
}

// outer adds a row's products to the blocks v and v + 1.
func outer(g *backend.Gram, v int, row []float64) {
	left, right := row[:g.Size(v)], row[g.Size(v):]
	for _, b := range []struct{ to, rows, cols []float64 }{
		{g.Diag[v], left, left}, {g.Diag[v+1], right, right}, {g.Below[v], right, left},
	} {
		for i, x := range b.rows {
			for j, y := range b.cols {
				b.to[i*len(b.cols)+j] += x * y
			}
		}
	}
}
