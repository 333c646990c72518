// Package cpu is the backend.Backend that runs everywhere, on all cores, with
// the kernels of package internal/simd.
//
// Features are packed into panels of eight; the features of each window begin a
// new panel (panels.go). Rows are sorted into runs under the same windows, and
// runs are cut into chunks and tiles. The features of a tile are made, used and
// forgotten; no N×M array exists. Where rows of one input are exactly evenly
// spaced, features are stepped along them (backend.Prepared, simd.Tile). Memory
// is kept from one call to the next.
//
// The data alone decide the order in which each element of a result is summed, so
// the same input gives the same bits for any GOMAXPROCS. Chunks of gradients and
// predictions are computed in parallel and added in the chunks' order
// (schedule.go). For moments, a matrix for each core would take too much memory.
// Runs of one parity touch different features, so the even runs are computed in
// parallel, then the odd ones; if there are few runs, the features and products of
// each tile are.
package cpu
