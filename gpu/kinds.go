package gpu

import "github.com/vssgp/vssgp/kernels"

// triangle is the n'th pair (i, j), i ≥ j, counted row by row.
func triangle(n int) (i, j int) {
	for (i+1)*(i+2)/2 <= n {
		i++
	}
	return i, n - i*(i+1)/2
}

// gramKind has a block for each tile of the triangle. Its reduction finds a
// run's slots in the table of gramRuns.
func gramKind(tile int) kind {
	return kind{
		cut: gramCut, tile: tile, width: 4, reduceWidth: 2,
		count: func(r run) int { return pairs(r.m, tile) },
		job: func(stretch, block, slot int) []int64 {
			i, j := triangle(block)
			return []int64{int64(stretch), int64(i), int64(j), int64(slot)}
		},
		reduce: func(run, block, slot0, slots int) []int64 { return []int64{int64(run), int64(block)} },
	}
}

// gramRuns is the table of runs of moments_gram_reduce: the slots of a run's
// first stretch begin at the slot of its first job.
func gramRuns(runs []run, p *pass) []int64 {
	t := make([]int64, 8*len(runs))
	job := 0
	for _, s := range p.stretches {
		r := runs[s.run]
		row := t[8*s.run:][:8]
		n := pairs(r.m, p.tile)
		if row[6] == 0 {
			copy(row, []int64{int64(r.m), int64(r.split), r.diag0, r.below, r.diag1, p.jobs[4*job+3], 0, int64(n)})
		}
		row[6]++
		job += n
	}
	return t
}

// columnKind has a block for each size features of a run; the reduction is
// sums_reduce.
func columnKind(runs []run, c cut, size int) kind {
	count := func(r run) int { return parts(r.m, size) }
	return kind{
		cut: c, tile: size, width: 3, reduceWidth: 5,
		count: count,
		job: func(stretch, block, slot int) []int64 {
			return []int64{int64(stretch), int64(block), int64(slot)}
		},
		reduce: func(run, block, slot0, slots int) []int64 {
			r := runs[run]
			return []int64{int64(r.f0 + block*size), int64(min(size, r.m-block*size)),
				int64(slot0 + block), int64(slots), int64(count(r))}
		},
	}
}

// residualJobs are the pieces of the stretches, at most kernels.ResidualRows rows each,
// and the pieces of each chunk of a pass over the same stretches.
func residualJobs(p *pass) (jobs []int64, of map[span]span) {
	of = map[span]span{}
	at := 0
	for _, b := range p.batches {
		for _, c := range b.chunks {
			from := len(jobs) / 3
			for ; at < len(p.stretches) && p.stretches[at].lo < c.rows.hi; at++ {
				s := p.stretches[at]
				for lo := s.lo; lo < s.hi; lo += kernels.ResidualRows {
					jobs = append(jobs, int64(at), int64(lo), int64(min(s.hi, lo+kernels.ResidualRows)))
				}
			}
			of[c.rows] = span{from, len(jobs) / 3}
		}
	}
	return jobs, of
}
