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
	opening    = "open" // checking, sorting and uploading the rows; once, and not part of an evaluation's time
	moments    = "moments"
	pullback   = "pullback"
	factorized = "factorized"
	predicted  = "predict"
	hosted     = "host" // everything except the passes over the rows: factorization, inverse, chain rule

	// solving is the time of moments and algebra together if a GPU does the algebra. If its kernels are timed, the time
	// is split into algebra, which is the time of the algebra's kernels, and moments, which is the rest. The adjoint's
	// kernels count to pullback.
	solving = "solve"
	algebra = "algebra"

	// Parts of moments on the CPU: total time of all cores, divided by their number. The rest of moments is waiting,
	// and work after the summation.
	evaluating   = "features"
	accumulating = "accumulation"
)

// passes lists the parts of an evaluation except hosted. Together with hosted, they add up to the evaluation's time.
var passes = []string{moments, pullback, factorized, predicted, solving, algebra}

// times maps parts of an evaluation, or kernels, to seconds. On a GPU, kernels are timed by its clock. On the CPU, they
// are parts of a pass, whose times are summed over the cores.
type times map[string]float64

// sum returns the sum of the named times.
func (t times) sum(names ...string) (sum float64) {
	for _, n := range names {
		sum += t[n]
	}
	return sum
}

// split divides solving into algebra and moments. The algebra's kernels are chain_… with windows and dense_… without.
func (t times) split(kernels times) {
	own := 0.0
	for name, seconds := range kernels {
		solves := strings.HasPrefix(name, "chain_") || strings.HasPrefix(name, "dense_")
		if solves && !strings.HasSuffix(name, "_adjoint") { // the pullback launches the adjoint kernels
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

// A stopwatch is a backend.Backend that times another. A pass returns host values, so the device has finished when it
// returns.
type stopwatch struct {
	backend.Backend
	mu    sync.Mutex
	parts times

	timings func() []backend.Timing // returns the times of the kernels since its last call
	cores   int                     // number of cores over which the kernels' times are summed; 0 on a GPU

	rows   backend.Rows // the last opened rows
	tables func() bool  // reports whether the last moments of rows came from tables; nil if rows have no tables
}

// newStopwatch returns a stopwatch for b. If direct is true, no sums come from tables.
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

// Open opens rows that may use tables. If direct is true, it returns the underlying rows without tables.
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

// time times an evaluation of opened rows.
func (s *stopwatch) time(evaluate func() error) (sample, error) {
	s.parts = times{}
	s.timings() // discards earlier times
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

// partOf maps the methods of a backend and its rows to the parts of an evaluation.
var partOf = map[string]string{
	"Open": opening, "Moments": moments, "Pullback": pullback, "PullbackSolved": pullback,
	"Factorized": factorized, "Predict": predicted, "Solve": solving,
}

// observe starts timing a method. end adds the elapsed time to its part.
func (s *stopwatch) observe(method string) (end func()) {
	began := time.Now()
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.parts[partOf[method]] += time.Since(began).Seconds()
	}
}

// each returns a statistic over evaluations of the times of each part or kernel. A missing time counts as 0.
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

// column applies of to each evaluation.
func column(all []sample, of func(sample) float64) (out []float64) {
	for _, m := range all {
		out = append(out, of(m))
	}
	return out
}

func mean(a []float64) float64 { return stat.Mean(a, nil) }

// median returns the median of a, or 0 if it is empty.
func median(a []float64) float64 {
	s, n := slices.Sorted(slices.Values(a)), len(a)
	if n == 0 {
		return 0
	}
	return (s[(n-1)/2] + s[n/2]) / 2
}
