package autoregression

import (
	"context"
	"runtime"
	"slices"
	"sort"

	"github.com/vssgp/vssgp/internal/parallel"
)

// A Filling configures the interpolation of missing samples in gaps [start, end), sorted and disjoint.
//
// Each gap is filled from an excerpt with Reach samples on each side, in which all missing samples are estimated jointly. Gaps with
// the same excerpt share one solution. If Tiled, excerpts are tiles of Reach samples with Reach samples on each side. This is faster
// for many or long gaps: the cost is proportional to the length of the series. The interior of a long gap keeps its values.
type Filling struct {
	Order  int // order of the autoregressive model
	Reach  int
	Rounds int // number of alternations between model and fill
	Tiled  bool
}

// Fill fills the gaps of z. If an excerpt is too short for a model, or ctx is canceled, z keeps its values there.
func (f Filling) Fill(ctx context.Context, z []float64, gaps [][2]int) {
	given, jobs := slices.Clone(z), f.jobs(len(z), gaps)
	parallel.For(len(jobs), runtime.GOMAXPROCS(0), func(i int) {
		j := jobs[i]
		filled := slices.Clone(given[j.excerpt[0]:j.excerpt[1]])
		fill(ctx, filled, Positions(GapsIn(gaps, j.excerpt[0], j.excerpt[1])), f.Order, f.Rounds)
		for _, n := range Positions(GapsIn(gaps, j.keep[0], j.keep[1])) {
			z[j.keep[0]+n] = filled[j.keep[0]+n-j.excerpt[0]]
		}
	})
}

// Work returns upper bounds for the operations of Fill for n samples, in total and for one excerpt.
func (f Filling) Work(n int, gaps [][2]int) (all, largest float64) {
	for _, j := range f.jobs(n, gaps) {
		long, missing := j.excerpt[1]-j.excerpt[0], len(Positions(GapsIn(gaps, j.excerpt[0], j.excerpt[1])))
		w := float64(f.Rounds) * roundWork(float64(long), float64(missing), float64(min(f.Order, (long-missing)/2)))
		all, largest = all+w, max(largest, w)
	}
	return all, largest
}

// roundWork returns the operations of one round for u missing among n samples and order p: 6·n·p + p³/3 + 3·p² for lag products,
// Cholesky factor and errors, plus u³/3 for the missing samples, or u·p² if u > 4p, because then their matrix is banded.
func roundWork(n, u, p float64) float64 {
	solve := u * u * u / 3
	if u > 4*p {
		solve = u * p * p
	}
	return 6*n*p + p*p*p/3 + 3*p*p + solve
}

// A job contains an excerpt to fill, and the part of it to copy to the series.
type job struct{ excerpt, keep [2]int }

// jobs returns the jobs for n samples. Tiles without missing samples have no job.
func (f Filling) jobs(n int, gaps [][2]int) (jobs []job) {
	reach := min(f.Reach, n)
	if f.Tiled {
		for lo := 0; lo < n; lo += reach {
			if keep := [2]int{lo, min(n, lo+reach)}; len(GapsIn(gaps, lo, keep[1])) > 0 {
				jobs = append(jobs, job{[2]int{max(0, lo-reach), min(n, keep[1]+reach)}, keep})
			}
		}
		return jobs
	}
	for _, g := range gaps {
		excerpt := [2]int{max(0, g[0]-reach), min(n, g[1]+reach)}
		if last := len(jobs) - 1; last >= 0 && jobs[last].excerpt == excerpt {
			jobs[last].keep[1] = g[1]
			continue
		}
		jobs = append(jobs, job{excerpt, g})
	}
	return jobs
}

// GapsIn returns the gaps in [lo, hi), clipped and relative to lo.
func GapsIn(gaps [][2]int, lo, hi int) (in [][2]int) {
	first := sort.Search(len(gaps), func(i int) bool { return gaps[i][1] > lo })
	for _, g := range gaps[first:] {
		if g[0] >= hi {
			break
		}
		in = append(in, [2]int{max(g[0], lo) - lo, min(g[1], hi) - lo})
	}
	return in
}

// Positions returns the indices of the missing samples.
func Positions(gaps [][2]int) (all []int) {
	for _, g := range gaps {
		for n := g[0]; n < g[1]; n++ {
			all = append(all, n)
		}
	}
	return all
}

// fill replaces the samples of z at the increasing positions missing by their maximum-likelihood estimates under an autoregressive
// model (Janssen, Veldhuis and Vries 1986). Starting from zeros, it alternately fits the model and estimates all missing samples
// jointly, for the given number of rounds or until ctx is canceled. It reports whether at least one round succeeded. z contains the
// result of the last successful round. A round costs N·p + p³/3 + u·p² operations for u missing samples.
func fill(ctx context.Context, z []float64, missing []int, order, rounds int) bool {
	order = min(order, (len(z)-len(missing))/2)
	if order < 1 || len(missing) == 0 {
		return order >= 1
	}
	work := slices.Clone(z)
	for _, n := range missing {
		work[n] = 0
	}
	for round := range rounds {
		if ctx.Err() != nil || !solveMissing(work, missing, modifiedCovariance(work, order)) {
			return round > 0
		}
		copy(z, work)
	}
	return true
}
