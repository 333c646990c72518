package main

import (
	"fmt"
	"io"
	"math"

	"github.com/vssgp/vssgp/internal/cost"
)

// A ranksModel says what an evaluation of the bound and its gradient takes on any number of ranks:
//
//	t(R) = S/(R·rate) + H + messages·latency·log₂R + bytes/bandwidth
//
// S being the operations that spread, H what rank 0 does by itself.
type ranksModel struct {
	work      float64 // S, operations
	rate      float64 // operations a second of one rank
	host      float64 // H, seconds
	messages  float64 // to all and back
	latency   float64 // seconds
	bytes     float64
	bandwidth float64 // bytes a second
}

// seconds of an evaluation on so many ranks.
func (m ranksModel) seconds(ranks float64) float64 {
	alone := m.work/(m.rate*ranks) + m.host
	if ranks <= 1 {
		return alone
	}
	return alone + m.messages*m.latency*math.Log2(ranks) + m.bytes/m.bandwidth
}

// half is the number of ranks at which half of the time is no longer the sums.
func (m ranksModel) half() float64 {
	lo, hi := 1.0, 1e9
	for hi/lo > 1.001 {
		mid := math.Sqrt(lo * hi)
		if m.work/(m.rate*mid) > m.seconds(mid)/2 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// expected is how long the model says an evaluation takes of rank 0's processor and the network, by the line of one rank and what messages
// were measured to cost: on a machine of as many cores, and with no other work, its seconds.
func expected(one, l *ranksLine) float64 {
	host := one.Busy * one.Host / one.Evaluation
	all := (one.Busy-host)/float64(l.Ranks) + host
	if l.Ranks > 1 { // latency and bandwidth are measured among so many
		all += messagesOf(l)*l.Latency + float64(l.Bytes)/l.Bandwidth
	}
	return all
}

// messagesOf counts what goes to all ranks or comes from them in an evaluation: without windows 5 for each of two passes. With windows each
// of four exchanges goes rank by rank.
func messagesOf(l *ranksLine) float64 {
	if l.V > 1 {
		return 8 + 10*float64(l.Ranks-1)
	}
	return 10
}

// A ranksMachine is a kind of machine that the plan covers.
type ranksMachine struct {
	name           string
	rate, algebra  float64 // operations a second of a rank: sums, and a dense matrix's algebra
	latency, bytes float64
}

// ranksMachines: rates are those that this repository has measured (two cores),
// or that follow from counted ones; networks are the makers' figures.
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
	// featureBytes are sent and received of a feature under windows in an
	// evaluation: itself and its gradient, 3Q + 4 numbers each, C and m.
	featureBytes = 8 * (7 + 7 + 2)
)

func (p planned) model(on ranksMachine) ranksModel {
	m := ranksModel{rate: on.rate, latency: on.latency, bandwidth: on.bytes, messages: 10}
	if p.windows == 1 {
		m.work = cost.Moments(p.n, p.m, 1) + cost.Pullback(p.n, p.m)
		offset := []int{0, int(p.m)}
		m.host = (cost.Factor(offset) + cost.Inverse(offset)) / on.algebra
		m.bytes = 2 * 8 * p.m * p.m / 2
		return m
	}
	size := p.m / 2
	m.work = cost.Moments(p.n, p.m, 1) + cost.Pullback(p.n, p.m) + p.windows*size*size*size*23/9*(7.0/3+20.0/3)
	features := p.windows * size
	m.rate *= windowRate
	m.host = features * hostFeature
	m.bytes = features * featureBytes
	m.messages = 20
	return m
}

// printPlan prints the plan's table.
func printPlan(w io.Writer) {
	for _, on := range ranksMachines {
		fmt.Fprintf(w, "\n%s\n\n| | bytes an evaluation | 1 rank | 10 | 100 | 1000 | 10 000 | sums are half at |\n"+
			"|---|---|---|---|---|---|---|---|\n", on.name)
		for _, p := range plannedProblems {
			m := p.model(on)
			fmt.Fprintf(w, "| %s | %s |", p.name, told(m.bytes, byteUnits))
			for _, r := range []float64{1, 10, 100, 1000, 10000} {
				fmt.Fprintf(w, " %s |", told(m.seconds(r), timeUnits))
			}
			fmt.Fprintf(w, " %.2g ranks |\n", m.half())
		}
	}
}

// A unit is the least that is told in it, its size, and its name with the digits.
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

// told is a number for people, in the first unit that it is large enough for.
func told(v float64, units []unit) string {
	for _, u := range units {
		if v >= u.least {
			return fmt.Sprintf(u.format, v/u.size)
		}
	}
	return fmt.Sprint(v)
}
