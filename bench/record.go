package main

import (
	"maps"
	"slices"

	"github.com/vssgp/vssgp/bench/internal/machine"
)

// A timing is the measurement of evaluations: of a bound and its gradient, or of predictions.
type timing struct {
	Repeats    int         `json:"repeats,omitempty"`                // timed evaluations; with peers, of all rounds
	Bound      *float64    `json:"bound,omitempty"`                  // absent for predict
	Evaluation float64     `json:"seconds_per_evaluation,omitempty"` // the median
	Range      *[2]float64 `json:"seconds_range,omitempty"`          // least and most
	Seconds    times       `json:"seconds,omitempty"`                // medians of the parts
	Sums       string      `json:"sums,omitempty"`                   // of exact inference: over rows, or from tables
	Tables     *tables     `json:"tables,omitempty"`                 // if the sums come from them
	HostBytes  int64       `json:"host_bytes,omitempty"`             // the process's largest resident size (Linux)
	Fit        *fitRecord  `json:"fit,omitempty"`
	Status     string      `json:"status"` // ok, or why there are no times: out of memory: …
}

// The values of timing.Sums.
const (
	overRows   = "rows"
	fromTables = "tables"
)

// tables are the cost of making the tables of the rows' Fourier sums, once for opened rows.
type tables struct {
	Seconds float64 `json:"seconds"`
	Bytes   int64   `json:"bytes"` // that stay in memory
}

// A fitRecord is a fit from the made model, or of data from a file.
type fitRecord struct {
	Iterations int     `json:"iterations"`
	Seconds    float64 `json:"seconds"`                         // in all
	Each       float64 `json:"seconds_per_iteration,omitempty"` // after the first
	Bound      float64 `json:"bound"`
	Ended      string  `json:"ended"`
	HostBytes  int64   `json:"host_bytes,omitempty"` // the process's largest resident size, evaluations included
}

// A record is a line of `bench speed`.
type record struct {
	machine.Machine
	Time  string `json:"time"`
	Bench string `json:"bench"` // speed

	Case      string  `json:"case"`             // -case, or made of the sizes
	Data      string  `json:"data,omitempty"`   // file of the rows; "": made
	Fitted    bool    `json:"fitted,omitempty"` // -fitted
	Direct    bool    `json:"direct,omitempty"` // -direct
	Seed      uint64  `json:"seed"`
	Method    string  `json:"method"`    // vssgp
	Inference string  `json:"inference"` // exact, factorised or predict
	Window    float64 `json:"window"`    // length in samples, 0: none
	Even      bool    `json:"even"`      // made rows are on the grid
	N         int     `json:"N"`
	Q         int     `json:"Q"`
	D         int     `json:"D"`
	L         int     `json:"L"`
	K         int     `json:"K"`
	M         int     `json:"M"` // L·K in all windows together
	V         int     `json:"V"`
	Device    string  `json:"device"` // that computed
	Precision string  `json:"precision"`
	Simd      string  `json:"simd,omitempty"` // avx512, avx2 or go: the CPU's kernels

	Start float64 `json:"start_seconds,omitempty"` // opening the device: on a card the driver compiles the kernels at the first start
	First float64 `json:"first_seconds,omitempty"` // the first evaluation of the opened rows, not counted
	timing
	Kernels     times   `json:"kernel_seconds,omitempty"` // means in an evaluation
	RowsPer     float64 `json:"rows_per_second,omitempty"`
	Work        times   `json:"flop,omitempty"`                // of each pass
	GFlops      times   `json:"gflops,omitempty"`              // flop over seconds, of each pass, of the evaluation, and of accumulation
	Peak        float64 `json:"peak_tflops,omitempty"`         // as given, or as measured on the CPU
	Share       times   `json:"share_of_peak,omitempty"`       // gflops over it
	Bytes       int64   `json:"evaluation_bytes,omitempty"`    // by which the process grew in the first evaluation
	Matrices    float64 `json:"evaluation_matrices,omitempty"` // the same over 8·M², for exact without windows
	DeviceBytes int64   `json:"device_bytes,omitempty"`        // the peak of any one GPU's memory
}

// timed fills in the medians and the rates that follow from them, which are of passes over the rows. peak is in TFLOP/s, 0 if none is
// known. clocked are evaluations on the CPU with clocks on the parts of moments: their shares count for all.
func (r *record) timed(all, clocked []sample, work times, peak float64) {
	p, seconds := each(all, partsOf, median), column(all, secondsOf)
	r.Kernels = each(all, kernelsOf, mean)
	if len(clocked) > 0 {
		r.Kernels = each(clocked, kernelsOf, mean)
		if c := each(clocked, partsOf, median); c[moments] > 0 {
			p[evaluating], p[accumulating] = p[moments]*c[evaluating]/c[moments], p[moments]*c[accumulating]/c[moments]
		}
	}
	r.Repeats, r.Evaluation, r.Range = len(seconds), median(seconds), &[2]float64{slices.Min(seconds), slices.Max(seconds)}
	r.Seconds = p
	r.RowsPer = float64(r.N) / r.Evaluation
	if r.Sums == fromTables {
		return
	}
	r.Work = maps.Clone(work)
	delete(r.Work, accumulating)
	r.GFlops = rates(work, p, r.Evaluation, 1e9)
	if peak > 0 {
		r.Peak, r.Share = peak, rates(work, p, r.Evaluation, 1e12*peak)
	}
}

// rates are work over time, of each part that has both and of the whole evaluation, the host's algebra counting as time but not as work.
func rates(work, parts times, evaluation, unit float64) times {
	out := times{"evaluation": total(work) / evaluation / unit}
	for name, w := range work {
		if parts[name] > 0 {
			out[name] = w / parts[name] / unit
		}
	}
	return out
}

// held fills in the host's memory: the bytes used by the first evaluation, and the peak of the process.
func (r *record) held(held, most int64) {
	r.Bytes, r.HostBytes = held, most
	if r.Inference == "exact" && r.Window == 0 {
		r.Matrices = float64(held) / (8 * float64(r.M) * float64(r.M))
	}
}
