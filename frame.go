package vssgp

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/vssgp/vssgp/internal/optimise"
	"github.com/vssgp/vssgp/internal/start"
	"github.com/vssgp/vssgp/spectral"
	"github.com/vssgp/vssgp/variational"
)

// A frame is data in the model's units, and how they are to be modelled: what all
// starts of a fit share.
type frame struct {
	o    Options
	data *Data
	init Init
	grid start.Grid    // of one input, in the data's units
	x, y Affine        // between the data's units and the model's
	rows spectral.Data // in the model's units
}

// initRough is the start that follows where the spectrum's fit is worse than
// straight lines.
const initRough Init = "rough"

// frame checks data and options and brings the data to the model's units.
func (o Options) frame(data *Data) (*frame, error) {
	if err := data.Check(); err != nil {
		return nil, err
	}
	if err := o.check(data); err != nil {
		return nil, err
	}
	f := &frame{o: o, data: data, grid: start.GridOf(data.X, data.Q)}
	return f, f.scale()
}

// scale chooses the model's units and brings the data to them; y may be absent.
// The spectrum start counts x in steps of the data's grid, or the mean ones of
// uneven rows.
func (f *frame) scale() error {
	o, data := &f.o, f.data
	f.init = o.init(f.grid)
	f.x, f.y = identity(data.Q), identity(data.D)
	switch {
	case o.From != nil:
		f.x, f.y = o.From.X, o.From.Y
	case f.init == InitSpectrum && f.grid.Step == 0:
		return fmt.Errorf("vssgp: start %q needs one input that varies; the data have %d inputs and %d rows: use start %q: %w", InitSpectrum, data.Q, data.N, InitPaper, ErrOptions)
	case f.init == InitSpectrum && o.Features%2 == 1:
		return fmt.Errorf("vssgp: start %q lays cosines and sines in pairs, want an even number of features a component, not %d: %w", InitSpectrum, o.Features, ErrOptions)
	case !o.Raw:
		f.x = standardise(data.X, data.Q)
		if f.init == InitSpectrum {
			f.x = Affine{Offset: []float64{slices.Min(data.X)}, Scale: []float64{f.grid.Step}}
		}
		if len(data.Y) > 0 {
			f.y = standardise(data.Y, data.D)
		}
	}
	f.rows = spectral.Data{N: data.N, Q: data.Q, D: data.D, X: f.x.ToModel(data.X), Y: f.y.ToModel(data.Y)}
	return nil
}

// init is the start that the options ask for, or the default for the data.
func (o *Options) init(grid start.Grid) Init {
	switch {
	case o.Init != "":
		return o.Init
	case grid.Step > 0 && o.Method != RP && o.Lengthscales == nil && o.FrequencyVariance == 0 && o.Features%2 == 0:
		return InitSpectrum
	}
	return InitPaper
}

// gridStep is the data's grid in the model's units.
func (f *frame) gridStep() start.Grid {
	g := f.grid
	if len(f.x.Scale) == 1 {
		g.Step /= f.x.Scale[0]
	}
	return g
}

// model has the frame's units.
func (f *frame) model(p *Params) *Model {
	return &Model{Params: p, Inference: Exact, X: f.x, Y: f.y, XNames: f.data.XNames, YNames: f.data.YNames, Backend: f.o.Backend}
}

// settings are the options of a start in the model's units.
func (f *frame) settings(seed uint64) start.Settings {
	o := &f.o
	s := start.Settings{
		Method: o.Method, Components: o.Components, Features: o.Features, UniformPhases: o.UniformPhases,
		Optimised: o.Iterations != NoIterations, Noise: o.NoisePrecision * f.y.Scale[0] * f.y.Scale[0], Seed: seed,
		Dim: o.WindowDim, Window: max(0, o.Window) / f.x.Scale[o.WindowDim], Auto: o.Window == WindowAuto,
		Shared: o.Shared, FrequencyVariance: o.FrequencyVariance,
	}
	for _, w := range o.WindowCandidates {
		s.Candidates = append(s.Candidates, w/f.x.Scale[0])
	}
	if f.init == InitPaper {
		s.Lengthscales, s.Frequencies = f.paperScales()
	}
	return s
}

// paperScales are the length-scales and frequencies [L][Q] of a window's
// components. The default length-scale is a tenth of each input's range, times √Q
// since distances grow with it; further components are shorter by fours.
func (f *frame) paperScales() (lengths, frequencies [][]float64) {
	o, data := &f.o, f.data
	n := len(o.Lengthscales)
	if o.Lengthscales == nil {
		n = max(1, o.Components)
	}
	lengths, frequencies = make([][]float64, n), make([][]float64, n)
	for i := range n {
		for q, unit := range f.x.Scale {
			lo, hi := (&spectral.Data{Q: data.Q, X: data.X}).Extent(q)
			l, p := (hi-lo)/10*math.Sqrt(float64(data.Q))/math.Pow(4, float64(i)), 0.0
			if l == 0 { // a constant input: any length-scale will do that its unit can express
				l = min(1, cmp.Or(math.Abs(lo), 1))
			}
			if o.Lengthscales != nil {
				l = o.Lengthscales[i]
			}
			if o.Periods != nil && o.Periods[i] > 0 && !math.IsInf(o.Periods[i], 0) {
				p = unit / o.Periods[i]
			}
			lengths[i], frequencies[i] = append(lengths[i], l/unit), append(frequencies[i], p)
		}
	}
	return lengths, frequencies
}

// holdsOut reports whether a model of m features can be held against lines at
// the cost of about one bound: it has one input, and its matrix is of a size that
// the fit had to do with.
func (f *frame) holdsOut(inference Inference, m int, windows bool) bool {
	small := inference == Exact || m <= optimise.DirectLimit || windows
	return small && f.data.N >= start.HeldFewest && f.grid.Step > 0
}

// optimise are the options of a run from the given start.
func (o *Options) optimise(init Init, seed uint64) optimise.Settings {
	s := optimise.Settings{
		Inference: o.Inference, Method: o.Method, Random: init == InitPaper && o.From == nil,
		Iterations: o.Iterations, Batch: o.Batch, Contiguous: o.Contiguous, Along: o.WindowDim,
		Fix: o.Fix, Ties: optimise.Ties{Twins: o.Method == SSGP, Shared: o.Shared, Tensors: o.Tie}, Seed: seed,
	}
	switch o.Optimiser {
	case OptimiserGlobal:
		s.PerWindow = math.MaxInt
	case OptimiserWindows:
		s.PerWindow = 2
	}
	if init == initRough { // two free numbers
		s.Ties.Tensors = []string{"kernel.variance"}
		s.Fix = append([]string{"kernel.lengthscale", "kernel.frequency"}, optimise.FeatureTensors...)
		s.Iterations = min(cmp.Or(o.Iterations, roughIterations), roughIterations)
	}
	return s
}

// settingOf is how a fit opens the model's rows.
func (m *Model) settingOf(o *Options) variational.Setting {
	s := m.setting()
	s.Segments = o.Segments
	return s
}

// roughIterations suffice for two numbers.
const roughIterations = 30

// leavesRough reports whether the options leave the rough start open.
func (f *frame) leavesRough() bool {
	o := &f.o
	return o.From == nil && f.init == InitSpectrum && (o.Method == "" || o.Method == VSSGP) && (o.Inference == "" || o.Inference == Exact) &&
		o.Components == 0 && o.Features == 0 && o.Window == WindowAuto && o.WindowCandidates == nil && !o.Shared && o.Fix == nil && o.Tie == nil && f.data.N <= start.RoughMost
}
