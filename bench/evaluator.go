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

// An evaluator evaluates a problem repeatedly with different parameters, as a fit does. It opens the rows once and
// reuses its workspace.
type evaluator struct {
	watch     *stopwatch
	inference string
	opened    float64       // seconds that opening the rows took
	params    *vssgp.Params // initially the model's; modified by change

	rows        *variational.Rows // for a bound; nil for predict
	predictRows backend.Rows      // for predict: the same rows without outputs
	posterior   *backend.Posterior
	out         *backend.Prediction
	at          *backend.Features // the parameters' features
}

// newEvaluator opens the problem's rows on a backend that measures time.
func (p *problem) newEvaluator(watch *stopwatch, inference string) (v *evaluator, err error) {
	v = &evaluator{watch: watch, inference: inference, params: p.model.Params.Clone()}
	data := backend.Data{N: p.N, Q: p.Q, D: p.D, X: p.data.X, Y: p.data.Y, Windows: v.params.Windows}
	if v.rows, err = variational.Open(context.Background(), data, variational.Setting{Backend: watch}); err != nil {
		return nil, err
	}
	if inference == "predict" {
		if err = v.preparePredict(data); err != nil {
			return nil, errors.Join(err, v.close())
		}
	}
	v.opened = watch.parts[opening]
	return v, nil
}

// preparePredict computes the posterior from the rows and opens them without outputs for predictions.
func (v *evaluator) preparePredict(data backend.Data) error {
	e, err := v.rows.Exact(v.params, false)
	if err != nil {
		return err
	}
	posterior, err := variational.NewPredictive(context.Background(), v.params, e.Posterior)
	if err == nil {
		err = v.rows.Close()
	}
	if err != nil {
		return err
	}
	v.rows, v.posterior, v.at, v.out = nil, posterior.Coefficients, v.params.Features(), backend.NewPrediction(data.N, data.D)
	v.watch.parts = times{}
	data.D, data.Y = 0, nil
	v.predictRows, err = v.watch.Open(data)
	return err
}

// tableFeatures is the number of features whose moments are computed to build the tables. It is so small that their
// sums take no time.
const tableFeatures = 16

// makeTables builds the tables of the rows and returns the time and the memory that they take, or nil if the rows have
// no tables. It uses the features with the highest frequencies, which need the largest tables.
func (v *evaluator) makeTables() (*tables, error) {
	all := v.params.Features()
	order, top := make([]int, all.M), make([]float64, all.M)
	for k := range order {
		order[k] = k
		for _, f := range all.Freq[k*all.Q : (k+1)*all.Q] {
			top[k] = max(top[k], math.Abs(f))
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return -cmp.Compare(top[a], top[b]) })
	some := backend.NewFeatures(min(all.M, tableFeatures), all.Q)
	for i, field := range some.Fields() {
		each := len(field.Data) / some.M
		for k := range some.M {
			copy(field.Data[k*each:(k+1)*each], all.Fields()[i].Data[order[k]*each:])
		}
	}
	dst := backend.NewMoments(some, v.rows.D)
	before, began := heap(), time.Now()
	if err := v.watch.rows.Moments(dst, some); err != nil || dst.Terms == 0 {
		return nil, err
	}
	seconds := time.Since(began).Seconds()
	return &tables{Seconds: seconds, Bytes: max(0, heap()-before)}, nil
}

// heap returns the number of bytes in use on the heap.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// nudge is the change of the parameters in change.
const nudge = 1e-6

// change modifies the parameters slightly, so that no cached features or matrices of the last evaluation can be reused.
func (v *evaluator) change() {
	for i := range v.params.FreqMean {
		v.params.FreqMean[i] += nudge
	}
	v.params.NoisePrecision[0] *= 1 + nudge
	if v.predictRows != nil {
		v.at = v.params.Features()
	}
}

// evaluate returns the bound and its gradient, which is valid until the next evaluation. For predict it predicts and
// returns nil.
func (v *evaluator) evaluate() (*vssgp.Evaluation, error) {
	if v.predictRows != nil {
		return nil, v.predictRows.Predict(v.out, v.at, v.posterior)
	}
	return v.rows.Evaluate(v.params, vssgp.Inference(v.inference), nil, true)
}

// timed times a number of evaluations, each with different parameters.
func (v *evaluator) timed(repeats int) (all []sample, err error) {
	for range repeats {
		v.change()
		one, err := v.watch.time(func() error { _, err := v.evaluate(); return err })
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// close frees the rows.
func (v *evaluator) close() error {
	if v.predictRows != nil {
		return v.predictRows.Close()
	}
	if v.rows != nil {
		return v.rows.Close()
	}
	return nil
}
