package rowspectrum

import (
	"runtime"
	"slices"
	"sync"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/internal/simd"
)

// sums are the sums over the rows from which G, C and their gradients are computed.
type sums struct {
	features *backend.Features // for which they were computed; nil: none
	waves    [][]wave          // [Q][M] of the features
	outputs  int
	along    []axisSums // [Q]
	work     sync.Pool
}

// axisSums are the sums with moments with respect to one input. S_0 is the same for all.
type axisSums struct {
	pairs   []float64      // of features j > k: the panels [⌈j/8⌉,pairRows,8] of j begin at panelsBefore(j)
	singles []single       // [M,1+D] of the second moment and of the feature with each output
	slopes  [parts][]slope // of the pullback
}

// Rows of a panel of pairs, of the moments S⁺ of ψ_jψ_k and S⁻ of ψ_jψ_k*.
const (
	pairRe0    = iota // Re(S_r⁺ + S_r⁻)
	pairRe1           //
	pairRe2           //
	pairPlus0         // Im(S_r⁺ + S_r⁻)
	pairMinus0        // Im(S_r⁺ − S_r⁻)
	pairPlus1         //
	pairMinus1        //
	pairAbout         // the point about which they are taken
	pairRows
	pairSize = pairRows * simd.Lanes
)

// panelsBefore returns the number of panels of pairs for the features before j.
func panelsBefore(j int) int {
	if j == 0 {
		return 0
	}
	whole := (j - 1) / simd.Lanes
	return simd.Lanes*whole*(whole+1)/2 + (j-1-simd.Lanes*whole)*(whole+1)
}

// panelsOf returns the number of panels of pairs for feature j.
func panelsOf(j int) int { return (j + simd.Lanes - 1) / simd.Lanes }

// A single contains the moments of one wave.
type single struct {
	moments
	a float64 // the point about which they are taken
}

// A slope contains a feature's sums for its phase and exponent, Σθ̄, Σθ̄d, Σq̄d and Σq̄d² with d = X − Z, and its Ā1.
type slope struct{ theta, thetaD, quadD, quadD2, amp float64 }

// parts is the number of parts into which the pullback divides the pairs. It does not depend on the machine, because
// the sums of the parts are added.
const parts = 16

// take computes the sums of f with d outputs. The waves of f are in u. It returns the error of stopped.
func (u *sums) take(s *Spectrum, f *backend.Features, d int, stopped func() error) error {
	m := f.M
	u.along, u.outputs = resize(u.along, len(s.axes)), d
	for q := range u.along {
		a := &u.along[q]
		a.pairs, a.singles = resize(a.pairs, panelsBefore(m)*pairSize), resize(a.singles, m*(1+d))
	}
	of := u.features
	u.features = nil
	parallel.For(s.prepare(u, f), runtime.GOMAXPROCS(0), func(i int) {
		if stopped() == nil {
			s.takePairs(u, i)
		}
	})
	for v := range 1 + d {
		parallel.Blocks(m, singleFeatures, func(_, lo, hi int) { s.takeSingles(u, v, lo, hi) })
	}
	if err := stopped(); err != nil {
		return err
	}
	if of == nil || of.M != m {
		of = backend.NewFeatures(m, f.Q)
	}
	for i, field := range f.Fields() {
		copy(of.Fields()[i].Data, field.Data)
	}
	u.features = of
	return nil
}

// singleFeatures is the number of features whose sums with one vector a core computes at a time.
const singleFeatures = 64

// match reports whether the sums were computed for f.
func (u *sums) match(f *backend.Features) bool {
	if u.features == nil || u.features.M != f.M {
		return false
	}
	of, as := u.features, f // the sums do not depend on amplitudes
	return slices.Equal(of.Center, as.Center) && slices.Equal(of.Decay, as.Decay) &&
		slices.Equal(of.Freq, as.Freq) && slices.Equal(of.Phase, as.Phase)
}
