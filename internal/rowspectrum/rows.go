package rowspectrum

import (
	"fmt"
	"math"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/fft"
	"github.com/vssgp/vssgp/internal/nufft"
	"github.com/vssgp/vssgp/internal/parallel"
)

// Rows are a backend's rows whose Moments and Pullback use tables if they cost less than passes over the rows. All
// other methods are forwarded.
type Rows struct {
	backend.Rows
	data     backend.Data
	spectrum *Spectrum // nil: the rows have no tables
	chosen   bool      // spectrum, if there is one
	tables   bool      // the last moments used them
	passCost float64   // CPU, or more in tests that require tables

	sums sums
}

// Expect estimates whether the sums of m features over n rows of q inputs with d outputs use tables, for features that
// extend over most rows. flops is the cost of a bound with gradient, in operations of passes over the rows that take
// the same time. bytes is the memory of the tables and the sums, or of the computation of the tables if that is more.
// For one input, band is the features' highest frequency in cycles per mean step for uneven rows, and 0 for even ones.
// passCost is CPU or Card.
func Expect(n, q, m, d int, band, passCost float64) (cheaper bool, flops, bytes float64) {
	if q > maxInputs || n < fewest(q) {
		return false, 0, 0
	}
	rows, features, values := float64(n), float64(m), float64(1+d)
	pairs := features * (features + 1) / 2
	entries, most, making, terms := lineMemory(n, band)
	if q == 2 {
		entries, most, making, terms = planeMemory(n, m)
	}
	units := sumCost(features, float64(d), terms*features)
	cheaper = pairs <= maxPairs && entries <= most && units < passCost*features*features*rows
	sums := 64 * float64(q) * (pairs + features*float64(d))
	return cheaper, 3 / CPU * units, values*(16*entries+8*rows) + max(making, sums)
}

// lineMemory returns the number of entries of a line's table, its maximum, the bytes of its computation, and the terms
// of a product.
func lineMemory(n int, band float64) (entries, most, making, terms float64) {
	rows, length := float64(n), 2*float64(nufft.FastLength(int(over*float64(n)/2)))
	most = maxPerRow * rows
	if band == 0 {
		return length / 2, most, fft.Bytes(int(length)) + 8*rows, longTerms
	}
	entries = math.Exp2(math.Ceil(math.Log2(2 * band * over * rows)))
	return entries, most, nufft.Bytes(int(entries)) + 32*rows, longTerms
}

// planeMemory is lineMemory for a plane. It expects frequencies up to as many cycles per range as a grid of nodes of
// the given number of features has, but not above half the mean sample rate.
func planeMemory(n, m int) (entries, most, making, terms float64) {
	rows := float64(n)
	cycles := min(math.Sqrt(rows)/2, 2*math.Sqrt(float64(m)))
	extent := nufft.FastLength(int(2*over*cycles)+2) + longTerms
	side := float64(2*extent + 1)
	making = nufft.Bytes2(n, [2]int{extent, extent}) + 56*rows
	return side * side, max(maxPerRow*rows, fewEntries), making, planeCost * longTerms * longTerms
}

// longTerms is the approximate number of terms of a product of two features that both extend over most rows.
const longTerms = 33

// minRows is the minimum number of rows for tables, for each input. maxPairs bounds the memory of the sums.
const (
	minRows  = 512
	maxPairs = 1 << 27
)

// fewest returns the minimum number of rows of q inputs.
func fewest(q int) int { return minRows * q }

// Over adds tables to a backend's rows with the data d. It returns the rows unchanged if tables are never faster:
// more than two inputs, windows, or few rows.
func Over(rows backend.Rows, d *backend.Data) backend.Rows {
	if !possible(d) || d.N < fewest(d.Q) {
		return rows
	}
	return &Rows{Rows: rows, data: *d, passCost: CPU}
}

// Terms is the number of rounding errors in an entry of G or C from tables, relative to the largest diagonal entry.
const Terms = 1000

