// Package cpu implements backend.Backend on all CPU cores, with the kernels of package
// internal/simd. It is the default backend; New is for programs that configure or measure it.
//
//	sorted rows           features, in panels of eight
//	                      window 0  window 1  window 2
//	run of windows 0, 1   ████████  ████████             chunk = tiles of some rows: their features,
//	run of windows 1, 2             ████████  ████████   then the products of these
//
//	b := cpu.New(cpu.WithTimings())
//	model, result, err := vssgp.Fit(ctx, data, vssgp.Options{Backend: b})
//
// Features are packed into panels of eight. The features of each window begin a new panel
// (panels.go). Rows are sorted into runs with the same windows, and runs are divided into chunks
// and tiles. The features of a tile are computed, used and overwritten, so no N×M array is needed.
// If the rows of a single input are exactly evenly spaced, features are computed by a recurrence
// along the rows (backend.Prepared, simd.Tile). Memory is reused from call to call.
//
// The order in which each element of a result is summed depends only on the data, so the same input
// gives the same bits for any GOMAXPROCS. Chunks of gradients and predictions are computed in
// parallel and added in the order of the chunks (schedule.go). For moments, one matrix per core
// would take too much memory. Instead, the even runs are computed in parallel and then the odd ones,
// because runs of one parity have different features. If there are few runs, the features and
// products of each tile are computed in parallel.
package cpu
