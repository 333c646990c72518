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
// faster than passes over the rows (internal/rowspectrum, kernels/spectrum.cu; for two inputs kernels/plane.cu).
type spectrum struct {
	source   *rowspectrum.Spectrum // nil: tables are not possible
	opened   bool                  // source was set
	passCost float64               // Backend.passCost
	used     bool                  // the last moments came from tables

	features *backend.Features // a copy of the last ones
	waves    []float64         // [Q,M,simd.PairRows+1] their waves, sorted, and [M+1] runs (byReach)
	runs     int               // number of runs
	size     rowspectrum.Size  // number of frequencies in their tables; 0: passes over the rows are faster

	tables *cuda.Memory     // nil: not created
	made   rowspectrum.Size // of tables
	sums   *cuda.Memory     // for each input, sums of pairs of features, then of each feature; nil: not computed
}

// Tables reports whether the last C and G came from tables.
func (r *rows) Tables() bool { return r.spectrum.used }

// frequencies returns the number of frequencies in the tables of an operation, or 0 if passes over
// the rows are faster.
func (r *rows) frequencies(op operation, f *backend.Features) (none rowspectrum.Size) {
	if op != opMoments && op != opPullback && op != opSolve && op != opPullbackSolved {
		return none
	}
	s := &r.spectrum
	if s.passCost == 0 {
		return none
	}
	if !s.opened {
		s.source, s.opened = rowspectrum.New(&r.data), true
	}
	if s.source == nil || s.features != nil && equal(s.features, f) {
		return s.size
	}
	waves, size := s.source.Choose(f, s.passCost)
	s.waves, s.size, s.runs = byReach(waves, s.source.Grid()), size, len(waves.Runs)-1
	s.features, s.sums = backend.NewFeatures(f.M, f.Q), nil
	for i, field := range f.Fields() {
		copy(s.features.Fields()[i].Data, field.Data)
	}
	return s.size
}

// byReach returns waves [Q,M,simd.PairRows+1] sorted by reach, each followed by its index, and then the first wave of
// each run, and M until there are M+1 numbers. The lanes of a warp, or for two inputs the warps of a block, then add
// similar numbers of terms. The order is by octaves of P, beginning with waves that reach over all rows, and else as
// given, so that the lanes of a warp also access neighboring entries of G.
func byReach(waves rowspectrum.Waves, g rowspectrum.Grid) (sorted []float64) {
	if len(waves.Along) == 0 {
		return nil
	}
	count := len(waves.Runs) - 1
	order, octaves := make([]int, count), make([]int, count)
	for i := range order {
		order[i] = i
		for q, a := range g.Axes {
			decay := waves.Along[q][waves.Runs[i]*simd.PairRows+simd.PairDecay]
			octaves[i] += math.Ilogb(max(1, decay*a.Span*a.Span/(g.Digits*g.Digits)))
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return octaves[a] - octaves[b] })
	for _, along := range waves.Along {
		for _, i := range order {
			for k := waves.Runs[i]; k < waves.Runs[i+1]; k++ {
				sorted = append(append(sorted, along[k*simd.PairRows:][:simd.PairRows]...), float64(k))
			}
		}
	}
	at := 0
	for _, i := range order {
		sorted = append(sorted, float64(at))
		at += waves.Runs[i+1] - waves.Runs[i]
	}
	return append(sorted, slices.Repeat([]float64{float64(at)}, at+1-count)...)
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
	if p.frequencies == (rowspectrum.Size{}) {
		return false
	}
	w, others, inputs := p.needs, len(p.table), int64(r.data.Q)
	w[arrayTables] = r.tableBytes(p)
	w[arrayWaves] = int64(8 * len(r.spectrum.waves))
	w[arrayPairs] = inputs * (pairBytes(p.m) + singleBytes(p))
	if p.op == opPullback || p.op == opPullbackSolved {
		blocks := parts(p.m, kernels.SpectrumTile)
		w[arrayPart] = int64(8 * blocks * blocks * kernels.SpectrumTile * kernels.PullbackWidth(r.data.Q))
		p.planPairs()
	}
	if p.tables = w.total()+int64(len(p.table)) <= p.free; p.tables {
		p.needs = w
	} else {
		p.limited, p.table = true, p.table[:others]
	}
	return p.tables
}

