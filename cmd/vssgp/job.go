package main

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"time"

	"github.com/vssgp/vssgp/internal/mpi"
	"github.com/vssgp/vssgp/ranks"
)

// A job is the ranks that were started together; nil in a process by itself.
type job struct {
	ranks.Comm
	leave func()
	peers []peer // on rank 0: the other ranks on the same machine
}

// peer is another rank's process.
type peer struct{ rank, pid int }

// joinJob returns the job in which a launcher has started this process, if one has.
func joinJob() (*job, error) {
	c, leave, err := ranks.World()
	if errors.Is(err, ranks.ErrNotBuilt) {
		if os.Getenv("OMPI_COMM_WORLD_SIZE") == "1" {
			return nil, nil // one rank needs no MPI
		}
		return nil, mistake("several ranks were started: %w", err)
	}
	if err != nil || c == nil {
		return nil, err
	}
	j := &job{Comm: c, leave: leave}
	j.meet()
	return j, nil
}

// meet tells rank 0 the processes of the other ranks.
func (j *job) meet() {
	host, err := os.Hostname()
	if err != nil {
		host = fmt.Sprintf("unknown %d", os.Getpid()) // so that no other rank is taken to be here
	}
	h := fnv.New32a()
	io.WriteString(h, host)
	here := float64(h.Sum32())
	if j.Rank() != 0 {
		j.Send(0, []float64{float64(os.Getpid()), here})
		return
	}
	for rank := 1; rank < j.Size(); rank++ {
		said := make([]float64, 2)
		if j.Recv(rank, said); said[1] == here {
			j.peers = append(j.peers, peer{rank, int(said[0])})
		}
	}
}

// firstRank reports whether this process prints the job's errors, even if it could not
// join the job.
func firstRank() bool {
	for _, name := range []string{"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"} {
		if r := os.Getenv(name); r != "" {
			return r == "0"
		}
	}
	return true
}

// howToResume says how to continue a job that has ended.
const howToResume = "to resume from the last checkpoint (--checkpoint), run the same command with --resume"

// broken makes an error of a panic: either rank 0 has lost the others, or this program has
// a bug.
func broken(p any) error {
	if e, ok := p.(*mpi.Error); ok {
		return fmt.Errorf("rank 0 lost the others: %w; %s", e, howToResume)
	}
	return fmt.Errorf("this is a bug in vssgp; please report it: %v", p)
}

// rankTimes says where a job's time went, as rank 0 saw it.
type rankTimes struct {
	Size          int           `json:"size"`
	Open          time.Duration `json:"open_seconds"`          // bringing rows to the ranks
	Cores         int           `json:"cores"`                 // of each rank, by rank 0's
	Compute       time.Duration `json:"compute_seconds"`       // rank 0's own sums and its share of the algebra
	Waiting       time.Duration `json:"waiting_seconds"`       // for the slowest rank
	Communication time.Duration `json:"communication_seconds"` // sending numbers
	Other         time.Duration `json:"other_seconds"`         // the optimizer, with its part of the algebra
	Share         float64       `json:"communication_share"`   // of the whole time
	Bytes         int64         `json:"bytes"`                 // to and from rank 0
}

// String is the line that people read.
func (t *rankTimes) String() string {
	all := max(t.Open+t.Compute+t.Waiting+t.Communication+t.Other, 1)
	share := func(part time.Duration) float64 { return 100 * float64(part) / float64(all) }
	return fmt.Sprintf("ranks: %d, cores of each: %d; rows to the ranks %.1f %%, sums %.1f %%, waiting for the slowest %.1f %%, communication %.1f %% (%.3g MB), optimiser and the rest %.1f %%",
		t.Size, t.Cores, share(t.Open), share(t.Compute), share(t.Waiting), share(t.Communication), float64(t.Bytes)/1e6, share(t.Other))
}
