package cpu

import (
	"sync/atomic"
	"time"
)

// A kernel is a part of a pass whose time is measured.
type kernel uint8

const (
	momentsFeatures kernel = iota
	momentsProducts
	pullbackPacking
	pullbackFeatures
	pullbackProducts
	pullbackContraction
	factorizedFeatures
	factorizedContraction
	predictPacking
	predictFeatures
	predictProducts
	predictCovariance
	kernelCount
)

var kernelNames = [kernelCount]string{
	"moments.features", "moments.products",
	"pullback.packing", "pullback.features", "pullback.products", "pullback.contraction",
	"factorized.features", "factorized.contraction",
	"predict.packing", "predict.features", "predict.products", "predict.covariance",
}

// A clock sums each kernel's time. A nil clock measures nothing.
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

// end adds the lap to a kernel's time and starts the next lap.
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
