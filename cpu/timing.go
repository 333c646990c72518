package cpu

import (
	"sync/atomic"
	"time"
)

// A Timing is how long a part of a pass has run, summed over the cores.
type Timing struct {
	Kernel string        // "moments.features", "pullback.products", …
	Calls  int           // how many times the part ran, once a tile as a rule
	Time   time.Duration // summed over the cores
}

// An Option changes what New opens.
type Option func(*Backend)

// WithTimings has the parts of all passes timed, for Timings. It costs two
// looks at the clock for each part of a tile: where the clock is slow and
// windows are narrow up to a tenth of a pass, else a hundredth or less.
func WithTimings() Option { return func(b *Backend) { b.clock = new(clock) } }

// Timings are those of all parts that have run since the backend was opened or
// they were last asked for, pass by pass; none without WithTimings. What a
// pass takes beyond its parts' time over the number of cores is waiting, and
// work that is not the tiles'.
func (b *Backend) Timings() []Timing {
	if b.clock == nil {
		return nil
	}
	var all []Timing
	for k, name := range kernelNames {
		t := &b.clock[k]
		calls, busy := t.calls.Swap(0), t.busy.Swap(0)
		if calls > 0 {
			all = append(all, Timing{name, int(calls), time.Duration(busy)})
		}
	}
	return all
}

// A kernel is a part of a pass whose time is taken.
type kernel uint8

const (
	momentsFeatures kernel = iota
	momentsProducts
	pullbackPacking
	pullbackFeatures
	pullbackProducts
	pullbackContraction
	factorisedFeatures
	factorisedContraction
	predictPacking
	predictFeatures
	predictProducts
	predictCovariance
	kernelCount
)

var kernelNames = [kernelCount]string{
	"moments.features", "moments.products",
	"pullback.packing", "pullback.features", "pullback.products", "pullback.contraction",
	"factorised.features", "factorised.contraction",
	"predict.packing", "predict.features", "predict.products", "predict.covariance",
}

// A clock sums each kernel's time; a nil one takes none.
type clock [kernelCount]struct{ calls, busy atomic.Int64 }

// A lap is the time since the last kernel ended on this goroutine.
type lap struct {
	clock *clock
	since time.Time
}

// begin starts the first lap.
func (c *clock) begin() lap {
	if c == nil {
		return lap{}
	}
	return lap{c, time.Now()}
}

// end charges the lap to a kernel and starts the next.
func (l *lap) end(k kernel) {
	if l.clock != nil {
		l.charge(k)
	}
}

func (l *lap) charge(k kernel) {
	now := time.Now()
	l.clock[k].calls.Add(1)
	l.clock[k].busy.Add(int64(now.Sub(l.since)))
	l.since = now
}
