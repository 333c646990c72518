package ranks

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/vssgp/vssgp/backend"
)

// An op is a command from rank 0 to the others.
type op int

const (
	opStart op = iota + 1 // open a backend
	opStop                // close it
	opQuit                // end Serve
	opOpen
	opMoments
	opPullback
	opFactorized
	opPredict
	opSolve
	opPullSolved
	opClose
)

// header is an op, the number of its rows, and its arguments.
type header [8]float64

// A node is a rank's Comm with its timer.
type node struct {
	Comm
	times Times
	began time.Time // start of the current lap
}

// Times is how a rank has spent its time in passes.
type Times struct {
	Passes        int           // over the rows
	Compute       time.Duration // sums and algebra of this rank
	Waiting       time.Duration // waiting for the slowest rank
	Communication time.Duration // exchanging numbers
	Bytes         int64         // sent and received by this rank, without data forwarded in sums
	Open          time.Duration // sending rows to the ranks, once per fit; not included above
	OpenBytes     int64         // sent and received while opening
}

// opening moves the time and the bytes since before from the other fields to Open.
func (t *Times) opening(before Times) {
	open := t.Compute + t.Waiting + t.Communication - before.Compute - before.Waiting - before.Communication
	bytes := t.Bytes - before.Bytes
	*t = before
	t.Open += open
	t.OpenBytes += bytes
}

// lap adds the time since the last lap to the given kind.
func (n *node) lap(kind *time.Duration) {
	now := time.Now()
	*kind += now.Sub(n.began)
	n.began = now
}

// communicate counts the time since the last lap as computing and the time of f as communication.
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

// Results of a pass on a rank.
const (
	fine        = 0
	notPositive = 1 // a matrix has no factor; the rank can continue
	failed      = 2
)

// errNotPositive is returned by agree if a rank's matrix has no factor.
var errNotPositive = fmt.Errorf("ranks: a shard's %w", backend.ErrNotPositive)

// agree exchanges the errors of all ranks, which call it after each step. It returns an error on all
// ranks if one has an error. The error of rank 0 contains the text and the rank.
func (n *node) agree(err error) error {
	n.lap(&n.times.Compute)
	state := []float64{fine}
	switch {
	case errors.Is(err, backend.ErrNotPositive):
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

// explain sends the errors of the other ranks to rank 0.
func (n *node) explain(err error) error {
	if n.Rank() != 0 {
		text := ""
		if err != nil {
			text = err.Error()
		}
		n.Send(0, textNumbers(text))
		return cmp.Or(err, errElsewhere)
	}
	a := make([]float64, maxText)
	for from := 1; from < n.Size(); from++ {
		n.Recv(from, a)
		if text := numbersText(a); text != "" && err == nil {
			err = fmt.Errorf("ranks: rank %d of %d: %s", from, n.Size(), text)
		}
	}
	return err
}

var errElsewhere = errors.New("ranks: another rank has failed")

// broadcastText sends rank 0's text to all ranks.
func (n *node) broadcastText(s string) string {
	a := textNumbers(s)
	n.Broadcast(a, 0)
	return numbersText(a)
}

// maxText is the length of a sent text in bytes: longer ones are truncated, shorter ones padded
// with zeros.
const maxText = 4096

func textNumbers(s string) []float64 {
	a := make([]float64, maxText)
	copy(a, floats([]byte(s)))
	return a
}

func numbersText(a []float64) string {
	text, _, _ := strings.Cut(string(integers[byte](a)), "\x00")
	return text
}

// integers converts integers sent as float64, which are exact below 2⁵³.
func integers[T int | byte](a []float64) []T {
	out := make([]T, len(a))
	for i, v := range a {
		out[i] = T(v)
	}
	return out
}

func floats[T int | byte](a []T) []float64 {
	out := make([]float64, len(a))
	for i, v := range a {
		out[i] = float64(v)
	}
	return out
}
