package gpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestStore: in a store of any size, each batch's chunks have places of their own for
// a slab each, and every feature of a chunk is stored once.
func TestStore(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 5))
		runs := someRuns(rng)
		of := []storage{storeFeatures, storeRows(7), storeFeatureDigits(3)}[seed%3]
		k := columnKind(runs, cut{40, 64, 4096, false}, 64, 1, 1).twoSided(of)
		if seed%2 == 0 {
			k.most = 512 // as DigitSum is for longer chunks
		}
		whole := k.plan(runs, math.MaxInt, math.MaxInt64)
		bytes := whole.leastStore + rng.Int64N(whole.store+1)
		p := k.plan(runs, math.MaxInt, bytes)
		if p.store > bytes || whole.leastStore != p.leastStore {
			t.Errorf("seed %d: a store of %d bytes, limit %d, least %d and %d", seed, p.store, bytes, p.leastStore, whole.leastStore)
		}
		for _, b := range p.batches {
			if err := checkStore(runs, p, b); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
		}
	}
}

func checkStore(runs []run, p *pass, b batch) error {
	at, next := int64(0), -1
	for i := b.store.lo; i < b.store.hi; i++ {
		chunk, block := int(p.storeJobs[2*i]), int(p.storeJobs[2*i+1])
		s := p.chunks[chunk]
		width := parts(runs[s.run].m, p.unit) * p.unit
		if chunk != next {
			if block != 0 || s.store != at || s.rows() > b.rows {
				return fmt.Errorf("chunk %+v with block %d first, at %d, in %+v", s, block, at, b)
			}
			next, at = chunk, at+int64(width*parts(min(b.slab, s.rows()), p.unit)*p.unit)
		}
		if last := i+1 == b.store.hi || int(p.storeJobs[2*i+2]) != chunk; last != (block == (width-1)/columnBlock) {
			return fmt.Errorf("block %d of %d numbers, last %v", block, width, last)
		}
	}
	if int64(p.number)*at > p.store || b.slab%slabUnit != 0 || b.slab > p.most {
		return fmt.Errorf("%d numbers in a store of %d bytes, slabs of %d rows", at, p.store, b.slab)
	}
	return nil
}
