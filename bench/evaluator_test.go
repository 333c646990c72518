package main

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/backend/backendtest"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/testkit"
)

// TestEvaluationsShareOpenRows checks that evaluations share rows that are opened once (for predict twice, the
// first time for the posterior), that all have different features, and that the first
// evaluates the model.
func TestEvaluationsShareOpenRows(t *testing.T) {
	for _, inference := range inferences {
		o := parsed[*speedTask](t, "speed", "-n 50 -features 4 -repeats 3 -peak 1 -clocked=false -inference "+inference)
		calls, freq := map[string]int{}, []float64(nil) // number of calls by method; first frequency of each pass
		b := &backendtest.Spy{Backend: cpu.New(), Before: func(method string, f *backend.Features) error {
			if calls[method]++; f != nil && method != "Pullback" {
				freq = append(freq, f.Freq[0])
			}
			return nil
		}}
		s := testkit.Must(newSession(o, b))(t)
		testkit.OK(t, s.run())
		opens, passes := 1, 4
		if inference == "predict" {
			opens, passes = 2, 5
		}
		if calls["Open"] != opens || calls["Close"] != opens || len(freq) != passes {
			t.Errorf("%s: calls %v, %d passes; want %d of Open and Close, %d passes", inference, calls, len(freq), opens, passes)
		}
		last := slices.Compact(slices.Sorted(slices.Values(freq[passes-4:])))
		if len(last) != 4 {
			t.Errorf("%s: first frequencies %v, want a different one in each evaluation", inference, freq)
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

// TestCheckRejectsWrongResults checks that -check accepts the results of the CPU and rejects a wrong bound, a wrong gradient and NaN.
func TestCheckRejectsWrongResults(t *testing.T) {
	for _, c := range []struct {
		moment, slope float64
		err           string
	}{{1, 1, ""}, {1.001, 1, "bound"}, {1, 1 + 1e-6, "gradient with"}, {1, math.NaN(), "gradient with"}} {
		for _, inference := range []string{"exact", "exact -window 20"} {
			o := parsed[*speedTask](t, "speed", "-n 50 -features 4 -repeats 1 -peak 1 -clocked=false -check -inference "+inference)
			b := &backendtest.Spy{
				Backend:  cpu.New(),
				Moments:  func(m *backend.Moments) { m.C[0] *= c.moment },
				Pullback: func(bar *backend.Features) { bar.Freq[0] *= c.slope },
			}
			s := testkit.Must(newSession(o, b))(t)
			if err := s.run(); (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("%+v, %s: %v", c, inference, err)
			}
		}
	}
}

// TestFirstIsKept checks that evaluations of other parameters do not overwrite the gradient
// that is compared with peers.
func TestFirstIsKept(t *testing.T) {
	s := testkit.Must(newSession(parsed[*speedTask](t, "speed", "-n 50 -features 4 -repeats 2 -peers numpy"), cpu.New()))(t)
	e := testkit.Must(s.first())(t)
	want := slices.Clone(e.Gradient.FreqMean)
	testkit.Must(s.evaluator.timed(2))(t)
	if !slices.Equal(e.Gradient.FreqMean, want) {
		t.Error("later evaluations overwrote the gradient of the first")
	}
	testkit.OK(t, s.evaluator.close())
}
