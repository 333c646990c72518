// Package gpu implements backend.Backend on NVIDIA GPUs with the packages cuda and kernels. It
// builds everywhere. Package cuda determines the available GPUs (build tags cuda and cudaemu);
// without a GPU, the error of Open wraps cuda.ErrNoDevice.
//
//	b, err := gpu.Open(gpu.Options{})
//	model, result, err := vssgp.Fit(ctx, data, vssgp.Options{Backend: b})
//
// # A call
//
// Arguments and results of the methods of backend.Rows are host values: no device pointer, stream
// or context leaves the package. Open uploads the rows. To use several GPUs, run one rank for each
// (package ranks).
//
//	upload    features, and weights or adjoints: O(M·(Q+D)), and Ḡ or S
//	launch    a pass over the rows: a kernel over chunks of rows, then the reduction
//	          of its partial sums; kernels that multiply features first store
//	          them, a slab of rows at a time
//	download  the result, copied to the caller's arrays on success
//
// Rows are laid out as in package cpu (backend.Prepared). If there is one input, each row has the
// number of evenly spaced rows that begin with it, exactly at the most frequent step. There the
// kernels compute a feature by rotating the previous one instead of evaluating it anew.
//
// # The algebra
//
// With one window, or with windows whose features fit into shared memory (chain.go), CanSolve
// returns true. The GPU then also factors, solves and inverts A = G + λI, in the Gram array itself.
// Solve leaves A⁻¹ there; PullbackSolved turns it into the adjoint and pulls it back to the
// features. No matrix of G's size is copied to the host.
//
// # Order of sums
//
// An operation has a plan, which lists its passes (plan.go). Tables contain the work of each
// block (kernels/tables.cuh). The shapes alone determine how a run is cut into chunks of rows and
// tiles of features, so that a pass has some hundreds of blocks. A block sums one chunk, and one
// reduction adds the chunks of a run in order. Runs over windows of the same parity have no
// feature in common. Even cells are therefore reduced first, then odd ones, and each entry of the
// result is the sum of at most two runs. A block continues its sums from slab to slab. As a
// result, a repeat gives the same bits on any GPU of one architecture with any amount of free
// memory, unless there is too little memory for tables (spectrum.go).
//
// # Memory
//
// The shapes determine the memory of an operation before anything is allocated (budget.go): rows,
// features, Gram matrix, tables, partial sums, stored features. If the partial sums do not all fit,
// they are computed for some runs at a time, and slabs have fewer rows. If that does not fit
// either, a BudgetError reports how many rows would. Each array is one allocation, made at the
// first evaluation and then reused, as is its page-locked copy on the host. Copies are queued, and
// a method waits once at its end. The rows of a mini-batch are gathered on the device.
//
// # Concurrency
//
// Each Rows has a separate stream, so several goroutines may use several Rows of one Backend. As
// backend.Rows requires, only one goroutine at a time may use one Rows.
//
// # Files
//
// gpu.go contains the backend. timing.go and launch.go contain the timings and the queue of
// launches and copies. runs.go, budget.go, chain.go and plan.go determine the order and the
// memory and need no device. data.go contains the rows. features.go and operation.go contain the
// common parts of the operations in moments.go, pullback.go, factorized.go and predict.go.
// solve.go contains the algebra of windows, dense.go the algebra of one window, and spectrum.go
// the sums from tables for one or two inputs without windows (internal/rowspectrum).
package gpu
