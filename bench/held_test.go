package main

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/testkit"
)

// seen counts how often rows are opened and closed, and keeps a number of each
// pass's features.
type seen struct {
	backend.Backend
	opened, closed int
	freq           []float64
}

func (s *seen) Open(d backend.Data) (backend.Rows, error) {
	s.opened++
	r, err := s.Backend.Open(d)
	return seenRows{r, s}, err
}

type seenRows struct {
	backend.Rows
	s *seen
}

func (r seenRows) keep(f *backend.Features) { r.s.freq = append(r.s.freq, f.Freq[0]) }

func (r seenRows) Moments(dst *backend.Moments, f *backend.Features) error {
	r.keep(f)
	return r.Rows.Moments(dst, f)
}

func (r seenRows) Factorized(dst *backend.FactorizedSums, f *backend.Features, w *backend.Weights, rows []int) error {
	r.keep(f)
	return r.Rows.Factorized(dst, f, w, rows)
}

func (r seenRows) Predict(dst *backend.Prediction, f *backend.Features, p *backend.Posterior) error {
	r.keep(f)
	return r.Rows.Predict(dst, f, p)
}

func (r seenRows) Close() error {
	r.s.closed++
	return r.Rows.Close()
}

// TestWarm: evaluations share rows that are opened once (a prediction's once more,
// for the posterior), no two have the same features, and the first is the model's.
func TestWarm(t *testing.T) {
	for _, inference := range inferences {
		o := parsed[*speedTask](t, "speed", "-n 50 -features 4 -repeats 3 -peak 1 -clocked=false -inference "+inference)
		b := &seen{Backend: cpu.New()}
		s := testkit.Must(newSession(o, b))(t)
		testkit.OK(t, s.run())
		opens, passes := 1, 4
		if inference == "predict" {
			opens, passes = 2, 5
		}
		if b.opened != opens || b.closed != opens || len(b.freq) != passes {
			t.Errorf("%s: opened %d times, closed %d, %d passes; want %d, %d, %d", inference, b.opened, b.closed, len(b.freq), opens, opens, passes)
		}
		last := slices.Compact(slices.Sorted(slices.Values(b.freq[passes-4:])))
		if len(last) != 4 {
			t.Errorf("%s: features at ω = %v, want another at each evaluation", inference, b.freq)
		}
		r := s.record
		if r.First <= 0 || r.Seconds[opening] <= 0 || r.Repeats != 3 {
			t.Errorf("%s: first %v s, opening %v s, %d evaluations", inference, r.First, r.Seconds[opening], r.Repeats)
		}
		if inference == "predict" {
			continue
		}
		if e, err := s.model.Evaluate(t.Context(), s.data, vssgp.Inference(inference), nil, false); err != nil || *r.Bound != e.Bound {
			t.Errorf("%s: bound %v, the model's is %v (%v)", inference, *r.Bound, e.Bound, err)
		}
	}
}

// wrong is a backend that scales a sum of Moments and of Pullback.
type wrong struct {
	backend.Backend
	moment, slope float64
}

func (w wrong) Open(d backend.Data) (backend.Rows, error) {
	r, err := w.Backend.Open(d)
	return wrongRows{r, w}, err
}

type wrongRows struct {
	backend.Rows
	wrong wrong
}

func (r wrongRows) Moments(dst *backend.Moments, f *backend.Features) error {
	err := r.Rows.Moments(dst, f)
	dst.C[0] *= r.wrong.moment
	return err
}

func (r wrongRows) Pullback(dst, f *backend.Features, bar *backend.Moments) error {
	err := r.Rows.Pullback(dst, f, bar)
	dst.Freq[0] *= r.wrong.slope
	return err
}

// TestCheck checks that -check accepts the CPU's own results, and refuses a wrong bound, a wrong gradient and NaN.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		moment, slope float64
		err           string
	}{{1, 1, ""}, {1.001, 1, "bound"}, {1, 1 + 1e-6, "gradient by"}, {1, math.NaN(), "gradient by"}} {
		for _, inference := range []string{"exact", "exact -window 20"} {
			o := parsed[*speedTask](t, "speed", "-n 50 -features 4 -repeats 1 -peak 1 -clocked=false -check -inference "+inference)
			s := testkit.Must(newSession(o, wrong{cpu.New(), c.moment, c.slope}))(t)
			if err := s.run(); (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("%+v, %s: %v", c, inference, err)
			}
		}
	}
}

// TestFirstIsKept: the gradient that peers are compared with is the made model's,
// however often others have been computed since.
func TestFirstIsKept(t *testing.T) {
	s := testkit.Must(newSession(parsed[*speedTask](t, "speed", "-n 50 -features 4 -repeats 2 -peers numpy"), cpu.New()))(t)
	e := testkit.Must(s.first())(t)
	want := slices.Clone(e.Gradient.FreqMean)
	testkit.Must(s.held.timed(2))(t)
	if !slices.Equal(e.Gradient.FreqMean, want) {
		t.Error("later evaluations have written over the first one's gradient")
	}
	testkit.OK(t, s.held.close())
}
