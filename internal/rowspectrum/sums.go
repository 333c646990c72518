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
	waves    []wave            // of the features
	panels   []float64         // the same, [M/8,PairRows,8]
	pairs    []float64         // of features j > k: the panels [⌈j/8⌉,pairRows,8] of j begin at panelsBefore(j)
	singles  []single          // [M,1+D] of the second moment and of the feature with each output
	slopes   [parts][]slope    // of the pullback
	rows     sync.Pool
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
	u.pairs, u.singles = resize(u.pairs, panelsBefore(m)*pairSize), resize(u.singles, m*(1+d))
	u.pack()
	of := u.features
	u.features = nil
	parallel.For(m, runtime.GOMAXPROCS(0), func(i int) {
		if stopped() == nil {
			u.row(s, m-1-i) // longest first
		}
	})
	for v := range 1 + d {
		parallel.Blocks(m, singleFeatures, func(_, lo, hi int) { u.takeSingles(s, v, d, lo, hi) })
	}
	if err := stopped(); err != nil {
		return err
	}
	if of == nil || of.M != m {
		of = backend.NewFeatures(m, 1)
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

// numbers returns a wave's parameters for simd.PairWaves.
func (w *wave) numbers() [simd.PairRows]float64 {
	return [...]float64{
		simd.PairDecay: w.p, simd.PairCenter: w.z, simd.PairLow: w.zLow,
		simd.PairCycles: float64(w.cycles), simd.PairPart: w.part, simd.PairPhase: w.phase,
	}
}

// pack writes the waves to panels.
func (u *sums) pack() {
	const size = simd.PairRows * simd.Lanes
	u.panels = resize(u.panels, panelsOf(len(u.waves))*size)
	clear(u.panels)
	for k := range u.waves {
		for row, v := range u.waves[k].numbers() {
			u.panels[k/simd.Lanes*size+row*simd.Lanes+k%simd.Lanes] = v
		}
	}
}

// A rowWork is the workspace of one goroutine.
type rowWork struct {
	plain panels // from PairWaves: the sums and the differences with each panel
	rest  batch
	slow  []int // panels that slowPairs computes
}

// work returns the workspace of a goroutine; put returns it to the pool.
func (u *sums) work() (w *rowWork, put func()) {
	w, _ = u.rows.Get().(*rowWork)
	if w == nil {
		w = new(rowWork)
	}
	return w, func() { u.rows.Put(w) }
}

// row computes the sums of feature j with the features before it.
func (u *sums) row(s *Spectrum, j int) {
	w, put := u.work()
	defer put()
	n := panelsOf(j)
	to, one := u.pairs[panelsBefore(j)*pairSize:][:n*pairSize], u.waves[j].numbers()
	w.plain.reset(2 * n)
	vector := simd.PairWaves(w.plain.jobs, w.plain.positions, to, one[:], u.panels[:n*simd.PairRows*simd.Lanes], s.pairs)
	if !vector {
		for i := range n {
			u.slowPairs(s, &w.rest, j, i, to[i*pairSize:])
		}
		return
	}
	w.slow = w.slow[:0]
	for i := range n {
		points, plain := pointsOf(w.plain.jobs[2*i*jobSize:][:jobSize])
		w.plain.points[2*i], w.plain.points[2*i+1] = points, points
		if !plain {
			w.plain.idle(2 * i)
			w.plain.idle(2*i + 1)
			w.slow = append(w.slow, i)
		}
	}
	w.plain.sum(s.tables[0])
	for i := range n {
		combine((*[pairSize]float64)(to[i*pairSize:]), (*[sumSize]float64)(w.plain.sums[2*i*sumSize:]),
			(*[sumSize]float64)(w.plain.sums[(2*i+1)*sumSize:]))
	}
	for _, i := range w.slow {
		u.slowPairs(s, &w.rest, j, i, to[i*pairSize:])
	}
}

// pointsOf returns the number of terms on each side for the waves of a panel, and whether one lane from a table
// suffices for all.
func pointsOf(job []float64) (points int64, plain bool) {
	extent, reach := 0.0, 0.0
	for lane := range simd.Lanes {
		extent = max(extent, job[simd.WaveExtent*simd.Lanes+lane])
		reach = max(reach, job[simd.WaveReach*simd.Lanes+lane])
	}
	if !(extent <= digits*digits && reach+1.5 < maxPoints) {
		return 0, false
	}
	return int64(reach+0.5) + 2, true
}

// combine computes the sums of a panel of pairs from the sums of their products.
func combine(to *[pairSize]float64, plus, minus *[sumSize]float64) {
	const n = simd.Lanes
	for i := range n {
		to[pairRe0*n+i], to[pairRe1*n+i], to[pairRe2*n+i] = plus[i]+minus[i], plus[2*n+i]+minus[2*n+i], plus[4*n+i]+minus[4*n+i]
		to[pairPlus0*n+i], to[pairMinus0*n+i] = plus[n+i]+minus[n+i], plus[n+i]-minus[n+i]
		to[pairPlus1*n+i], to[pairMinus1*n+i] = plus[3*n+i]+minus[3*n+i], plus[3*n+i]-minus[3*n+i]
	}
}

// slowPairs computes the sums of feature j with the features of panel i one by one.
func (u *sums) slowPairs(s *Spectrum, b *batch, j, i int, to []float64) {
	b.reset(s, 0)
	var m shape
	features := u.waves[i*simd.Lanes : min(j, (i+1)*simd.Lanes)]
	for lane := range features {
		m.set(s, product(&u.waves[j], &features[lane]), true)
		to[pairAbout*simd.Lanes+lane] = m.a
		b.add(&m, u.waves[j].plus(features[lane].carrier), u.waves[j].minus(features[lane].carrier))
	}
	b.run()
	for lane := range features {
		plus, minus := b.of(b.groups[lane], 0), b.of(b.groups[lane], 1)
		for r := range plus.re {
			to[(pairRe0+r)*simd.Lanes+lane] = plus.re[r] + minus.re[r]
		}
		for r := range plus.im {
			to[(pairPlus0+2*r)*simd.Lanes+lane] = plus.im[r] + minus.im[r]
			to[(pairMinus0+2*r)*simd.Lanes+lane] = plus.im[r] - minus.im[r]
		}
	}
}

// takeSingles computes the sums of single waves for the features from lo to hi: of their second moments (v = 0), or
// with output v − 1.
func (u *sums) takeSingles(s *Spectrum, v, d, lo, hi int) {
	w, put := u.work()
	defer put()
	b := &w.rest
	b.reset(s, v)
	var m shape
	for k := lo; k < hi; k++ {
		one := u.waves[k]
		if v == 0 {
			one = one.twice()
		}
		m.set(s, one.envelope, v == 0)
		u.singles[k*(1+d)+v].a = m.a
		b.add(&m, one.carrier)
	}
	b.run()
	for k := lo; k < hi; k++ {
		u.singles[k*(1+d)+v].moments = b.of(b.groups[k-lo], 0)
	}
}
