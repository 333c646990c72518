package restore

import (
	"fmt"

	"github.com/vssgp/vssgp"
	"github.com/vssgp/vssgp/audio/internal/crosschannel"
	"github.com/vssgp/vssgp/audio/internal/declick"
	"github.com/vssgp/vssgp/audio/internal/declip"
	"github.com/vssgp/vssgp/internal/heap"
)

// bytes returns an upper estimate of the memory of a gapFiller: the largest gaps being filled in parallel, and all fills.
func (f *filler) bytes() float64 {
	channels, rate, draws := float64(f.res.channels), float64(f.res.rate), float64(f.draws())
	natural := 0.0
	if f.res.Method == Natural {
		natural = 1
	}
	filled, largest := 0.0, 0.0
	clipped, span := 0, 0
	for _, e := range f.res.Excerpts {
		span += e.End - e.Start
	}
	for _, g := range f.res.Gaps {
		of := channels // affected by the gap
		if g.Channel > 0 {
			of = 1
		}
		n := float64(g.Len())
		filled += of * (2 + draws + natural) * n // mean, standard deviation, draws, natural fill
		if g.Clipped {
			clipped += g.Len()
			continue
		}
		if g.Len() <= longest(f.res.rate) {
			filled += of * n // initial fill
		}
		if g.Click && g.Len() <= declick.Longest(rate) {
			filled += of * clickValues
			largest = max(largest, 8*(3*channels+tileArrays)*(clickTile*rate+2*float64(crosschannel.Context(rate))))
		}
		around := float64(fromSide(g, f.res.rate) + 2*reachOf(g, f.res.rate))
		largest = max(largest, 8*((channels+gapArrays)*around+(channels+1+natural*naturalArrays)*n))
	}
	if clipped > 0 {
		largest = max(largest, declip.Bytes(span, clipped, rate))
	}
	return heap.Factor * (8*filled + largest*float64(workers(len(f.res.Gaps))))
}

// fits returns an error if a gapFiller would exceed the memory limit of the options.
func (f *filler) fits() error {
	limit := f.o.Model.MemoryLimit
	need := f.bytes()
	if limit <= 0 || need <= limit {
		return nil
	}
	return fmt.Errorf("filling %d gaps needs about %s of memory, the limit is %s; raise the limit or fill fewer gaps per run: %w",
		len(f.res.Gaps), heap.Size(need), heap.Size(limit), vssgp.ErrMemory)
}
