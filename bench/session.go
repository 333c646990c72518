package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/cuda"
	"github.com/vssgp/vssgp/gpu"
	"github.com/vssgp/vssgp/internal/simd"
)

// speedTask is `bench speed`.
type speedTask struct {
	sizes
	inference        string
	device           string // -device
	kind             string // cpu or cuda, parsed from device
	ordinal          int    // number of the GPU, parsed from device
	repeats, fit     int    // timed evaluations, iterations of a fit
	peak             float64
	kernels, clocked bool   // time a GPU's kernels; time the parts of the CPU's passes
	direct           bool   // use no tables
	checked          bool   // compare the results with the CPU
	image            string // variants of kernels
	data             string
	dump, name       string
	commit           string
	peers            []string
	peerList, python string
	peerTime         time.Duration // time limit of a peer, including compilation
	json             bool
	out              string
	show             bool
	files            []string // of lines, for show
}

// A session is one problem that is evaluated repeatedly on one device.
type session struct {
	*problem
	o         *speedTask
	watch     *stopwatch
	evaluator *evaluator // nil until the rows are open
	record    *record
	peers     []peerLine
	samples   []sample
	peak      float64 // -peak or the largest measured peak, in TFLOP/s; 0 if unknown
}

// measure times the problem on its device. If the device runs out of memory, the record reports it; other errors end
// the command.
func (o *speedTask) measure() (r *record, peers []peerLine, err error) {
	began := time.Now()
	options := gpu.Options{Ordinal: o.ordinal, Timing: o.kernels, Direct: o.direct}
	if o.image != "" {
		if options.Image, err = os.ReadFile(o.image); err != nil {
			return nil, nil, err
		}
	}
	b, err := openDevice(o.kind, options)
	start := time.Since(began)
	if err != nil {
		return nil, nil, fmt.Errorf("-device %s: %w", o.device, err)
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	s, err := newSession(o, b)
	if err != nil {
		return nil, nil, err
	}
	s.record.Start = start.Seconds()
	if err = s.run(); errors.Is(err, cuda.ErrOutOfMemory) || errors.Is(err, cuda.ErrBudget) {
		s.record.Status, s.peers = "out of memory: "+err.Error(), nil
	} else if err != nil {
		return nil, nil, err
	}
	if m, ok := b.(interface{ Memory() int64 }); ok {
		s.record.DeviceBytes = m.Memory()
	}
	return s.record, s.peers, nil
}

func newSession(o *speedTask, b backend.Backend) (*session, error) {
	watch := newStopwatch(b, o.direct)
	p, fit, err := o.problem(watch)
	if err != nil {
		return nil, err
	}
	m := p.model.Params
	r := &record{
		Machine: machine.This(o.commit), Time: machine.Now(), Bench: "speed", Case: o.name, Seed: o.Seed, Method: "vssgp",
		Inference: o.inference,
		Data:      strings.TrimSuffix(filepath.Base(o.data), "."), Fitted: o.Fitted, Direct: o.direct, Window: o.Window,
		Image: strings.TrimSuffix(filepath.Base(o.image), "."),
		Even:  !o.Uneven && o.data == "", N: p.N, Q: p.Q, D: p.D, L: m.L, K: m.K, M: m.M(), V: m.Windows.Count(),
		Device: b.Name(), Precision: "float64", timing: timing{Fit: fit, Status: machine.OK},
	}
	if r.Device == "cpu" {
		set, _ := simd.Chosen() // opening the rows returns the error
		r.Simd = set.String()
	} else {
		r.Machine = withCard(r.Machine, o.ordinal)
	}
	s := &session{problem: p, o: o, watch: watch, record: r, peak: o.peak}
	p.model.Backend = s.watch
	return s, nil
}

// run times the evaluations and the peers, completes the record, and runs the fit of -fit.
func (s *session) run() error {
	e, err := s.first()
	if err == nil && s.o.checked {
		err = s.check(e)
	}
	switch {
	case err != nil:
	case s.o.dump != "":
		err = s.write(s.o.dump, s.o.inference, e)
	default:
		err = s.round()
	}
	s.record.HostBytes = max(s.record.HostBytes, machine.HostPeak())
	if err == nil {
		err = s.timePeers(e)
	}
	if s.evaluator != nil {
		err = errors.Join(err, s.evaluator.close())
	}
	if err != nil || s.o.dump != "" {
		return err
	}
	clocked, err := s.clocked()
	if err != nil {
		return err
	}
	s.record.timed(s.samples, clocked, s.work(s.o.inference), s.peak)
	s.record.Seconds[opening] = s.evaluator.opened
	return s.fit()
}

// first opens the rows and runs the first evaluation, which warms the caches and allocates the workspace. It measures
// the memory of both.
func (s *session) first() (e *vssgp.Evaluation, err error) {
	s.record.memory(machine.MemoryGrowth(func() {
		if s.evaluator, err = s.newEvaluator(s.watch, s.o.inference); err != nil {
			return
		}
		if s.o.inference == "exact" && s.watch.tables != nil && s.Q <= 2 && s.o.Window == 0 {
			if s.record.Tables, err = s.evaluator.makeTables(); err != nil {
				return
			}
		}
		began := time.Now()
		e, err = s.evaluator.evaluate()
		s.record.First = time.Since(began).Seconds()
	}))
	switch {
	case s.o.inference != "exact":
	case s.watch.tables != nil && s.watch.tables():
		s.record.Sums = fromTables
	default:
		s.record.Sums, s.record.Tables = overRows, nil
	}
	if err == nil && e != nil {
		bound := e.Bound
		s.record.Bound = &bound
	}
	if e != nil && e.Gradient != nil && len(s.o.peers) > 0 { // peers are compared with it after further evaluations
		e.Gradient = e.Gradient.Clone()
	}
	return e, err
}

// Tolerances of check for the relative difference of the bound, and for the gradient relative to the largest element of
// each tensor.
const (
	boundTolerance    = 1e-11
	gradientTolerance = 1e-9
)

// check compares an evaluation's bound and gradient with an evaluation on the CPU.
func (s *session) check(e *vssgp.Evaluation) error {
	m, err := vssgp.NewModel(s.model.Params)
	if err != nil {
		return err
	}
	want, err := m.Evaluate(context.Background(), s.data, vssgp.Inference(s.o.inference), nil, true)
	if err != nil {
		return err
	}
	off := difference([]float64{e.Bound}, []float64{want.Bound})
	if !(off <= boundTolerance) {
		return fmt.Errorf("bound %.15g differs from the CPU's %.15g by %.3g relative to its size, must be at most %g",
			e.Bound, want.Bound, off, boundTolerance)
	}
	got, worst := e.Gradient.Tensors(), 0.0
	for i, t := range want.Gradient.Tensors() {
		off := difference(*got[i].Data, *t.Data)
		if !(off <= gradientTolerance) {
			return fmt.Errorf("gradient with respect to %s differs from the CPU's by %.3g relative to its largest element, must be at most %g",
				t.Name, off, gradientTolerance)
		}
		worst = max(worst, off)
	}
	fmt.Fprintf(os.Stderr, "relative differences from the CPU: bound %.3g, gradient %.3g\n", off, worst)
	return nil
}

// difference returns the largest difference of two arrays relative to their largest absolute value. It is NaN if an
// element is NaN.
func difference(a, b []float64) float64 {
	largest, size := 0.0, math.SmallestNonzeroFloat64
	for i := range a {
		largest, size = max(largest, math.Abs(a[i]-b[i])), max(size, math.Abs(a[i]), math.Abs(b[i]))
	}
	return largest / size
}

// clocked runs evaluations on the CPU that time the parts of its passes. They are separate because reading the clock
// takes time, which would be added to the evaluation's.
func (s *session) clocked() (all []sample, err error) {
	if s.record.Device != "cpu" || !s.o.clocked || s.record.Sums == fromTables {
		return nil, nil
	}
	v, err := s.newEvaluator(newStopwatch(cpu.New(cpu.WithTimings()), s.o.direct), s.o.inference)
	if err != nil {
		return nil, err
	}
	all, err = v.timed(s.o.repeats)
	return all, errors.Join(err, v.close())
}

// round times -repeats evaluations. On the CPU it measures the peak before and after them, unless -peak is given.
func (s *session) round() error {
	measurePeak := func() {
		if s.o.peak == 0 && s.o.kind == "cpu" {
			s.peak = max(s.peak, cpuPeak())
		}
	}
	measurePeak()
	defer measurePeak()
	samples, err := s.evaluator.timed(s.o.repeats)
	s.samples = append(s.samples, samples...)
	return err
}

// timePeers writes the problem, runs each peer, and times our evaluations again after each.
func (s *session) timePeers(e *vssgp.Evaluation) error {
	if len(s.o.peers) == 0 {
		return nil
	}
	var env []string
	if s.o.kind == "cuda" && os.Getenv("CUDA_VISIBLE_DEVICES") == "" { // otherwise the peer, too, sees only that GPU
		env = []string{fmt.Sprintf("CUDA_VISIBLE_DEVICES=%d", s.o.ordinal)}
	}
	return withScript("speed.py", func(dir, script string) error {
		if err := s.write(dir, s.o.inference, e); err != nil {
			return err
		}
		for _, peer := range s.o.peers {
			args := s.peerArgs(peer, dir, filepath.Dir(script))
			line := runPeer(context.Background(), s.o.peerTime, env, s.o.python, args...)
			if err := s.round(); err != nil {
				return err
			}
			line.Peer, line.Case, line.N, line.Features, line.Q, line.D = peer, s.record.Case, s.N, s.record.M, s.Q, s.D
			line.Device = cmp.Or(line.Device, s.o.kind)
			if line.Status == machine.OK && line.Seconds > 0 {
				line.Ours = median(column(s.samples[len(s.samples)-2*s.o.repeats:], secondsOf))
				line.Ratio = line.Seconds / line.Ours
			}
			s.peers = append(s.peers, line)
		}
		return nil
	})
}

// peerArgs returns the script of a peer and its arguments. dir contains the problem.
func (s *session) peerArgs(peer, dir, scripts string) []string {
	repeats := []string{"--repeats", strconv.Itoa(s.o.repeats)}
	switch own := celerite[peer]; {
	case own != nil:
		return slices.Concat([]string{filepath.Join(scripts, "celerite.py"), "--n", strconv.Itoa(s.N)}, repeats, own)
	case slices.Contains(mapPeers, peer):
		return append([]string{filepath.Join(scripts, "maps.py"), dir, "--peer", peer}, repeats...)
	}
	limit := strconv.FormatFloat(s.o.peerTime.Seconds(), 'g', -1, 64)
	args := []string{filepath.Join(scripts, "speed.py"), "bound", dir, "--peer", peer, "--device", s.o.kind}
	return slices.Concat(args, repeats, []string{"--timeout", limit})
}

// fit runs the fit of -fit, from the synthetic model to its data.
func (s *session) fit() (err error) {
	if s.o.fit > 0 && s.o.data == "" {
		_, s.record.Fit, err = s.o.fitTo(s.data, vssgp.Options{From: s.model, Inference: vssgp.Inference(s.o.inference)})
	}
	return err
}

// fitTo fits a model to data and returns it with the record of the fit.
func (o *speedTask) fitTo(d *vssgp.Data, options vssgp.Options) (*vssgp.Model, *fitRecord, error) {
	first, last := vssgp.Progress{}, vssgp.Progress{}
	options.Iterations, options.Posterior.Draws = o.fit, vssgp.NoPosterior
	options.Progress = func(p vssgp.Progress) {
		if last = p; first.Iteration == 0 {
			first = p
		}
	}
	m, r, err := vssgp.Fit(context.Background(), d, options)
	if err != nil {
		return nil, nil, err
	}
	f := &fitRecord{
		Iterations: r.Iterations, Seconds: r.Elapsed.Seconds(), Bound: r.Bound, Ended: r.Starts[r.Kept].Ended,
		HostBytes: machine.HostPeak(),
	}
	if n := last.Iteration - first.Iteration; n > 0 {
		f.Each = (last.Elapsed - first.Elapsed).Seconds() / float64(n)
	}
	return m, f, nil
}

// problem returns the synthetic problem, or with -data the rows of a file, a model fitted to them, and the record of
// the fit.
func (o *speedTask) problem(b backend.Backend) (*problem, *fitRecord, error) {
	if o.data == "" {
		p, err := o.build()
		return p, nil, err
	}
	d, err := readSeries(o.data)
	if err != nil {
		return nil, nil, &usage{err}
	}
	m, f, err := o.fitTo(d, vssgp.Options{Components: o.Features / 2, Features: 2, Windows: vssgp.WindowOptions{Length: vssgp.WindowNone},
		Backend: b})
	if err != nil {
		return nil, nil, err
	}
	s := o.sizes
	s.N = d.N
	return &problem{s, &vssgp.Data{N: d.N, Q: d.Q, D: d.D, X: m.X.ToModel(d.X), Y: m.Y.ToModel(d.Y)}, m}, f, nil
}