// Moments fills dst with C = Φ̄ᵀY and G = E[ΦᵀΦ]. It uses the last sums if at most amplitudes have changed since.
func (r *Rows) Moments(dst *backend.Moments, f *backend.Features) error {
	if err := r.data.CheckMoments(dst, f); err != nil {
		return fmt.Errorf("row spectrum: moments: %w", err)
	}
	r.tables = false
	if !r.cheaper(f) {
		dst.Terms = 0
		return r.Rows.Moments(dst, f)
	}
	if !r.sums.match(f) {
		if err := r.take(f); err != nil {
			return fmt.Errorf("row spectrum: moments: %w", err)
		}
	}
	r.sums.moments(dst, f, r.data.N)
	dst.Terms = Terms
	r.tables = true
	return nil
}

// Tables reports whether the last moments used tables.
func (r *Rows) Tables() bool { return r.tables }

// Pullback fills dst with the gradient with respect to the features. It uses the sums of the last Moments if that had
// the same features.
func (r *Rows) Pullback(dst, f *backend.Features, bar *backend.Moments) error {
	if err := r.data.CheckPullback(dst, f, bar); err != nil {
		return fmt.Errorf("row spectrum: pullback: %w", err)
	}
	if !r.cheaper(f) {
		return r.Rows.Pullback(dst, f, bar)
	}
	if !r.sums.match(f) {
		if err := r.take(f); err != nil {
			return fmt.Errorf("row spectrum: pullback: %w", err)
		}
	}
	r.sums.pullback(dst, f, bar, r.spectrum)
	return nil
}

// take computes the sums of f. It computes the tables first if there are none or they are too small.
func (r *Rows) take(f *backend.Features) error {
	s := r.spectrum
	if size := s.cover(r.sums.waves); s.size != size {
		if err := s.compute(size, r.data.Stopped); err != nil {
			return err
		}
		s.size = size
	}
	return r.sums.take(s, f, r.data.D, r.data.Stopped)
}

// pairCost is the cost of a pair of features besides its terms, in units of a term of a table's sum.
const pairCost = 40

// The cost of a row in a pass over the rows, per pair of features, in units of a term of a table's sum. It is lower on
// a GPU, whose passes use tensor cores, unlike tables. By counts of instructions, 1024 features that extend over all
// rows take as long as passes over 2000 rows of one input and some 60 000 of two; tables are used from 5400 and 63 000
// rows on.
const (
	CPU  = 1. / 12
	Card = 1. / 100
)

// cheaper reports whether tables cost less than passes over the rows. It stores the features' waves in r.
func (r *Rows) cheaper(f *backend.Features) bool {
	if !r.chosen {
		r.spectrum, r.chosen = New(&r.data), true
	}
	if r.spectrum == nil {
		return false
	}
	r.sums.waves = resize(r.sums.waves, f.Q)
	for q := range r.sums.waves {
		r.sums.waves[q] = resize(r.sums.waves[q], f.M)
	}
	return r.spectrum.cheaper(r.sums.waves, f, r.data.D, r.passCost, r.spectrum.terms)
}

// cheaper writes the features' waves to dst and reports whether tables cost less than passes over the rows; cost is
// terms or cardTerms. It counts operations: the decision must not depend on the machine, because the bits of the sums
// depend on it.
func (s *Spectrum) cheaper(
	dst [][]wave, f *backend.Features, d int, passCost float64, cost func(waves [][]wave, k int) float64,
) bool {
	m := float64(f.M)
	if m*(m+1)/2 > maxPairs || !s.waves(dst, f) || s.entries(s.cover(dst)) > s.mostEntries() {
		return false
	}
	terms := parallel.Sum(f.M, blockFeatures, func(lo, hi int) (terms float64) {
		for k := lo; k < hi; k++ {
			terms += cost(dst, k)
		}
		return terms
	})
	return sumCost(m, float64(d), terms) < passCost*m*m*float64(s.rows)
}

// sumCost returns the cost of all sums of products of m features with each other and with d outputs; terms is the total
// of the features' terms.
func sumCost(m, d, terms float64) float64 { return m/2*(m*pairCost+2*terms) + d*terms }

const (
	// maxPerRow bounds the number of frequencies per row, and so the memory of the tables.
	maxPerRow = 16
	// fewEntries is the number of frequencies that a plane may always have: 128 MB of a table.
	fewEntries = 1 << 23
)

// mostEntries returns the maximum number of entries of a table.
func (s *Spectrum) mostEntries() float64 {
	most := maxPerRow * float64(s.rows)
	if len(s.axes) > 1 {
		most = max(most, fewEntries)
	}
	return most
}
