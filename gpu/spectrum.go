package gpu

import (
	"math"
	"slices"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cuda"
	"github.com/vssgp/vssgp/internal/rowspectrum"
	"github.com/vssgp/vssgp/internal/simd"
	"github.com/vssgp/vssgp/kernels"
)

// A spectrum is the state of rows that compute C, G and the gradient from tables if these are
// faster than passes over the rows (internal/rowspectrum, kernels/spectrum.cu).
type spectrum struct {
	source   *rowspectrum.Spectrum // nil: tables are not possible
	opened   bool                  // source was set
	passCost float64               // Backend.passCost
	used     bool                  // the last moments came from tables

	features *backend.Features // a copy of the last ones
	waves    []float64         // [M,simd.PairRows+1] their waves, sorted (byReach)
	count    int               // number of frequencies in their tables; 0: passes over the rows are faster

	tables *cuda.Memory // nil: not created
	width  int          // number of frequencies in tables
	sums   *cuda.Memory // sums of pairs of features, then of each feature; nil: not computed
}

// Tables reports whether the last C and G came from tables.
func (r *rows) Tables() bool { return r.spectrum.used }

// frequencies returns the number of frequencies in the tables of an operation, or 0 if passes over
// the rows are faster.
func (r *rows) frequencies(op operation, f *backend.Features) int {
	if op != opMoments && op != opPullback && op != opSolve && op != opPullbackSolved {
		return 0
	}
	s := &r.spectrum
	if s.passCost == 0 || r.data.Q > 1 {
		return 0
	}
	if !s.opened {
		s.source, s.opened = rowspectrum.New(&r.data), true
	}
	if s.source == nil || s.features != nil && equal(s.features, f) {
		return s.count
	}
	waves, count := s.source.Choose(f, s.passCost)
	s.waves, s.count = byReach(waves, s.source.Grid()), count
	s.features, s.sums = backend.NewFeatures(f.M, 1), nil
	for i, field := range f.Fields() {
		copy(s.features.Fields()[i].Data, field.Data)
	}
	return s.count
}

// byReach returns waves [M,simd.PairRows] sorted by reach, each followed by its index. The lanes of a warp then add similar
// numbers of terms. The order is by octaves of P, beginning with waves that reach over all rows, and else as given, so
// that the lanes of a warp also access neighboring entries of G.
func byReach(waves []float64, g rowspectrum.Grid) (sorted []float64) {
	var all [][]float64
	for w := range slices.Chunk(waves, simd.PairRows) {
		all = append(all, append(slices.Clone(w), float64(len(all))))
	}
	octave := func(w []float64) int { return math.Ilogb(max(1, w[simd.PairDecay]*g.Span*g.Span/(g.Digits*g.Digits))) }
	slices.SortStableFunc(all, func(a, b []float64) int { return octave(a) - octave(b) })
	return slices.Concat(all...)
}

// equal reports whether two sets of features have the same numbers.
func equal(a, b *backend.Features) bool {
	fields := b.Fields()
	for i, field := range a.Fields() {
		if !slices.Equal(field.Data, fields[i].Data) {
			return false
		}
	}
	return true
}

// planTables selects tables for the plan if they are faster than passes and fit into memory, and
// reports whether it does.
func (r *rows) planTables(p *plan) bool {
	if p.frequencies == 0 {
		return false
	}
	k, w, others := r.tableArguments(p), p.needs, len(p.table)
	w[arrayTables] = int64(k.Irregular+uint64(8*k.Irregulars)) - int64(k.Tables)
	w[arrayWaves] = int64(8 * len(r.spectrum.waves))
	w[arrayPairs] = pairBytes(p.m) + int64(8*p.m*(1+p.d)*kernels.SingleSums)
	if p.op == opPullback || p.op == opPullbackSolved {
		blocks := parts(p.m, kernels.SpectrumTile)
		w[arrayPart] = int64(8 * blocks * blocks * kernels.SpectrumTile * kernels.PullbackWidth(1))
		p.planPairs()
	}
	if p.tables = w.total()+int64(len(p.table)) <= p.free; p.tables {
		p.needs = w
	} else {
		p.limited, p.table = true, p.table[:others]
	}
	return p.tables
}

// pairBytes returns the size of the sums of pairs of m features.
func pairBytes(m int) int64 {
	const tile = kernels.SpectrumTile
	return int64(8 * pairs(m, tile) * kernels.PairSums * tile * tile)
}

// planPairs adds the reductions of spectrum_pullback's partial sums.
func (p *plan) planPairs() {
	p.chunks = add(p, []kernels.Chunk{{M: int64(p.m)}})
	blocks := int64(parts(p.m, kernels.SpectrumTile))
	var all []kernels.Reduction
	for b := range blocks {
		all = append(all, kernels.Reduction{Block: b, Slot: b * blocks, Slots: blocks, Apart: 1})
	}
	p.rowJobs = add(p, all)
}

