package start

import (
	"cmp"
	"context"
	"slices"

	"github.com/vssgp/vssgp/internal/ar"
	"github.com/vssgp/vssgp/internal/periodogram"
	"github.com/vssgp/vssgp/variational"
)

// Work is an estimate of what a spectrum start will try, compute and hold.
type Work struct {
	Shapes []variational.Shape // that it may choose, one for each length of its windows
	// Settings is how many settings are tried on all data at most, each by one bound.
	// If they will be optimised they take Gradients gradients in all instead.
	// Settings that are tried on excerpts are not counted.
	Settings, Gradients int
	// Trials is how many noise levels are tried with some rows hidden, at most.
	Trials int
	// Flops are the operations of the fill and the spectra at most, Bytes what the
	// series and the largest spectrum hold.
	Flops, Bytes float64
}

// Work estimates a start for each length of windows that it may choose. If the
// series has values, the shapes have about as many components as the start will
// lay, by the spectra of some windows; else as many as it may lay, for the given
// number of outputs. Once ctx has ended the result means nothing.
func (s *Series) Work(ctx context.Context, set Settings, outputs int) (w Work) {
	lengths := s.candidates(set)
	s.fill(ctx, lengths[0])
	if s.excerpt(lengths) == len(s.missing) {
		w.Settings, _ = s.mostTried(&set, len(lengths), s.steps(lengths[len(lengths)-1]))
	}
	if set.Optimised {
		w.Gradients = w.Settings * (choiceIterations + 1)
	}
	level := noiseLevels[0]
	if len(s.trialGaps(&set)) > 0 {
		w.Trials = len(noiseLevels) - 1
		level = noiseLevels[1] // the one that is always tried
	}
	w.Flops, w.Bytes = s.startWork(lengths, outputs, w.Trials > 0)
	w.Bytes += float64(len(s.missing) * (8*outputs + 1))
	for _, length := range lengths {
		windows, length := s.windows(length, 0.5)
		set := set
		_, set.most = s.mostTried(&set, len(lengths), length/s.step)
		components := slices.Repeat([]int{set.most}, windows.Count())
		if s.data.D > 0 {
			components = s.kept(ctx, windows.Center, length, level, set)
		}
		shape := set.shape(windows, components, cmp.Or(set.Features, spectrumFeatures), &s.data)
		shape.D = outputs
		w.Shapes = append(w.Shapes, shape)
	}
	return w
}

// keptWindows is how many windows Work reads the spectra of.
const keptWindows = 64

// kept estimates how many components the start lays in each window [V], from some
// of them: their neighbours are taken to be like them.
func (s *Series) kept(ctx context.Context, centres []float64, length, level float64, set Settings) []int {
	n := max(1, len(centres))
	stride := (n + keptWindows - 1) / keptWindows
	var some []float64
	for v := 0; v < len(centres); v += stride {
		some = append(some, centres[v])
	}
	bins, _ := s.bins(ctx, some, length, level*s.unit, set)
	kept := make([]int, max(1, len(some)))
	for _, b := range bins {
		kept[b.window]++
	}
	components := make([]int, n)
	for v := range components {
		components[v] = kept[v/stride]
	}
	return components
}

// startWork counts the operations that the fill and the spectra of windows of these
// lengths take at most, and the bytes of the largest spectrum. If places will be
// hidden, it counts the fill and the costliest spectra twice.
func (s *Series) startWork(lengths []float64, outputs int, hidden bool) (flops, bytes float64) {
	fill, most := s.filling(runs(s.missing, true), lengths[0], outputs).work, 0.0
	flops = fill
	for _, length := range lengths {
		work, held := s.spectraWork(length, outputs)
		flops, most, bytes = flops+work, max(most, work), max(bytes, held)
	}
	if hidden {
		flops += fill + most
	}
	return flops, bytes
}

// spectraWork is startWork of the spectra for one length.
func (s *Series) spectraWork(length float64, outputs int) (flops, bytes float64) {
	w, length := s.windows(length, 0.5)
	windows, half := w.Count(), spectrumSegment*length
	if windows == 1 {
		half = length
	}
	steps := length / s.step
	places := min(len(s.missing), int(2*half/s.step)+1)
	count, order := s.binCount(steps), int(spectrumOrder*steps)
	if s.times != nil {
		each, held := periodogram.Work(len(s.times)/windows, count*spectrumSteps)
		return float64(windows*outputs) * each, held + binBytes*float64(count)
	}
	each, held := ar.PeriodogramWork(places)
	if order <= spectrumLongest {
		order = max(1, min(order, places/3))
		each, held = ar.ModelWork(places, order)+ar.DensitiesWork(count*spectrumSteps, order), float64(3*16*(count*spectrumSteps+order))
	}
	return float64(windows*outputs) * each, held + binBytes*float64(count)
}

// binBytes is the memory of a bin while bins are ranked: its mass, and itself.
const binBytes = 8 + 24