// pairBytes returns the size of the sums of pairs of m features along one input.
func pairBytes(m int) int64 {
	const tile = kernels.SpectrumTile
	return int64(8 * pairs(m, tile) * kernels.PairSums * tile * tile)
}

// singleBytes returns the size of the sums of each feature along one input.
func singleBytes(p *plan) int64 { return int64(8 * p.m * (1 + p.d) * kernels.SingleSums) }

// tableBytes returns the size of the tables with the arrays that follow them.
func (r *rows) tableBytes(p *plan) int64 {
	if r.data.Q > 1 {
		k := r.planeArguments(p)
		return int64(k.Axes-k.Tables) + 8*planeAxis*int64(r.data.Q)
	}
	k := r.tableArguments(p)
	return int64(k.Irregular+uint64(8*k.Irregulars)) - int64(k.Tables)
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
	if at := r.mem[arrayTables]; s.tables != at || s.made != p.frequencies {
		a := s.source.Arrays(p.frequencies)
		all := [][]byte{}
		for _, t := range a.Planes {
			all = append(all, cuda.Bytes(t))
		}
		if len(all) > 0 {
			all = append(all, cuda.Bytes(planeAxes(s.source.Grid(), p.frequencies)))
		}
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
		s.tables, s.made = nil, rowspectrum.Size{}
		if r.err == nil {
			s.tables, s.made = at, p.frequencies
		}
	}
	r.upload(arrayWaves, s.waves)
}

// planeAxis is the number of numbers of a PlaneAxis.
const planeAxis = 7

// planeAxes returns the numbers of the inputs' axes for the kernels in plane.cu, [Q,planeAxis].
func planeAxes(g rowspectrum.Grid, size rowspectrum.Size) (axes []float64) {
	for q, a := range g.Axes {
		axes = append(axes, float64(a.Length), a.Period, a.Angle, a.P0, a.Density, a.Span, float64(size[q]))
	}
	return axes
}

// planeArguments returns the common arguments of the kernels in plane.cu, without the amplitudes.
func (r *rows) planeArguments(p *plan) kernels.Plane {
	width := rowspectrum.PlaneWidth(p.frequencies)
	k := kernels.Plane{
		Tables: r.address(arrayTables), Entries: int64((2*p.frequencies[0] + 1) * 2 * width), Width: int64(width),
		Digits: r.spectrum.source.Grid().Digits, Waves: r.waves(p, 0), Runs: r.waves(p, r.data.Q),
		Count: int64(r.spectrum.runs),
		M:     int64(p.m), D: int64(p.d),
	}
	k.Axes = k.Tables + uint64(8*int64(1+p.d)*k.Entries)
	return k
}

// waves returns the address of the waves along input q.
func (r *rows) waves(p *plan, q int) uint64 {
	return r.address(arrayWaves) + uint64(8*q*p.m*(simd.PairRows+1))
}

// tableArguments returns the common arguments of the kernels in spectrum.cu for one input, without the amplitudes.
func (r *rows) tableArguments(p *plan) kernels.Spectrum {
	g := r.spectrum.source.Grid()
	a := g.Axes[0]
	k := kernels.Spectrum{
		Tables: r.address(arrayTables), Entries: int64(g.Margin + p.frequencies[0]), Rows: int64(g.Rows), First: int64(g.First),
		Length: int64(a.Length), Margin: int64(g.Margin), Reach: int64(g.Reach), Irregulars: int64(g.Irregular),
		Period: a.Period, Angle: a.Angle, P0: a.P0, Density: a.Density, Span: a.Span, Digits: g.Digits, Unit: a.Unit,
		Waves: r.address(arrayWaves), M: int64(p.m), D: int64(p.d),
	}
	vectors := uint64(1 + p.d)
	k.Places = k.Tables + 16*vectors*uint64(k.Entries)
	if k.Values = k.Places; a.Length == 0 {
		k.Values += uint64(32 * g.Rows)
	}
	k.Irregular = k.Values + 8*vectors*uint64(g.Rows)
	return k
}

