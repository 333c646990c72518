package ranks

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// What rank 0 tells the others to do; each begins with a header.
type op int

const (
	opStart op = iota + 1 // open a backend
	opStop                // close it
	opQuit                // end Serve
	opOpen
	opMoments
	opPullback
	opFactorised
	opPredict
	opSolve
	opPullSolved
	opClose
)

// header is an op, the number of the rows that it is about, and what else it
// needs to know.
type header [8]float64

// A node is what every rank has: its backend, its shares of the rows that are
// open, and where its time went.
type node struct {
	Comm
	sets  map[int]*set
	times Times
	began time.Time // of the stretch that counts as work
}

// Times are where a rank's time in passes went.
type Times struct {
	Passes        int           // over the rows
	Compute       time.Duration // its own sums and algebra
	Waiting       time.Duration // for the slowest rank to end its own
	Communication time.Duration // exchanging numbers
	Bytes         int64         // sent and received by this rank, sums on the way not counted
	Open          time.Duration // all of the above, of bringing rows to the ranks; once in a fit
	OpenBytes     int64         // sent and received in it
}

// opening counts what t has beyond before as opening.
func (t *Times) opening(before Times) {
	open := t.Compute + t.Waiting + t.Communication - before.Compute - before.Waiting - before.Communication
	bytes := t.Bytes - before.Bytes
	*t = before
	t.Open += open
	t.OpenBytes += bytes
}

// lap counts the time since the last lap as one kind of work.
func (n *node) lap(kind *time.Duration) {
	now := time.Now()
	*kind += now.Sub(n.began)
	n.began = now
}

// communicate runs f, time in which is communication and time before which,
// since the last lap, is computing.
func (n *node) communicate(numbers int, f func()) {
	n.lap(&n.times.Compute)
	f()
	n.times.Bytes += 8 * int64(numbers)
	n.lap(&n.times.Communication)
}

func (n *node) broadcast(a []float64) {
	n.communicate(len(a), func() { n.Broadcast(a, 0) })
}

func (n *node) send(to int, a []float64) {
	n.communicate(len(a), func() { n.Send(to, a) })
}

func (n *node) recv(from int, a []float64) {
	n.communicate(len(a), func() { n.Recv(from, a) })
}

// What a rank's part of a pass came to.
const (
	fine        = 0
	notPositive = 1 // a matrix has no factor: nothing is wrong with the rank
	failed      = 2
)

// errNotPositive is what agree returns where a rank's matrix has no factor.
var errNotPositive = errors.New("ranks: a share's matrix is not positive definite")

// agree is called by all ranks once each has done its part, and gives all of
// them the same answer: nil, or on rank 0 what went wrong where.
func (n *node) agree(err error) error {
	n.lap(&n.times.Compute)
	state := []float64{fine}
	switch {
	case errors.Is(err, errNotPositive):
		state[0] = notPositive
	case err != nil:
		state[0] = failed
	}
	n.Max(state)
	n.lap(&n.times.Waiting)
	switch state[0] {
	case fine:
		return nil
	case notPositive:
		return errNotPositive
	}
	return n.explain(err)
}

// explain tells rank 0 each rank's error, where it has one.
func (n *node) explain(err error) error {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if n.Rank() != 0 {
		n.sendText(0, text)
		if err == nil {
			err = errors.New("ranks: another rank has failed")
		}
		return err
	}
	for from := 1; from < n.Size(); from++ {
		if said := n.recvText(from); said != "" && err == nil {
			err = fmt.Errorf("ranks: rank %d of %d: %s", from, n.Size(), said)
		}
	}
	return err
}

// mostText bounds a message.
const mostText = 4096

func (n *node) sendText(to int, s string) {
	a := textNumbers(s)
	n.Send(to, []float64{float64(len(a))})
	n.Send(to, a)
}

func (n *node) recvText(from int) string {
	size := []float64{0}
	n.Recv(from, size)
	a := make([]float64, int(size[0]))
	n.Recv(from, a)
	return numbersText(a)
}

// broadcastText gives all ranks rank 0's text.
func (n *node) broadcastText(s string) string {
	a := textNumbers(s)
	size := []float64{float64(len(a))}
	n.Broadcast(size, 0)
	if n.Rank() != 0 {
		a = make([]float64, int(size[0]))
	}
	n.Broadcast(a, 0)
	return numbersText(a)
}

func textNumbers(s string) []float64 {
	s = s[:min(len(s), mostText)]
	a := make([]float64, len(s))
	for i := range a {
		a[i] = float64(s[i])
	}
	return a
}

func numbersText(a []float64) string {
	s := make([]byte, len(a))
	for i, v := range a {
		s[i] = byte(v)
	}
	return string(s)
}

// finite reports whether v is a number.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// ints are whole numbers sent as float64, which holds them below 2⁵³.
func ints(a []float64) []int {
	out := make([]int, len(a))
	for i, v := range a {
		out[i] = int(v)
	}
	return out
}

func floats(a []int) []float64 {
	out := make([]float64, len(a))
	for i, v := range a {
		out[i] = float64(v)
	}
	return out
}
