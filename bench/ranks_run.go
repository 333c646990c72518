package main

import (
	"context"
	"encoding/json"
	"os"
	"runtime"
	"time"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/bench/internal/machine"
	"github.com/vssgp/vssgp/cpu"
	"github.com/vssgp/vssgp/internal/parallel"
	"github.com/vssgp/vssgp/ranks"
)

// A ranksLine contains the times in seconds that rank 0 measures for one problem and number of ranks. They belong to
// the fastest evaluation, because other processes can only slow it down.
type ranksLine struct {
	machine.Machine
	Time  string `json:"time"`
	Bench string `json:"bench"`

	N       int     `json:"N"`
	M       int     `json:"M"`
	V       int     `json:"V"`
	Window  float64 `json:"window"`
	Ranks   int     `json:"ranks"`
	Share   int     `json:"cores_per_rank"` // GOMAXPROCS of each rank
	OnCores int     `json:"cores_of_all"`   // cores of all ranks, at most the cores of the machine
	Repeats int     `json:"repeats"`        // evaluations

	Bound         float64 `json:"bound"`
	Evaluation    float64 `json:"seconds_per_evaluation"` // bound and gradient, without the distribution of the rows
	Busy          float64 `json:"cpu_seconds"`            // CPU time of rank 0: the elapsed time on an otherwise idle machine
	Sums          float64 `json:"sums"`                   // passes of rank 0 and its part of the algebra
	Waiting       float64 `json:"waiting"`                // waiting for the slowest rank
	Communication float64 `json:"communication"`          // transferring messages
	Host          float64 `json:"host"`                   // everything else, only on rank 0: algebra and chain rule
	Bytes         int64   `json:"bytes"`                  // sent and received by rank 0
	Open          float64 `json:"open"`                   // distributing the rows to the ranks, once
	OpenBytes     int64   `json:"open_bytes"`

	Latency   float64 `json:"latency"`   // of a broadcast of one number and a reduction of one number
	Bandwidth float64 `json:"bandwidth"` // bytes per second of large messages
}

// check returns an error for a line of another command.
func (l *ranksLine) check() error {
	return demand(l.Bench == "ranks" && l.Ranks >= 1 && l.Evaluation > 0,
		"the line must have the fields bench, ranks and seconds_per_evaluation of bench ranks")
}

// serveRank runs one rank. Rank 0 measures a problem and prints the result as JSON.
func serveRank(c ranks.Comm, of sizes, repeats int) error {
	ranks.ShareCores()
	open := func(string) (backend.Backend, error) { return cpu.New(cpu.Shared()), nil }
	latency, bandwidth := probe(c)
	if c.Rank() != 0 {
		return ranks.Serve(c, open)
	}
	defer ranks.Quit(c)
	p, err := of.build()
	if err != nil {
		return err
	}
	inner, err := open("")
	if err != nil {
		return err
	}
	b, err := ranks.New(c, inner, "")
	if err != nil {
		return err
	}
	defer b.Close()
	p.model.Backend = b
	r, err := timeRanks(p, b, repeats)
	if err != nil {
		return err
	}
	r.Ranks, r.Share, r.Latency, r.Bandwidth = c.Size(), runtime.GOMAXPROCS(0), latency, bandwidth
	r.OnCores = min(c.Size()*r.Share, parallel.MachineCores()) // a rank may be bound to some of the cores
	return json.NewEncoder(os.Stdout).Encode(r)
}

// timeRanks times evaluations of the bound and its gradient and returns the fastest.
func timeRanks(p *problem, b *ranks.Backend, repeats int) (*ranksLine, error) {
	r := &ranksLine{N: p.N, M: p.model.Params.M(), V: p.model.Params.Windows.Count(), Window: p.Window, Repeats: repeats}
	for i := range repeats + 1 {
		before, began, busy := b.Times(), time.Now(), machine.CPUTime()
		e, err := p.model.Evaluate(context.Background(), p.data, vssgp.Exact, nil, true)
		if err != nil {
			return nil, err
		}
		total, t, busy := time.Since(began), b.Times(), machine.CPUTime()-busy
		open := t.Open - before.Open
		took := (total - open).Seconds()
		if i == 0 || r.Evaluation > 0 && took > r.Evaluation { // the first allocates the workspace
			continue
		}
		r.Bound, r.Evaluation, r.Open, r.Busy = e.Bound, took, open.Seconds(), busy.Seconds()
		r.Sums, r.Waiting = (t.Compute - before.Compute).Seconds(), (t.Waiting - before.Waiting).Seconds()
		r.Communication = (t.Communication - before.Communication).Seconds()
		r.Host = took - r.Sums - r.Waiting - r.Communication
		r.Bytes, r.OpenBytes = t.Bytes-before.Bytes, t.OpenBytes-before.OpenBytes
	}
	return r, nil
}

const (
	probes     = 20
	probeBlock = 1 << 20 // numbers in a large message
)

// probe measures the cost of messages between the ranks. The latency, in seconds, is the time of a broadcast and a
// reduction of one number. The bandwidth, in bytes per second, is measured with a broadcast and a reduction of large
// blocks.
func probe(c ranks.Comm) (latency, bandwidth float64) {
	timed := func(n int, f func()) float64 {
		all := make([]float64, n)
		for i := range all {
			c.Barrier()
			began := time.Now()
			f()
			all[i] = time.Since(began).Seconds()
		}
		return median(all)
	}
	one, block, sums := []float64{0}, make([]float64, probeBlock), make([]int64, probeBlock)
	latency = timed(probes, func() { c.Broadcast(one, 0); c.Max(one) })
	if c.Size() == 1 {
		return latency, 0
	}
	took := timed(probes/4, func() { c.Broadcast(block, 0); c.Sum(sums) })
	return latency, 2 * 8 * probeBlock / took
}

// expected returns the predicted time of an evaluation, from the line of one rank and the measured cost of messages. It
// assumes one idle core per rank. Without windows, rank 0 exchanges 5 messages with all ranks in each of two passes.
// With windows, each of four exchanges proceeds rank by rank.
func expected(one, l *ranksLine) float64 {
	host := one.Busy * one.Host / one.Evaluation
	all := (one.Busy-host)/float64(l.Ranks) + host
	messages := 10.0
	if l.V > 1 {
		messages = 8 + 10*float64(l.Ranks-1)
	}
	if l.Ranks > 1 { // latency and bandwidth were measured with l.Ranks ranks
		all += messages*l.Latency + float64(l.Bytes)/l.Bandwidth
	}
	return all
}
