package main

import (
	"maps"
	"slices"

	"github.com/vssgp/vssgp/bench/internal/machine"
)

// A timing contains measurements of evaluations, which compute a bound and its gradient or predictions.
type timing struct {
	Repeats    int         `json:"repeats,omitempty"`                // timed evaluations; with peers, of all rounds
	Bound      *float64    `json:"bound,omitempty"`                  // absent for predict
	Evaluation float64     `json:"seconds_per_evaluation,omitempty"` // the median
	Range      *[2]float64 `json:"seconds_range,omitempty"`          // minimum and maximum
	Seconds    times       `json:"seconds,omitempty"`                // medians of the parts
	Sums       string      `json:"sums,omitempty"`                   // overRows or fromTables; only for exact inference
	Tables     *tables     `json:"tables,omitempty"`                 // if the sums come from tables
	HostBytes  int64       `json:"host_bytes,omitempty"`             // peak resident memory of the process (Linux)
	Fit        *fitRecord  `json:"fit,omitempty"`
	Status     string      `json:"status"` // ok, or the reason why there are no times, such as out of memory: …
}

// The values of timing.Sums.
const (
	overRows   = "rows"
	fromTables = "tables"
)

// tables is the cost of building the tables of the rows' Fourier sums, once after the rows are opened.
type tables struct {
	Seconds float64 `json:"seconds"`
	Bytes   int64   `json:"bytes"` // memory of the tables
}

// A fitRecord describes a fit that starts from the synthetic model, or a fit to data from a file.
type fitRecord struct {
	Iterations int     `json:"iterations"`
	Seconds    float64 `json:"seconds"`                         // total
	Each       float64 `json:"seconds_per_iteration,omitempty"` // without the first iteration
	Bound      float64 `json:"bound"`
	Ended      string  `json:"ended"`
	HostBytes  int64   `json:"host_bytes,omitempty"` // peak resident memory of the process, including the evaluations
}

// A record is a line of `bench speed`.
type record struct {
	machine.Machine
	Time  string `json:"time"`
	Bench string `json:"bench"` // speed

	Case      string  `json:"case"`             // -case, or composed of the sizes
	Data      string  `json:"data,omitempty"`   // file of the rows; "": synthetic
	Fitted    bool    `json:"fitted,omitempty"` // -fitted
	Direct    bool    `json:"direct,omitempty"` // -direct
	Image     string  `json:"image,omitempty"`  // name of the file -image
	Seed      uint64  `json:"seed"`
	Method    string  `json:"method"`    // vssgp
	Inference string  `json:"inference"` // exact, factorized or predict
	Window    float64 `json:"window"`    // length in samples; 0: no windows
	Even      bool    `json:"even"`      // synthetic rows on an even grid
	N         int     `json:"N"`
	Q         int     `json:"Q"`
	D         int     `json:"D"`
	L         int     `json:"L"`
	K         int     `json:"K"`
	M         int     `json:"M"` // L·K, the number of features in all windows
	V         int     `json:"V"`
	Device    string  `json:"device"` // name of the device that computed
	Precision string  `json:"precision"`
	Simd      string  `json:"simd,omitempty"` // instruction set of the CPU's kernels: avx512, avx2 or go

	Start float64 `json:"start_seconds,omitempty"` // opening the device
	First float64 `json:"first_seconds,omitempty"` // first evaluation of the opened rows, not counted; on a GPU the driver compiles the kernels
	timing
	Kernels     times   `json:"kernel_seconds,omitempty"` // means per evaluation
	RowsPer     float64 `json:"rows_per_second,omitempty"`
	Work        times   `json:"flop,omitempty"`                // operations of each pass
	GFlops      times   `json:"gflops,omitempty"`              // rates of each pass, the evaluation, and the accumulation
	Peak        float64 `json:"peak_tflops,omitempty"`         // -peak, or measured on the CPU
	Share       times   `json:"share_of_peak,omitempty"`       // GFlops over Peak
	Bytes       int64   `json:"evaluation_bytes,omitempty"`    // growth of the process in the first evaluation
	Matrices    float64 `json:"evaluation_matrices,omitempty"` // Bytes over 8·M², for exact without windows
	DeviceBytes int64   `json:"device_bytes,omitempty"`        // peak memory of a GPU; with several GPUs, the largest
}

// timed fills in the median times and the rates of the passes over the rows. peak is in TFLOP/s, or 0 if unknown.
// clocked contains evaluations on the CPU that also time the parts of moments. The shares of these parts are applied to
// the medians of all.
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

// rates returns work over time, divided by unit, for each part and for the evaluation, whose time includes the host's
// algebra.
func rates(work, parts times, evaluation, unit float64) times {
	out := times{"evaluation": total(work) / evaluation / unit}
	for name, w := range work {
		if parts[name] > 0 {
			out[name] = w / parts[name] / unit
		}
	}
	return out
}

// memory fills in the growth of the host's memory in the first evaluation and the peak of the process, in bytes.
func (r *record) memory(grown, peak int64) {
	r.Bytes, r.HostBytes = grown, peak
	if r.Inference == "exact" && r.Window == 0 {
		r.Matrices = float64(grown) / (8 * float64(r.M) * float64(r.M))
	}
}
