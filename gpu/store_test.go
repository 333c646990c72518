package gpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/vssgp/vssgp/kernels"
)

// TestStoreHasEveryFeatureOnce checks that in a store of any size each batch's chunks have disjoint areas for a slab,
// and that every feature of a chunk is stored once.
func TestStoreHasEveryFeatureOnce(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 5))
		runs := someRuns(rng)
		k := columnKind(cut{40, 64, 4096, false}, 64, 1, 1).twoSided()
		p := &plan{}
		whole := p.addPass(k, runs, math.MaxInt64, math.MaxInt64)
		bytes := whole.minStore + rng.Int64N(whole.store+1)
		s := p.addPass(k, runs, math.MaxInt64, bytes)
		if s.store > bytes || whole.minStore != s.minStore {
			t.Errorf("seed %d: a store of %d bytes, limit %d, least %d and %d", seed, s.store, bytes, s.minStore, whole.minStore)
		}
		for _, b := range s.batches {
			if err := checkStore(s, b, rowsOf[kernels.Job](p, b.storeJobs)); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
		}
	}
}

func checkStore(s *pass, b batch, jobs []kernels.Job) error {
	at, chunk := int64(0), int64(-1)
	for i, j := range jobs {
		c := s.chunks[j.Chunk]
		width := parts(c.M, kernels.BlockK) * kernels.BlockK
		if j.Chunk != chunk {
			if j.Block != 0 || c.Store != at || c.Rows() > b.rows {
				return fmt.Errorf("chunk %+v with job %+v first, at %d, in %+v", c, j, at, b)
			}
			chunk, at = j.Chunk, at+width*parts(min(b.slab, c.Rows()), kernels.BlockK)*kernels.BlockK
		}
		if last := i+1 == len(jobs) || jobs[i+1].Chunk != chunk; last != (j.Block == (width-1)/columnBlock) {
			return fmt.Errorf("block %d of %d numbers, last %v", j.Block, width, last)
		}
	}
	if 8*at > s.store || b.slab%slabUnit != 0 || b.slab > longest {
		return fmt.Errorf("%d numbers in a store of %d bytes, slabs of %d rows", at, s.store, b.slab)
	}
	return nil
}
