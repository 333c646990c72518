package gpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/vssgp/vssgp/internal/testkit"
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

// TestFeaturesAreKeptBetweenPasses checks that features are uploaded, rotated and stored once for Solve and
// PullbackSolved if the store has room for all rows, with the bits of a store for a slab at a time.
func TestFeaturesAreKeptBetweenPasses(t *testing.T) {
	ordinal := usable(t)[0].Ordinal
	for _, s := range []shape{
		{name: "dense", n: 1700, m: 70, q: 1, d: 1, even: true},
		{name: "windows", n: 2300, m: 200, q: 1, d: 1, windows: 5},
	} {
		t.Run(s.name, func(t *testing.T) {
			p := newProblem(s)
			solve := p.methods()[6]
			calls := func(budget int64) (all []answer, stores, rotations int) {
				b := open(t, Options{Ordinal: ordinal, Budget: budget, Timing: true})
				r := testkit.Must(b.Open(p.data))(t)
				defer r.Close()
				for range 2 { // the second evaluation must not use the features of the first
					b.Timings()
					all = testkit.Must(solve.call(r))(t)
				}
				for _, k := range b.Timings() {
					switch k.Kernel {
					case "features_store":
						stores = k.Calls
					case "features_prepare":
						rotations = k.Calls
					}
				}
				return all, stores, rotations
			}
			want, stores, rotations := calls(0)
			if stores != 1 || s.even && rotations != 1 {
				t.Errorf("features were stored %d times and rotated %d times, want once", stores, rotations)
			}
			got, stores, _ := calls(p.needed(t, solve, Options{Ordinal: ordinal}))
			if stores < 4 {
				t.Errorf("a store for a slab was written %d times, want more", stores)
			}
			if err := sameBits(want, got); err != nil {
				t.Error(err)
			}
		})
	}
}
