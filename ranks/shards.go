package ranks

import (
	"strings"

	"github.com/vssgp/vssgp/backend"
)

const (
	// minShards is the minimum number of shards, unless there are fewer rows or windows. 1, 2, 3,
	// 4, 6 and 12 ranks get equally many each.
	minShards = 12
	// shardRows is the approximate number of rows per shard on a CPU if there are more than
	// minShards shards; cardRows is the same on a GPU, to which the adjoint matrix is sent once per
	// shard.
	shardRows = 8192
	cardRows  = 1 << 20
	// windowShardRows is the same with windows: inner shards need two and a half times the algebra,
	// but their sums need not be added.
	windowShardRows = 1 << 17
	// shardCells is the minimum number of cells between windows per additional shard: each shard
	// needs at least one window that it does not share.
	shardCells = 4
)

// An extent contains a shard's rows [lo, hi), in the order of the layout, and the windows [first,
// end) that overlap them.
type extent struct{ lo, hi, first, end int }

// countShards returns the number of shards of n rows. It must not depend on the number of ranks or
// on anything else that differs between jobs.
func countShards(n, each int) int {
	return minShards * ((n + minShards*each - 1) / (minShards * each))
}

// rowsPerShard returns shardRows or cardRows, depending on the backend's name.
func rowsPerShard(name string) int {
	if strings.HasPrefix(name, "cuda") {
		return cardRows
	}
	return shardRows
}

// divideRows divides rows without windows.
func divideRows(n, shards int) []extent {
	shards = min(shards, n)
	all := make([]extent, shards)
	for s := range all {
		all[s] = extent{lo: s * n / shards, hi: (s + 1) * n / shards, end: 1}
	}
	return all
}

// divideCells divides rows with windows between cells, so that shards have about the same number of
// rows and at least shardCells/2 cells each. Cells without rows belong to a shard too, because
// their windows do.
func divideCells(w *backend.Windows, l *backend.Layout, n, shards int) []extent {
	v := w.Count()
	cells := v + 1 // from −1 to V−1
	shards = max(1, min(shards, cells/shardCells))
	before := make([]int, cells+1) // rows before each cell
	for _, r := range l.Runs {
		before[r.Cell+2] = r.Hi
	}
	for c := 1; c <= cells; c++ {
		before[c] = max(before[c], before[c-1])
	}
	const least = shardCells / 2
	all := make([]extent, shards)
	at := 0
	for s := range all {
		from := at
		if at += least; s == shards-1 {
			at = cells
		}
		// Leave enough cells for the remaining shards.
		for at < cells-least*(shards-1-s) && before[at] < (s+1)*n/shards {
			at++
		}
		first, _ := w.Over(from - 1)
		_, end := w.Over(at - 2)
		all[s] = extent{before[from], before[at], first, end}
	}
	return all
}

// shardsOf returns the range of shards of a rank.
func shardsOf(shards, rank, ranks int) (lo, hi int) {
	return rank * shards / ranks, (rank + 1) * shards / ranks
}

// subWindows returns the windows [first, end). Rows between their centers need no others, because
// the gates of the others end at a neighbor's center.
func subWindows(w *backend.Windows, first, end int) backend.Windows {
	if len(w.Center) == 0 {
		return *w
	}
	return backend.Windows{Center: w.Center[first:end], Length: w.Length, Dim: w.Dim}
}
