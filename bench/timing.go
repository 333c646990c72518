package main

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/rowspectrum"
)

// The parts of an evaluation.
const (
	opening    = "open" // checks, order of the rows, upload: once, as in a fit, and no part of an evaluation's time
	moments    = "moments"
	pullback   = "pullback"
	factorized = "factorised"
	predicted  = "predict"
	hosted     = "host" // all but the passes over the rows: factor, inverse, chain rule

	// If a card does the algebra of windows: moments and algebra together. If its kernels are timed too, algebra is their share (the
	// adjoint's counts to pullback), and the rest belongs to moments.
	solving = "solve"
	algebra = "algebra"

	// Parts of moments on the CPU: the time of all cores over their number. The rest of moments is waiting, and work done once with the
	// sums.
	evaluating   = "features"
	accumulating = "accumulation"
)

// passes are the parts over the rows; with hosted they add up to the evaluation's time.
var passes = []string{moments, pullback, factorized, predicted, solving, algebra}

// times are seconds by part of an evaluation, or by kernel: by a card's own clock, or of each part of a pass on the CPU, summed over its
// cores.
type times map[string]float64

// sum adds some times up.
func (t times) sum(names ...string) (sum float64) {
	for _, n := range names {
		sum += t[n]
	}
	return sum
}

// split takes the algebra out of solving, by the times of its kernels: chain_… with windows, dense_… without.
func (t times) split(kernels times) {
	own := 0.0
	for name, seconds := range kernels {
		solves := strings.HasPrefix(name, "chain_") || strings.HasPrefix(name, "dense_")
		if solves && !strings.HasSuffix(name, "_adjoint") { // which the pullback launches
			own += seconds
		}
	}
	if own > 0 {
		t[algebra], t[moments] = own, t[moments]+t[solving]-own
		delete(t, solving)
	}
}

// A sample is one timed evaluation.
type sample struct {
	seconds        float64
	parts, kernels times
}

// A stopwatch is a backend.Backend that times another. A pass hands host values back, so when it returns the device has finished.
type stopwatch struct {
	backend.Backend
	mu    sync.Mutex
	parts times

	timings func() []backend.Timing // of kernels since it was last called
	cores   int                     // that the kernels' times are summed over; 0 on a card

	rows   backend.Rows // the last that were opened
	tables func() bool  // whether their last moments came from tables; nil: they make none
}

// newStopwatch times b. If direct is true, no sums come from tables.
func newStopwatch(b backend.Backend, direct bool) *stopwatch {
	s := &stopwatch{parts: times{}, timings: func() []backend.Timing { return nil }}
	s.Backend = backend.Observed(below{b, s, direct}, s.observe)
	if _, ok := b.(*cpu.Backend); ok {
		s.cores = runtime.GOMAXPROCS(0)
	}
	if b, ok := b.(interface{ Timings() []backend.Timing }); ok {
		s.timings = b.Timings
	}
	return s
}

// below is the backend below a stopwatch.
type below struct {
	backend.Backend
	watch  *stopwatch
	direct bool
}

// Open opens rows that may make tables. If direct is true, it returns the rows that the tables are made of.
func (b below) Open(d backend.Data) (backend.Rows, error) {
	r, err := b.Backend.Open(d)
	if over, ok := r.(*rowspectrum.Rows); ok && b.direct {
		r = over.Rows
	}
	b.watch.tables = nil
	if t, ok := r.(interface{ Tables() bool }); ok {
		b.watch.tables = t.Tables
	}
	return r, err
}

// Open opens the rows that are timed.
func (s *stopwatch) Open(d backend.Data) (r backend.Rows, err error) {
	r, err = s.Backend.Open(d)
	s.rows = r
	return r, err
}

// time times an evaluation of rows that are open.
func (s *stopwatch) time(evaluate func() error) (sample, error) {
	s.parts = times{}
	s.timings() // forgets earlier ones
	began := time.Now()
	if err := evaluate(); err != nil {
		return sample{}, err
	}
	m := sample{seconds: time.Since(began).Seconds(), parts: s.parts, kernels: times{}}
	m.parts[hosted] = m.seconds - m.parts.sum(passes...)
	for _, k := range s.timings() {
		m.kernels[k.Kernel] = k.Time.Seconds()
	}
	m.parts.split(m.kernels)
	if s.cores > 0 {
		m.parts[evaluating] = m.kernels["moments.features"] / float64(s.cores)
		m.parts[accumulating] = m.kernels["moments.products"] / float64(s.cores)
	}
	return m, nil
}

// partOf is the part that a method of a backend's rows counts to.
var partOf = map[string]string{
	"Open": opening, "Moments": moments, "Pullback": pullback, "PullbackSolved": pullback,
	"Factorized": factorized, "Predict": predicted, "Solve": solving,
}

// observe begins to time a method.
func (s *stopwatch) observe(method string) (end func()) {
	began := time.Now()
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.parts[partOf[method]] += time.Since(began).Seconds()
	}
}

// each is a statistic of each part's or kernel's times over some evaluations, 0 where one lacks it.
func each(all []sample, of func(sample) times, statistic func([]float64) float64) times {
	out := times{}
	for _, m := range all {
		for name := range of(m) {
			out[name] = statistic(column(all, func(m sample) float64 { return of(m)[name] }))
		}
	}
	return out
}

func partsOf(m sample) times     { return m.parts }
func kernelsOf(m sample) times   { return m.kernels }
func secondsOf(m sample) float64 { return m.seconds }

// column returns a number of each evaluation.
func column(all []sample, of func(sample) float64) (out []float64) {
	for _, m := range all {
		out = append(out, of(m))
	}
	return out
}

func mean(a []float64) float64 { return stat.Mean(a, nil) }

// median is the mean of the middle two of an even number.
func median(a []float64) float64 {
	s, n := slices.Sorted(slices.Values(a)), len(a)
	if n == 0 {
		return 0
	}
	return (s[(n-1)/2] + s[n/2]) / 2
}
