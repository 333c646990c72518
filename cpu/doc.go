// Package cpu is the spectral.Backend that runs everywhere, on all cores, with
// the kernels of package cpu/simd.
//
// Features are packed into panels of eight, every window's beginning a panel of
// its own (panels.go). Rows are sorted into runs that meet the features of the
// same windows, runs are cut into chunks and tiles. A tile's features are made,
// used and forgotten; no N×M array exists. Rows of one input that lie exactly
// evenly are stepped along (spectral.Prepared, simd.FeaturesEven). What the work
// needs is kept from one call to the next.
//
// Every element of a result is summed in an order that only the data decide, so
// the same input gives the same bits for any GOMAXPROCS. Gradients and
// predictions are made chunk by chunk side by side, their sums added in the
// chunks' order (schedule.go). For moments a matrix for each core would take too
// much memory. Instead, as runs over windows of one parity touch different
// features, even runs go side by side, then odd ones; where there are few runs, a
// tile's features and products are shared out.
package cpu
