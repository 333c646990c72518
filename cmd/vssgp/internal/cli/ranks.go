package cli

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/vssgp/vssgp/backend"
	"github.com/vssgp/vssgp/internal/mpi"
	"github.com/vssgp/vssgp/ranks"
)

// A Job is an MPI job as seen by one of its ranks. It is nil in a process without a launcher.
type Job struct {
	ranks.Comm
	Leave func()
	peers []peer // on rank 0: the other ranks on the same machine
}

// A peer is the process of another rank.
type peer struct{ rank, pid int }

// JoinJob returns the MPI job of this process, nil without a launcher such as mpirun.
func JoinJob() (*Job, error) {
	c, leave, err := ranks.World()
	if errors.Is(err, ranks.ErrNotBuilt) || errors.Is(err, ranks.ErrLauncher) {
		return nil, Mistake("several ranks were started: %w", err)
	}
	if err != nil || c == nil {
		return nil, err
	}
	j := &Job{Comm: c, Leave: leave}
	j.meet()
	return j, nil
}

// meet sends the process IDs of the other ranks to rank 0.
func (j *Job) meet() {
	host, err := os.Hostname()
	if err != nil {
		host = fmt.Sprintf("unknown %d", os.Getpid()) // differs from the host of every other rank
	}
	h := fnv.New32a()
	io.WriteString(h, host)
	here := float64(h.Sum32())
	if j.Rank() != 0 {
		j.Send(0, []float64{float64(os.Getpid()), here})
		return
	}
	for rank := 1; rank < j.Size(); rank++ {
		sent := make([]float64, 2)
		if j.Recv(rank, sent); sent[1] == here {
			j.peers = append(j.peers, peer{rank, int(sent[0])})
		}
	}
}

// FirstRank reports whether this process prints the job's errors, even if it could not
// join the job.
func FirstRank() bool {
	for _, name := range []string{"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK",
		"JSM_NAMESPACE_RANK", "SLURM_PROCID"} {
		if r := os.Getenv(name); r != "" {
			return r == "0"
		}
	}
	return true
}

// howToResume tells the user how to continue a job that has failed.
const howToResume = "to resume from the last checkpoint (--checkpoint), run the same command with --resume"

// Broken converts a panic into an error. Either rank 0 has lost the other ranks, or this
// program has a bug.
func Broken(p any) error {
	if e, ok := p.(*mpi.Error); ok {
		return fmt.Errorf("rank 0 lost the other ranks: %w; %s", e, howToResume)
	}
	return fmt.Errorf("this is a bug in vssgp; please report it: %v", p)
}

// RankTimes is the time that a job spends on each activity, measured by rank 0.
type RankTimes struct {
	Size          int           `json:"size"`
	Open          time.Duration `json:"open_seconds"`          // distributing rows to the ranks
	Cores         int           `json:"cores"`                 // of rank 0, assumed for each rank
	Compute       time.Duration `json:"compute_seconds"`       // rank 0's own sums and its share of the algebra
	Waiting       time.Duration `json:"waiting_seconds"`       // for the slowest rank
	Communication time.Duration `json:"communication_seconds"` // sending data
	Other         time.Duration `json:"other_seconds"`         // the optimizer, with its part of the algebra
	Share         float64       `json:"communication_share"`   // of the total time
	Bytes         int64         `json:"bytes"`                 // to and from rank 0
}

// String returns the line that is printed without --json.
func (t *RankTimes) String() string {
	all := max(t.Open+t.Compute+t.Waiting+t.Communication+t.Other, 1)
	share := func(part time.Duration) float64 { return 100 * float64(part) / float64(all) }
	return fmt.Sprintf("ranks: %d, cores per rank: %d; distributing rows %.1f %%, sums %.1f %%, waiting for the slowest rank %.1f %%, "+
		"communication %.1f %% (%.3g MB), optimizer and other %.1f %%",
		t.Size, t.Cores, share(t.Open), share(t.Compute), share(t.Waiting), share(t.Communication), float64(t.Bytes)/1e6, share(t.Other))
}

// Serve runs a rank other than rank 0 and returns its exit code. The rank reads no files and
// ignores signals: rank 0 decides when to end. An error here ends the job.
func (j *Job) Serve(stderr io.Writer) int {
	signal.Ignore(os.Interrupt, syscall.SIGTERM)
	defer func() {
		if p := recover(); p != nil {
			j.fail(stderr, p)
		}
	}()
	if err := ranks.Serve(j, OpenDevice); err != nil {
		j.fail(stderr, err)
	}
	j.Leave()
	return ExitDone
}

// OpenDevice opens the backend of another rank. spec is the --device of rank 0.
func OpenDevice(spec string) (backend.Backend, error) {
	c := NewDevice(func(string, ...any) {})
	if err := c.setDevice(spec); err != nil {
		return nil, fmt.Errorf("--device %s: %w", spec, err)
	}
	c.Spread()
	return c.choose()
}

// fail prints which rank has failed and ends all ranks.
func (j *Job) fail(stderr io.Writer, why any) {
	fmt.Fprintln(stderr, OneLine(fmt.Errorf("rank %d of %d failed: %v; the job ends; %s", j.Rank(), j.Size(), why, howToResume)))
	j.Abort(ExitFailure)
}

// Lead runs work on rank 0, then releases the other ranks. It returns the exit code of work.
func (j *Job) Lead(ctx context.Context, stderr io.Writer, work func() int) int {
	over := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() { j.watch(ctx, over, stderr) })
	code := work()
	close(over)
	watching.Wait()
	ranks.Quit(j)
	j.Leave()
	return code
}

const (
	// After a signal, rank 0 checks for watchFor whether the other ranks still run, every
	// watchEvery. mpirun ends all ranks about a second after it has found one dead.
	watchFor   = 5 * time.Second
	watchEvery = 20 * time.Millisecond
)

// watch waits for the signal that ends the job. If mpirun sends it because another rank has
// died, watch exits, because rank 0 would wait for that rank forever.
func (j *Job) watch(ctx context.Context, over <-chan struct{}, stderr io.Writer) {
	select {
	case <-over:
		return
	case <-ctx.Done():
	}
	for until := time.Now().Add(watchFor); time.Now().Before(until); {
		for _, p := range j.peers {
			if gone(p.pid) {
				fmt.Fprintln(stderr, OneLine(fmt.Errorf("rank %d of %d (process %d) has died; the job ends; %s",
					p.rank, j.Size(), p.pid, howToResume)))
				os.Exit(ExitFailure)
			}
		}
		select {
		case <-over:
			return
		case <-time.After(watchEvery):
		}
	}
}

// gone reports whether a process of this machine has ended.
func gone(pid int) bool {
	p, err := os.FindProcess(pid)
	return err != nil || errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}
