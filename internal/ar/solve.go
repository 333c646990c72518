package ar

import (
	"context"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/vssgp/vssgp/internal/parallel"
)

// The prediction errors of z with coefficients a (a_0 = 1) are, for n = p … N-1 and m = 0 … N-1-p,
//
//	forward  e_n = Σ_k a_k z_{n-k}        backward  f_m = Σ_k a_k z_{m+k}
//
// and E = Σ e² + Σ f² is minimised by both steps of fill: modifiedCovariance over a, solveMissing over the missing z.

// modifiedCovariance is the coefficients a [p+1] that make E least, which are exact for sinusoids. It takes N ≥ 2p+1 or so
// to be well posed. Where there are several solutions (fewer than p/2 sinusoids and no noise), a ridge of 1e-13 of the mean
// diagonal, which grows while the Cholesky factor fails, picks one.
func modifiedCovariance(z []float64, p int) []float64 {
	a := make([]float64, p+1)
	a[0] = 1
	c := lagProducts(z, p)
	q := p + 1
	g := newDense(p)
	trace := 0.0
	for i := 1; i <= p; i++ {
		row := g.lower(i - 1)
		for j := range row {
			row[j] = c[i*q+j+1] + c[(p-i)*q+p-j-1]
		}
		trace += row[i-1]
		a[i] = -c[i] - c[(p-i)*q+p]
	}
	total := 0.0
	for ridge := 1e-13; ridge < 1 && trace > 0; ridge *= 10 {
		total += ridge * trace / float64(p)
		if g.solve(a[1:], total) {
			return a
		}
	}
	clear(a[1:])
	return a
}

// lagProducts is c_ij = Σ_{n=p}^{N-1} z_{n-i} z_{n-j} for i, j = 0 … p, both triangles, by rows of p+1. A row
// follows from the one above by two products an entry, so that the whole costs N·p + p².
func lagProducts(z []float64, p int) []float64 {
	n, q := len(z), p+1
	c := make([]float64, q*q)
	for j := range q {
		c[j] = floats.Dot(z[p:], z[p-j:n-j])
		c[j*q] = c[j]
	}
	for i := range p {
		for j := i; j < p; j++ {
			v := c[i*q+j] + z[p-1-i]*z[p-1-j] - z[n-1-i]*z[n-1-j]
			c[(i+1)*q+j+1] = v
			c[(j+1)*q+i+1] = v
		}
	}
	return c
}

// fill puts into z at the places missing (rising) the samples that an autoregressive model of the given order makes most
// likely (Janssen, Veldhuis and Vries 1986): from zeros, it fits the model and solves for all missing samples jointly, in
// turn, for so many rounds or until ctx ends. It reports whether it could. Where z is too short or the model fails, z holds
// the last round's fill, or what it held before if there was none. Cost of a round: N·p + p³/3 + u·p² for u missing samples.
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

// A job is an excerpt to fill, and the part of the series that takes over the fill.
type job struct {
	excerpt, keep [2]int
	first         int // the first gap that reaches into keep
}

// FillAround fills z gap by gap, each from the excerpt that reaches that many samples to either side of it. All samples
// missing there are solved for jointly, and the gap keeps its own. gaps are [start, end), rising and apart. Gaps whose
// excerpts are the same share one solution; a gap whose excerpt is too short for any model keeps what it held. Once ctx has
// ended, the remaining gaps stay as they were.
func FillAround(ctx context.Context, z []float64, gaps [][2]int, order, reach, rounds int) {
	fillJobs(ctx, z, gaps, around(len(z), gaps, reach), order, rounds)
}

// FillTiles is FillAround for many gaps or long ones: tile by tile of reach samples, each from the excerpt that reaches
// that far to either side of it. Its cost is proportional to the length of the series, however much is missing; far inside a gap the series
// keeps what it held.
func FillTiles(ctx context.Context, z []float64, gaps [][2]int, order, reach, rounds int) {
	fillJobs(ctx, z, gaps, tiles(len(z), gaps, reach), order, rounds)
}

// around are FillAround's jobs.
func around(n int, gaps [][2]int, reach int) (jobs []job) {
	reach = min(reach, n)
	for i, g := range gaps {
		excerpt := [2]int{max(0, g[0]-reach), min(n, g[1]+reach)}
		if last := len(jobs) - 1; last >= 0 && jobs[last].excerpt == excerpt {
			jobs[last].keep[1] = g[1]
			continue
		}
		jobs = append(jobs, job{excerpt, g, i})
	}
	return jobs
}

// tiles are FillTiles' jobs: the tiles in which anything is missing.
func tiles(n int, gaps [][2]int, reach int) (jobs []job) {
	i := 0
	for lo := 0; lo < n; lo += reach {
		for i < len(gaps) && gaps[i][1] <= lo {
			i++
		}
		hi := min(n, lo+reach)
		if i < len(gaps) && gaps[i][0] < hi {
			jobs = append(jobs, job{[2]int{max(0, lo-reach), min(n, hi+reach)}, [2]int{lo, hi}, i})
		}
	}
	return jobs
}

