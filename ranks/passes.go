package ranks

import (
	"math"
	"slices"

	"github.com/vssgp/vssgp/backend"
)

// shareFeatures sends each domain its features: first the number per window, then their values.
func (s *set) shareFeatures(f *backend.Features) {
	counts := make([]float64, s.windows.Count())
	if f != nil {
		offset := f.Offsets()
		for v := range counts {
			counts[v] = float64(offset[v+1] - offset[v])
		}
	}
	s.scatter(eachWindow(counts), func(d *domain) byWindow { return eachWindow(d.counts) })
	for _, d := range s.domains {
		d.reserve(s.q)
	}
	s.scatter(featuresBy(f, f), func(d *domain) byWindow { return featuresBy(d.features, d.features) })
}

// reserve allocates the features given by counts, unless already allocated.
func (d *domain) reserve(q int) {
	m, window := 0, []int(nil) // nil for one window
	for v, c := range d.counts {
		if m += int(c); len(d.counts) > 1 {
			window = append(window, slices.Repeat([]int{v}, int(c))...)
		}
	}
	if f := d.features; f == nil || f.M != m || !slices.Equal(f.Window, window) {
		d.features = backend.NewFeatures(m, q)
		d.features.Window, d.features.Windows = window, d.windows
	}
}

// reserveMoments allocates moments for the outputs, unless already allocated.
func (d *domain) reserveMoments(outputs int) {
	if m := d.moments; m == nil || m.Check(d.features, outputs) != nil {
		d.moments, d.segment = backend.NewMoments(d.features, outputs), nil
	}
}

// shareMoments sends each domain its part of a matrix, and of a vector for each output.
func (s *set) shareMoments(whole *backend.Moments, outputs int) {
	to := func(d *domain) byWindow { return momentsBy(d.moments) }
	for _, d := range s.domains {
		if s.dense() && whole != nil { // no second matrix on rank 0
			d.moments = whole
			to = func(*domain) byWindow { return func(int, int) []block { return nil } }
		} else {
			d.reserveMoments(outputs)
		}
	}
	s.scatter(momentsBy(whole), to)
}

// shareWeights sends each domain the mean and the variance of its coefficients.
func (s *set) shareWeights(f *backend.Features, w *backend.Weights, outputs int) {
	var from byWindow
	if w != nil {
		from = rowsBy(f, w.Mean, w.Var)
	}
	for _, d := range s.domains {
		if d.weights == nil || d.weights.Check(d.features, outputs) != nil {
			d.weights = backend.NewWeights(d.features.M, outputs)
		}
	}
	s.scatter(from, func(d *domain) byWindow { return rowsBy(d.features, d.weights.Mean, d.weights.Var) })
}

// idle reports whether the shard has no rows, or no feature reaches them.
func (o *shard) idle() bool { return o.rows == nil || o.features.M == 0 }

// moments fills dst on rank 0 with C and G.
func (s *set) moments(dst *backend.Moments, f *backend.Features) error {
	s.shareFeatures(f)
	if s.dense() {
		return s.denseMoments(dst)
	}
	vectors, err := s.each(1, func(one *shard) ([]float64, error) {
		err := one.sumMoments(s.d)
		return pack(momentsBy(one.moments)(0, one.to-one.from)), err
	})
	if err := s.agree(err); err != nil {
		return err
	}
	s.sumWindows(momentsBy(dst), vectors)
	return nil
}

// sumMoments computes C and G of the shard, with windows.
func (o *shard) sumMoments(outputs int) error {
	o.reserveMoments(outputs)
	if o.idle() {
		clear(o.moments.C)
		o.moments.Gram.Zero()
		return nil
	}
	return o.rows.Moments(o.moments, o.features)
}

// denseMoments implements moments without windows. The shards' matrices are too large to store
// until all ranks agree on units, as in sum. So the features determine the units (unitsOf), and
// each matrix is added before the next is computed. Each rank sends ½M(M+1) + M·D numbers.
func (s *set) denseMoments(dst *backend.Moments) error {
	all := s.domains[0]
	if dst != nil {
		all.moments = dst
	} else {
		all.reserveMoments(s.d)
	}
	size := triangle(all.features.M) + all.features.M*s.d
	sums := slices.Grow(s.sums[:0], size)[:size]
	clear(sums)
	s.sums = sums
	u := unitsOf(all.features, s.n, s.square)
	agreed := []float64{0, 0} // whether a sum was out of range, and Moments.Terms
	_, err := s.each(1, func(one *shard) ([]float64, error) {
		err := one.rows.Moments(one.moments, one.features)
		if err == nil && !u.addMoments(sums, one.moments) {
			agreed[0] = 1
		}
		agreed[1] = max(agreed[1], float64(one.moments.Terms))
		return nil, err
	})
	if err := s.agree(err); err != nil {
		return err
	}
	s.communicate(2, func() { s.Max(agreed) })
	s.communicate(size, func() { s.Sum(sums) })
	if s.Rank() != 0 {
		return nil
	}
	u.moments(dst, sums)
	dst.Terms = int(agreed[1])
	if agreed[0] > 0 { // NaN and infinities give NaN
		for _, a := range [][]float64{dst.C, dst.Gram.Diag[0]} {
			for i := range a {
				a[i] = math.NaN()
			}
		}
	}
	return nil
}

