package rowspectrum

import "github.com/vssgp/vssgp/backend"

// maxInputs is the maximum number of inputs with tables.
const maxInputs = 2

// A Spectrum computes sums over the rows of a data set from tables.
type Spectrum struct {
	table
	axes    []*axis // of the inputs
	rows    int
	outputs int
	size    Size // of the tables; zero: none
}

// A Size is the number of frequencies in tables for each input: of a line the count 0, 1, …, count−1, and of a plane
// the largest frequency −extent, …, extent of each input.
type Size [maxInputs]int

// A table contains Fourier sums of the rows, a line for one input and a plane for two.
type table interface {
	// cover returns the size that products of the waves [Q][M] need. It is rounded up, so that the bits of a sum do not
	// depend on earlier waves, and does not change if the waves change little.
	cover(waves [][]wave) Size
	// entries returns the number of entries of a table.
	entries(Size) float64
	// compute computes the tables. It returns the error of stopped, which it calls between them; the present tables
	// then remain.
	compute(size Size, stopped func() error) error
	// terms estimates the cost of a sum of a product with feature k, in units of a term of a line's sum.
	terms(waves [][]wave, k int) float64
	// cardTerms is terms for sums on a GPU. It is infinite if the GPU cannot compute them.
	cardTerms(waves [][]wave, k int) float64
	// prepare prepares the sums of the features f, whose waves are in u, and returns the number of blocks of pairs.
	prepare(u *sums, f *backend.Features) (blocks int)
	// takePairs computes the sums of the pairs of a block.
	takePairs(u *sums, block int)
	// takeSingles computes the sums of single waves for the features from lo to hi: of their second moments (v = 0), or
	// with output v − 1.
	takeSingles(u *sums, v, lo, hi int)
}

// possible reports whether the data can have tables: one or two inputs and no windows.
func possible(d *backend.Data) bool { return d.Q <= maxInputs && d.Windows.Count() <= 1 }

// New chooses the grid of a data set's tables, which are computed later. It returns nil if the data have none.
func New(d *backend.Data) *Spectrum {
	if !possible(d) {
		return nil
	}
	s := &Spectrum{rows: d.N, outputs: d.D}
	if d.Q == 1 {
		l := newLine(d)
		if l == nil {
			return nil
		}
		s.table, s.axes = l, []*axis{l.layout.axis}
		return s
	}
	p := newPlane(d)
	if p == nil {
		return nil
	}
	s.table, s.axes = p, p.axes[:]
	return s
}
