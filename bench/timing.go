package main

import (
	"runtime"
	"sort"
	"sync"
	"time"

	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/gpu"
	"github.com/vssgp/vssgp/spectral"
)

// parts are the seconds that one evaluation took, by what was done. They add
// up to the evaluation's time, opening and closing apart, which a fit does
// once: Host is all that is no pass over the rows.
type parts struct {
	Open       float64 `json:"open"` // checks, order of the rows, upload: once in a fit
	Moments    float64 `json:"moments,omitempty"`
	Pullback   float64 `json:"pullback,omitempty"`
	Factorised float64 `json:"factorised,omitempty"`
	Predict    float64 `json:"predict,omitempty"`
	Host       float64 `json:"host"` // factor, inverse, chain rule

	// Where a card does the algebra of windows: moments and algebra together; with
	// its kernels timed the algebra's own, and Moments is what is left.
	Solve   float64 `json:"solve,omitempty"`
	Algebra float64 `json:"algebra,omitempty"`

	// Of Moments, on the CPU: what its goroutines spent, over their number.
	Features     float64 `json:"features,omitempty"`
	Accumulation float64 `json:"accumulation,omitempty"`
}

// passes is the time spent in passes over the rows.
func (p parts) passes() float64 {
	return p.Moments + p.Pullback + p.Factorised + p.Predict + p.Solve + p.Algebra
}

// split takes the algebra out of Solve, by the times of its kernels. Making the
// adjoint is a part of Pullback.
func (p *parts) split(kernels kernelTimes) {
	algebra := 0.0
	for _, k := range []string{"chain_start", "chain_reduce", "chain_factor", "chain_inverse"} {
		algebra += kernels[k]
	}
	if algebra > 0 {
		p.Algebra, p.Moments, p.Solve = algebra, p.Moments+p.Solve-algebra, 0
	}
}

// A stopwatch is a spectral.Backend that times another. A pass hands host
// values back, so when it returns the device has finished.
type stopwatch struct {
	spectral.Backend
	mu     sync.Mutex
	parts  parts
	opened time.Time     // when the rows were there
	closed time.Duration // spent closing

	kernels func() kernelTimes // since it was last called; nil where none are timed
	cores   int                // that the kernels' times are summed over; 0 on a card
}

// kernelTimes are the seconds of each kernel, by a card's own clock, or of each
// part of a pass on the CPU, summed over its cores.
type kernelTimes map[string]float64

// add adds other times to these.
func (t kernelTimes) add(other kernelTimes) {
	for k, v := range other {
		t[k] += v
	}
}

// A sample is one timed evaluation.
type sample struct {
	seconds float64
	parts   parts
	kernels kernelTimes
}

func newStopwatch(b spectral.Backend) *stopwatch {
	s := &stopwatch{Backend: b}
	switch b := b.(type) {
	case interface{ Timings() []gpu.Timing }:
		s.kernels = func() kernelTimes {
			t := kernelTimes{}
			for _, k := range b.Timings() {
				t[k.Kernel] = k.Time.Seconds()
			}
			return t
		}
	case interface{ Timings() []cpu.Timing }:
		s.cores = runtime.GOMAXPROCS(0)
		s.kernels = func() kernelTimes {
			t := kernelTimes{}
			for _, k := range b.Timings() {
				t[k.Kernel] = k.Time.Seconds()
			}
			return t
		}
	}
	return s
}

// reset forgets what was timed.
func (s *stopwatch) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parts, s.closed = parts{}, 0
	if s.kernels != nil {
		s.kernels()
	}
}

// Open opens rows whose passes are timed.
func (s *stopwatch) Open(d spectral.Data) (spectral.Rows, error) {
	began := time.Now()
	r, err := s.Backend.Open(d)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened = time.Now()
	s.parts.Open += s.opened.Sub(began).Seconds()
	if solver, ok := r.(spectral.Solver); ok {
		return &timedSolver{timedRows{r, s}, solver}, nil
	}
	return &timedRows{r, s}, nil
}

func (s *stopwatch) add(to *float64, began time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*to += time.Since(began).Seconds()
}

