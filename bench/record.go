package main

import (
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/cpu/simd"
)

// statusOK is the status of a measurement that was taken.
const statusOK = "ok"

// A record is one measurement of `bench speed`: the page of this package says
// what each field is.
type record struct {
	machine.Machine
	Time string `json:"time"`

	Bench     string  `json:"bench"`
	Case      string  `json:"case"`
	Seed      uint64  `json:"seed"`
	Method    string  `json:"method"`
	Inference string  `json:"inference"`
	Window    float64 `json:"window"`
	Even      bool    `json:"even"`
	N         int     `json:"N"`
	Q         int     `json:"Q"`
	D         int     `json:"D"`
	L         int     `json:"L"`
	K         int     `json:"K"`
	M         int     `json:"M"`
	V         int     `json:"V"`
	Device    string  `json:"device"`
	Precision string  `json:"precision"`
	Simd      string  `json:"simd,omitempty"`

	Repeats     int         `json:"repeats,omitempty"`
	Bound       *float64    `json:"bound,omitempty"`
	Evaluation  float64     `json:"seconds_per_evaluation,omitempty"`
	Range       *[2]float64 `json:"seconds_range,omitempty"`
	Seconds     *parts      `json:"seconds,omitempty"`
	Kernels     kernelTimes `json:"kernel_seconds,omitempty"`
	RowsPer     float64     `json:"rows_per_second,omitempty"`
	Work        *work       `json:"flop,omitempty"`
	GFlops      *rates      `json:"gflops,omitempty"`
	Peak        float64     `json:"peak_tflops,omitempty"`
	Share       *rates      `json:"share_of_peak,omitempty"`
	HostBytes   int64       `json:"host_bytes,omitempty"`
	Bytes       int64       `json:"evaluation_bytes,omitempty"`
	Matrices    float64     `json:"evaluation_matrices,omitempty"`
	DeviceBytes int64       `json:"device_bytes,omitempty"`
	Fit         *fitRecord  `json:"fit,omitempty"`
	Status      string      `json:"status"`
}

// rates are work over time: of each pass and of the whole evaluation, the
// host's algebra counting as time but not as work.
type rates struct {
	Evaluation float64 `json:"evaluation"`
	Moments    float64 `json:"moments,omitempty"`
	Pullback   float64 `json:"pullback,omitempty"`
	Factorised float64 `json:"factorised,omitempty"`
	Predict    float64 `json:"predict,omitempty"`
	Algebra    float64 `json:"algebra,omitempty"` // on a card, with its kernels timed

	Accumulation float64 `json:"accumulation,omitempty"` // the products of moments, on the CPU
}

func newRecord(o *speedFlags, p *problem, device string) *record {
	m := p.model.Params
	return &record{
		Machine: thisMachine(o, device), Time: time.Now().UTC().Format(time.RFC3339),
		Bench: "speed", Case: o.name, Seed: o.Seed, Method: "vssgp", Inference: o.inference,
		Window: o.Window, Even: !o.Uneven, N: p.N, Q: p.Q, D: p.D, L: m.L, K: m.K, M: m.M(), V: m.Windows.Count(),
		Device: device, Precision: o.precision, Simd: instructions(device), Status: statusOK,
	}
}

// instructions is the set that the CPU's kernels use; "" for a card.
func instructions(device string) string {
	if device != "cpu" {
		return ""
	}
	set, _ := simd.Chosen() // where it is not what was asked for, nothing opens
	return set.String()
}

// timed fills in the medians and what follows from them. peak is in TFLOP/s; 0
// where none is known.
// clocked are evaluations whose parts' shares of the moments are those of all,
// none on a card.
func (r *record) timed(all, clocked []sample, w work, peak float64) {
	p, totals := medianParts(all), seconds(all)
	r.Kernels = meanKernels(all)
	if len(clocked) > 0 {
		c := medianParts(clocked)
		r.Kernels = meanKernels(clocked)
		if c.Moments > 0 {
			p.Features, p.Accumulation = p.Moments*c.Features/c.Moments, p.Moments*c.Accumulation/c.Moments
		}
	}
	r.Repeats, r.Evaluation, r.Range = len(totals), median(totals), &[2]float64{slices.Min(totals), slices.Max(totals)}
	r.Seconds, r.Work = &p, &w
	r.RowsPer = float64(r.N) / r.Evaluation
	r.GFlops = ratesOf(w, p, r.Evaluation, 1e9)
	if peak > 0 {
		r.Peak, r.Share = peak, ratesOf(w, p, r.Evaluation, 1e12*peak)
	}
}

func ratesOf(w work, p parts, total, unit float64) *rates {
	per := func(work, seconds float64) float64 {
		if seconds <= 0 {
			return 0
		}
		return work / seconds / unit
	}
	return &rates{
		Evaluation: per(w.total(), total), Moments: per(w.Moments, p.Moments), Pullback: per(w.Pullback, p.Pullback),
		Factorised: per(w.Factorised, p.Factorised), Predict: per(w.Predict, p.Predict), Algebra: per(w.Algebra, p.Algebra), Accumulation: per(w.products, p.Accumulation),
	}
}

// held fills in the host's memory: what the first evaluation held and the most
// that the process has had.
func (r *record) held(held, most int64) {
	r.Bytes, r.HostBytes = held, most
	if r.Inference == "exact" && r.Window == 0 {
		r.Matrices = float64(held) / (8 * float64(r.M) * float64(r.M))
	}
}

// appendLine adds a line to a file, which is made where there is none.
func appendLine(path string, line []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		f.Close()
		return fmt.Errorf("%s: %w", path, err)
	}
	return f.Close()
}
