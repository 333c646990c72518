package ranks

import (
	"errors"
	"fmt"
	"time"

	"github.com/vssgp/vssgp/spectral"
)

// An op is what rank 0 tells the others to do.
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

// header is an op, the number of the rows that it is about, and its arguments.
type header [8]float64

// A node is a rank's Comm that counts where time goes.
type node struct {
	Comm
	times Times
	began time.Time // of what lap counts next
}

// Times are where a rank's time in passes went.
type Times struct {
	Passes        int           // over the rows
	Compute       time.Duration // its own sums and algebra
	Waiting       time.Duration // for the slowest rank
	Communication time.Duration // exchanging numbers
	Bytes         int64         // sent and received by this rank, without what it forwards in sums
	Open          time.Duration // sending rows to the ranks, once in a fit: not in the above
	OpenBytes     int64         // sent and received for that
}

// opening moves what has been added to t since before to Open.
func (t *Times) opening(before Times) {
	open := t.Compute + t.Waiting + t.Communication - before.Compute - before.Waiting - before.Communication
	bytes := t.Bytes - before.Bytes
	*t = before
	t.Open += open
	t.OpenBytes += bytes
}

// lap counts the time since the last lap as the given kind.
func (n *node) lap(kind *time.Duration) {
	now := time.Now()
	*kind += now.Sub(n.began)
	n.began = now
}

// communicate counts the time since the last lap as computing and the time that f
// takes as communication.
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

// How a pass ended on a rank.
const (
	fine        = 0
	notPositive = 1 // a matrix has no factor: nothing is wrong with the rank
	failed      = 2
)

// errNotPositive is what agree returns if a rank's matrix has no factor.
var errNotPositive = fmt.Errorf("ranks: a shard's %w", spectral.ErrNotPositive)

// agree is called by all ranks after each step, with the rank's own error. They all
// fail if one does; rank 0's error says what went wrong and where.
func (n *node) agree(err error) error {
	n.lap(&n.times.Compute)
	state := []float64{fine}
	switch {
	case errors.Is(err, spectral.ErrNotPositive):
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

// explain tells rank 0 the others' errors.
func (n *node) explain(err error) error {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if n.Rank() != 0 {
		n.Send(0, textNumbers(text))
		if err == nil {
			err = errors.New("ranks: another rank has failed")
		}
		return err
	}
	a := make([]float64, maxText)
	for from := 1; from < n.Size(); from++ {
		n.Recv(from, a)
		if said := numbersText(a); said != "" && err == nil {
			err = fmt.Errorf("ranks: rank %d of %d: %s", from, n.Size(), said)
		}
	}
	return err
}

// broadcastText gives all ranks rank 0's text.
func (n *node) broadcastText(s string) string {
	a := textNumbers(s)
	n.Broadcast(a, 0)
	return numbersText(a)
}

// maxText is the length of a text as it travels, in bytes: longer ones are cut off,
// shorter ones padded with zeros.
const maxText = 4096

func textNumbers(s string) []float64 {
	a := make([]float64, maxText)
	for i := range min(len(s), maxText) {
		a[i] = float64(s[i])
	}
	return a
}

func numbersText(a []float64) string {
	var s []byte
	for _, v := range a {
		if v != 0 {
			s = append(s, byte(v))
		}
	}
	return string(s)
}

// ints are whole numbers sent as float64, which is exact below 2⁵³.
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
