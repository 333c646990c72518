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

// Expect estimates whether the sums of m features over n rows with d outputs use tables, for features that extend over most rows. flops is
// the cost of a bound with gradient, in operations of passes over the rows that take the same time. bytes is the memory of the tables and
// the sums, or of the computation of the tables if that is more. band is the features' highest frequency in cycles per mean step for uneven
// rows, and 0 for even ones. passCost is CPU or Card.
func Expect(n, m, d int, band, passCost float64) (cheaper bool, flops, bytes float64) {
	rows, features, values := float64(n), float64(m), float64(1+d)
	units := sumCost(features, float64(d), longTerms*features)
	pairs := features * (features + 1) / 2
	length := 2 * float64(nufft.FastLength(int(over*rows/2)))
	count, making := length/2, fft.Bytes(int(length))+8*rows
	if band > 0 {
		count = math.Exp2(math.Ceil(math.Log2(2 * band * over * rows)))
		making = nufft.Bytes(int(count)) + 32*rows
	}
	cheaper = n >= minRows && pairs <= maxPairs && count <= maxPerRow*rows && units < passCost*features*features*rows
	return cheaper, 3 / CPU * units, values*(16*count+8*rows) + max(making, 64*(pairs+features*float64(d)))
}

// longTerms is the approximate number of terms of a product of two features that both extend over most rows.
const longTerms = 33

// minRows is the minimum number of rows for tables. maxPairs bounds the memory of the sums.
const (
	minRows  = 512
	maxPairs = 1 << 27
)

// Over adds tables to a backend's rows with the data d. It returns the rows unchanged if tables are never faster:
// several inputs, windows, or few rows.
func Over(rows backend.Rows, d *backend.Data) backend.Rows {
	if !possible(d) || d.N < minRows {
		return rows
	}
	return &Rows{Rows: rows, data: *d, passCost: CPU}
}

// Terms is the number of rounding errors in an entry of G or C from tables, relative to the largest diagonal entry.
const Terms = 1000

// Moments fills dst with C = Φ̄ᵀY and G = E[ΦᵀΦ].
func (r *Rows) Moments(dst *backend.Moments, f *backend.Features) error {
	if err := r.data.CheckMoments(dst, f); err != nil {
		return fmt.Errorf("row spectrum: moments: %w", err)
	}
	r.tables = false
	if !r.cheaper(f) {
		dst.Terms = 0
		return r.Rows.Moments(dst, f)
	}
	if err := r.take(f); err != nil {
		return fmt.Errorf("row spectrum: moments: %w", err)
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
	r.sums.pullback(dst, f, bar, r.data.N, r.spectrum.layout.step.Hi)
	return nil
}

// take computes the sums of f. It computes the tables first if there are none or they are too small.
func (r *Rows) take(f *backend.Features) error {
	s := r.spectrum
	if count := s.cover(r.sums.waves); s.tables == nil || s.count != count {
		tables, err := s.make(count, r.data.Stopped)
		if err != nil {
			return err
		}
		s.tables, s.count = tables, count
	}
	return r.sums.take(s, f, r.data.D, r.data.Stopped)
}

// pairCost is the cost of a pair of features besides its terms, in units of a term of a table's sum.
const pairCost = 40

// The cost of a row in a pass over the rows, per pair of features, in units of a term of a table's sum. It is lower on
// a GPU, whose passes use tensor cores, unlike tables.
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
	r.sums.waves = resize(r.sums.waves, f.M)
	return r.spectrum.cheaper(r.sums.waves, f, r.passCost)
}

// cheaper writes the features' waves to dst and reports whether tables cost less than passes over the rows. It counts
// operations: the decision must not depend on the machine, because the bits of the sums depend on it.
func (s *Spectrum) cheaper(dst []wave, f *backend.Features, passCost float64) bool {
	m := float64(f.M)
	if m*(m+1)/2 > maxPairs || !s.waves(dst, f) || float64(s.cover(dst)-s.margin) > maxPerRow*float64(s.rows) {
		return false
	}
	terms := parallel.Sum(len(dst), blockFeatures, func(lo, hi int) (terms float64) {
		for i := lo; i < hi; i++ {
			terms += s.terms(&dst[i])
		}
		return terms
	})
	return sumCost(m, float64(len(s.layout.values)-1), terms) < passCost*m*m*float64(s.rows)
}

// sumCost returns the cost of all sums of products of m features with each other and with d outputs; terms is the total
// of the features' terms.
func sumCost(m, d, terms float64) float64 { return m/2*(m*pairCost+2*terms) + d*terms }

// maxPerRow bounds the number of frequencies per row, and so the memory of the tables.
const maxPerRow = 16

// terms estimates the number of terms in sums of products with a wave.
func (s *Spectrum) terms(w *wave) float64 {
	p := 2 * w.p
	table := 2 * digits * math.Sqrt(p+s.p0) / s.h
	if p*s.layout.span*s.layout.span <= digits*digits {
		return table
	}
	share := min(1, 2*digits/math.Sqrt(p)/s.layout.span) // of the data within the wave's reach
	rows := rowCost * share * float64(len(s.layout.values[0]))
	if !s.layout.even {
		return min(table, rows)
	}
	return share * min(table, rows)
}
