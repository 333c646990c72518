package nufft

import (
	"runtime"
	"slices"
	"sync"

	"github.com/vssgp/vssgp/internal/fft"
	"github.com/vssgp/vssgp/internal/parallel"
)

// A Plan2 computes sums over fixed positions in two dimensions. It must not be used concurrently.
type Plan2 struct {
	axes   [2]axis
	grid   *fft.Plan // of the cells of one period of both axes
	spots  []spot    // [N], ordered by tile
	starts []int     // of the tiles in spots, and their number
	sums   sync.Pool // of *[]float64: the cells around a tile
}

// An axis is a dimension of the grid. It is divided into tiles of similar lengths. If there are several, none is
// shorter than tileCells.
type axis struct {
	cells int       // in a period
	tiles int       // 1 or even
	side  int       // the number of cells around the longest tile
	scale []float64 // [count] the deconvolution of the modes 0 ≤ g < count
}

// A spot is a position in the grid.
type spot struct {
	index  int
	first  [2]int32 // of the cells around it, from the beginning of its tile
	offset [2]float64
}

const (
	tileCells = 32   // the cells around a tile of 32 by 32 fit into a core's first cache
	pieceSize = 4096 // the number of spots of a tile that one core spreads, if maxPieces allows it
	maxPieces = 64   // of a tile, each of which needs memory
)

func newAxis(count int) axis {
	a := axis{cells: length(count), scale: make([]float64, count)}
	a.tiles = max(1, a.cells/tileCells&^1)
	a.side = (a.cells+a.tiles-1)/a.tiles + width - 1

	c := deconvolution()
	for g := range a.scale {
		a.scale[g] = c.at(float64(g) / float64(a.cells))
	}
	return a
}

// tile returns the tile of a cell.
func (a *axis) tile(cell int) int { return cell * a.tiles / a.cells }

// start returns the first cell of a tile.
func (a *axis) start(tile int) int { return (tile*a.cells + a.tiles - 1) / a.tiles }

// NewPlan2 returns a Plan2 for the modes −count[0] < g0 < count[0] and 0 ≤ g1 < count[1] at N positions. Their
// coordinates are u[a][n] + low[a][n] modulo 1 on axis a, in periods. low[a] is the rounding error of u[a] and may be
// nil. NewPlan2 copies what it needs.
func NewPlan2(u, low [2][]float64, count [2]int) *Plan2 {
	p := &Plan2{axes: [2]axis{newAxis(count[0]), newAxis(count[1])}}
	p.grid = fft.New2(p.axes[0].cells, p.axes[1].cells)
	p.sums.New = func() any {
		sums := make([]float64, p.axes[0].side*p.axes[1].side)
		return &sums
	}
	p.sort(u, low)
	return p
}

// Bytes2 returns the memory of a Plan2 for n positions, in bytes. Its Transforms need up to 3 MB more.
func Bytes2(n int, count [2]int) float64 {
	const perSpot, perTile = 32, 4 // the latter in sort
	return fft.Bytes(length(count[0])*length(count[1])) + (perSpot+perTile)*float64(n)
}

// sort computes the spots. Within a tile they have the order of the positions.
func (p *Plan2) sort(u, low [2][]float64) {
	n := len(u[0])
	tiles := make([]int32, n)
	parallel.Blocks(n, cells, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			row, _ := place(u[0], low[0], i, p.axes[0].cells)
			column, _ := place(u[1], low[1], i, p.axes[1].cells)
			tiles[i] = int32(p.axes[0].tile(row)*p.axes[1].tiles + p.axes[1].tile(column))
		}
	})

	// At first starts[tile+1] is the start of a tile. It becomes the end.
	p.spots, p.starts = make([]spot, n), make([]int, p.axes[0].tiles*p.axes[1].tiles+2)
	for _, tile := range tiles {
		p.starts[tile+2]++
	}
	for i := 2; i < len(p.starts); i++ {
		p.starts[i] += p.starts[i-1]
	}
	for i, tile := range tiles {
		p.spots[p.starts[tile+1]].index = i
		p.starts[tile+1]++
	}

	parallel.Blocks(n, cells, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			s := &p.spots[i]
			for k := range s.first {
				a := &p.axes[k]
				first, offset := place(u[k], low[k], s.index, a.cells)
				s.first[k], s.offset[k] = int32(first-a.start(a.tile(first))), offset
			}
		}
	})
}

