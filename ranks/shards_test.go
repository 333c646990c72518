package ranks

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/mpi"
	"github.com/vssgp/vssgp/internal/testkit"
)

// checkExtents checks that the extents cover n rows without a gap.
func checkExtents(t *testing.T, all []extent, n int) {
	t.Helper()
	at := 0
	for i, c := range all {
		if c.lo != at || c.hi < c.lo {
			t.Errorf("shard %d has rows %d to %d, want from %d on", i, c.lo, c.hi, at)
		}
		at = c.hi
	}
	if at != n {
		t.Errorf("shards end at row %d of %d", at, n)
	}
}

func TestDivideRows(t *testing.T) {
	for _, n := range []int{1, 2, 11, 12, 13, 1000, 98304, 98305, 1e6} {
		shards := countShards(n, shardRows)
		if shards%minShards != 0 || shards > minShards && n/shards < shardRows/2 {
			t.Errorf("%d rows: %d shards", n, shards)
		}
		all := divideRows(n, shards)
		checkExtents(t, all, n)
		for i, c := range all {
			if size := c.hi - c.lo; size < n/len(all) || size > n/len(all)+1 {
				t.Errorf("%d rows: shard %d has %d", n, i, size)
			}
		}
	}
}

// TestDivideCells checks that every shard has a window that it does not share, that neighbors share
// one, and that each window belongs to a shard.
func TestDivideCells(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, v := range []int{2, 3, 4, 7, 8, 30, 47, 60, 200} {
		for _, where := range []string{"everywhere", "with holes", "in the last cell", "in the first cell"} {
			t.Run(fmt.Sprintf("%d windows, rows %s", v, where), func(t *testing.T) {
				w := backend.Windows{Length: 20}
				w.Center = testkit.Numbers(v, func(i int) float64 { return float64(10 * i) })
				var x []float64
				for range 5 * v {
					at := float64(10*v+20)*rng.Float64() - 20
					switch where {
					case "with holes":
						if int(at/50)%2 != 0 {
							continue
						}
					case "in the last cell":
						at = float64(10*v) + rng.Float64()
					case "in the first cell":
						at = rng.Float64() - 20
					}
					x = append(x, at)
				}
				l := w.NewLayout(x, len(x), 1)
				all := divideCells(&w, l, len(x), minShards)
				checkExtents(t, all, len(x))
				if len(all) > minShards || v >= 60 && where == "everywhere" && len(all) < minShards {
					t.Errorf("%d shards", len(all))
				}
				for i, c := range all {
					inner := c.end - c.first
					if i > 0 {
						inner--
						if c.first != all[i-1].end-1 {
							t.Errorf("shard %d begins with window %d, the one before ends with %d", i, c.first, all[i-1].end-1)
						}
					}
					if i+1 < len(all) {
						inner--
					}
					if inner < 1 {
						t.Errorf("shard %d shares all its windows %d to %d", i, c.first, c.end-1)
					}
					for p := c.lo; p < c.hi; p++ {
						if first, end := w.Over(w.Cell(x[l.Order[p]])); first < c.first || end > c.end {
							t.Errorf("shard %d, windows %d to %d, has a row under %d to %d", i, c.first, c.end-1, first, end-1)
						}
					}
				}
				if all[0].first != 0 || all[len(all)-1].end != v {
					t.Errorf("windows %d to %d of %d", all[0].first, all[len(all)-1].end-1, v)
				}
			})
		}
	}
}

func TestShardsOf(t *testing.T) {
	for _, shards := range []int{1, 5, 12, 24, 120} {
		for _, n := range []int{1, 2, 3, 4, 7, 12, 13, 50} {
			at := 0
			for r := range n {
				lo, hi := shardsOf(shards, r, n)
				if lo != at || hi-lo < shards/n || hi-lo > shards/n+1 {
					t.Errorf("%d shards, %d ranks: rank %d has %d to %d", shards, n, r, lo, hi)
				}
				at = hi
			}
			if at != shards {
				t.Errorf("%d shards, %d ranks: the last has up to %d", shards, n, at)
			}
		}
	}
}

// alone is the world of a process that no launcher of its MPI library has started.
type alone struct {
	mpi.World
	size   int
	closed bool
}

func (w *alone) Size() int { return w.size }
func (w *alone) Close()    { w.closed = true }