// evaluation is the time since the rows were there, closing them apart, and
// its parts.
func (s *stopwatch) evaluation(end time.Time) sample {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := sample{seconds: (end.Sub(s.opened) - s.closed).Seconds(), parts: s.parts}
	m.parts.Host = m.seconds - m.parts.passes()
	if s.kernels != nil {
		m.kernels = s.kernels()
		m.parts.split(m.kernels)
	}
	if s.cores > 0 {
		m.parts.Features = m.kernels["moments.features"] / float64(s.cores)
		m.parts.Accumulation = m.kernels["moments.products"] / float64(s.cores)
	}
	return m
}

type timedRows struct {
	spectral.Rows
	s *stopwatch
}

func (r *timedRows) Moments(dst *spectral.Moments, f *spectral.Features) error {
	defer r.s.add(&r.s.parts.Moments, time.Now())
	return r.Rows.Moments(dst, f)
}

func (r *timedRows) Pullback(dst, f *spectral.Features, bar *spectral.Moments) error {
	defer r.s.add(&r.s.parts.Pullback, time.Now())
	return r.Rows.Pullback(dst, f, bar)
}

func (r *timedRows) Factorised(dst *spectral.FactorisedSums, f *spectral.Features, w *spectral.Weights, rows []int) error {
	defer r.s.add(&r.s.parts.Factorised, time.Now())
	return r.Rows.Factorised(dst, f, w, rows)
}

func (r *timedRows) Predict(dst *spectral.Prediction, f *spectral.Features, p *spectral.Posterior) error {
	defer r.s.add(&r.s.parts.Predict, time.Now())
	return r.Rows.Predict(dst, f, p)
}

// timedSolver are timed rows that can do the algebra.
type timedSolver struct {
	timedRows
	solver spectral.Solver
}

func (r *timedSolver) Solves(f *spectral.Features) bool { return r.solver.Solves(f) }

func (r *timedSolver) Solve(dst *spectral.Solution, f *spectral.Features, lambda float64) error {
	defer r.s.add(&r.s.parts.Solve, time.Now())
	return r.solver.Solve(dst, f, lambda)
}

func (r *timedSolver) PullbackSolved(dst, f *spectral.Features, bar spectral.SolvedAdjoint) error {
	defer r.s.add(&r.s.parts.Pullback, time.Now())
	return r.solver.PullbackSolved(dst, f, bar)
}

func (r *timedRows) Close() error {
	began := time.Now()
	err := r.Rows.Close()
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.s.closed += time.Since(began)
	return err
}

// medianParts takes each part's own median.
func medianParts(all []sample) parts {
	of := func(get func(parts) float64) float64 {
		v := make([]float64, len(all))
		for i, m := range all {
			v[i] = get(m.parts)
		}
		return median(v)
	}
	return parts{
		Open:         of(func(p parts) float64 { return p.Open }),
		Moments:      of(func(p parts) float64 { return p.Moments }),
		Pullback:     of(func(p parts) float64 { return p.Pullback }),
		Factorised:   of(func(p parts) float64 { return p.Factorised }),
		Predict:      of(func(p parts) float64 { return p.Predict }),
		Host:         of(func(p parts) float64 { return p.Host }),
		Solve:        of(func(p parts) float64 { return p.Solve }),
		Algebra:      of(func(p parts) float64 { return p.Algebra }),
		Features:     of(func(p parts) float64 { return p.Features }),
		Accumulation: of(func(p parts) float64 { return p.Accumulation }),
	}
}

// meanKernels are the mean times in an evaluation; empty where none were taken.
func meanKernels(all []sample) kernelTimes {
	sum := kernelTimes{}
	for _, m := range all {
		sum.add(m.kernels)
	}
	for k := range sum {
		sum[k] /= float64(len(all))
	}
	return sum
}

// seconds are those of whole evaluations.
func seconds(all []sample) []float64 {
	v := make([]float64, len(all))
	for i, m := range all {
		v[i] = m.seconds
	}
	return v
}

// median sorts a copy; of an even number it is the mean of the middle two.
func median(a []float64) float64 {
	s := append([]float64(nil), a...)
	sort.Float64s(s)
	n := len(s)
	if n == 0 {
		return 0
	}
	return (s[(n-1)/2] + s[n/2]) / 2
}
