package main

import (
	"context"
	"time"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/spectral"
)

// A session is one problem that is evaluated again and again on one device.
type session struct {
	*problem
	o       *speedFlags
	watch   *stopwatch
	record  *record
	samples []sample
	peak    float64 // TFLOP/s, the largest yet
}

func newSession(o *speedFlags, p *problem, b spectral.Backend) *session {
	s := &session{problem: p, o: o, watch: newStopwatch(b), record: newRecord(o, p, b.Name())}
	p.model.Backend = s.watch
	return s
}

// evaluate does once what is timed; the bound and gradient are nil for predict.
func (s *session) evaluate() (*vssgp.Evaluation, error) {
	if s.o.inference == "predict" {
		_, err := s.model.PredictRows(s.data.X, s.N)
		return nil, err
	}
	return s.model.Evaluate(s.data, vssgp.Inference(s.o.inference), nil, true)
}

// first evaluates uncounted, which warms caches and makes what is kept.
func (s *session) first() (*vssgp.Evaluation, error) {
	if s.o.inference == "predict" {
		if _, err := s.model.Condition(s.data); err != nil {
			return nil, err
		}
	}
	e, err := s.evaluate()
	if err == nil && e != nil {
		s.record.Bound = &e.Bound
	}
	return e, err
}

// round times as many evaluations as were asked for, between two measurements
// of the CPU's peak.
func (s *session) round() error {
	s.measurePeak()
	defer s.measurePeak()
	for range s.o.repeats {
		s.watch.reset()
		if _, err := s.evaluate(); err != nil {
			return err
		}
		s.samples = append(s.samples, s.watch.evaluation(time.Now()))
	}
	return nil
}

// clocked are further evaluations in which the parts of the CPU's passes are
// timed too: looking at the clock takes time of its own, which is not to count
// in the evaluation's. There are none on a card, which has clocks of its own,
// nor where they are not wanted.
func (s *session) clocked() (all []sample, err error) {
	if s.record.Device != "cpu" || !s.o.clocked {
		return nil, nil
	}
	watch := newStopwatch(cpu.New(cpu.WithTimings()))
	s.model.Backend = watch
	defer func() { s.model.Backend = s.watch }()
	for range s.o.repeats {
		watch.reset()
		if _, err := s.evaluate(); err != nil {
			return nil, err
		}
		all = append(all, watch.evaluation(time.Now()))
	}
	return all, nil
}

// measurePeak measures the CPU's where none is given; a card's is not known.
func (s *session) measurePeak() {
	switch {
	case s.o.peak > 0:
		s.peak = s.o.peak
	case s.o.device == "cpu":
		s.peak = max(s.peak, cpuPeak())
	}
}

// last are the seconds of the latest n rounds.
func (s *session) last(n int) []float64 {
	return seconds(s.samples[max(0, len(s.samples)-n*s.o.repeats):])
}

// run evaluates, with peers in between if there are any, and fills the record.
func (s *session) run() ([]peerLine, error) {
	e, err := s.alone()
	if err != nil || s.o.dump != "" {
		return nil, err
	}
	lines, err := s.peers(e)
	if err != nil {
		return nil, err
	}
	clocked, err := s.clocked()
	if err != nil {
		return nil, err
	}
	s.record.timed(s.samples, clocked, s.work(s.o.inference), s.peak)
	return lines, s.fit()
}

// alone is the first evaluation, whose memory is measured, and the first round
// or the dump.
func (s *session) alone() (*vssgp.Evaluation, error) {
	var e *vssgp.Evaluation
	var err error
	s.record.held(machine.Held(func() { e, err = s.first() }))
	defer func() { s.record.HostBytes = max(s.record.HostBytes, machine.HostPeak()) }()
	if err != nil {
		return nil, err
	}
	if s.o.dump != "" {
		return nil, s.write(s.o.dump, s.o.inference, e)
	}
	return e, s.round()
}

// A fitRecord is a fit from the made model.
type fitRecord struct {
	Iterations int     `json:"iterations"`
	Seconds    float64 `json:"seconds"`
	Bound      float64 `json:"bound"`
	Ended      string  `json:"ended"`
	HostBytes  int64   `json:"host_bytes,omitempty"` // the process's largest resident size, evaluations included
}

// fit fits the made model to its data, if that is asked for.
func (s *session) fit() error {
	if s.o.fit == 0 {
		return nil
	}
	_, r, err := vssgp.Fit(context.Background(), s.data, vssgp.Options{
		From: s.model, Inference: vssgp.Inference(s.o.inference), Iterations: s.o.fit,
	})
	if err != nil {
		return err
	}
	s.record.Fit = &fitRecord{
		Iterations: r.Iterations, Seconds: r.Elapsed.Seconds(), Bound: r.Bound, Ended: r.Starts[r.Kept].Ended, HostBytes: machine.HostPeak(),
	}
	return nil
}
