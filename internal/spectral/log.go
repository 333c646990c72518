package spectral

import (
	"context"
	"math"
)

// A Step is the result of one optimization. A search that is given the steps of an interrupted one repeats it without evaluating the bound,
// and then continues with the same bits.
type Step struct {
	Model
	LogEvidence float64 `json:"log_evidence"`
	Value       float64 `json:"value"` // of the objective
	Pairs       int     `json:"pairs"`
	Work        float64 `json:"work"`             // of the search so far
	Failed      bool    `json:"failed,omitempty"` // the bound cannot be evaluated
}

// replay returns the next logged result.
func (s *Search) replay() (c Candidate, ok bool) {
	if s.next == len(s.Log) {
		return c, false
	}
	step := s.Log[s.next]
	s.next++
	s.work = step.Work
	if step.Failed {
		return failed(step.Model), true
	}
	return Candidate{step.Model, step.LogEvidence, step.LogEvidence - s.domain.price(step.Components), step.Value, step.Pairs}, true
}

// record logs a result.
func (s *Search) record(c Candidate) error {
	step := Step{Model: c.Model, Pairs: c.pairs, Work: s.work, Failed: math.IsInf(c.Score, -1)}
	if !step.Failed {
		step.LogEvidence, step.Value = c.LogEvidence, c.value
	}
	s.Log = append(s.Log, step)
	s.next++
	if s.Keep == nil {
		return nil
	}
	return s.Keep()
}

// failed returns the candidate for a model whose bound cannot be evaluated.
func failed(m Model) Candidate {
	return Candidate{Model: m, LogEvidence: math.Inf(-1), Score: math.Inf(-1), value: math.Inf(-1)}
}

// WithContext returns the search with another context.
func (s *Search) WithContext(ctx context.Context) *Search {
	c := *s
	c.ctx = ctx
	return &c
}

// Best returns the best candidate of the log, which must not be empty.
func (s *Search) Best() (best Candidate) {
	at := Search{domain: s.domain, Log: s.Log}
	best.Score = math.Inf(-1)
	for range s.Log {
		if c, _ := at.replay(); best.Components == nil || c.Score > best.Score {
			best = c
		}
	}
	return best
}
