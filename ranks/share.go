package ranks

import (
	"strings"

	"github.com/vssgp/vssgp/spectral"
)

const (
	// leastShares is how many shares rows are cut into at least: as many for
	// each of 1, 2, 3, 4, 6 and 12 ranks.
	leastShares = 12
	// shareRows is about how many rows a share has at least before there are
	// more than leastShares, on a processor; cardRows on a GPU, to which the
	// adjoint matrix travels once for each share.
	shareRows = 8192
	cardRows  = 1 << 20
	// windowShareRows is the same under windows, whose shares in the middle cost
	// two and a half times the algebra, but no adding.
	windowShareRows = 1 << 17
	// shareCells is how many cells between windows a share has at least: it
	// needs one window of its own.
	shareCells = 4
)

// A cut is a share's part of the rows, in the order of the layout, and the
// windows [first, end) that they meet.
type cut struct{ lo, hi, first, end int }

// countShares is how many shares n rows are cut into; it must depend on
// nothing that differs between numbers of ranks.
func countShares(n, each int) int {
	return leastShares * ((n + leastShares*each - 1) / (leastShares * each))
}

// rowsPerShare is shareRows or cardRows, by what computes.
func rowsPerShare(backend string) int {
	if strings.HasPrefix(backend, "cuda") {
		return cardRows
	}
	return shareRows
}

// cutRows cuts rows without windows.
func cutRows(n, shares int) []cut {
	shares = min(shares, n)
	cuts := make([]cut, shares)
	for s := range cuts {
		cuts[s] = cut{lo: s * n / shares, hi: (s + 1) * n / shares, end: 1}
	}
	return cuts
}

// cutCells cuts rows under windows between cells, each share with about as many
// rows and at least shareCells/2 cells. Cells without rows belong to a share as
// well: their windows have to.
func cutCells(w *spectral.Windows, l *spectral.Layout, n, shares int) []cut {
	v := w.Count()
	cells := v + 1 // from −1 to V−1
	shares = max(1, min(shares, cells/shareCells))
	before := make([]int, cells+1) // rows before each cell
	for _, r := range l.Runs {
		before[r.Cell+2] = r.Hi
	}
	for c := 1; c <= cells; c++ {
		before[c] = max(before[c], before[c-1])
	}
	const least = shareCells / 2
	cuts := make([]cut, shares)
	at := 0
	for s := range cuts {
		from := at
		if at += least; s == shares-1 {
			at = cells
		}
		// What is left has room for the rest.
		for at < cells-least*(shares-1-s) && before[at] < (s+1)*n/shares {
			at++
		}
		first, _ := w.Over(from - 1)
		_, end := w.Over(at - 2)
		cuts[s] = cut{before[from], before[at], first, end}
	}
	return cuts
}

// sharesOf is the range of shares that a rank has.
func sharesOf(shares, rank, ranks int) (lo, hi int) {
	return rank * shares / ranks, (rank + 1) * shares / ranks
}

// subWindows are the windows [first, end) alone. For rows between their centres
// that is the same: their gates end beyond the last neighbour's centre.
func subWindows(w *spectral.Windows, first, end int) spectral.Windows {
	if len(w.Center) == 0 {
		return *w
	}
	return spectral.Windows{Center: w.Center[first:end], Length: w.Length, Dim: w.Dim}
}