func fillJobs(ctx context.Context, z []float64, gaps [][2]int, jobs []job, order, rounds int) {
	given := slices.Clone(z)
	parallel.For(len(jobs), runtime.GOMAXPROCS(0), func(e int) {
		j := jobs[e]
		filled := slices.Clone(given[j.excerpt[0]:j.excerpt[1]])
		fill(ctx, filled, missingIn(gaps, j.first, j.excerpt), order, rounds)
		for _, g := range gaps[j.first:] {
			if g[0] >= j.keep[1] {
				break
			}
			lo, hi := max(g[0], j.keep[0]), min(g[1], j.keep[1])
			copy(z[lo:hi], filled[lo-j.excerpt[0]:])
		}
	})
}

// gapsIn are the gaps that reach into the excerpt around gap i.
func gapsIn(gaps [][2]int, i int, excerpt [2]int) [][2]int {
	first, end := i, i
	for first > 0 && gaps[first-1][1] > excerpt[0] {
		first--
	}
	for end < len(gaps) && gaps[end][0] < excerpt[1] {
		end++
	}
	return gaps[first:end]
}

// missingIn lists the missing samples of the excerpt around gap i, counted from the excerpt's start.
func missingIn(gaps [][2]int, i int, excerpt [2]int) (missing []int) {
	for _, g := range gapsIn(gaps, i, excerpt) {
		for n := max(g[0], excerpt[0]); n < min(g[1], excerpt[1]); n++ {
			missing = append(missing, n-excerpt[0])
		}
	}
	return missing
}

// solveMissing puts into z at the places u (rising) the values that make E least, and says whether it could; if not, z
// has zeros there.
func solveMissing(z []float64, u []int, a []float64) bool {
	for _, i := range u {
		z[i] = 0
	}
	b := missingRHS(z, u, a)
	if !missingNormal(len(z), u, a).solve(b, 0) {
		return false
	}
	for i, at := range u {
		z[at] = b[i]
	}
	return true
}

// missingNormal is half the Hessian of E over z_u: the sum over the errors in which both z_{u_i} and z_{u_j} take part. It
// is zero where u_i - u_j > p, and away from the excerpt's ends depends on that difference alone.
func missingNormal(n int, u []int, a []float64) system {
	p := len(a) - 1
	sums := laggedSums(a)
	first := make([]int, len(u)) // of each row
	band := 0
	for i, j := 0, 0; i < len(u); i++ {
		for u[i]-u[j] > p {
			j++
		}
		first[i], band = j, max(band, i-j)
	}
	h := newSystem(len(u), band)
	data, row, col := h.entries()
	for i, hi := range u {
		for j := first[i]; j <= i; j++ {
			lo := u[j]
			c := sums[hi-lo]
			if hi >= p && lo+p < n {
				data[i*row+j*col] = 2 * c[len(c)-1]
				continue
			}
			v := 0.0
			if k, last := max(p, hi), min(n-1, lo+p); k <= last {
				v += c[last-hi+1] - c[k-hi]
			}
			if k, last := max(0, hi-p), min(n-1-p, lo); k <= last {
				v += c[lo-k+1] - c[lo-last]
			}
			data[i*row+j*col] = v
		}
	}
	return h
}

// laggedSums are Σ_{t<s} a_t a_{t+l} at [l][s], for every lag l ≤ p and s ≤ p+1−l.
func laggedSums(a []float64) [][]float64 {
	sums := make([][]float64, len(a))
	for l := range sums {
		c := make([]float64, len(a)-l+1)
		for t, v := range a[:len(a)-l] {
			c[t+1] = c[t] + v*a[t+l]
		}
		sums[l] = c
	}
	return sums
}

// missingRHS is minus half the gradient of E over z_u where z_u = 0.
func missingRHS(z []float64, u []int, a []float64) []float64 {
	n, p := len(z), len(a)-1
	reversed := make([]float64, p+1)
	for k, v := range a {
		reversed[p-k] = v
	}
	forward := make([]float64, n) // e_k at k, from p on
	backward := make([]float64, n)
	for k := 0; k+p < n; k++ {
		forward[k+p] = floats.Dot(reversed, z[k:k+p+1])
		backward[k] = floats.Dot(a, z[k:k+p+1])
	}
	b := make([]float64, len(u))
	for i, at := range u {
		for k := max(p, at); k <= min(n-1, at+p); k++ {
			b[i] -= a[k-at] * forward[k]
		}
		for k := max(0, at-p); k <= min(n-1-p, at); k++ {
			b[i] -= a[at-k] * backward[k]
		}
	}
	return b
}
