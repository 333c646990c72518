package main

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/vssgp/vssgp/internal/linalg/blocktri"
)

// A ranksModel says how many seconds an evaluation of the bound and its gradient takes on R ranks: sums/R + host, and among several ranks
// latency·log₂R + transfer.
type ranksModel struct {
	sums     float64 // on one rank
	host     float64 // rank 0's own
	latency  float64 // of the messages to one other rank and back
	transfer float64 // of their bytes
}

// seconds of an evaluation on so many ranks.
func (m ranksModel) seconds(ranks float64) float64 {
	alone := m.sums/ranks + m.host
	if ranks <= 1 {
		return alone
	}
	return alone + m.latency*math.Log2(ranks) + m.transfer
}

// half is the number of ranks at which the sums fall to half of the time.
func (m ranksModel) half() float64 {
	lo, hi := 1.0, 1e9
	for hi/lo > 1.001 {
		mid := math.Sqrt(lo * hi)
		if m.sums/mid > m.seconds(mid)/2 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// expected is how long the model says an evaluation takes of rank 0's processor and the network, by the line of one rank and the measured
// cost of messages: on a machine of as many cores, and with no other work, its seconds. Without windows 5 messages go to all ranks or come
// from them in each of two passes. With windows each of four exchanges goes rank by rank.
func expected(one, l *ranksLine) float64 {
	host := one.Busy * one.Host / one.Evaluation
	all := (one.Busy-host)/float64(l.Ranks) + host
	messages := 10.0
	if l.V > 1 {
		messages = 8 + 10*float64(l.Ranks-1)
	}
	if l.Ranks > 1 { // latency and bandwidth are measured among so many
		all += messages*l.Latency + float64(l.Bytes)/l.Bandwidth
	}
	return all
}

// A ranksMachine is a kind of machine that the plan covers.
type ranksMachine struct {
	name           string
	rate, algebra  float64 // operations a second of a rank: sums, and a dense matrix's algebra
	latency, bytes float64
}

// ranksMachines: the rates are measured in this repository (two cores) or follow from counted ones; networks are the makers' figures.
var ranksMachines = []ranksMachine{
	{"2 cores a rank, 10 Gbit/s", 1.0e11, 9e10, 50e-6, 1.25e9},
	{"64 cores a rank, 100 Gbit/s", 2.5e12, 1e12, 10e-6, 1.25e10},
	{"a GPU of 40 TFLOP/s a rank, 400 Gbit/s", 4.0e13, 1e12, 10e-6, 5e10},
}

// A planned is a problem of the plan.
type planned struct {
	name    string
	n, m    float64 // rows; features that a row meets: all, or the features of two windows
	windows float64
}

var plannedProblems = []planned{
	{"10⁸ rows, M = 512", 1e8, 512, 1},
	{"10⁸ rows, M = 4096", 1e8, 4096, 1},
	{"10¹⁰ rows, M = 4096", 1e10, 4096, 1},
	{"10⁸ rows, windows of 256 rows apart, 40 features each", 1e8, 80, 1e8 / 256},
	{"10¹⁰ rows, the same windows", 1e10, 80, 1e10 / 256},
}

const (
	// hostFeature is the time of one core of rank 0 for a feature beside the sums, under windows: 0.65 µs for chain rule and KL terms (the
	// host's share of a measured evaluation), the rest for L-BFGS to read its 40 vectors twice.
	hostFeature = 1e-6
	// windowRate is the rate under windows by that without: small blocks.
	windowRate = 0.4
	// featureBytes are sent and received for a feature under windows in an evaluation: itself and its gradient, 3Q + 4 numbers each, C and m.
	featureBytes = 8 * (7 + 7 + 2)
)

// model returns the problem's model on a machine, and the bytes of an evaluation.
func (p planned) model(on ranksMachine) (m ranksModel, bytes float64) {
	work := 3*p.n*p.m*p.m + 2*p.n*p.m
	if p.windows == 1 {
		host := blocktri.Flops([]int{0, int(p.m)}) / on.algebra
		bytes = 8 * p.m * p.m
		return ranksModel{work / on.rate, host, 10 * on.latency, bytes / on.bytes}, bytes
	}
	size := p.m / 2
	work += p.windows * size * size * size * 23 / 9 * (7.0/3 + 20.0/3)
	features := p.windows * size
	bytes = features * featureBytes
	return ranksModel{work / (on.rate * windowRate), features * hostFeature, 20 * on.latency, bytes / on.bytes}, bytes
}

// printPlan prints the plan's table.
func printPlan(w io.Writer) {
	for _, on := range ranksMachines {
		fmt.Fprintf(w, "\n%s\n\n| | bytes an evaluation | 1 rank | 10 | 100 | 1000 | 10 000 | sums are half at |\n"+
			"|---|---|---|---|---|---|---|---|\n", on.name)
		for _, p := range plannedProblems {
			m, bytes := p.model(on)
			fmt.Fprintf(w, "| %s | %s |", p.name, told(bytes, byteUnits))
			for _, r := range []float64{1, 10, 100, 1000, 10000} {
				fmt.Fprintf(w, " %s |", told(m.seconds(r), timeUnits))
			}
			fmt.Fprintf(w, " %.2g ranks |\n", m.half())
		}
	}
}

// A unit is the least number that is told in it, its size, and its name with the digits.
type unit struct {
	least, size float64
	format      string
}

var (
	timeUnits = []unit{
		{2 * 86400, 86400, "%.3g d"}, {2 * 3600, 3600, "%.3g h"}, {120, 60, "%.3g min"}, {0.1, 1, "%.3g s"}, {0, 1e-3, "%.2g ms"},
	}
	byteUnits = []unit{{1e9, 1e9, "%.3g GB"}, {1e6, 1e6, "%.3g MB"}, {0, 1e3, "%.3g kB"}}
)

// told is a positive number for people, in the first unit that it is large enough for.
func told(v float64, units []unit) string {
	u := units[slices.IndexFunc(units, func(u unit) bool { return v >= u.least })]
	return fmt.Sprintf(u.format, v/u.size)
}
