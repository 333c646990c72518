package ar

import (
	"context"
	"runtime"
	"slices"
	"sort"

	"github.com/vssgp/vssgp/internal/parallel"
)

// A Filling has the settings for filling the missing samples of a series. Gaps are [start, end), rising and apart.
//
// It goes gap by gap: each is filled from the excerpt that reaches Reach samples to either side of it, in which all missing
// samples are solved for jointly. Gaps with the same excerpt share one solution. If Tiled, it goes tile by tile instead, of
// Reach samples, each with an excerpt that reaches as far to either side. That is for many gaps or long ones: its cost is
// proportional to the length of the series, however much is missing; far inside a gap the series keeps its values.
type Filling struct {
	Order  int // of the autoregressive model
	Reach  int
	Rounds int // of model and fill in turn
	Tiled  bool
}

// Fill fills the gaps of z. If an excerpt is too short for any model, or ctx has ended, z keeps its values there.
func (f Filling) Fill(ctx context.Context, z []float64, gaps [][2]int) {
	given, jobs := slices.Clone(z), f.jobs(len(z), gaps)
	parallel.For(len(jobs), runtime.GOMAXPROCS(0), func(i int) {
		j := jobs[i]
		filled := slices.Clone(given[j.excerpt[0]:j.excerpt[1]])
		fill(ctx, filled, positions(GapsIn(gaps, j.excerpt[0], j.excerpt[1])), f.Order, f.Rounds)
		for _, n := range positions(GapsIn(gaps, j.keep[0], j.keep[1])) {
			z[j.keep[0]+n] = filled[j.keep[0]+n-j.excerpt[0]]
		}
	})
}

// Work returns the most operations that Fill takes for n samples, and the most for one excerpt.
func (f Filling) Work(n int, gaps [][2]int) (all, largest float64) {
	for _, j := range f.jobs(n, gaps) {
		long, missing := j.excerpt[1]-j.excerpt[0], len(positions(GapsIn(gaps, j.excerpt[0], j.excerpt[1])))
		w := float64(f.Rounds) * roundWork(float64(long), float64(missing), float64(min(f.Order, (long-missing)/2)))
		all, largest = all+w, max(largest, w)
	}
	return all, largest
}

// roundWork is 6·n·p + p³/3 + 3·p² + s: a round of a fill of order p of u among n samples, by the products of its lags, a
// Cholesky factor, the errors forward and backward, and s for the missing samples, u³/3 or, if they are more than 4·p and their
// matrix has a band, u·p².
func roundWork(n, u, p float64) float64 {
	solve := u * u * u / 3
	if u > 4*p {
		solve = u * p * p
	}
	return 6*n*p + p*p*p/3 + 3*p*p + solve
}

// A job is an excerpt to fill, and the part of the series that takes over the fill.
type job struct{ excerpt, keep [2]int }

// jobs cuts n samples into jobs. Tiles in which nothing is missing have none.
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

// GapsIn returns the gaps, or parts of them, that lie in [lo, hi), counted from lo.
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

// positions lists the missing samples.
func positions(gaps [][2]int) (all []int) {
	for _, g := range gaps {
		for n := g[0]; n < g[1]; n++ {
			all = append(all, n)
		}
	}
	return all
}

// fill puts into z, at the missing positions (rising), the samples that an autoregressive model of the given order makes most
// likely (Janssen, Veldhuis and Vries 1986). It begins with zeros there, and in turn fits the model and solves for all missing
// samples jointly, for the given rounds or until ctx ends. It reports whether it could. If z is too short or the model
// fails, z has the last round's fill, or keeps its values if there was none. A round costs N·p + p³/3 + u·p² for u missing
// samples.
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
