package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/vssgp/vssgp/internal/mpi"
	"github.com/vssgp/vssgp/ranks"
	"github.com/vssgp/vssgp/spectral"
)

// A job is the ranks that this process is one of; nil where it is by itself.
type job struct {
	ranks.Comm
	leave func()
	peers []peer // rank 0's: the others
}

// peer is another rank's process.
type peer struct {
	rank, pid int
	here      bool // on this machine
}

// joinJob is the job that a launcher has started this process in, if one has.
func joinJob() (*job, error) {
	c, leave, err := ranks.World()
	if errors.Is(err, ranks.ErrNotBuilt) {
		if n := os.Getenv("OMPI_COMM_WORLD_SIZE"); n == "1" {
			return nil, nil // one rank needs no MPI
		}
		return nil, &usageError{fmt.Errorf("several ranks were started: %w", err)}
	}
	if err != nil || c == nil {
		return nil, err
	}
	j := &job{Comm: c, leave: leave}
	j.meet()
	return j, nil
}

// meet tells rank 0 where the others are.
func (j *job) meet() {
	host, err := os.Hostname()
	if err != nil {
		host = fmt.Sprintf("unknown %d", os.Getpid()) // no other is there
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
		j.Recv(rank, said)
		j.peers = append(j.peers, peer{rank, int(said[0]), said[1] == here})
	}
}

// firstRank reports whether this process is the one that speaks, whatever has
// become of the job.
func firstRank() bool {
	for _, name := range []string{"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"} {
		if r := os.Getenv(name); r != "" {
			return r == "0"
		}
	}
	return true
}

// serve is what all ranks but the first do: they read nothing, say nothing and
// leave signals to rank 0, which decides when to end. What fails on the way
// becomes its error.
func (j *job) serve(stderr io.Writer) (code int) {
	signal.Ignore(os.Interrupt, syscall.SIGTERM)
	defer func() {
		if p := recover(); p != nil {
			j.fail(stderr, p)
		}
	}()
	if err := ranks.Serve(j, openSpec); err != nil {
		j.fail(stderr, err)
	}
	j.leave()
	return exitDone
}

// fail says which rank has failed and ends them all.
func (j *job) fail(stderr io.Writer, why any) {
	fmt.Fprintln(stderr, oneLine(fmt.Errorf("rank %d of %d failed: %v; this ends the job; %s", j.Rank(), j.Size(), why, howToResume)))
	j.Abort(exitFailure)
}

// howToResume is what a job that ended leaves to be done.
const howToResume = "to go on from the last checkpoint (--checkpoint), run the same command with --resume"

// lead runs a command line on rank 0, and releases the others.
func (j *job) lead(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	watched := make(chan struct{})
	over := make(chan struct{})
	go func() {
		defer close(watched)
		j.watch(ctx, over, stderr)
	}()
	code := runOn(ctx, args, stdout, stderr, j)
	close(over)
	<-watched
	ranks.Quit(j)
	j.leave()
	return code
}

const (
	// watchFor is how long after a signal rank 0 looks whether the others are
	// still there, and watchEvery how often: mpirun ends the others about a
	// second after it has found one dead.
	watchFor   = 5 * time.Second
	watchEvery = 20 * time.Millisecond
)

// watch waits for the signal that ends the job: it may come from mpirun because
// a rank has died, for which rank 0 would wait for ever.
func (j *job) watch(ctx context.Context, over <-chan struct{}, stderr io.Writer) {
	select {
	case <-over:
		return
	case <-ctx.Done():
	}
	until := time.Now().Add(watchFor)
	for time.Now().Before(until) {
		for _, p := range j.peers {
			if p.here && gone(p.pid) {
				fmt.Fprintln(stderr, oneLine(fmt.Errorf("rank %d of %d (process %d) has died, which ends the job; %s", p.rank, j.Size(), p.pid, howToResume)))
				os.Exit(exitFailure)
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
	if err != nil {
		return true
	}
	return errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// broken is the error of a panic that came from the other ranks rather than
// from a mistake in this program.
func broken(p any) error {
	if e, ok := p.(*mpi.Error); ok {
		return fmt.Errorf("rank 0 lost the others: %w; %s", e, howToResume)
	}
	return fmt.Errorf("a mistake in this program, please report it: %v", p)
}

// spec is the computer's flags as the other ranks get them.
func (c *computer) spec() string { return c.device.String() + " " + c.precision.value }

// openSpec opens another rank's backend by rank 0's flags.
func openSpec(spec string) (spectral.Backend, error) {
	c := newComputer(func(string, ...any) {})
	device, precision, _ := strings.Cut(spec, " ")
	if err := c.device.Set(device); err != nil {
		return nil, fmt.Errorf("--device %s: %w", device, err)
	}
	c.precision.value = precision
	c.spread()
	return c.choose()
}

// rankTimes is where a job's time went, as rank 0 saw it.
type rankTimes struct {
	Size          int    `json:"size"`
	Open          number `json:"open_seconds"`          // bringing rows to the ranks
	Cores         int    `json:"cores"`                 // of each rank, as rank 0's
	Compute       number `json:"compute_seconds"`       // rank 0's own sums and its part of the algebra
	Waiting       number `json:"waiting_seconds"`       // for the slowest rank
	Communication number `json:"communication_seconds"` // numbers on their way
	Other         number `json:"other_seconds"`         // the optimiser, and what it has of the algebra
	Share         number `json:"communication_share"`   // of all
	Bytes         int64  `json:"bytes"`                 // to and from rank 0
}

// rankTimes are those of a command that took so long; nil without ranks.
func (a *app) rankTimes(elapsed time.Duration) *rankTimes {
	b, ok := a.computer.backend.(*ranks.Backend)
	if !ok {
		return nil
	}
	t := b.Times()
	return &rankTimes{
		Size: a.computer.job.Size(), Open: number(t.Open.Seconds()), Cores: ranks.ShareCores(), Compute: number(t.Compute.Seconds()), Waiting: number(t.Waiting.Seconds()),
		Communication: number(t.Communication.Seconds()), Other: number(max(0, elapsed-t.Open-t.Compute-t.Waiting-t.Communication).Seconds()),
		Share: number(t.Communication.Seconds() / math.Max(elapsed.Seconds(), 1e-9)), Bytes: t.Bytes,
	}
}

// String is the line that people read.
func (t *rankTimes) String() string {
	all := float64(t.Open + t.Compute + t.Waiting + t.Communication + t.Other)
	share := func(n number) float64 { return 100 * float64(n) / math.Max(all, 1e-9) }
	return fmt.Sprintf("ranks: %d, cores of each: %d; rows to the ranks %.1f %%, sums %.1f %%, waiting for the slowest %.1f %%, communication %.1f %% (%.3g MB), optimiser and the rest %.1f %%",
		t.Size, t.Cores, share(t.Open), share(t.Compute), share(t.Waiting), share(t.Communication), float64(t.Bytes)/1e6, share(t.Other))
}