// TestLaunched checks that a process joins a job only if its MPI library sees the processes that the launcher has
// started.
func TestLaunched(t *testing.T) {
	for _, c := range []struct {
		name, set string
		size      int // of the world; 0: a build without MPI
		err       error
		job       bool
	}{
		{"no launcher", "", 1, nil, false},
		{"mpirun", "OMPI_COMM_WORLD_SIZE=3 PMIX_RANK=2", 3, nil, true},
		{"mpirun -n 1", "OMPI_COMM_WORLD_SIZE=1 PMIX_RANK=0", 1, nil, true},
		{"MPICH's mpiexec", "PMI_SIZE=2 PMI_RANK=0", 1, ErrLauncher, false},
		{"MPICH's mpiexec -n 1", "PMI_SIZE=1 PMI_RANK=0", 1, nil, true},
		{"MPICH's mpiexec with its library", "PMI_SIZE=2", 2, nil, true},
		{"rank 1 of PMIx", "PMIX_RANK=1", 1, ErrLauncher, false},
		{"srun without MPI", "SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=1", 1, ErrLauncher, false},
		{"a batch script", "SLURM_NTASKS=4 SLURM_PROCID=0", 1, nil, false},
		{"mpirun in a step of one task", "SLURM_STEP_NUM_TASKS=1 OMPI_COMM_WORLD_SIZE=2", 2, nil, true},
		{"MVAPICH", "MV2_COMM_WORLD_SIZE=2", 1, ErrLauncher, false},
		{"jsrun", "JSM_NAMESPACE_SIZE=2", 1, ErrLauncher, false},
		{"without MPI", "", 0, nil, false},
		{"without MPI, mpirun", "OMPI_COMM_WORLD_SIZE=2", 0, ErrNotBuilt, false},
		{"without MPI, mpirun -n 1", "OMPI_COMM_WORLD_SIZE=1 PMIX_RANK=0", 0, nil, false},
		{"without MPI, MPICH", "PMI_SIZE=2", 0, ErrNotBuilt, false},
		{"without MPI, MPICH's mpiexec -n 1", "PMI_SIZE=1", 0, nil, false},
		{"without MPI, srun", "SLURM_STEP_NUM_TASKS=2", 0, ErrNotBuilt, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, name := range append(launchers, "PMIX_RANK") {
				t.Setenv(name, "")
			}
			for _, v := range strings.Fields(c.set) {
				name, value, _ := strings.Cut(v, "=")
				t.Setenv(name, value)
			}
			w := &alone{size: c.size}
			got, leave, err := join(func() (mpi.World, error) {
				if c.size == 0 {
					return nil, mpi.ErrNotBuilt
				}
				return w, nil
			})
			if !errors.Is(err, c.err) || (got != nil) != c.job || w.closed != (c.err == ErrLauncher) {
				t.Fatalf("job %v, closed %v, error %v", got != nil, w.closed, err)
			}
			leave()
			testkit.Equal(t, w.closed, c.job || c.err == ErrLauncher, "left")
		})
	}
}

func TestCoresOf(t *testing.T) {
	for _, c := range []struct {
		name                                 string
		allowed, bound, all, processes, want int
	}{
		{"alone", 8, 8, 8, 1, 8},
		{"two shard all", 8, 8, 8, 2, 4},
		{"more processes than cores", 2, 2, 2, 4, 1},
		{"bound to a core each", 1, 1, 8, 2, 1},
		{"bound to a socket, two on it", 16, 16, 32, 4, 8},
		{"a container's limit", 4, 64, 64, 2, 2},
	} {
		if got := coresOf(c.allowed, c.bound, c.all, c.processes); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// TestDivideCellsEven checks that shards have equally many cells if cells have equally many rows
// and the numbers divide: a cut follows as soon as a shard has its part of the rows.
func TestDivideCellsEven(t *testing.T) {
	w := backend.Windows{Length: 20}
	w.Center = testkit.Numbers(23, func(i int) float64 { return float64(10 * i) })
	var x []float64
	for cell := range 24 {
		x = append(x, float64(10*cell)-7, float64(10*cell)-3)
	}
	for i, c := range divideCells(&w, w.NewLayout(x, len(x), 1), len(x), 3) {
		if c.lo != 16*i || c.hi != 16*(i+1) {
			t.Errorf("shard %d has rows %d to %d, want %d to %d", i, c.lo, c.hi, 16*i, 16*(i+1))
		}
	}
}
