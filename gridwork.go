package vssgp

import (
	"github.com/vssgp/vssgp/internal/ar"
	"github.com/vssgp/vssgp/internal/periodogram"
)

const (
	// fillWork is how many operations a fill may take, and fillExcerpt how many
	// of them one excerpt, which nothing interrupts for a third of them: a few
	// seconds, and one.
	fillWork, fillExcerpt = 2e10, 4e9
	// fillLeast is an order below which no fill goes.
	fillLeast = 8
)

// A filling is how missing places are filled: orders and reaches in steps.
type filling struct {
	order, reach int
	tiled        bool
	work         float64 // operations for all outputs
}

// filling is gap by gap for windows of the given length, 0 for none; where that
// is too much work, tile by tile, with half of the order and reach until it is
// not: what is filled so has many gaps or long ones, and a fill of any order
// knows little about them.
func (g *grid) filling(gaps [][2]int, length float64, outputs int) filling {
	if length == 0 {
		length = spectrumWindows[0] * g.step
	}
	f := filling{order: min(len(g.missing)/4, int(fillOrder*length/g.step)), reach: int(fillContext * length / g.step)}
	for {
		all, largest := ar.Work(len(g.missing), gaps, f.order, f.reach, fillRounds, f.tiled)
		f.work = all * float64(outputs)
		if f.work <= fillWork && largest <= fillExcerpt || f.tiled && f.order < 2*fillLeast {
			return f
		}
		if f.tiled {
			f.order, f.reach = f.order/2, f.reach/2
		}
		f.tiled = true
	}
}

// startWork is how many operations the fill and the spectra of windows of these
// lengths take at most, and the bytes of the largest spectrum; hidden, once
// more for the longest with some places hidden.
func (g *grid) startWork(lengths []float64, outputs int, hidden bool) (flops, bytes float64) {
	fill, most := g.filling(runs(g.missing, true), lengths[0], outputs).work, 0.0
	flops = fill
	for _, length := range lengths {
		work, held := g.spectraWork(length, outputs)
		flops, most, bytes = flops+work, max(most, work), max(bytes, held)
	}
	if hidden {
		flops += fill + most
	}
	return flops, bytes
}

// spectraWork is startWork of the spectra for one length alone.
func (g *grid) spectraWork(length float64, outputs int) (flops, bytes float64) {
	end := g.x0 + float64(len(g.missing)-1)*g.step
	windows, half := len(layWindows(g.x0, end, length, 0.5, 0).Center), spectrumSegment*length
	if windows == 0 {
		windows, length = 1, end-g.x0+g.step
		half = length
	}
	steps := length / g.step
	places := min(len(g.missing), int(2*half/g.step)+1)
	count, order := g.cellCount(steps), int(spectrumOrder*steps)
	if g.times != nil {
		n := count * spectrumSteps
		return float64(windows*outputs) * periodogram.Work(len(g.times)/windows, n), float64(3*16*n) + cellBytes*float64(count)
	}
	each, held := ar.PeriodogramWork(places)
	if order <= spectrumLongest {
		order = max(1, min(order, places/3))
		each, held = ar.ModelWork(places, order)+ar.DensitiesWork(count*spectrumSteps, order), float64(3*16*(count*spectrumSteps+order))
	}
	return float64(windows*outputs) * each, held + cellBytes*float64(count)
}

// cellBytes are held for each cell while the heaviest are sought.
const cellBytes = 8 + 24
