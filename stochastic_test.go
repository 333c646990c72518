package vssgp

import (
	"context"
	"math"
	"slices"
	"testing"
)

// poorCoefficients is a fitted model as a factorised one whose coefficients
// have not been learnt, and the factorised bound of the best ones.
func poorCoefficients(t *testing.T, data *Data) (m *Model, best float64) {
	t.Helper()
	m, _ = mustFit(t, data, Options{Init: InitPaper, Features: 8, Iterations: 15})
	h, err := m.hold(data)
	if err != nil {
		t.Fatal(err)
	}
	defer h.rows.Close()
	p := m.Params
	diag, mean, err := h.exactDiagonal(p)
	if err != nil {
		t.Fatal(err)
	}
	p.CoefMean, p.CoefVar = mean, make([]float64, p.M())
	for i := range p.CoefVar {
		p.CoefVar[i] = 1 / (1 + p.NoisePrecision[0]*diag[i])
	}
	e, err := h.factorised(p, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	m.Inference = Factorised
	for i := range p.CoefVar {
		p.CoefMean[i], p.CoefVar[i] = 0, 1
	}
	return m, e.Bound
}

// TestFactorisedReachesBest: with all else fixed, both climbs reach the best
// diagonal posterior, which is known in closed form, within a stated distance
// of its bound.
func TestFactorisedReachesBest(t *testing.T) {
	data := wave(80, 0.2)
	from, best := poorCoefficients(t, data)
	poor := evaluated(t, from, data).Bound
	start := from.clone()
	start.Params.CoefMean, start.Params.CoefVar = nil, nil
	near(t, "bound at the fit's own start", []float64{startBound(t, start, data, Options{Inference: Factorised})}, []float64{best}, rounding)
	for name, c := range map[string]struct {
		o      Options
		within float64 // nats
	}{
		"L-BFGS":                  {Options{Inference: Factorised, Iterations: 300}, 0.01},
		"RMSPROP":                 {Options{Inference: Stochastic, Iterations: 3000, Batch: 20}, 1},
		"RMSPROP, contiguous":     {Options{Inference: Stochastic, Iterations: 3000, Batch: 20, Contiguous: true}, 1},
		"RMSPROP, 5 rows a batch": {Options{Inference: Stochastic, Iterations: 3000, Batch: 5}, 3},
	} {
		c.o.From, c.o.Fix = from, slices.Concat(hyper, feature)
		_, r := mustFit(t, data, c.o)
		if r.Bound > best+1e-9*math.Abs(best) || r.Bound < best-c.within {
			t.Errorf("%s: bound %.6g from %.6g, the best is %.6g: want within %g of it", name, r.Bound, poor, best, c.within)
		}
	}
}

// TestFactorisedBelowItsExact: fitted freely, both end above their start, and
// below the exact bound of the same parameters.
func TestFactorisedBelowItsExact(t *testing.T) {
	data := wave(80, 0.2)
	_, exact := mustFit(t, data, Options{Init: InitPaper, Features: 8, Iterations: 60})
	for name, c := range map[string]struct {
		o      Options
		within float64
	}{
		"factorised": {Options{Inference: Factorised, Iterations: 200}, 60},
		"stochastic": {Options{Inference: Stochastic, Iterations: 3000, Batch: 40}, 60},
	} {
		c.o.Init, c.o.Features = InitPaper, 8
		start, err := New(data, c.o)
		if err != nil {
			t.Fatal(err)
		}
		from := startBound(t, start, data, c.o)
		m, r := mustFit(t, data, c.o)
		above, err := m.Evaluate(data, Exact, nil, false)
		if err != nil {
			t.Fatal(err)
		}
		if r.Bound <= from || r.Bound >= above.Bound {
			t.Errorf("%s: bound %.5g from %.5g; the exact bound there is %.5g", name, r.Bound, from, above.Bound)
		}
		if r.Bound < exact.Bound-c.within {
			t.Errorf("%s: bound %.5g, exact inference reaches %.5g: want within %g", name, r.Bound, exact.Bound, c.within)
		}
	}
}

// TestBatches: every row is as likely as any other, rows of a batch differ,
// contiguous ones are neighbours, and the bound's estimate is unbiased.
func TestBatches(t *testing.T) {
	p, data := kind{name: "batches", n: 37, l: 1, k: 5, q: 1, d: 1}.make()
	m := mustModel(t, p)
	full := evaluated(t, m, data).Bound
	rank := make([]int, data.N)
	for n := range rank {
		for _, x := range data.X {
			if x < data.X[n] {
				rank[n]++
			}
		}
	}
	for _, contiguous := range []bool{false, true} {
		f, err := newFitting(context.Background(), m, data, Options{Batch: 8, Contiguous: contiguous, Seed: 4})
		if err != nil {
			t.Fatal(err)
		}
		b := f.newBatches()
		const draws = 6000
		count := make([]float64, data.N)
		var sum, square float64
		for range draws {
			rows := b.next().rows
			checkBatch(t, rows, rank, contiguous)
			for _, n := range rows {
				count[n]++
			}
			e, err := f.held.factorised(p, rows, false)
			if err != nil {
				t.Fatal(err)
			}
			sum += e.Bound - full
			square += (e.Bound - full) * (e.Bound - full)
		}
		f.close()
		if z := math.Abs(sum/draws) / math.Sqrt(square) * draws; z > standardErrors {
			t.Errorf("contiguous %v: the estimate is %.1f standard errors off the bound", contiguous, z)
		}
		share := 8.0 / 37
		for n, c := range count {
			if z := math.Abs(c-draws*share) / math.Sqrt(draws*share*(1-share)); z > standardErrors {
				t.Errorf("contiguous %v: row %d is in %g of %d batches, want %g", contiguous, n, c, draws, draws*share)
			}
		}
	}
}

// checkBatch: 8 different rows; neighbours along x, the end joined to the
// beginning, where contiguous.
func checkBatch(t *testing.T, rows, rank []int, contiguous bool) {
	t.Helper()
	sorted := slices.Clone(rows)
	slices.Sort(sorted)
	if len(slices.Compact(sorted)) != 8 {
		t.Fatalf("batch %v, want 8 different rows", rows)
	}
	for i := 1; contiguous && i < len(rows); i++ {
		if rank[rows[i]] != (rank[rows[i-1]]+1)%len(rank) {
			t.Fatalf("batch %v: rows %d and %d are no neighbours", rows, rows[i-1], rows[i])
		}
	}
}

// TestRMSProp: it climbs a bowl, adapts its rates by agreement, and a gradient
// that is not a number moves nothing.
func TestRMSProp(t *testing.T) {
	r := newRMSProp(3)
	v, g := []float64{2, -1, 5}, make([]float64, 3)
	for step := range 2000 {
		g[0], g[1], g[2] = -2*v[0], -200*(v[1]-1), math.NaN()
		r.step(v, g, 0, 3, coolDown(step, 2000))
	}
	near(t, "maximum", v[:2], []float64{0, 1}, 1e-3)
	if v[2] != 5 {
		t.Errorf("a NaN gradient moved its coordinate to %v", v[2])
	}
	r = newRMSProp(2)
	v = make([]float64, 2)
	for step := range 10 {
		sign := float64(1 - 2*(step%2))
		r.step(v, []float64{1, sign}, 0, 2, 1)
	}
	if !(r.rate[0] > rmsRate && r.rate[1] < rmsRate) {
		t.Errorf("rates %v after steps that agree and steps that differ, from %v", r.rate, rmsRate)
	}
}

// TestStochasticSteps: by default every row is seen some times on average, of
// few rows as of many.
func TestStochasticSteps(t *testing.T) {
	for _, c := range []struct{ n, batch, want int }{
		{100, 0, stochasticSteps},
		{100, 10, stochasticSteps},
		{stochasticSteps * batchRows, 0, stochasticPasses * stochasticSteps},
		{stochasticSteps*batchRows + 1, 0, stochasticPasses*stochasticSteps + 1},
		{1 << 20, 1024, 10240},
	} {
		f := &fitting{o: Options{Inference: Stochastic, Batch: c.batch}, data: &Data{N: c.n}}
		if got := f.defaultIterations(Stochastic); got != c.want {
			t.Errorf("%d rows, batches of %d: %d steps, want %d", c.n, c.batch, got, c.want)
		}
	}
}