// Transform returns F_g0,g1 = Σ_n v_n exp(2πi·(g0·u_0n + g1·u_1n)) [2·count0−1,count1] with ascending g0 and g1, in dst
// if it has the capacity. The maximum measured error is 2.3e-14·Σ|v_n|, the root mean square 3.5e-15·Σ|v_n|. If a
// position or value is NaN or infinite, all sums may be NaN.
func (p *Plan2) Transform(dst []complex128, v []float64) []complex128 {
	x := p.grid.X
	parallel.Blocks(len(x), cells, func(_, lo, hi int) { clear(x[lo:hi]) })
	p.spread(v)
	p.grid.Transform()

	rows, columns := p.axes[0].scale, p.axes[1].scale
	n, length := 2*len(rows)-1, len(columns)
	dst = slices.Grow(dst[:0], n*length)[:n*length]
	parallel.Blocks(n, 1, func(i, _, _ int) {
		g0 := i - len(rows) + 1
		row, scale := dst[length*i:][:length], rows[max(g0, -g0)]
		for g1, c := range columns {
			row[g1] = p.grid.Mode2(g0, g1) * complex(scale*c, 0)
		}
	})
	return dst
}

// spread adds the values to the grid. The values in a tile change cells in it and in the next tile on each axis. So all
// cores spread the tiles that are even on both axes, and then each of the three other kinds. Tiles with many spots are
// spread one by one before.
func (p *Plan2) spread(v []float64) {
	rows, columns := p.axes[0].tiles, p.axes[1].tiles
	for tile := range rows * columns {
		if len(p.in(tile)) > pieceSize {
			p.spreadTile(tile, v)
		}
	}

	for kind := range 4 {
		odd0, odd1 := kind/2, kind%2
		across := (columns + 1 - odd1) / 2
		parallel.For((rows+1-odd0)/2*across, runtime.GOMAXPROCS(0), func(i int) {
			tile := (2*(i/across)+odd0)*columns + 2*(i%across) + odd1
			if n := len(p.in(tile)); n > 0 && n <= pieceSize {
				p.spreadTile(tile, v)
			}
		})
	}
}

// in returns the spots in a tile.
func (p *Plan2) in(tile int) []spot { return p.spots[p.starts[tile]:p.starts[tile+1]] }

// spreadTile adds the values in a tile to the grid. All cores sum pieces, which do not depend on the number of cores,
// and the sums are added in their order.
func (p *Plan2) spreadTile(tile int, v []float64) {
	spots := p.in(tile)
	size := max(pieceSize, (len(spots)+maxPieces-1)/maxPieces)
	sums := make([]*[]float64, (len(spots)+size-1)/size)
	parallel.Blocks(len(spots), size, func(piece, lo, hi int) {
		sums[piece] = p.sums.Get().(*[]float64)
		clear(*sums[piece])
		sum(*sums[piece], p.axes[1].side, spots[lo:hi], v)
	})

	for _, s := range sums {
		p.add(tile, *s)
		p.sums.Put(s)
	}
}

// sum adds values, times the kernel centered at their spots, to the cells around a tile, in rows of length side.
func sum(around []float64, side int, spots []spot, v []float64) {
	kernel := polynomials()
	var rows, columns [width]float64
	var values [64]float64
	for block := range slices.Chunk(spots, len(values)) {
		for i := range block {
			values[i] = v[block[i].index] // reads from memory overlap only if no other work is between them
		}

		for i := range block {
			s := &block[i]
			kernel.at(&rows, s.offset[0])
			kernel.at(&columns, s.offset[1])

			first := int(s.first[0])*side + int(s.first[1])
			for _, w := range rows {
				addRow((*[width]float64)(around[first:]), values[i]*w, &columns)
				first += side
			}
		}
	}
}

// addRow adds w·columns to a row. The compiler does not unroll loops, and a loop takes a quarter longer.
func addRow(row *[width]float64, w float64, columns *[width]float64) {
	row[0] += w * columns[0]
	row[1] += w * columns[1]
	row[2] += w * columns[2]
	row[3] += w * columns[3]
	row[4] += w * columns[4]
	row[5] += w * columns[5]
	row[6] += w * columns[6]
	row[7] += w * columns[7]
	row[8] += w * columns[8]
	row[9] += w * columns[9]
	row[10] += w * columns[10]
	row[11] += w * columns[11]
	row[12] += w * columns[12]
	row[13] += w * columns[13]
	row[14] += w * columns[14]
	row[15] += w * columns[15]
}

// add adds the cells around a tile to the grid, modulo its period.
func (p *Plan2) add(tile int, sums []float64) {
	rows, columns := &p.axes[0], &p.axes[1]
	row, column := rows.start(tile/columns.tiles), columns.start(tile%columns.tiles)
	whole := min(columns.side, columns.cells-column)
	for i := range rows.side {
		from := sums[columns.side*i:][:columns.side]
		to := p.grid.X[columns.cells*((row+i)%rows.cells):][:columns.cells]
		addTo(to[column:], from[:whole])
		addTo(to, from[whole:])
	}
}

// addTo adds b to the first elements of a.
func addTo(a, b []float64) {
	a = a[:len(b)]
	for i, x := range b {
		a[i] += x
	}
}