// uploadTables uploads the features' waves, and also the tables if the device does not have them
// yet.
func (r *rows) uploadTables(p *plan) {
	s := &r.spectrum
	if at := r.mem[arrayTables]; s.tables != at || s.width != p.frequencies {
		a := s.source.Arrays(p.frequencies)
		all := [][]byte{}
		for _, t := range a.Tables {
			all = append(all, cuda.Bytes(t))
		}
		all = append(all, cuda.Bytes(a.Places))
		for _, v := range a.Values {
			all = append(all, cuda.Bytes(v))
		}
		offset := int64(0)
		for _, part := range append(all, cuda.Bytes(a.Irregular)) {
			if len(part) > 0 && r.err == nil {
				r.err = at.Upload(r.stream, offset, part)
			}
			offset += int64(len(part))
		}
		s.tables, s.width = nil, 0
		if r.err == nil {
			s.tables, s.width = at, p.frequencies
		}
	}
	r.upload(arrayWaves, s.waves)
}

// tableArguments returns the common arguments of the kernels in spectrum.cu, without the amplitudes.
func (r *rows) tableArguments(p *plan) kernels.Spectrum {
	g := r.spectrum.source.Grid()
	k := kernels.Spectrum{
		Tables: r.address(arrayTables), Entries: int64(g.Margin + p.frequencies), Rows: int64(g.Rows), First: int64(g.First),
		Length: int64(g.Length), Margin: int64(g.Margin), Reach: int64(g.Reach), Irregulars: int64(g.Irregular),
		Period: g.Period, Angle: g.Angle, P0: g.P0, Density: g.Density, Span: g.Span, Digits: g.Digits, Unit: g.Unit,
		Waves: r.address(arrayWaves), M: int64(p.m), D: int64(p.d),
	}
	vectors := uint64(1 + p.d)
	k.Places = k.Tables + 16*vectors*uint64(k.Entries)
	if k.Values = k.Places; g.Length == 0 {
		k.Values += uint64(32 * g.Rows)
	}
	k.Irregular = k.Values + 8*vectors*uint64(g.Rows)
	return k
}

// sumTables computes the sums of pairs and of single features on the GPU and, if moments is true, the results of sumMoments.
func (r *rows) sumTables(p *plan, a kernels.PassArgs, moments bool) {
	args := r.tableArguments(p)
	args.Amp, args.Power, args.Ripple = a.Amp, a.Power, a.Ripple
	gram := &kernels.SpectrumGram{Spectrum: args, Pairs: r.address(arrayPairs)}
	columns := &kernels.SpectrumColumns{Spectrum: args, Singles: r.address(arrayPairs) + uint64(pairBytes(p.m)), N: int64(r.data.N)}
	if moments {
		gram.Gram, columns.Sums = r.address(arrayGram), r.address(arraySums)
	}
	r.launchGrid(gram, parts(p.m, 4), parts(p.m, kernels.SpectrumTile), kernels.SpectrumGramShared)
	r.launchGrid(columns, parts(p.m, columns.Block()), 1+p.d, 0)
	if r.err == nil {
		r.spectrum.sums = r.mem[arrayPairs]
	}
}

// pullTables computes pullback from tables. It first computes the sums of these features if the
// device does not have them.
func (r *rows) pullTables(p *plan, a kernels.PassArgs, coef uint64) {
	if r.spectrum.sums != r.mem[arrayPairs] {
		r.sumTables(p, a, false)
	}
	r.zero(p, arraySums)
	args, blocks := r.tableArguments(p), parts(p.m, kernels.SpectrumTile)
	args.Amp, args.Ripple = a.Amp, a.Ripple
	r.launchGrid(&kernels.SpectrumPullback{
		Spectrum: args, Pairs: r.address(arrayPairs), Singles: r.address(arrayPairs) + uint64(pairBytes(p.m)), Gram: r.address(arrayGram),
		Cbar: coef, Part: r.address(arrayPart), N: int64(r.data.N),
	}, blocks, parts(blocks, 4), kernels.SpectrumPullbackShared)
	r.launchReduction(&kernels.SumsReduce{
		Chunks: r.at(p, p.chunks), Reductions: r.at(p, p.rowJobs), Part: r.address(arrayPart), Out: r.address(arraySums),
		Tile: kernels.SpectrumTile, Width: int64(kernels.PullbackWidth(1)), Sides: 1,
	}, blocks, int64(kernels.SpectrumTile*kernels.PullbackWidth(1)))
}