// pullback fills dst on rank 0 with the gradient with respect to the features.
func (s *set) pullback(dst, f *backend.Features, bar *backend.Moments) error {
	s.shareFeatures(f)
	s.shareMoments(bar, s.d)
	return s.pull(dst, f)
}

// pull computes the gradient of pullback after each domain has received the adjoint of its moments.
func (s *set) pull(dst, f *backend.Features) error {
	return s.sum(featuresBy(f, dst), 0, backend.FeatureNumbers(s.q), func(one *shard, vector []float64) error {
		if one.idle() {
			return nil
		}
		return one.rows.Pullback(backend.FeaturesIn(vector, one.features.M, s.q), one.features, one.moments)
	})
}

// factorized fills dst on rank 0 with the expected squared error and its gradient over the count
// rows at the given positions; over all rows if count is negative and positions is nil.
func (s *set) factorized(dst *backend.FactorizedSums, f *backend.Features, w *backend.Weights, positions []int, count int) error {
	s.shareFeatures(f)
	if count >= 0 {
		numbers := make([]float64, count)
		if s.Rank() == 0 {
			numbers = floats(positions)
		}
		s.broadcast(numbers)
		positions = integers[int](numbers)
	}
	s.shareWeights(f, w, s.d)
	value := make([]float64, 1)
	var to byWindow
	if dst != nil {
		features, weights := featuresBy(f, dst.Features), rowsBy(f, dst.Weights.Mean, dst.Weights.Var)
		to = func(first, end int) []block {
			return append(append([]block{{a: value}}, features(first, end)...), weights(first, end)...)
		}
	}
	features := backend.FeatureNumbers(s.q)
	err := s.sum(to, 1, features+2*s.d, func(one *shard, vector []float64) error {
		rows := one.rowsAt(positions)
		if one.rows == nil || positions != nil && len(rows) == 0 {
			return nil
		}
		m := one.features.M
		if m == 0 { // no feature reaches these rows
			vector[0] = one.square(rows, s.d)
			return nil
		}
		weights := vector[1+m*features:]
		sums := &backend.FactorizedSums{
			Features: backend.FeaturesIn(vector[1:], m, s.q),
			Weights:  &backend.Weights{Mean: weights[:m*s.d], Var: weights[m*s.d:], D: s.d},
		}
		err := one.rows.Factorized(sums, one.features, one.weights, rows)
		vector[0] = sums.Value
		return err
	})
	if dst != nil {
		dst.Value = value[0]
	}
	return err
}

// rowsAt returns the shard's rows at the given positions.
func (o *shard) rowsAt(positions []int) (rows []int) {
	for _, p := range positions {
		if p >= o.lo && p < o.hi {
			rows = append(rows, p-o.lo)
		}
	}
	return rows
}

// square returns Σ y² over the given rows, or over all if rows is nil.
func (o *shard) square(rows []int, d int) (sum float64) {
	y := o.y
	if rows != nil {
		y = nil
		for _, n := range rows {
			y = append(y, o.y[n*d:][:d]...)
		}
	}
	for _, v := range y {
		sum += v * v
	}
	return sum
}

// predict fills dst on rank 0 in the given order of the rows. The posterior has d outputs; if cov
// is true, they share a covariance.
func (s *set) predict(dst *backend.Prediction, f *backend.Features, p *backend.Posterior, d int, cov bool) error {
	s.shareFeatures(f)
	s.sharePosterior(f, p, d, cov)
	vectors, err := s.each(1, func(one *shard) ([]float64, error) {
		n := (one.hi - one.lo) * d
		vector := make([]float64, n*(1+d))
		if one.idle() {
			return vector, nil
		}
		posterior := &backend.Posterior{D: d}
		if cov {
			posterior.Mean, posterior.Cov = one.moments.C, one.moments.Gram
		} else {
			posterior.Mean, posterior.Var = one.weights.Mean, one.weights.Var
		}
		return vector, one.rows.Predict(&backend.Prediction{Mean: vector[:n], Cov: vector[n:]}, one.features, posterior)
	})
	if err := s.agree(err); err != nil {
		return err
	}
	s.collect(vectors, func(i int) int { return (s.extents[i].hi - s.extents[i].lo) * d * (1 + d) }, func(i int, v []float64) {
		e := s.extents[i]
		cov := v[(e.hi-e.lo)*d:]
		for j := range e.hi - e.lo {
			row := e.lo + j
			if s.order != nil {
				row = s.order[row]
			}
			copy(dst.Mean[row*d:(row+1)*d], v[j*d:])
			copy(dst.Cov[row*d*d:(row+1)*d*d], cov[j*d*d:])
		}
	})
	return nil
}

// sharePosterior sends each domain its part of the posterior: as moments if cov is true, otherwise
// as weights.
func (s *set) sharePosterior(f *backend.Features, p *backend.Posterior, d int, cov bool) {
	var moments *backend.Moments
	var weights *backend.Weights
	if p != nil {
		moments, weights = &backend.Moments{C: p.Mean, Gram: p.Cov, D: d}, &backend.Weights{Mean: p.Mean, Var: p.Var, D: d}
	}
	if cov {
		s.shareMoments(moments, d)
	} else {
		s.shareWeights(f, weights, d)
	}
}
