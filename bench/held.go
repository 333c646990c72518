package main

import (
	"cmp"
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/variational"
)

// held contains a problem's rows, opened once, and the state reused by the next evaluation: as a fit evaluates, again and again at other
// parameters.
type held struct {
	watch     *stopwatch
	inference string
	opened    float64       // seconds that opening the rows took
	params    *vssgp.Params // the model's at first; change moves them

	rows  *variational.Rows // for a bound
	ahead backend.Rows      // for predict: the same rows without outputs,
	known *backend.Posterior
	out   *backend.Prediction
	at    *backend.Features // the parameters' features
}

// hold opens the problem's rows on a backend that measures time.
func (p *problem) hold(watch *stopwatch, inference string) (h *held, err error) {
	h = &held{watch: watch, inference: inference, params: p.model.Params.Clone()}
	data := backend.Data{N: p.N, Q: p.Q, D: p.D, X: p.data.X, Y: p.data.Y, Windows: h.params.Windows}
	if h.rows, err = variational.Open(context.Background(), data, variational.Setting{Backend: watch}); err != nil {
		return nil, err
	}
	if inference == "predict" {
		if err = h.look(data); err != nil {
			return nil, errors.Join(err, h.close())
		}
	}
	h.opened = watch.parts[opening]
	return h, nil
}

// look puts the rows in order for predictions, from the posterior that their outputs give.
func (h *held) look(data backend.Data) error {
	e, err := h.rows.Exact(h.params, false)
	if err != nil {
		return err
	}
	posterior, err := variational.NewPredictive(context.Background(), h.params, e.Posterior)
	if err == nil {
		err = h.rows.Close()
	}
	if err != nil {
		return err
	}
	h.rows, h.known, h.at, h.out = nil, posterior.Coefficients, h.params.Features(), backend.NewPrediction(data.N, data.D)
	h.watch.parts = times{}
	data.D, data.Y = 0, nil
	h.ahead, err = h.watch.Open(data)
	return err
}

// tableFeatures is the number of features whose moments make the tables. Their own sums take no time.
const tableFeatures = 16

// makeTables makes the tables of the rows and measures the time and the memory that they keep. It returns nil if the rows have
// no tables. The features with the highest frequencies need the largest tables.
func (h *held) makeTables() (*tables, error) {
	all := h.params.Features()
	order := make([]int, all.M)
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return -cmp.Compare(math.Abs(all.Freq[a]), math.Abs(all.Freq[b])) })
	some := backend.NewFeatures(min(all.M, tableFeatures), 1)
	for i, field := range some.Fields() {
		for k := range field.Data {
			field.Data[k] = all.Fields()[i].Data[order[k]]
		}
	}
	dst := backend.NewMoments(some, h.rows.D)
	before, began := heap(), time.Now()
	if err := h.watch.rows.Moments(dst, some); err != nil || dst.Terms == 0 {
		return nil, err
	}
	seconds := time.Since(began).Seconds()
	return &tables{Seconds: seconds, Bytes: max(0, heap()-before)}, nil
}

// heap returns the number of bytes in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// nudge is by how much change moves the parameters.
const nudge = 1e-6

// change moves the parameters a little, as a fit's next step would: nothing that was kept of the last evaluation's features or matrices can
// serve for the next one.
func (h *held) change() {
	for i := range h.params.FreqMean {
		h.params.FreqMean[i] += nudge
	}
	h.params.NoisePrecision[0] *= 1 + nudge
	if h.ahead != nil {
		h.at = h.params.Features()
	}
}

// evaluate evaluates the bound and its gradient, which is valid until the next evaluation; or predicts, and returns nil.
func (h *held) evaluate() (*vssgp.Evaluation, error) {
	if h.ahead != nil {
		return nil, h.ahead.Predict(h.out, h.at, h.known)
	}
	return h.rows.Evaluate(h.params, vssgp.Inference(h.inference), nil, true)
}

// timed times some evaluations, each at other parameters.
func (h *held) timed(repeats int) (all []sample, err error) {
	for range repeats {
		h.change()
		one, err := h.watch.time(func() error { _, err := h.evaluate(); return err })
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// close frees the rows.
func (h *held) close() error {
	if h.ahead != nil {
		return h.ahead.Close()
	}
	if h.rows != nil {
		return h.rows.Close()
	}
	return nil
}
