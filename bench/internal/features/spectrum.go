package features

import (
	"cmp"
	"math"
	"slices"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/internal/ar"
)

// A cell is a part of a spectrum: its power, and the mean frequency of that in cycles a sample.
type cell struct{ power, freq float64 }

// A spectrum's density is integrated on so many frequencies at least, and on so many in a cell.
const (
	densities = 1 << 15
	across    = 8
)

// spectrum cuts a model's density into cells of 1/length and returns the strongest, by frequency: so many at most, and no more than leave
// a share of the power hidden. rest is the power of the others.
func spectrum(m ar.Model, length float64, most int, hide float64) (kept []cell, rest float64) {
	count := max(1, int(math.Ceil(length/2)))
	steps := max(across, (densities+count-1)/count)
	width := 0.5 / float64(count*steps)
	cells := make([]cell, count)
	total := 0.0
	for i, d := range ar.NewTransform(count*steps, len(m.A)-1).Densities(m) {
		power := 2 * width * d // with its mirror image
		c := &cells[i/steps]
		c.power += power
		c.freq += power * (float64(i) + 0.5) * width
		total += power
	}
	slices.SortFunc(cells, func(a, b cell) int { return cmp.Compare(b.power, a.power) })
	rest = total
	for _, c := range cells {
		if len(kept) == most || rest <= hide*total {
			break
		}
		rest -= c.power
		kept = append(kept, cell{c.power, c.freq / c.power})
	}
	slices.SortFunc(kept, func(a, b cell) int { return cmp.Compare(a.freq, b.freq) })
	return kept, max(rest, 0)
}

// flat is a component's length-scale in lengths of the data: with q(w) = p(w) it costs nothing, and a cosine is undamped.
const flat = 3000

// model lays a component, a cosine and a sine about the gap's middle, on each cell of a spectrum. The noise is the rest of the power and a
// share of all of it. length is of the rows and the gap.
func model(cells []cell, length, rest, floor float64) (*vssgp.Model, error) {
	p := vssgp.NewParams(len(cells), 2, 1, 1)
	p.CoefMean, p.CoefVar = nil, nil
	total := rest
	for i, c := range cells {
		p.Variance[i], p.Frequency[i], p.Lengthscale[i] = c.power, c.freq, flat*length
		p.FreqVar[2*i], p.FreqVar[2*i+1] = 1, 1
		p.PhaseLower[2*i+1], p.PhaseUpper[2*i+1] = -math.Pi/2, -math.Pi/2
		total += c.power
	}
	p.NoisePrecision[0] = 1 / (rest + floor*total)
	return vssgp.NewModel(p)
}