// sumTables computes the sums of pairs and of single features on the GPU and, if moments is true, the results of sumMoments.
func (r *rows) sumTables(p *plan, a kernels.PassArgs, moments bool) {
	var gram, sums uint64
	if moments {
		gram, sums = r.address(arrayGram), r.address(arraySums)
	}
	if r.data.Q > 1 {
		r.sumPlane(p, a, gram, sums)
	} else {
		r.sumLine(p, a, gram, sums)
	}
	if r.err == nil {
		r.spectrum.sums = r.mem[arrayPairs]
	}
}

// sumLine launches the kernels of sumTables for one input, which write the results to gram and sums unless these are 0.
func (r *rows) sumLine(p *plan, a kernels.PassArgs, gram, sums uint64) {
	args := r.tableArguments(p)
	args.Amp, args.Power, args.Ripple = a.Amp, a.Power, a.Ripple
	pairs := &kernels.SpectrumGram{Spectrum: args, Pairs: r.address(arrayPairs), Gram: gram}
	columns := &kernels.SpectrumColumns{Spectrum: args, Singles: r.singles(p, 0), Sums: sums, N: int64(r.data.N)}
	r.launchGrid(pairs, parts(p.m, 4), parts(p.m, kernels.SpectrumTile), kernels.SpectrumGramShared)
	r.launchGrid(columns, parts(p.m, columns.Block()), 1+p.d, 0)
}

// sumPlane is sumLine for two inputs.
func (r *rows) sumPlane(p *plan, a kernels.PassArgs, gram, sums uint64) {
	args := r.planeArguments(p)
	args.Amp, args.Power, args.Ripple = a.Amp, a.Power, a.Ripple
	pairs := &kernels.PlaneGram{Plane: args, Pairs: r.address(arrayPairs), Gram: gram}
	columns := &kernels.PlaneColumns{Plane: args, Singles: r.singles(p, 0), Sums: sums, N: int64(r.data.N)}
	r.launch(pairs, parts(r.spectrum.runs*(r.spectrum.runs+1)/2, 4), kernels.PlaneShared)
	r.launchGrid(columns, parts(p.m, 4), 1+p.d, kernels.PlaneShared)
}

// singles returns the address of the sums of each feature along input q.
func (r *rows) singles(p *plan, q int) uint64 {
	return r.address(arrayPairs) + uint64(int64(r.data.Q)*pairBytes(p.m)+int64(q)*singleBytes(p))
}

// pullTables computes pullback from tables. It first computes the sums of these features if the
// device does not have them.
func (r *rows) pullTables(p *plan, a kernels.PassArgs, coef uint64) {
	if r.spectrum.sums != r.mem[arrayPairs] {
		r.sumTables(p, a, false)
	}
	r.zero(p, arraySums)
	blocks, inputs, width := parts(p.m, kernels.SpectrumTile), r.data.Q, kernels.PullbackWidth(r.data.Q)
	for q, axis := range r.spectrum.source.Grid().Axes {
		r.launchGrid(&kernels.SpectrumPullback{
			Spectrum: kernels.Spectrum{
				Unit: axis.Unit, Waves: r.waves(p, q), Amp: a.Amp, Ripple: a.Ripple, M: int64(p.m), D: int64(p.d),
			},
			Pairs: r.address(arrayPairs) + uint64(int64(q)*pairBytes(p.m)), Singles: r.singles(p, q), Gram: r.address(arrayGram),
			Cbar: coef, Part: r.address(arrayPart), N: int64(r.data.N), Q: int64(inputs), Input: int64(q),
		}, blocks, parts(blocks, 4), kernels.SpectrumPullbackShared)
	}
	r.launchReduction(&kernels.SumsReduce{
		Chunks: r.at(p, p.chunks), Reductions: r.at(p, p.rowJobs), Part: r.address(arrayPart), Out: r.address(arraySums),
		Tile: kernels.SpectrumTile, Width: int64(width), Sides: 1,
	}, blocks, int64(kernels.SpectrumTile*width))
}
