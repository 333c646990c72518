package backendtest

// A size contains the sizes and properties of a case's problem.
type size struct {
	name       string
	n, m, q, d int
	windows    int              // 0: none
	rowsIn     [2]float64       // range of the window input that contains rows; 0, 0: all
	owns       func(v int) bool // which windows have features; nil: all
	fixed      bool             // fixed phases
	sure       bool             // point frequencies (P = 0)
	offset     float64          // of every x
	atOrigin   bool             // every other feature is centered at 0 for any offset
	positions  int              // number of even positions of the rows, some of which have no row or two rows; 0: random positions
	long       bool             // runs only with the tag slow
}

// evenStep is the distance between positions. It is exact in float64 at any offset.
const evenStep = 1. / 64

// windowSpacing is half a window's length. Centers are at ½ + v·spacing, so that rows can be
// exactly on centers and edges.
const windowSpacing = 2.0

var cases = []size{
	{name: "one of each", n: 1, m: 1, q: 1, d: 1},
	{name: "one row", n: 1, m: 65, q: 2, d: 2},
	{name: "one feature", n: 257, m: 1, q: 1, d: 3},
	{name: "N31 M7 Q4", n: 31, m: 7, q: 4, d: 2},
	{name: "N32 M8 Q1", n: 32, m: 8, q: 1, d: 1},
	{name: "N33 M9 Q2", n: 33, m: 9, q: 2, d: 1},
	{name: "N63 M31 Q3", n: 63, m: 31, q: 3, d: 3},
	{name: "N64 M32 Q1", n: 64, m: 32, q: 1, d: 2},
	{name: "N65 M33 Q1", n: 65, m: 33, q: 1, d: 1},
	{name: "N127 M63 Q2", n: 127, m: 63, q: 2, d: 1, long: true},
	{name: "N128 M64 Q1", n: 128, m: 64, q: 1, d: 3, long: true},
	{name: "N129 M65 Q4", n: 129, m: 65, q: 4, d: 2, long: true},
	{name: "N257 M61 Q1", n: 257, m: 61, q: 1, d: 1, long: true},
	{name: "N40 M129 Q1", n: 40, m: 129, q: 1, d: 1, long: true},
	{name: "fixed phases", n: 50, m: 20, q: 1, d: 2, fixed: true},
	{name: "point frequencies", n: 50, m: 20, q: 2, d: 1, sure: true},
	{name: "point frequencies, fixed phases", n: 50, m: 20, q: 1, d: 1, fixed: true, sure: true},
	{name: "one window", n: 30, m: 10, q: 1, d: 1, windows: 1},
	{name: "two windows", n: 61, m: 11, q: 1, d: 2, windows: 2},
	{name: "five windows", n: 131, m: 43, q: 1, d: 2, windows: 5},
	{name: "wide windows", n: 130, m: 100, q: 1, d: 1, windows: 3, long: true},
	{name: "windows along the last of three inputs", n: 70, m: 17, q: 3, d: 2, windows: 4},
	{name: "windows along the second of two inputs", n: 20, m: 9, q: 2, d: 1, windows: 3},
	{name: "more windows than rows", n: 3, m: 20, q: 1, d: 1, windows: 9},
	{name: "windows without rows", n: 60, m: 24, q: 1, d: 1, windows: 8, rowsIn: [2]float64{5, 8}},
	{name: "many rows in an interval", n: 257, m: 10, q: 1, d: 1, windows: 3, rowsIn: [2]float64{0.6, 2.4}},
	{name: "rows before all centers", n: 20, m: 12, q: 1, d: 1, windows: 4, rowsIn: [2]float64{-3, 0}},
	{name: "rows after all centers", n: 20, m: 12, q: 1, d: 1, windows: 4, rowsIn: [2]float64{7, 9}},
	{name: "windows without features", n: 90, m: 12, q: 1, d: 2, windows: 8,
		owns: func(v int) bool { return v == 1 || v == 5 || v == 6 }},
	{name: "far from the origin", n: 65, m: 20, q: 1, d: 1, offset: 3e6},
	{name: "far from the origin, windows", n: 65, m: 20, q: 1, d: 1, windows: 4, offset: 3e6},
	// Enough even rows, and features with a slow enough decay, for the CPU to use tables.
	{name: "even rows with holes", n: 970, m: 16, q: 1, d: 2, positions: 1000, fixed: true},
	{name: "even rows, some doubled, far from the origin", n: 970, m: 16, q: 1, d: 1, positions: 700, offset: 3e6},
	{name: "even rows, point frequencies", n: 700, m: 16, q: 1, d: 1, positions: 700, sure: true},
	{name: "even rows", n: 800, m: 40, q: 1, d: 3, positions: 800, long: true},
	{name: "far from the features", n: 65, m: 20, q: 2, d: 1, sure: true, offset: 3e6, atOrigin: true},
}
